/* The Poisson equation of a grid: the solution, put into the operator, gives
 * the right-hand side; and it does not depend on how the grid is cut. All ranks
 * live in this process, and their messages are copied. */
#include "base/ctx.h"
#include "kernels/fluid/poisson_cpu.h"
#include "tests/tap.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_MAX = 64, PITCH_OF = 16 };

/* periodic: by direction; bend: 0 uniform, else how far z is stretched. */
struct grid {
    int64_t cells[3];
    int periodic[3];
    double bend;
};

struct world {
    struct grid grid;
    int dims[3], n;
    struct fluid_setup setup[RANKS_MAX];
    struct poisson *p[RANKS_MAX];
    int64_t cuts[3][RANKS_MAX + 1];
    double *face_z;
};

static size_t cells_of(const struct grid *g)
{
    return (size_t)(g->cells[0] * g->cells[1] * g->cells[2]);
}

static double face(const struct grid *g, int64_t k)
{
    double t = (double)k / (double)g->cells[2];
    return g->bend == 0
               ? 1.5 * t
               : 1 + tanh(g->bend * (2 * t - 1)) / tanh(g->bend) + 0.1 * t;
}

static void describe(struct world *w, int rank)
{
    const struct grid *g = &w->grid;
    struct fluid_setup *s = &w->setup[rank];
    memset(s, 0, sizeof *s);
    int coords[3] = {0, rank % w->dims[1], rank / w->dims[1]};
    for (int d = 0; d < 3; d++) {
        s->cells[d] = g->cells[d];
        s->dims[d] = w->dims[d];
        s->coords[d] = coords[d];
        s->cuts[d] = w->cuts[d];
        s->first[d] = w->cuts[d][coords[d]];
        s->local[d] = w->cuts[d][coords[d] + 1] - s->first[d];
        for (int side = 0; side < 2; side++)
            s->face[d][side].type = g->periodic[d] ? FLUID_PERIODIC
                                    : side == 0    ? FLUID_NO_SLIP
                                                   : FLUID_FREE_SLIP;
    }
    s->spacing[0] = 0.1;
    s->spacing[1] = 0.07;
    s->face_z = w->face_z;
    s->uniform_z = g->bend == 0;
    s->viscosity = s->density = 1;
}

static int world_make(struct ctx *ctx, struct world *w, const struct grid *g,
                      int ny, int nz)
{
    memset(w, 0, sizeof *w);
    w->grid = *g;
    w->dims[0] = 1;
    w->dims[1] = ny;
    w->dims[2] = nz;
    for (int d = 0; d < 3; d++)
        for (int r = 0; r <= w->dims[d]; r++)
            w->cuts[d][r] = g->cells[d] * r / w->dims[d];
    w->face_z = malloc(((size_t)g->cells[2] + 1) * sizeof *w->face_z);
    if (!w->face_z)
        return STATUS_MEMORY;
    for (int64_t k = 0; k <= g->cells[2]; k++)
        w->face_z[k] = face(g, k);
    w->n = ny * nz;
    for (int r = 0; r < w->n; r++) {
        describe(w, r);
        TRY(poisson_create(ctx, &w->setup[r], &w->p[r]));
    }
    return 0;
}

static void world_end(struct world *w)
{
    for (int r = 0; r < w->n; r++)
        poisson_destroy(w->p[r]);
    free(w->face_z);
}

/* The rank at `coordinate` along the exchange's direction, seen from `rank`. */
static int neighbor(const struct world *w, int rank, enum fluid_exchange what,
                    int coordinate)
{
    int y = rank % w->dims[1], z = rank / w->dims[1];
    return fluid_exchange_axis(what) == FLUID_Y ? z * w->dims[1] + coordinate
                                                : coordinate * w->dims[1] + y;
}

static int coordinate(const struct world *w, int rank, enum fluid_exchange what)
{
    return fluid_exchange_axis(what) == FLUID_Y ? rank % w->dims[1]
                                                : rank / w->dims[1];
}

