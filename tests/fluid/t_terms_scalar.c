/* t_terms_scalar.c: scalars carried by the flow, against plain loops and what
 * must hold exactly. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fluid/terms_case.h"
#include "tests/tap.h"

static struct terms_case c; /* large */

/* ---- plain loops ---- */

/* d(value)/dt of scalar n, from the fluxes through the six faces of a cell. */
static double rate(int n, int64_t i, int64_t j, int64_t k)
{
    double sum = 0, here = terms_value(&c, n, i, j, k);
    for (int d = 0; d < 3; d++)
        for (int side = 0; side < 2; side++) {
            int64_t face[3] = {i, j, k}, next[3] = {i, j, k};
            double h = d < 2 ? c.setup.spacing[d] : reference_h(&c.r, k);
            double between = d < 2 ? h : reference_hc(&c.r, side ? k : k - 1);
            face[d] -= !side;
            next[d] += side ? 1 : -1;
            double other = terms_value(&c, n, next[0], next[1], next[2]);
            double u = reference_at(&c.r, d, face[0], face[1], face[2]);
            double out =
                (side ? 1 : -1) * u * 0.5 * (here + other) -
                c.setup.scalar[n].diffusivity * (other - here) / between;
            sum -= out / h;
        }
    return sum;
}

static int plain_substage(const struct fluid_substage *sub, double *work)
{
    for (int n = 0; n < c.setup.n_scalars; n++) {
        for (int64_t k = 0, m = 0; k < c.r.n[2]; k++)
            for (int64_t j = 0; j < c.r.n[1]; j++)
                for (int64_t i = 0; i < c.r.n[0]; i++, m++)
                    work[m] = rate(n, i, j, k);
        for (size_t m = 0; m < c.r.cells; m++) {
            c.value[n][m] +=
                sub->dt * (sub->gamma * work[m] +
                           (sub->first ? 0 : sub->zeta * c.value_before[n][m]));
            c.value_before[n][m] = work[m];
        }
    }
    return 0;
}

/* The greatest difference after a whole step; the flow is what the kernels make
 * of it. */
static double against_plain(const struct fluid_kernels *k,
                            const int64_t cells[3], int walls, int dims_y,
                            int dims_z)
{
    double worst = 0;
    terms_describe(&c, cells, walls, walls / 9 > 0 ? 1.2 : 0, 2);
    for (int n = 0; n < 2; n++)
        for (int d = 0; d < 3; d++)
            c.setup.scalar[n].buoyancy[d] = 0.3 * (d - n);
    if (terms_start(&c, k, dims_y, dims_z) != 0)
        return INFINITY;
    double *work = malloc(c.r.cells * sizeof *work), *keep[2];
    keep[0] = malloc(c.r.cells * sizeof *work);
    keep[1] = malloc(c.r.cells * sizeof *work);
    terms_fill_flow(&c, 0.1);
    terms_fill_values(&c, 1);
    if (!work || !keep[0] || !keep[1] || terms_put(&c) != 0)
        return INFINITY;
    for (int stage = 0; stage < 3; stage++) {
        struct fluid_substage sub = world_stage(stage, 0.02, NULL);
        for (int d = 0; d < 3; d++)
            if (world_get(&c.world, (enum fluid_field)d, c.r.u[d]) != 0)
                worst = INFINITY;
        plain_substage(&sub, work);
        if (world_substage(&c.world, &sub, NULL, NULL) != 0)
            worst = INFINITY;
    }
    for (int n = 0; n < 2; n++) {
        memcpy(keep[n], c.value[n], c.r.cells * sizeof *work);
        if (world_get(&c.world, (enum fluid_field)(FLUID_SCALAR0 + n),
                      c.value[n]) != 0)
            worst = INFINITY;
        worst = fmax(worst, terms_difference(keep[n], c.value[n], c.r.cells));
        free(keep[n]);
    }
    free(work);
    terms_end(&c);
    return worst;
}

