/* terms_case.c: a flow with scalars, in plain arrays and in the kernels. */
#include "tests/fluid/terms_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/device.h"

static struct device device = {.name = "cpu", .threads = 1};

double terms_noise(uint64_t a, uint64_t b)
{
    uint64_t x = a * 0x9e3779b97f4a7c15u + b * 0xbf58476d1ce4e5b9u + 1;
    for (int n = 0; n < 3; n++) {
        x ^= x >> 31;
        x *= 0x94d049bb133111ebu;
    }
    return (double)(x >> 40) / (double)(1u << 24) - 0.5;
}

void terms_describe(struct terms_case *c, const int64_t cells[3],
                    int combination, double stretch, int n_scalars)
{
    enum fluid_wall walls[3];
    memset(c, 0, sizeof *c);
    for (int d = 0, m = combination; d < 3; d++, m /= 3)
        walls[d] = (enum fluid_wall)(m % 3);
    world_setup(&c->world, &c->setup, cells, walls, stretch);
    c->setup.viscosity = 0.02;
    c->setup.density = 1.5;
    c->setup.n_scalars = n_scalars;
    for (int d = 0; d < 3; d++)
        for (int side = 0; side < 2; side++)
            for (int f = 0; f < 3; f++)
                if (f != d && walls[d] == FLUID_NO_SLIP)
                    c->setup.face[d][side].velocity[f] =
                        0.1 * (1 + d + 2 * side - f);
    for (int n = 0; n < n_scalars; n++) {
        struct fluid_scalar *t = &c->setup.scalar[n];
        t->diffusivity = 0.03 / (1 + n);
        for (int d = 0; d < 3; d++)
            for (int side = 0; side < 2; side++) {
                t->face[d][side].value = 0.4 - 0.3 * side + 0.1 * n + 0.05 * d;
                t->face[d][side].type = walls[d] == FLUID_PERIODIC
                                            ? FLUID_SCALAR_PERIODIC
                                        : side == n % 2 ? FLUID_SCALAR_VALUE
                                                        : FLUID_SCALAR_FLUX;
            }
    }
}

int terms_start(struct terms_case *c, const struct fluid_kernels *k, int dims_y,
                int dims_z)
{
    c->setup.face_z = c->world.face_z;
    if (reference_create(&c->r, &c->setup) != 0)
        return -1;
    for (int n = 0; n < c->setup.n_scalars; n++) {
        c->value[n] = calloc(c->r.cells, sizeof(double));
        c->value_before[n] = calloc(c->r.cells, sizeof(double));
        if (!c->value[n] || !c->value_before[n])
            return -1;
    }
    return world_create(&c->world, k, &device, &c->setup, dims_y, dims_z);
}

void terms_end(struct terms_case *c)
{
    world_destroy(&c->world);
    reference_destroy(&c->r);
    for (int n = 0; n < FLUID_SCALARS_MAX; n++) {
        free(c->value[n]);
        free(c->value_before[n]);
    }
}

/* ---- content ---- */

#define EACH_CELL(c)                              \
    for (int64_t k = 0; k < (c)->r.n[2]; k++)     \
        for (int64_t j = 0; j < (c)->r.n[1]; j++) \
            for (int64_t i = 0; i < (c)->r.n[0]; i++)

static int on_wall(const struct terms_case *c, int d, int64_t at)
{
    return c->setup.face[d][0].type != FLUID_PERIODIC &&
           (at == c->r.n[d] - 1 || at == -1);
}

/* Component d of a vector potential on the edge above (i, j, k), zero on
 * walls. */
static double potential(const struct terms_case *c, int d, const int64_t x[3])
{
    double a = 1;
    for (int e = 0; e < 3; e++) {
        double phase = 2 * M_PI * (double)(x[e] + 1) / (double)c->r.n[e];
        if (e != d && c->setup.face[e][0].type != FLUID_PERIODIC)
            a *= sin(0.5 * phase);
        else
            a *= 1 + 0.5 * sin(phase + 0.7 * d + 0.3 * e);
        if (e != d && on_wall(c, e, x[e]))
            a = 0;
    }
    return a * (1 + 0.5 * d);
}