/* Carries the messages. Nonzero where two ranks do not agree about them. */
static int exchange(struct ctx *ctx, struct world *w, enum fluid_exchange what)
{
    struct fluid_transfer t[RANKS_MAX];
    for (int r = 0; r < w->n; r++)
        TRY(poisson_send_begin(ctx, w->p[r], what, &t[r]));
    for (int r = 0; r < w->n; r++)
        for (int i = 0; i < t[r].n; i++) {
            int other = neighbor(w, r, what, t[r].partner[i]), found = 0;
            for (int j = 0; j < t[other].n; j++)
                if (t[other].partner[j] == coordinate(w, r, what)) {
                    if (t[other].recv_bytes[j] != t[r].send_bytes[i])
                        return STATUS_INTERNAL;
                    if (t[r].send_bytes[i] > 0)
                        memcpy(t[other].recv[j], t[r].send[i],
                               t[r].send_bytes[i]);
                    found++;
                }
            if (found != 1 || other == r)
                return STATUS_INTERNAL;
        }
    for (int r = 0; r < w->n; r++)
        TRY(poisson_send_end(ctx, w->p[r], what));
    return 0;
}

/* Between a rank's plane, in a row of some pitch, and the whole block. */
static void plane_copy(const struct world *w, int rank, int64_t k,
                       fluid_scalar_t *plane, size_t pitch, double *whole,
                       int out)
{
    const struct fluid_setup *s = &w->setup[rank];
    for (int64_t j = 0; j < s->local[1]; j++)
        for (int64_t i = 0; i < s->local[0]; i++) {
            double *cell = whole +
                           ((k + s->first[2]) % s->cells[2] * s->cells[1] +
                            s->first[1] + j) *
                               s->cells[0] +
                           i;
            fluid_scalar_t *number = plane + (size_t)j * pitch + (size_t)i;
            if (out)
                *cell = (double)*number;
            else
                *number = (fluid_scalar_t)*cell;
        }
}

static size_t pitch_of(const struct grid *g)
{
    return ((size_t)g->cells[0] + PITCH_OF - 1) / PITCH_OF * PITCH_OF;
}

static fluid_scalar_t *plane_make(const struct grid *g)
{
    size_t n = pitch_of(g) * (size_t)g->cells[1];
    fluid_scalar_t *p = aligned_alloc(64, n * sizeof *p);
    /* What stands beyond the row must not matter. */
    for (size_t i = 0; p && i < n; i++)
        p[i] = (fluid_scalar_t)NAN;
    return p;
}

/* psi of rhs, both of all cells. *neighbors: the greatest difference between a
 * rank's plane above its last one and the one meant. */
static int solve(struct ctx *ctx, struct world *w, double *rhs, double *psi,
                 double *neighbors)
{
    const struct grid *g = &w->grid;
    const size_t pitch = pitch_of(g);
    fluid_scalar_t *plane = plane_make(g);
    double *above = malloc(cells_of(g) * sizeof *above);
    if (!plane || !above)
        return STATUS_MEMORY;
    for (int r = 0; r < w->n; r++)
        for (int64_t k = w->setup[r].local[2] - 1; k >= 0; k--) {
            plane_copy(w, r, k, plane, pitch, rhs, 0);
            poisson_forward_plane(w->p[r], k, plane, pitch);
        }
    if (w->dims[1] > 1) {
        TRY(exchange(ctx, w, FLUID_TRANSPOSE));
        for (int r = 0; r < w->n; r++)
            poisson_transform_y(w->p[r]);
    }
    for (int r = 0; r < w->n; r++)
        poisson_columns_begin(w->p[r]);
    TRY(exchange(ctx, w, FLUID_COLUMNS));
    for (int r = 0; r < w->n; r++)
        poisson_columns_end(w->p[r]);
    if (w->dims[1] > 1) {
        for (int r = 0; r < w->n; r++)
            poisson_inverse_y(w->p[r]);
        TRY(exchange(ctx, w, FLUID_TRANSPOSE_BACK));
    } else {
        TRY(exchange(ctx, w, FLUID_PSI_Z));
    }
    /* Twice: a plane may be asked for again. */
    for (int again = 0; again < 2; again++)
        for (int r = 0; r < w->n; r++)
            for (int64_t k = 0; k < w->setup[r].local[2]; k++) {
                poisson_inverse_plane(w->p[r], k, plane, pitch);
                plane_copy(w, r, k, plane, pitch, psi, 1);
            }
    *neighbors = 0;
    for (int r = 0; r < w->n && w->dims[1] == 1; r++) {
        const struct fluid_setup *s = &w->setup[r];
        if (!g->periodic[2] && s->first[2] + s->local[2] == s->cells[2])
            continue;
        memcpy(above, psi, cells_of(g) * sizeof *above);
        poisson_inverse_plane(w->p[r], s->local[2], plane, pitch);
        plane_copy(w, r, s->local[2], plane, pitch, above, 1);
        for (size_t i = 0; i < cells_of(g); i++)
            *neighbors = fmax(*neighbors, fabs(above[i] - psi[i]));
    }
    free(plane);
    free(above);
    return 0;
}

