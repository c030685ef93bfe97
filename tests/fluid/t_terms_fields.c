/* t_terms_fields.c: fields and profiles at the centers of cells, against plain
 * loops and flows that are known. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fluid/terms_case.h"
#include "tests/tap.h"

static struct terms_case c; /* large */

#define EACH_CELL                              \
    for (int64_t k = 0; k < c.r.n[2]; k++)     \
        for (int64_t j = 0; j < c.r.n[1]; j++) \
            for (int64_t i = 0; i < c.r.n[0]; i++)

static double at(int f, int64_t i, int64_t j, int64_t k)
{
    return reference_at(&c.r, f, i, j, k);
}

static double width(int d, int64_t k)
{
    return d < 2 ? c.setup.spacing[d] : reference_h(&c.r, k);
}

/* ---- derived fields ---- */

/* Flows along one direction that are parabolas in another: differences are
 * exact, at walls too. u_f = x_d (2 - x_d), lower wall at rest, upper at 1. */
static double parabola_error(int f, int d, double stretch, int dims_y,
                             int dims_z)
{
    static const int64_t cells[3] = {7, 6, 9};
    static const int power[3] = {1, 3, 9};
    int o = 3 - f - d;
    terms_describe(&c, cells, power[d], stretch, 0);
    memset(c.setup.face[d][0].velocity, 0, sizeof(double[3]));
    memset(c.setup.face[d][1].velocity, 0, sizeof(double[3]));
    c.setup.face[d][1].velocity[f] = 1;
    if (terms_start(&c, &fluid_kernels_cpu_double, dims_y, dims_z) != 0)
        return INFINITY;
    double *got = malloc(c.r.cells * sizeof *got);
    double sign = (f + 1) % 3 == d ? -1 : 1, worst = 0;
    EACH_CELL
    {
        int64_t x[3] = {i, j, k};
        const double *z = c.world.face_z;
        double y = d < 2 ? ((double)x[d] + 0.5) * c.setup.spacing[d]
                         : 0.5 * (z[k] + z[k + 1]);
        size_t m = reference_index(&c.r, i, j, k);
        c.r.u[f][m] = y * (2 - y);
        /* omega_o = du_d/dx_f - du_f/dx_d for f = o + 1, d = o + 2. */
        c.r.before[0][m] = sign * (2 - 2 * y);
    }
    int failed = !got || terms_put(&c);
    for (int w = 0; w < 3 && !failed; w++) {
        failed =
            world_get(&c.world, (enum fluid_field)(FLUID_VORTICITY_X + w), got);
        for (size_t m = 0; m < c.r.cells; m++)
            worst = fmax(worst, fabs(got[m] - (w == o ? c.r.before[0][m] : 0)));
    }
    failed = failed || world_get(&c.world, FLUID_Q, got);
    for (size_t m = 0; m < c.r.cells && !failed; m++)
        worst = fmax(worst, fabs(got[m]));
    free(got);
    terms_end(&c);
    return failed ? INFINITY : worst;
}

/* The gradient at a center where nothing is a wall. */
static double slope_at(int f, int d, int64_t i, int64_t j, int64_t k)
{
    int64_t low[3] = {i, j, k}, up[3], down[3];
    low[f]--;
    if (f == d)
        return (at(f, i, j, k) - at(f, low[0], low[1], low[2])) / width(d, k);
    double sum = 0;
    for (int m = 0; m < 2; m++) {
        int64_t x[3] = {i, j, k};
        memcpy(up, m ? low : x, sizeof up);
        memcpy(down, up, sizeof down);
        up[d]++;
        down[d]--;
        sum += 0.5 *
               (at(f, up[0], up[1], up[2]) - at(f, down[0], down[1], down[2])) /
               (2 * c.setup.spacing[0] * (double)c.r.n[0] / (double)c.r.n[d]);
    }
    return sum;
}

static double get_error(enum fluid_field field, const double *want,
                        double *work)
{
    if (world_get(&c.world, field, work) != 0)
        return INFINITY;
    return terms_difference(work, want, c.r.cells);
}

