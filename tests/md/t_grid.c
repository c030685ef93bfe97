/* Boxes cut into blocks: who owns what, and that nobody owns anything twice. */
#include <math.h>

#include "domain/grid.h"
#include "tests/tap.h"

static int chooses(int size, double x, double y, double z, int nx, int ny,
                   int nz)
{
    double length[3] = {x, y, z};
    int dims[3];
    grid_choose(size, length, dims);
    if (dims[0] != nx || dims[1] != ny || dims[2] != nz)
        tap_note("%d ranks: %d x %d x %d", size, dims[0], dims[1], dims[2]);
    return dims[0] == nx && dims[1] == ny && dims[2] == nz;
}

static void check_choice(void)
{
    tap_ok(chooses(1, 1, 1, 1, 1, 1, 1), "one rank has the whole box");
    tap_ok(chooses(2, 1, 1, 1, 2, 1, 1), "a cube is cut across x first");
    tap_ok(chooses(2, 1, 2, 1, 1, 2, 1), "the longest direction is cut");
    tap_ok(chooses(2, 1, 1, 3, 1, 1, 2), "also where it is z");
    tap_ok(chooses(7, 1, 1, 1, 7, 1, 1), "a prime count makes slabs");
    tap_ok(chooses(27, 1, 1, 1, 3, 3, 3), "27 blocks of a cube are cubes");
    tap_ok(chooses(64, 1, 1, 1, 4, 4, 4), "64 blocks of a cube are cubes");
    tap_ok(chooses(8, 1, 1, 0, 4, 2, 1),
           "a flat box is cut in both directions");
    tap_ok(chooses(8, 1, 2, 0, 2, 4, 1), "a flat box is cut where it is long");
    tap_ok(chooses(8, 0, 1, 1, 1, 4, 2), "a box without x is cut in y and z");
    tap_ok(chooses(5, 0, 0, 2, 1, 1, 5), "a line is cut along itself");
    tap_ok(chooses(12, 3, 2, 1, 6, 2, 1) || chooses(12, 3, 2, 1, 4, 3, 1) ||
               chooses(12, 3, 2, 1, 3, 2, 2),
           "12 blocks of a 3 x 2 x 1 box");
}

/* The rank whose block holds x, by looking at all; -1: none, -2: several. */
static int owner_by_search(const struct grid *any, const double x[3])
{
    int found = -1;
    for (int r = 0; r < any->size; r++) {
        struct grid g;
        grid_init(&g, any->box_lo, any->box_length, any->dims, r, any->size);
        int inside = 1;
        for (int d = 0; d < 3; d++)
            inside = inside && x[d] >= g.lo[d] && x[d] < g.hi[d];
        if (inside)
            found = found == -1 ? r : -2;
    }
    return found;
}

/* Positions on, just below and just above every face. */
static int faces_are_owned_once(const struct grid *g)
{
    for (int d = 0; d < 3; d++)
        for (int c = 0; c <= g->dims[d]; c++)
            for (int side = -1; side <= 1; side++) {
                int at[3] = {0, 0, 0};
                double lo[3], hi[3], x[3];
                at[d] = c;
                grid_block(g, at, lo, hi);
                for (int e = 0; e < 3; e++)
                    x[e] = g->box_lo[e] + 0.3 * g->box_length[e];
                x[d] = lo[d];
                if (side != 0)
                    x[d] = nextafter(x[d], side * 1e30);
                if (c == g->dims[d] && side < 0)
                    x[d] = nextafter(g->box_lo[d] + g->box_length[d], -1e30);
                if (x[d] < g->box_lo[d])
                    continue;
                if (grid_owner(g, x) != owner_by_search(g, x))
                    return 0;
            }
    return 1;
}

static void check_owner(void)
{
    /* Lengths whose thirds, fifths and sevenths are no exact numbers. */
    static const double lo[3] = {-1.7, 0, 1e6 / 3};
    static const double length[3] = {33.59192, 0.1, 17.3};
    static const int all[][3] = {{1, 1, 1}, {2, 1, 1},  {3, 1, 1}, {1, 7, 1},
                                 {2, 3, 5}, {1, 1, 13}, {7, 3, 2}, {8, 1, 1}};
    int held = 1, same = 1, end = 1;
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        struct grid g;
        int size = all[i][0] * all[i][1] * all[i][2];
        for (int r = 0; r < size; r++) {
            grid_init(&g, lo, length, all[i], r, size);
            same = same && grid_rank(&g, g.coords) == r;
            for (int d = 0; d < 3; d++)
                if (g.coords[d] == g.dims[d] - 1)
                    end = end && !(g.hi[d] < lo[d] + length[d]) &&
                          !(g.hi[d] > lo[d] + length[d]);
        }
        held = held && faces_are_owned_once(&g);
    }
    tap_ok(held, "a position on or beside a face is in exactly one block");
    tap_ok(same, "rank and coordinates belong together");
    tap_ok(end, "the last block ends exactly where the box does");
}