/* ---- the operator ---- */

static int64_t wrap(const struct grid *g, int d, int64_t i)
{
    if (i < 0)
        return g->periodic[d] ? g->cells[d] - 1 : 0;
    if (i >= g->cells[d])
        return g->periodic[d] ? 0 : g->cells[d] - 1;
    return i;
}

static double height(const struct grid *g, int64_t k)
{
    k = wrap(g, 2, k);
    return face(g, k + 1) - face(g, k);
}

static double value(const struct grid *g, const double *f, int64_t i, int64_t j,
                    int64_t k)
{
    i = wrap(g, 0, i);
    j = wrap(g, 1, j);
    k = wrap(g, 2, k);
    return f[(k * g->cells[1] + j) * g->cells[0] + i];
}

static double laplacian(const struct grid *g, const double *f, int64_t i,
                        int64_t j, int64_t k)
{
    const double dx = 0.1, dy = 0.07, c = value(g, f, i, j, k);
    double h = height(g, k);
    double up = 0.5 * (h + height(g, k + 1));
    double down = 0.5 * (h + height(g, k - 1));
    return ((value(g, f, i + 1, j, k) - c) - (c - value(g, f, i - 1, j, k))) /
               (dx * dx) +
           ((value(g, f, i, j + 1, k) - c) - (c - value(g, f, i, j - 1, k))) /
               (dy * dy) +
           ((value(g, f, i, j, k + 1) - c) / up -
            (c - value(g, f, i, j, k - 1)) / down) /
               h;
}

/* Noise whose integral is zero. */
static double *noise(const struct grid *g)
{
    static uint32_t state = 1;
    double *f = malloc(cells_of(g) * sizeof *f), sum = 0, volume = 0;
    if (!f)
        return NULL;
    size_t plane = (size_t)(g->cells[0] * g->cells[1]);
    for (size_t i = 0; i < cells_of(g); i++) {
        state = state * 1664525u + 1013904223u;
        f[i] = (double)(state >> 8) / 16777216.0 - 0.5;
        sum += f[i] * height(g, (int64_t)(i / plane));
        volume += height(g, (int64_t)(i / plane));
    }
    for (size_t i = 0; i < cells_of(g); i++)
        f[i] -= sum / volume;
    return f;
}

struct worst {
    double residual, cut, neighbors;
    char what[128], what_cut[128];
};

static void name_of(const struct grid *g, int ny, int nz, char *out, size_t n)
{
    snprintf(out, n, "%d x %d x %d %c%c%c%s on %d x %d ranks", (int)g->cells[0],
             (int)g->cells[1], (int)g->cells[2], g->periodic[0] ? 'p' : 'w',
             g->periodic[1] ? 'p' : 'w', g->periodic[2] ? 'p' : 'w',
             g->bend > 0 ? " stretched" : "", ny, nz);
}

static double largest(const double *f, size_t n)
{
    double m = 0;
    for (size_t i = 0; i < n; i++)
        m = fmax(m, fabs(f[i]));
    return m;
}