static void test_fields(void)
{
    static const int cuts[][2] = {{1, 1}, {1, 3}, {2, 2}};
    double parabola = 0, worst = 0;
    for (int f = 0; f < 3; f++)
        for (int d = 0; d < 3; d++)
            for (size_t m = 0; f != d && m < sizeof cuts / sizeof *cuts; m++)
                parabola =
                    fmax(parabola, parabola_error(f, d, d == 2 ? 1.3 : 0,
                                                  cuts[m][0], cuts[m][1]));
    tap_near(parabola, 0, 2e-13,
             "the vorticity of parabolic flows is exact in every cell, on "
             "stretched grids and beside moving walls");

    static const int64_t cells[3] = {9, 6, 7};
    for (size_t m = 0; m < sizeof cuts / sizeof *cuts; m++) {
        terms_describe(&c, cells, 0, 0, 0);
        if (terms_start(&c, &fluid_kernels_cpu_double, cuts[m][0],
                        cuts[m][1]) != 0)
            worst = INFINITY;
        terms_fill_noise(&c, 1);
        int failed = terms_put(&c);
        double *want = malloc(c.r.cells * sizeof *want);
        double *work = malloc(c.r.cells * sizeof *work);
        for (int f = 0; f < 3 && want && work; f++) {
            int a = (f + 1) % 3, b = (f + 2) % 3;
            EACH_CELL
            {
                int64_t x[3] = {i, j, k};
                x[f]--;
                want[reference_index(&c.r, i, j, k)] =
                    0.5 * (at(f, i, j, k) + at(f, x[0], x[1], x[2]));
            }
            worst =
                fmax(worst, get_error((enum fluid_field)(FLUID_CENTER_U + f),
                                      want, work));
            EACH_CELL
            {
                want[reference_index(&c.r, i, j, k)] =
                    slope_at(b, a, i, j, k) - slope_at(a, b, i, j, k);
            }
            worst =
                fmax(worst, get_error((enum fluid_field)(FLUID_VORTICITY_X + f),
                                      want, work));
        }
        EACH_CELL
        {
            double sum = 0;
            for (int f = 0; f < 3; f++)
                for (int d = 0; d < 3; d++)
                    sum += slope_at(f, d, i, j, k) * slope_at(d, f, i, j, k);
            want[reference_index(&c.r, i, j, k)] = -0.5 * sum;
        }
        worst = fmax(worst, failed ? INFINITY : get_error(FLUID_Q, want, work));
        free(want);
        free(work);
        terms_end(&c);
    }
    tap_near(worst, 0, 1e-12,
             "velocity, vorticity and Q at centers are those of plain loops");
}

/* ---- profiles ---- */