static void test_plain(void)
{
    static const int64_t cells[][3] = {
        {9, 6, 7}, {16, 4, 6}, {1, 5, 6}, {6, 1, 8}, {5, 6, 1}};
    static const int cuts[][2] = {{1, 1}, {1, 2}, {2, 1}, {2, 3}};
    double worst = 0, single = 0;
    for (size_t g = 0; g < sizeof cells / sizeof *cells; g++)
        for (int walls = 0; walls < 27; walls += g < 2 ? 1 : 5)
            for (size_t m = 0; m < sizeof cuts / sizeof *cuts; m++) {
                if (cells[g][1] < cuts[m][0] || cells[g][2] < cuts[m][1])
                    continue;
                worst = fmax(worst,
                             against_plain(&fluid_kernels_cpu_double, cells[g],
                                           walls, cuts[m][0], cuts[m][1]));
                if (walls % 4 == 1)
                    single =
                        fmax(single,
                             against_plain(&fluid_kernels_cpu_single, cells[g],
                                           walls, cuts[m][0], cuts[m][1]));
            }
    tap_near(worst, 0, 1e-13,
             "a step of two scalars is that of plain loops, for all walls, "
             "grids and cuts");
    tap_near(single, 0, 3e-6, "and in single precision to its round-off");
}

/* ---- what holds exactly ---- */

static void test_kept(void)
{
    static const int64_t cells[3] = {12, 7, 9};
    double constant = 0, mean = 0;
    for (int walls = 0; walls < 27; walls += 2) {
        struct fluid_look before, after;
        terms_describe(&c, cells, walls, walls / 9 > 0 ? 1.2 : 0, 2);
        for (int n = 0; n < 2; n++)
            for (int d = 0; d < 3; d++)
                for (int side = 0; side < 2; side++) {
                    c.setup.scalar[n].face[d][side].value = 0;
                    if (c.setup.face[d][side].type != FLUID_PERIODIC)
                        c.setup.scalar[n].face[d][side].type =
                            FLUID_SCALAR_FLUX;
                }
        if (terms_start(&c, &fluid_kernels_cpu_double, 1, 2) != 0)
            continue;
        terms_fill_flow(&c, 0.1);
        terms_fill_values(&c, 1);
        for (size_t m = 0; m < c.r.cells; m++)
            c.value[0][m] = 3;
        int failed = terms_put(&c) || terms_look(&c, &before);
        for (int step = 0; step < 20 && !failed; step++)
            failed = world_step(&c.world, 0.02, NULL, NULL);
        failed = failed || terms_look(&c, &after) || terms_take(&c);
        for (size_t m = 0; m < c.r.cells; m++)
            constant = fmax(constant, fabs(c.value[0][m] - 3));
        mean = fmax(mean, fabs(after.scalar_mean[1] - before.scalar_mean[1]));
        if (failed)
            constant = mean = INFINITY;
        terms_end(&c);
    }
    tap_near(mean, 0, 1e-14,
             "adiabatic walls: 20 steps keep the mean to round-off");
    /* 20 steps times the divergence that a direct solve leaves, 1e-15 u/h. */
    tap_near(constant, 0, 3e-14, "a constant scalar stays constant");
}

static void test_conduction(void)
{
    static const int64_t cells[3] = {6, 5, 12};
    double worst = 0;
    for (int diffusion = 0; diffusion < 3; diffusion++)
        for (int flux = 0; flux < 2; flux++) {
            terms_describe(&c, cells, 9, 1.4, 1);
            c.setup.diffusion = (enum fluid_diffusion)diffusion;
            struct fluid_scalar *t = &c.setup.scalar[0];
            t->face[2][0].type = FLUID_SCALAR_VALUE;
            t->face[2][0].value = -0.5;
            t->face[2][1].type = flux ? FLUID_SCALAR_FLUX : FLUID_SCALAR_VALUE;
            t->face[2][1].value = flux ? 2 : 1.5;
            memset(c.setup.face[2][0].velocity, 0, sizeof(double[3]));
            memset(c.setup.face[2][1].velocity, 0, sizeof(double[3]));
            if (terms_start(&c, &fluid_kernels_cpu_double, 1, 2) != 0)
                continue;
            for (size_t m = 0; m < c.r.cells; m++) {
                size_t k = m / (size_t)(cells[0] * cells[1]);
                const double *z = c.world.face_z;
                c.value[0][m] = -0.5 + (z[k] + z[k + 1]);
            }
            memcpy(c.value_before[0], c.value[0], c.r.cells * sizeof(double));
            int failed = terms_put(&c);
            for (int step = 0; step < 10 && !failed; step++)
                failed = world_step(&c.world, 0.01, NULL, NULL);
            failed |= terms_take(&c);
            worst =
                fmax(worst, failed ? INFINITY
                                   : terms_difference(c.value_before[0],
                                                      c.value[0], c.r.cells));
            terms_end(&c);
        }
    tap_near(worst, 0, 1e-13,
             "conduction between walls on a stretched grid stays exactly "
             "linear, explicit and implicit, fixed value and flux");
}