/* One grid with all cuts; cuts[0] is 1 x 1. */
static int check(struct ctx *ctx, const struct grid *g, const int (*cuts)[2],
                 int n_cuts, struct worst *worst)
{
    double *rhs = noise(g), *whole = malloc(cells_of(g) * sizeof *whole);
    double *psi = malloc(cells_of(g) * sizeof *psi);
    if (!rhs || !whole || !psi)
        return STATUS_MEMORY;
    const double scale = fmax(largest(rhs, cells_of(g)), 1e-30);
    for (int c = 0; c < n_cuts; c++) {
        static struct world w;
        double neighbors;
        if (cuts[c][0] > g->cells[1] || cuts[c][1] > g->cells[2])
            continue;
        TRY(world_make(ctx, &w, g, cuts[c][0], cuts[c][1]));
        TRY(solve(ctx, &w, rhs, psi, &neighbors));
        world_end(&w);
        double residual = 0;
        for (int64_t k = 0; k < g->cells[2]; k++)
            for (int64_t j = 0; j < g->cells[1]; j++)
                for (int64_t i = 0; i < g->cells[0]; i++) {
                    double e = fabs(laplacian(g, psi, i, j, k) -
                                    value(g, rhs, i, j, k)) /
                               scale;
                    if (!(e <= residual))
                        residual = e;
                }
        if (!(residual <= worst->residual)) {
            worst->residual = residual;
            name_of(g, cuts[c][0], cuts[c][1], worst->what, sizeof worst->what);
        }
        worst->neighbors = fmax(worst->neighbors, neighbors);
        if (c == 0)
            memcpy(whole, psi, cells_of(g) * sizeof *psi);
        double size = fmax(largest(whole, cells_of(g)), 1e-30);
        for (size_t i = 0; i < cells_of(g); i++)
            psi[i] -= whole[i];
        double difference = largest(psi, cells_of(g)) / size;
        if (!(difference <= worst->cut)) {
            worst->cut = difference;
            name_of(g, cuts[c][0], cuts[c][1], worst->what_cut,
                    sizeof worst->what_cut);
        }
    }
    free(rhs);
    free(whole);
    free(psi);
    return 0;
}

static const int cuts[][2] = {{1, 1}, {1, 2}, {1, 3}, {1, 5}, {1, 7},
                              {2, 1}, {3, 1}, {2, 2}, {5, 3}, {8, 8}};
enum { N_CUTS = sizeof cuts / sizeof *cuts };

/* All boundaries of one set of sizes. */
static int check_families(struct ctx *ctx, int64_t nx, int64_t ny, int64_t nz,
                          struct worst *w)
{
    for (int family = 0; family < 8; family++)
        for (int bent = 0; bent < 2; bent++) {
            struct grid g = {{nx, ny, nz},
                             {family & 1, family >> 1 & 1, family >> 2 & 1},
                             bent ? 1.2 : 0};
            TRY(check(ctx, &g, cuts, N_CUTS, w));
        }
    return 0;
}

int main(void)
{
    static const int64_t small[] = {1, 2, 3, 5, 7, 8, 16, 30};
    static const int64_t sizes[][3] = {
        {16, 16, 16}, {30, 16, 8}, {32, 24, 30}, {64, 5, 7},  {5, 64, 16},
        {20, 48, 1},  {64, 1, 33}, {1, 40, 21},  {17, 34, 9}, {37, 11, 13},
        {8, 9, 10},   {24, 8, 16}, {1, 1, 64}};
    struct ctx ctx;
    memset(&ctx, 0, sizeof ctx);
    struct worst w = {0};
    int failed = 0;
    for (size_t i = 0; i < sizeof small / sizeof *small && !failed; i++)
        for (size_t j = 0; j < sizeof small / sizeof *small && !failed; j++) {
            int64_t third = small[(3 * i + 5 * j) % 8];
            failed = check_families(&ctx, small[i], small[j], third, &w);
        }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !failed; i++)
        failed =
            check_families(&ctx, sizes[i][0], sizes[i][1], sizes[i][2], &w);
    tap_ok(failed == 0, "all ranks agree about sizes of messages");
    /* Rounding, as much as these grids' ratios of sizes multiply it: some
     * hundred times. */
    const double eps = sizeof(fluid_scalar_t) == 8 ? 2.2e-16 : 1.2e-7;
    tap_ok(w.residual < 4500 * eps,
           "the solution, put into the operator, is the right-hand side (worst "
           "%.1e, %s)",
           w.residual, w.what);
    tap_ok(w.cut < 450 * eps,
           "it does not depend on how the grid is cut (worst %.1e, %s)", w.cut,
           w.what_cut);
    tap_ok(w.neighbors == 0,
           "the plane above a rank's last one is the neighbor's first one");
    return tap_done();
}