void terms_fill_flow(struct terms_case *c, double size)
{
    for (int d = 0; d < 3; d++)
        EACH_CELL(c)
        {
            double sum = 0;
            /* u_d = dA_b/dx_a - dA_a/dx_b with a, b the next directions. */
            for (int sign = 1; sign >= -1; sign -= 2) {
                int a = (d + (sign > 0 ? 1 : 2)) % 3;
                int b = (d + (sign > 0 ? 2 : 1)) % 3;
                int64_t x[3] = {i, j, k}, y[3] = {i, j, k};
                y[a]--;
                double h = a < 2 ? c->setup.spacing[a] : reference_h(&c->r, k);
                sum += sign * (potential(c, b, x) - potential(c, b, y)) / h;
            }
            int64_t x[3] = {i, j, k};
            c->r.u[d][reference_index(&c->r, i, j, k)] =
                on_wall(c, d, x[d]) ? 0 : size * sum;
        }
}

void terms_fill_noise(struct terms_case *c, double size)
{
    for (int d = 0; d < 3; d++)
        EACH_CELL(c)
        {
            int64_t x[3] = {i, j, k};
            size_t at = reference_index(&c->r, i, j, k);
            c->r.u[d][at] =
                on_wall(c, d, x[d]) ? 0 : size * terms_noise((uint64_t)d, at);
        }
}

void terms_fill_values(struct terms_case *c, double size)
{
    for (int n = 0; n < c->setup.n_scalars; n++)
        for (size_t at = 0; at < c->r.cells; at++)
            c->value[n][at] = 0.5 + size * terms_noise((uint64_t)n + 7, at);
}

int terms_put(struct terms_case *c)
{
    int status = 0;
    for (int d = 0; d < 3; d++)
        status |= world_set(&c->world, (enum fluid_field)d, c->r.u[d]);
    for (int n = 0; n < c->setup.n_scalars; n++)
        status |= world_set(&c->world, (enum fluid_field)(FLUID_SCALAR0 + n),
                            c->value[n]);
    status |= world_exchange(&c->world, FLUID_HALO_Y);
    return status | world_exchange(&c->world, FLUID_HALO_Z);
}

int terms_take(struct terms_case *c)
{
    int status = 0;
    for (int d = 0; d < 3; d++)
        status |= world_get(&c->world, (enum fluid_field)d, c->r.u[d]);
    for (int n = 0; n < c->setup.n_scalars; n++)
        status |= world_get(&c->world, (enum fluid_field)(FLUID_SCALAR0 + n),
                            c->value[n]);
    return status;
}

/* The members of fluid_look are doubles; three of them are maxima. */
int terms_look(struct terms_case *c, struct fluid_look *sum)
{
    int status = world_exchange(&c->world, FLUID_HALO_Y);
    status |= world_exchange(&c->world, FLUID_HALO_Z);
    memset(sum, 0, sizeof *sum);
    for (int rank = 0; rank < c->world.n; rank++) {
        struct fluid_look one;
        double most[3];
        status |= c->world.k->look(&c->world.ctx, c->world.store[rank], &one);
        most[0] = fmax(sum->divergence, one.divergence);
        most[1] = fmax(sum->cfl_rate, one.cfl_rate);
        most[2] = fmax(sum->speed, one.speed);
        double *to = (double *)sum;
        const double *from = (const double *)&one;
        for (size_t m = 0; m < sizeof one / sizeof(double); m++)
            to[m] += from[m];
        sum->divergence = most[0];
        sum->cfl_rate = most[1];
        sum->speed = most[2];
    }
    return status;
}

double terms_value(const struct terms_case *c, int n, int64_t i, int64_t j,
                   int64_t k)
{
    int64_t at[3] = {i, j, k};
    double sign = 1, add = 0;
    for (int d = 0; d < 3; d++) {
        int64_t m = c->r.n[d];
        int side = at[d] >= m;
        if (at[d] >= 0 && at[d] < m)
            continue;
        if (c->setup.face[d][0].type == FLUID_PERIODIC) {
            at[d] = (at[d] + m) % m;
            continue;
        }
        double value = c->setup.scalar[n].face[d][side].value;
        double h =
            d < 2 ? c->setup.spacing[d] : reference_h(&c->r, side ? m - 1 : 0);
        at[d] = side ? m - 1 : 0;
        if (c->setup.scalar[n].face[d][side].type == FLUID_SCALAR_VALUE) {
            add += sign * 2 * value;
            sign = -sign;
        } else {
            add += sign * value * h;
        }
    }
    return add +
           sign * c->value[n][reference_index(&c->r, at[0], at[1], at[2])];
}

double terms_difference(const double *a, const double *b, size_t n)
{
    double worst = 0;
    for (size_t m = 0; m < n; m++) {
        double d = fabs(a[m] - b[m]);
        if (!(d <= worst))
            worst = isfinite(d) ? d : INFINITY;
    }
    return worst;
}