/* ---- orders ---- */

/* Relative error at t = 0.1 of a mode that decays between fixed and insulated
 * walls. */
static double decay_error(int64_t n)
{
    const int64_t cells[3] = {n, n, n};
    double worst = 0, most = 0, kappa = 0.1, time = 0.1;
    int steps = (int)(n * n) / 4;
    terms_describe(&c, cells, 1 + 3 * 2, 0, 1);
    memset(c.setup.face, 0, sizeof c.setup.face);
    struct fluid_scalar *t = &c.setup.scalar[0];
    t->diffusivity = kappa;
    for (int d = 0; d < 2; d++)
        for (int side = 0; side < 2; side++) {
            c.setup.face[d][side].type = FLUID_NO_SLIP;
            t->face[d][side].value = 0;
            t->face[d][side].type = d ? FLUID_SCALAR_FLUX : FLUID_SCALAR_VALUE;
        }
    if (terms_start(&c, &fluid_kernels_cpu_double, 1, 1) != 0)
        return INFINITY;
    for (int64_t k = 0, m = 0; k < n; k++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < n; i++, m++)
                c.value_before[0][m] = c.value[0][m] =
                    sin(M_PI * ((double)i + 0.5) / (double)n) *
                    cos(M_PI * ((double)j + 0.5) / (double)n) *
                    sin(2 * M_PI * ((double)k + 0.5) / (double)n);
    int failed = terms_put(&c);
    for (int step = 0; step < steps && !failed; step++)
        failed = world_step(&c.world, time / steps, NULL, NULL);
    failed |= terms_take(&c);
    double exact = exp(-kappa * 6 * M_PI * M_PI * time);
    for (size_t m = 0; m < c.r.cells; m++) {
        worst = fmax(worst, fabs(c.value[0][m] - exact * c.value_before[0][m]));
        most = fmax(most, fabs(c.value_before[0][m]));
    }
    terms_end(&c);
    return failed ? INFINITY : worst / most;
}

/* The scalar after t = 0.4 of a buoyant flow in `steps`, to out. */
static int buoyant(int steps, double *out)
{
    static const int64_t cells[3] = {12, 8, 10};
    terms_describe(&c, cells, 9, 1.2, 1);
    c.setup.scalar[0].buoyancy[2] = 4;
    c.setup.scalar[0].buoyancy[0] = 1;
    if (terms_start(&c, &fluid_kernels_cpu_double, 1, 1) != 0)
        return -1;
    terms_fill_flow(&c, 0.1);
    terms_fill_values(&c, 0.5);
    int failed = terms_put(&c);
    for (int step = 0; step < steps && !failed; step++)
        failed = world_step(&c.world, 0.4 / steps, NULL, NULL);
    failed |= terms_take(&c);
    memcpy(out, c.value[0], c.r.cells * sizeof *out);
    memcpy(out + c.r.cells, c.r.u[2], c.r.cells * sizeof *out);
    terms_end(&c);
    return failed;
}

static void test_orders(void)
{
    double a = decay_error(8), b = decay_error(16);
    tap_near(log2(a / b), 2, 0.05, "a decaying mode: slope 2 in space");

    enum { CELLS = 2 * 12 * 8 * 10 };
    static double x[3][CELLS];
    int failed = 0;
    for (int n = 0; n < 3; n++)
        failed |= buoyant(16 << n, x[n]);
    double coarse = terms_difference(x[0], x[1], CELLS);
    double fine = terms_difference(x[1], x[2], CELLS);
    tap_note("differences %.3g %.3g", coarse, fine);
    tap_ok(!failed && log2(coarse / fine) > 2.8,
           "a buoyant flow and its scalar: slope %.2f in time",
           log2(coarse / fine));
}

int main(void)
{
    test_plain();
    test_kept();
    test_conduction();
    test_orders();
    return tap_done();
}