static void check_corners(void)
{
    static const double lo[3] = {0, 0, 0}, length[3] = {8, 8, 8};
    static const int dims[3] = {2, 2, 2};
    struct grid g;
    double minus_zero[3] = {-0.0, -0.0, -0.0}, middle[3] = {4, 4, 4};
    double last[3] = {nextafter(8, 0), nextafter(8, 0), nextafter(8, 0)};
    double bad[3] = {NAN, NAN, NAN};
    int beyond[3] = {2, -1, 3};
    grid_init(&g, lo, length, dims, 0, 8);
    tap_is_int(grid_owner(&g, minus_zero), 0, "-0.0 is in the first block");
    tap_is_int(grid_owner(&g, middle), 7,
               "a corner belongs to the block above");
    tap_is_int(grid_owner(&g, last), 7,
               "the last number below the edge is owned");
    tap_is_int(grid_owner(&g, bad), 0,
               "a position that is no number ends well");
    tap_is_int(grid_rank(&g, beyond), 6, "coordinates beyond the grid wrap");
}

/* Whether a block and a shifted one are as far apart as their ends say, from
 * either to the last bit. */
static int same_gap(const struct grid *g, int c, int delta, double shift)
{
    int other[3] = {c + delta, 0, 0}, at[3] = {c, 0, 0};
    double lo[3], hi[3], low[3], high[3];
    grid_block(g, at, lo, hi);
    grid_block(g, other, low, high);
    shift = shift - 3 > 0 || shift + 3 < 0 ? shift : 0;
    double away = floor((c + delta) / 4.0) * g->box_length[0] + shift;
    double gap = fmax(fmax(low[0] + away - hi[0], lo[0] - high[0] - away), 0);
    double there = grid_gap(g, 0, c, delta, shift);
    double back = grid_gap(g + 5, 0, c + delta + 8, -delta, -shift);
    return fabs(there - gap) < 1e-13 && !(there < back) && !(there > back);
}

/* Faces at unequal distances: blocks as a search sees them, and widths between
 * two blocks that are the same from both. */
static void check_cuts(void)
{
    static const double lo[3] = {-1, 0, 2}, length[3] = {7.7, 5.5, 3.3};
    static const int dims[3] = {4, 1, 2};
    static const double x[] = {0, 0.1, 0.15, 0.7, 1}, y[] = {0, 1},
                        z[] = {0, 0.55, 1};
    static const double *const cuts[3] = {x, y, z};
    struct grid g[8];
    int owned = 1, gaps = 1;
    for (int r = 0; r < 8; r++) {
        grid_init(&g[r], lo, length, dims, r, 8);
        grid_cut(&g[r], cuts);
    }
    for (int i = 0; i < 4000; i++) {
        double at[3] = {-1 + 7.7 * (i % 77) / 77.0, 5.5 * (i % 5) / 5.0,
                        2 + 3.3 * (i % 40) / 40.0};
        int owner = grid_owner(&g[i % 8], at);
        for (int r = 0; r < 8; r++) {
            int inside = 1;
            for (int d = 0; d < 3; d++)
                inside = inside && at[d] >= g[r].lo[d] && at[d] < g[r].hi[d];
            owned = owned && inside == (r == owner);
        }
    }
    for (int a = 0; a < 4; a++)
        for (int delta = -9; delta <= 9; delta++)
            for (double shift = -9; shift < 10; shift += 2.25)
                gaps = gaps && same_gap(g, a, delta, shift);
    tap_ok(owned, "with unequal blocks each place has its one owner");
    tap_ok(gaps, "what lies between two blocks is as wide from either");
    tap_near(grid_gap(&g[0], 0, 0, 3, 0), 7.7 * 0.6, 1e-14,
             "between the first and the last are the two in the middle");
    tap_near(grid_gap(&g[0], 0, 3, 3, 0), 7.7 * (0.1 + 0.05), 1e-14,
             "and on the way through the periodic face others");
    tap_near(grid_narrowest(&g[0], 0), 7.7 * 0.05, 1e-14,
             "the narrowest block is found");
}

int main(void)
{
    check_cuts();
    check_choice();
    check_owner();
    check_corners();
    return tap_done();
}
