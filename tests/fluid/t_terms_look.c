/* t_terms_look.c: sums over the flow, against plain loops and the energy
 * budget. */
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

static int is_wall_face(int d, int64_t m)
{
    return c.setup.face[d][0].type != FLUID_PERIODIC && m == c.r.n[d] - 1;
}

/* Distance from x[d] to x[d] + 1 of what stands at centers. */
static double apart(int d, int64_t k)
{
    return d < 2 ? c.setup.spacing[d] : reference_hc(&c.r, k);
}

static double width(int d, int64_t k)
{
    return d < 2 ? c.setup.spacing[d] : reference_h(&c.r, k);
}

/* ---- sums ---- */

/* -viscosity u L u at one place, times its volume: the operator as the equation
 * has it. */
static double viscous_work(int f, const int64_t x[3])
{
    double sum = 0, here = at(f, x[0], x[1], x[2]);
    for (int d = 0; d < 3; d++) {
        int64_t up[3] = {x[0], x[1], x[2]}, down[3] = {x[0], x[1], x[2]};
        up[d]++;
        down[d]--;
        double a = at(f, up[0], up[1], up[2]) - here;
        double b = here - at(f, down[0], down[1], down[2]);
        if (f == d)
            sum += (a / width(d, x[2] + (d == 2)) - b / width(d, x[2])) /
                   apart(d, x[2]);
        else
            sum += (a / apart(d, x[2]) - b / apart(d, d == 2 ? x[2] - 1 : 0)) /
                   width(d, x[2]);
    }
    return -c.setup.viscosity * here * sum;
}

/* The square of vorticity at an edge along f, above (i, j, k) in the two other
 * directions. */
static double edge_square(int f, int64_t i, int64_t j, int64_t k)
{
    int a = (f + 1) % 3, b = (f + 2) % 3;
    int64_t x[3] = {i, j, k}, y[3] = {i, j, k};
    x[a]++;
    y[b]++;
    double o = (at(b, x[0], x[1], x[2]) - at(b, i, j, k)) / apart(a, k) -
               (at(a, y[0], y[1], y[2]) - at(a, i, j, k)) / apart(b, k);
    return o * o;
}

static void plain_look(struct fluid_look *l)
{
    double area = c.setup.spacing[0] * c.setup.spacing[1];
    memset(l, 0, sizeof *l);
    EACH_CELL
    {
        int64_t x[3] = {i, j, k};
        double h = reference_h(&c.r, k), hc = reference_hc(&c.r, k);
        double rate_z = 1 / fmin(h, reference_h(&c.r, k + 1)), rate = 0;
        double div = 0;
        for (int f = 0; f < 3; f++) {
            int64_t y[3] = {i, j, k};
            double u = at(f, i, j, k), volume = area * (f == 2 ? hc : h);
            y[f]--;
            div += (u - at(f, y[0], y[1], y[2])) / width(f, k);
            rate += fabs(u) * (f == 2 ? rate_z : 1 / c.setup.spacing[f]);
            l->speed = fmax(l->speed, fabs(u));
            l->flow[f] += volume * u;
            l->kinetic += 0.5 * volume * u * u;
            if (!is_wall_face(f, x[f]))
                l->dissipation += volume * viscous_work(f, x);
            /* A quarter of the cell for each of its edges. */
            for (int m = 0; m < 4; m++) {
                int64_t e[3] = {i, j, k};
                e[(f + 1) % 3] -= m & 1;
                e[(f + 2) % 3] -= m >> 1;
                l->enstrophy += area * h / 8 * edge_square(f, e[0], e[1], e[2]);
            }
            for (int d = 0; d < 3; d++)
                for (int side = 0; side < 2; side++) {
                    int64_t out[3] = {i, j, k};
                    out[d] += side ? 1 : -1;
                    if (c.setup.face[d][0].type == FLUID_PERIODIC || d == f ||
                        x[d] != (side ? c.r.n[d] - 1 : 0) ||
                        is_wall_face(f, x[f]))
                        continue;
                    double slope =
                        (u - at(f, out[0], out[1], out[2])) / width(d, k);
                    l->shear[d][side][f] +=
                        c.setup.viscosity * slope * volume / width(d, k);
                }
        }
        l->divergence = fmax(l->divergence, fabs(div));
        l->cfl_rate = fmax(l->cfl_rate, rate);
        for (int n = 0; n < c.setup.n_scalars; n++) {
            double t = terms_value(&c, n, i, j, k);
            l->scalar_mean[n] += area * h * t;
            l->scalar_variance[n] += area * h * t * t;
            for (int d = 0; d < 3; d++) {
                int64_t y[3] = {i, j, k};
                y[d]++;
                l->scalar_convection[n][d] +=
                    area * (d == 2 ? hc : h) * at(d, i, j, k) * 0.5 *
                    (t + terms_value(&c, n, y[0], y[1], y[2]));
                for (int side = 0; side < 2; side++) {
                    y[d] = x[d] + (side ? 1 : -1);
                    if (c.setup.face[d][0].type == FLUID_PERIODIC ||
                        x[d] != (side ? c.r.n[d] - 1 : 0))
                        continue;
                    double slope = (terms_value(&c, n, y[0], y[1], y[2]) - t) /
                                   width(d, k);
                    l->scalar_flux[n][d][side] +=
                        c.setup.scalar[n].diffusivity * slope * area * h /
                        width(d, k);
                }
            }
        }
    }
    for (int d = 0; d < 3; d++)
        for (int side = 0; side < 2; side++)
            for (int f = 0; f < 3; f++)
                l->dissipation -=
                    l->shear[d][side][f] * c.setup.face[d][side].velocity[f];
}

