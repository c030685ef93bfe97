/* t_terms_implicit.c: Crank-Nicolson diffusion: the discrete decay of modes,
 * cuts, large steps, order in time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fluid/terms_case.h"
#include "tests/tap.h"

static struct terms_case c; /* large */

static void walls_at_rest(void)
{
    for (int d = 0; d < 3; d++)
        for (int side = 0; side < 2; side++)
            memset(c.setup.face[d][side].velocity, 0, sizeof(double[3]));
}

/* ---- modes ---- */

/* -(second difference) of the mode that mode_at() gives, times h^2. */
static double eigenvalue(enum fluid_wall wall, int64_t n)
{
    double s = sin((wall == FLUID_PERIODIC ? M_PI : 0.5 * M_PI) / (double)n);
    return 4 * s * s;
}

static double mode_at(enum fluid_wall wall, int64_t n, int64_t i)
{
    double x = M_PI * ((double)i + 0.5) / (double)n;
    return wall == FLUID_PERIODIC  ? sin(2 * x)
           : wall == FLUID_NO_SLIP ? sin(x)
                                   : cos(x);
}

/* Component f as a product of modes of the two other directions (advection and
 * pressure are then zero), over three steps; the greatest error. */
static double decay(const struct fluid_kernels *k, int f, int walls,
                    enum fluid_diffusion how, double number, int dims_y,
                    int dims_z)
{
    const int64_t cells[3] = {10, 9, 12};
    double factor = 1, dt = 0.1, h[3], a[3] = {0, 0, 0};
    for (int d = 0; d < 3; d++)
        h[d] = 1 / (double)cells[d];
    terms_describe(&c, cells, walls, 0, 0);
    walls_at_rest();
    c.setup.diffusion = how;
    c.setup.viscosity = number * h[2] * h[2] / dt;
    /* Nothing varies along f itself. */
    for (int side = 0; side < 2; side++)
        c.setup.face[f][side].type = FLUID_PERIODIC;
    if (terms_start(&c, k, dims_y, dims_z) != 0)
        return INFINITY;
    for (int64_t z = 0, m = 0; z < cells[2]; z++)
        for (int64_t y = 0; y < cells[1]; y++)
            for (int64_t x = 0; x < cells[0]; x++, m++) {
                const int64_t at[3] = {x, y, z};
                double u = 1;
                for (int d = 0; d < 3; d++)
                    if (d != f)
                        u *= mode_at(c.setup.face[d][0].type, cells[d], at[d]);
                c.r.u[f][m] = c.r.before[f][m] = u;
            }
    int failed = terms_put(&c);
    for (int step = 0; step < 3; step++) {
        failed |= world_step(&c.world, dt, NULL, NULL);
        double slope = 0, before = 0; /* explicit part, over the step */
        for (int stage = 0; stage < 3; stage++) {
            struct fluid_substage sub = world_stage(stage, dt, NULL);
            double divide = 1, explicit_part = 0, implicit_part = 0;
            for (int d = 0; d < 3; d++) {
                a[d] = d == f
                           ? 0
                           : c.setup.viscosity / (h[d] * h[d]) *
                                 eigenvalue(c.setup.face[d][0].type, cells[d]);
                if (how == FLUID_IMPLICIT ||
                    (how == FLUID_IMPLICIT_Z && d == 2)) {
                    divide *= 1 + 0.5 * sub.alpha * dt * a[d];
                    implicit_part += a[d];
                } else {
                    explicit_part += a[d];
                }
            }
            before = slope;
            slope = -explicit_part * factor;
            factor += (dt * (sub.gamma * slope + sub.zeta * before) -
                       sub.alpha * dt * implicit_part * factor) /
                      divide;
        }
    }
    failed |= terms_take(&c);
    for (size_t m = 0; m < c.r.cells; m++)
        c.r.before[f][m] *= factor;
    double worst = terms_difference(c.r.u[f], c.r.before[f], c.r.cells);
    terms_end(&c);
    return failed ? INFINITY : worst;
}

static void test_modes(void)
{
    static const int cuts[][2] = {{1, 1}, {1, 3}, {3, 2}};
    double worst = 0, single = 0;
    for (int f = 0; f < 3; f++)
        for (int walls = f % 2; walls < 27; walls += 2)
            for (int how = 1; how <= 2; how++)
                for (size_t m = 0; m < sizeof cuts / sizeof *cuts; m++) {
                    worst = fmax(worst, decay(&fluid_kernels_cpu_double, f,
                                              walls, (enum fluid_diffusion)how,
                                              0.3, cuts[m][0], cuts[m][1]));
                    single =
                        fmax(single, decay(&fluid_kernels_cpu_single, f, walls,
                                           (enum fluid_diffusion)how, 0.3,
                                           cuts[m][0], cuts[m][1]));
                }
    tap_near(worst, 0, 1e-12,
             "modes decay with the scheme's exact factor, whatever the walls, "
             "the implicit directions and the cuts");
    tap_near(single, 0, 1e-5, "and in single precision to its round-off");
}

/* ---- cuts ---- */

static int some_steps(int walls, enum fluid_diffusion how, double viscosity,
                      int dims_y, int dims_z, double *out)
{
    static const int64_t cells[3] = {11, 12, 9};
    terms_describe(&c, cells, walls, walls / 9 > 0 ? 1.3 : 0, 2);
    c.setup.viscosity = viscosity;
    c.setup.scalar[1].diffusivity = 3 * viscosity;
    c.setup.scalar[0].buoyancy[2] = 0.4;
    c.setup.diffusion = how;
    if (terms_start(&c, &fluid_kernels_cpu_double, dims_y, dims_z) != 0)
        return -1;
    terms_fill_flow(&c, 0.1);
    terms_fill_values(&c, 1);
    int failed = terms_put(&c);
    for (int step = 0; step < 2 && !failed; step++)
        failed = world_step(&c.world, 0.02, NULL, NULL);
    failed |= terms_take(&c);
    for (int f = 0; f < 3; f++)
        memcpy(out + (size_t)f * c.r.cells, c.r.u[f], c.r.cells * sizeof *out);
    for (int n = 0; n < 2; n++)
        memcpy(out + (size_t)(3 + n) * c.r.cells, c.value[n],
               c.r.cells * sizeof *out);
    terms_end(&c);
    return failed;
}

