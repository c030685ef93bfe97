/* grid.c: see grid.h. */
#include "domain/grid.h"

#include <math.h>
#include <stddef.h>

/* Total area of the faces between blocks. A direction that is not cut has none;
 * a cut one has as many faces as blocks (the box is periodic). */
static double surface(const double length[3], const int dims[3])
{
    double sum = 0;
    for (int d = 0; d < 3; d++) {
        double area = 1;
        for (int e = 0; e < 3; e++)
            if (e != d && length[e] > 0)
                area *= length[e];
        if (dims[d] > 1)
            sum += dims[d] * area;
    }
    return sum;
}

static int is_allowed(const double length[3], const int dims[3])
{
    for (int d = 0; d < 3; d++)
        if (dims[d] > 1 && !(length[d] > 0))
            return 0;
    return 1;
}

void grid_choose(int size, const double length[3], int dims[3])
{
    double best = -1;
    dims[0] = size;
    dims[1] = dims[2] = 1;
    /* x counts down, then y: of equals the first found cuts x, then y. */
    for (int nx = size; nx >= 1; nx--) {
        if (size % nx != 0)
            continue;
        for (int ny = size / nx; ny >= 1; ny--) {
            if ((size / nx) % ny != 0)
                continue;
            int trial[3] = {nx, ny, size / nx / ny};
            double area = surface(length, trial);
            if (!is_allowed(length, trial))
                continue;
            if (best < 0 || area < best * (1 - 1e-9)) {
                best = area;
                for (int d = 0; d < 3; d++)
                    dims[d] = trial[d];
            }
        }
    }
}

void grid_init(struct grid *g, const double box_lo[3],
               const double box_length[3], const int dims[3], int rank,
               int size)
{
    for (int d = 0; d < 3; d++) {
        g->box_lo[d] = box_lo[d];
        g->box_length[d] = box_length[d];
        g->dims[d] = dims[d];
        g->walled[d] = g->open[d] = 0;
        g->tilt[d] = 0;
        g->cuts[d] = NULL;
    }
    g->tilted = 0;
    g->rank = rank;
    g->size = size;
    grid_coords(g, rank, g->coords);
    grid_block(g, g->coords, g->lo, g->hi);
}

/* Where block c of direction d begins. Every block edge in the program is a
 * value of this function, so that neighbors agree to the last bit. */
static double face(const struct grid *g, int d, int c)
{
    if (c <= 0)
        return g->box_lo[d];
    if (c >= g->dims[d])
        return g->box_lo[d] + g->box_length[d];
    if (g->cuts[d])
        return g->box_lo[d] + g->box_length[d] * g->cuts[d][c];
    return g->box_lo[d] + g->box_length[d] * c / g->dims[d];
}

static int wrap(int c, int n)
{
    int r = c % n;
    return r < 0 ? r + n : r;
}

void grid_block(const struct grid *g, const int coords[3], double lo[3],
                double hi[3])
{
    for (int d = 0; d < 3; d++) {
        int c = wrap(coords[d], g->dims[d]);
        lo[d] = face(g, d, c);
        hi[d] = face(g, d, c + 1);
    }
}

void grid_set_tilt(struct grid *g, const double tilt[3])
{
    g->tilted = 1;
    for (int d = 0; d < 3; d++)
        g->tilt[d] = tilt[d];
}

void grid_image(const struct grid *g, const int delta[3], int image[3],
                double shift[3])
{
    for (int d = 0; d < 3; d++) {
        int at = g->coords[d] + delta[d];
        image[d] = at / g->dims[d] - (at % g->dims[d] < 0); /* floor */
    }
    shift[0] = image[1] * g->tilt[0] + image[2] * g->tilt[1];
    shift[1] = image[2] * g->tilt[2];
    shift[2] = 0;
}

void grid_cut(struct grid *g, const double *const cuts[3])
{
    for (int d = 0; d < 3; d++)
        g->cuts[d] = cuts[d];
    grid_block(g, g->coords, g->lo, g->hi);
}

double grid_width(const struct grid *g, int d, int c)
{
    if (!g->cuts[d])
        return g->box_length[d] / g->dims[d];
    int at = wrap(c, g->dims[d]);
    return g->box_length[d] * (g->cuts[d][at + 1] - g->cuts[d][at]);
}

double grid_gap(const struct grid *g, int d, int c, int delta, double shift)
{
    if (!g->cuts[d]) {
        double width = grid_width(g, d, 0);
        return fmax(fabs(delta * width + shift) - width, 0);
    }
    if (delta == 0)
        return fmax(fabs(shift) - grid_width(g, d, c), 0);
    /* As the lower one sees it; added up from there. */
    int n = delta < 0 ? -delta : delta, low = delta < 0 ? c + delta : c;
    double away = delta < 0 ? -shift : shift, between = 0;
    for (int k = 1; k < n; k++)
        between += grid_width(g, d, low + k);
    double both = grid_width(g, d, low) + between + grid_width(g, d, low + n);
    return fmax(fmax(between + away, -(both + away)), 0);
}

double grid_narrowest(const struct grid *g, int d)
{
    double least = grid_width(g, d, 0);
    for (int c = 1; c < g->dims[d] && g->cuts[d]; c++)
        if (grid_width(g, d, c) < least)
            least = grid_width(g, d, c);
    return least;
}

int grid_rank(const struct grid *g, const int coords[3])
{
    int c[3];
    for (int d = 0; d < 3; d++)
        c[d] = wrap(coords[d], g->dims[d]);
    return (c[2] * g->dims[1] + c[1]) * g->dims[0] + c[0];
}

void grid_coords(const struct grid *g, int rank, int coords[3])
{
    coords[0] = rank % g->dims[0];
    coords[1] = rank / g->dims[0] % g->dims[1];
    coords[2] = rank / g->dims[0] / g->dims[1];
}

int grid_owner(const struct grid *g, const double position[3])
{
    int c[3];
    for (int d = 0; d < 3; d++) {
        int n = g->dims[d];
        double x = position[d];
        double guess = (x - g->box_lo[d]) / g->box_length[d] * n;
        /* Written so that a NaN lands in block 0. */
        c[d] = guess > 0 ? (guess < n ? (int)guess : n - 1) : 0;
        while (c[d] > 0 && x < face(g, d, c[d]))
            c[d]--;
        while (c[d] < n - 1 && x >= face(g, d, c[d] + 1))
            c[d]++;
    }
    return grid_rank(g, c);
}