static double look_error(const struct fluid_kernels *k, const int64_t cells[3],
                         int walls, int dims_y, int dims_z)
{
    struct fluid_look got, want;
    terms_describe(&c, cells, walls, walls / 9 > 0 ? 1.2 : 0, 2);
    /* Where a wall slides into another one vorticity has no value. */
    for (int side = 0; side < 2; side++)
        c.setup.face[1][side].velocity[2] = c.setup.face[2][side].velocity[1] =
            0;
    if (terms_start(&c, k, dims_y, dims_z) != 0)
        return INFINITY;
    terms_fill_noise(&c, 1);
    terms_fill_values(&c, 1);
    int failed = terms_put(&c) || terms_look(&c, &got);
    plain_look(&want);
    const double *a = (const double *)&got, *b = (const double *)&want;
    double worst = 0;
    for (size_t m = 0; m < sizeof got / sizeof *a; m++)
        worst =
            fmax(worst, isfinite(a[m]) ? fabs(a[m] - b[m]) / (1 + fabs(b[m]))
                                       : INFINITY);
    terms_end(&c);
    return failed ? INFINITY : worst;
}

static void test_look(void)
{
    static const int64_t cells[][3] = {
        {9, 6, 7}, {16, 4, 6}, {1, 5, 6}, {6, 1, 8}, {5, 6, 1}};
    static const int cuts[][2] = {{1, 1}, {1, 2}, {2, 1}, {2, 3}};
    double worst = 0, single = 0;
    for (size_t g = 0; g < sizeof cells / sizeof *cells; g++)
        for (int walls = 0; walls < 27; walls++)
            for (size_t m = 0; m < sizeof cuts / sizeof *cuts; m++) {
                if (cells[g][1] < cuts[m][0] || cells[g][2] < cuts[m][1])
                    continue;
                worst =
                    fmax(worst, look_error(&fluid_kernels_cpu_double, cells[g],
                                           walls, cuts[m][0], cuts[m][1]));
                single =
                    fmax(single, look_error(&fluid_kernels_cpu_single, cells[g],
                                            walls, cuts[m][0], cuts[m][1]));
            }
    tap_near(worst, 0, 1e-12,
             "every sum and maximum is that of plain loops, for all walls, "
             "grids and cuts");
    tap_near(single, 0, 1e-5, "and in single precision to its round-off");
}

static void test_identity(void)
{
    static const int64_t cells[3] = {10, 7, 8};
    struct fluid_look l = {0};
    terms_describe(&c, cells, 0, 0, 0);
    int failed = terms_start(&c, &fluid_kernels_cpu_double, 1, 2);
    if (!failed) {
        terms_fill_flow(&c, 0.2);
        failed = terms_put(&c) || terms_look(&c, &l);
    }
    terms_end(&c);
    tap_near(l.dissipation / (2 * c.setup.viscosity * l.enstrophy),
             failed ? 0 : 1, 1e-12,
             "periodic, without divergence: dissipation is twice viscosity "
             "times enstrophy");
    tap_near(l.divergence, 0, 1e-13, "and the divergence is seen as zero");
}

/* ---- budget ---- */

/* d(kinetic)/dt, central over two steps of dt, minus what look() says. */
static double budget(int walls, double dt, double *size)
{
    static const int64_t cells[3] = {10, 9, 8};
    static const double force[3] = {0.7, 0, 0};
    struct fluid_look l[3];
    terms_describe(&c, cells, walls, walls / 9 > 0 ? 1.2 : 0, 1);
    c.setup.scalar[0].buoyancy[2] = 2;
    c.setup.rotation[2] = 0.5;
    c.setup.rotation[0] = 0.3;
    if (terms_start(&c, &fluid_kernels_cpu_double, 1, 2) != 0)
        return INFINITY;
    terms_fill_flow(&c, 0.2);
    terms_fill_values(&c, 1);
    int failed = terms_put(&c);
    /* Let the start settle: the first step's pressure is not smooth. */
    for (int n = 0; n < 8; n++)
        failed |= world_step(&c.world, 0.005, force, NULL);
    for (int n = 0; n < 3; n++) {
        failed |= terms_look(&c, &l[n]);
        if (n < 2)
            failed |= world_step(&c.world, dt, force, NULL);
    }
    double work = force[0] * l[1].flow[0] + 2 * l[1].scalar_convection[0][2];
    for (int d = 0; d < 3; d++)
        for (int side = 0; side < 2; side++)
            for (int f = 0; f < 3; f++)
                work -=
                    l[1].shear[d][side][f] * c.setup.face[d][side].velocity[f];
    *size = fabs(work) + l[1].dissipation;
    double rate = (l[2].kinetic - l[0].kinetic) / (2 * dt);
    terms_end(&c);
    return failed ? INFINITY : rate + l[1].dissipation - work;
}

static void test_budget(void)
{
    double worst = 0, slope = 9;
    for (int walls = 0; walls < 27; walls += 2) {
        double size, coarse = fabs(budget(walls, 0.01, &size));
        double fine = fabs(budget(walls, 0.005, &size));
        worst = fmax(worst, fine / size);
        if (fine > 1e-9 * size)
            slope = fmin(slope, log2(coarse / fine));
    }
    tap_note("budget: worst %.3g of its size", worst);
    tap_ok(slope > 1.7 && worst < 1e-2,
           "energy budget: rate + dissipation = work, but for the time "
           "scheme's error (slope %.2f)",
           slope);
}

int main(void)
{
    test_look();
    test_identity();
    test_budget();
    return tap_done();
}