static void test_cuts(void)
{
    static const int cuts[][2] = {{1, 2}, {2, 1}, {1, 3}, {3, 1},
                                  {2, 3}, {4, 4}, {1, 9}};
    enum { NUMBERS = 5 * 11 * 12 * 9 };
    static double whole[NUMBERS], parts[NUMBERS];
    double worst = 0;
    for (int walls = 0; walls < 27; walls++)
        for (int how = 1; how <= 2; how++)
            for (int thick = 0; thick < 2; thick++) {
                double nu = thick ? 5 : 0.02;
                enum fluid_diffusion diffusion = (enum fluid_diffusion)how;
                if (how == 1 && thick)
                    continue; /* unstable along x and y */
                if (some_steps(walls, diffusion, nu, 1, 1, whole))
                    worst = INFINITY;
                for (size_t m = 0; m < sizeof cuts / sizeof *cuts; m++) {
                    if (some_steps(walls, diffusion, nu, cuts[m][0], cuts[m][1],
                                   parts))
                        worst = INFINITY;
                    worst =
                        fmax(worst, terms_difference(whole, parts, NUMBERS));
                }
            }
    tap_near(worst, 0, 1e-12,
             "velocity and scalars are the same for 1 to 16 blocks");
}

/* ---- stability ---- */

static void test_stability(void)
{
    static const int64_t cells[3] = {12, 10, 14};
    double grown = 0, finite = 1;
    for (int walls = 0; walls < 27; walls += 13) {
        struct fluid_look before, after;
        terms_describe(&c, cells, walls, walls / 9 > 0 ? 1.3 : 0, 1);
        walls_at_rest();
        double dt = 0.01;
        /* Explicit limit along the three directions: 2.5 / (4 (1/dx^2 + ..)) of
         * dt viscosity. */
        double sum = 12 * 12 + 10 * 10 + 14 * 14;
        c.setup.viscosity = 50 * 2.5 / (4 * sum) / dt;
        c.setup.scalar[0].diffusivity = c.setup.viscosity;
        c.setup.diffusion = FLUID_IMPLICIT;
        if (terms_start(&c, &fluid_kernels_cpu_double, 1, 1) != 0)
            continue;
        terms_fill_noise(&c, 0.1);
        terms_fill_values(&c, 0.1);
        int failed = terms_put(&c) || world_step(&c.world, dt, NULL, NULL) ||
                     terms_look(&c, &before);
        for (int step = 0; step < 30 && !failed; step++)
            failed = world_step(&c.world, dt, NULL, NULL);
        failed = failed || terms_look(&c, &after);
        grown = fmax(grown, after.kinetic / before.kinetic);
        finite = failed || !isfinite(after.kinetic) ? 0 : finite;
        tap_note("walls %d: kinetic energy times %.3g", walls,
                 after.kinetic / before.kinetic);
        terms_end(&c);
    }
    tap_ok(finite > 0 && grown < 1,
           "50 times the explicit limit: noise decays (factor %.3g)", grown);
}

/* ---- order ---- */

static int timed(enum fluid_diffusion how, int walls, int steps, double *out)
{
    static const int64_t cells[3] = {8, 10, 12};
    static const double force[3] = {0.5, 0, 0};
    terms_describe(&c, cells, walls, 1.1, 1);
    c.setup.viscosity = 0.03;
    c.setup.scalar[0].buoyancy[2] = 1;
    c.setup.diffusion = how;
    if (terms_start(&c, &fluid_kernels_cpu_double, 1, 1) != 0)
        return -1;
    terms_fill_flow(&c, 0.2);
    for (size_t m = 0; m < c.r.cells; m++)
        c.value[0][m] = c.r.u[0][m];
    int failed = terms_put(&c);
    for (int step = 0; step < steps && !failed; step++)
        failed = world_step(&c.world, 0.5 / steps, force, NULL);
    failed |= terms_take(&c);
    for (int f = 0; f < 3; f++)
        memcpy(out + (size_t)f * c.r.cells, c.r.u[f], c.r.cells * sizeof *out);
    memcpy(out + 3 * c.r.cells, c.value[0], c.r.cells * sizeof *out);
    terms_end(&c);
    return failed;
}

static void test_order(void)
{
    enum { NUMBERS = 4 * 8 * 10 * 12 };
    static double x[3][NUMBERS];
    static const char *const name[] = {"explicit", "implicit along z",
                                       "implicit"};
    for (int walls = 9; walls < 14; walls += 4)
        for (int how = 1; how <= 2; how++) {
            int failed = 0;
            for (int n = 0; n < 3; n++)
                failed |=
                    timed((enum fluid_diffusion)how, walls, 40 << n, x[n]);
            double coarse = terms_difference(x[0], x[1], NUMBERS);
            double fine = terms_difference(x[1], x[2], NUMBERS);
            tap_note("differences %.3g %.3g", coarse, fine);
            tap_ok(!failed && log2(coarse / fine) > 1.8,
                   "%s, walls %d: slope %.2f in time", name[how], walls,
                   log2(coarse / fine));
        }
}

int main(void)
{
    test_modes();
    test_cuts();
    test_stability();
    test_order();
    return tap_done();
}