/* Sums over planes of one moment from whole fields. */
static double profile_error(const struct fluid_kernels *kernels, int walls,
                            int dims_y, int dims_z)
{
    static const int64_t cells[3] = {9, 6, 8};
    enum { CELLS = 9 * 6 * 8, FIELDS = 8, MOMENTS = FLUID_M_T0 + 5 };
    static double x[FIELDS][CELLS], part[9 * MOMENTS];
    static double sums[9][MOMENTS], size[MOMENTS];
    static const enum fluid_field field[FIELDS] = {
        FLUID_CENTER_U,    FLUID_CENTER_V,    FLUID_CENTER_W,    FLUID_PRESSURE,
        FLUID_VORTICITY_X, FLUID_VORTICITY_Y, FLUID_VORTICITY_Z, FLUID_SCALAR0};
    /* Each moment as a product of up to four of them (-1: no factor). */
    static const int factor[MOMENTS][4] = {
        {0, -1, -1, -1},
        {1, -1, -1, -1},
        {2, -1, -1, -1},
        {3, -1, -1, -1},
        {0, 0, -1, -1},
        {1, 1, -1, -1},
        {2, 2, -1, -1},
        {3, 3, -1, -1},
        {0, 1, -1, -1},
        {0, 2, -1, -1},
        {1, 2, -1, -1},
        {0, 0, 0, -1},
        {1, 1, 1, -1},
        {2, 2, 2, -1},
        {0, 0, 0, 0},
        {1, 1, 1, 1},
        {2, 2, 2, 2},
        {4, 4, -1, -1},
        {5, 5, -1, -1},
        {6, 6, -1, -1},
        {-1, -1, -1, -1} /* dissipation: below */,
        {7, -1, -1, -1},
        {7, 7, -1, -1},
        {0, 7, -1, -1},
        {1, 7, -1, -1},
        {2, 7, -1, -1}};
    double worst = 0;
    terms_describe(&c, cells, walls, walls / 9 > 0 ? 1.2 : 0, 1);
    if (terms_start(&c, kernels, dims_y, dims_z) != 0)
        return INFINITY;
    terms_fill_flow(&c, 0.3);
    terms_fill_values(&c, 1);
    int failed = terms_put(&c) || world_step(&c.world, 0.01, NULL, NULL) ||
                 terms_take(&c) || terms_put(&c);
    for (int f = 0; f < FIELDS && !failed; f++)
        failed = world_get(&c.world, field[f], x[f]);
    for (int axis = 0; axis < 3 && !failed; axis++) {
        memset(sums, 0, sizeof sums);
        for (int m = 0; m < MOMENTS; m++)
            size[m] = 1;
        for (int rank = 0; rank < c.world.n && !failed; rank++) {
            const struct fluid_setup *s = &c.world.setup[rank];
            failed =
                kernels->profile(&c.world.ctx, c.world.store[rank], axis, part);
            for (int64_t n = 0; n < s->local[axis]; n++)
                for (int m = 0; m < MOMENTS; m++)
                    sums[s->first[axis] + n][m] += part[n * MOMENTS + m];
        }
        EACH_CELL
        {
            int64_t at_axis[3] = {i, j, k};
            size_t cell = reference_index(&c.r, i, j, k);
            for (int m = 0; m < MOMENTS; m++) {
                double product = 1;
                for (int n = 0; n < 4 && factor[m][n] >= 0; n++)
                    product *= x[factor[m][n]][cell];
                if (m == FLUID_M_DISSIPATION && walls == 0) {
                    product = 0;
                    for (int f = 0; f < 3; f++)
                        for (int d = 0; d < 3; d++) {
                            double g = slope_at(f, d, i, j, k);
                            product += c.setup.viscosity * g * g;
                        }
                }
                size[m] += fabs(product);
                if (m != FLUID_M_DISSIPATION || walls == 0)
                    sums[at_axis[axis]][m] -= product;
                else
                    sums[at_axis[axis]][m] = 0;
            }
        }
        for (int64_t n = 0; n < cells[axis]; n++)
            for (int m = 0; m < MOMENTS; m++)
                worst = fmax(worst, isfinite(sums[n][m])
                                        ? fabs(sums[n][m]) / size[m]
                                        : INFINITY);
    }
    terms_end(&c);
    return failed ? INFINITY : worst;
}

static void test_profile(void)
{
    static const int cuts[][2] = {{1, 1}, {1, 3}, {2, 2}};
    double worst = 0, single = 0;
    for (int walls = 0; walls < 27; walls += 2)
        for (size_t m = 0; m < sizeof cuts / sizeof *cuts; m++) {
            worst = fmax(worst, profile_error(&fluid_kernels_cpu_double, walls,
                                              cuts[m][0], cuts[m][1]));
            single = fmax(single, profile_error(&fluid_kernels_cpu_single,
                                                walls, cuts[m][0], cuts[m][1]));
        }
    tap_near(worst, 0, 1e-13,
             "profiles along x, y and z are sums of the fields at centers");
    tap_near(single, 0, 3e-5, "and in single precision to its round-off");
}

int main(void)
{
    test_fields();
    test_profile();
    return tap_done();
}
