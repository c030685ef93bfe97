/* t_step.c: the substages of the fluid's kernels against plain loops written
 * from the equations, for every kind of wall, cut and odd grid; and what the
 * scheme must conserve. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/device.h"
#include "tests/fluid/reference_flow.h"
#include "tests/fluid/world.h"
#include "tests/tap.h"

static struct device device = {.name = "cpu", .threads = 1};
static struct world world; /* large */

static double noise(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 40) / (double)(1u << 24) - 0.5;
}

/* Random velocities in the reference, walls closed. */
static void fill(struct reference *r, uint64_t seed)
{
    for (int c = 0; c < 3; c++)
        for (int64_t k = 0, m = 0; k < r->n[2]; k++)
            for (int64_t j = 0; j < r->n[1]; j++)
                for (int64_t i = 0; i < r->n[0]; i++, m++) {
                    int64_t x[3] = {i, j, k};
                    double a = noise(&seed);
                    int wall = r->setup->face[c][0].type != FLUID_PERIODIC &&
                               x[c] == r->n[c] - 1;
                    r->u[c][m] = wall ? 0 : a;
                }
}

static int put(struct world *w, const struct reference *r)
{
    int status = 0;
    for (int c = 0; c < 3; c++)
        status |= world_set(w, (enum fluid_field)c, r->u[c]);
    return status;
}

static double difference(struct world *w, const struct reference *r)
{
    double worst = 0, *got = malloc(r->cells * sizeof *got);
    if (!got)
        return INFINITY;
    for (int c = 0; c < 3; c++) {
        if (world_get(w, (enum fluid_field)c, got) != 0)
            worst = INFINITY;
        for (size_t m = 0; m < r->cells; m++) {
            double d = fabs(got[m] - r->u[c][m]);
            worst = d <= worst ? worst : isfinite(d) ? d : INFINITY;
        }
    }
    free(got);
    return worst;
}

/* ---- every wall, cut and shape ---- */

static const int cuts[][2] = {{1, 1}, {1, 2}, {2, 1}, {2, 2},
                              {3, 1}, {1, 3}, {2, 3}};
enum { N_CUTS = sizeof cuts / sizeof cuts[0] };

static void make_case(struct world *w, struct fluid_setup *setup,
                      const int64_t cells[3], int combination)
{
    enum fluid_wall walls[3];
    for (int d = 0, c = combination; d < 3; d++, c /= 3)
        walls[d] = (enum fluid_wall)(c % 3);
    world_setup(w, setup, cells, walls, walls[2] == FLUID_PERIODIC ? 0 : 1.3);
    setup->viscosity = 0.003;
    for (int d = 0; d < 3; d++) {
        setup->rotation[d] = combination % 2 ? 0.3 * (d + 1) : 0;
        for (int side = 0; side < 2; side++)
            for (int c = 0; c < 3; c++)
                if (c != d && walls[d] == FLUID_NO_SLIP)
                    setup->face[d][side].velocity[c] =
                        0.1 * (1 + d + 2 * side - c);
    }
}

struct worst {
    double field[N_CUTS], divergence;
};

/* Two substages after another, so that the history counts too. */
static int substages(struct world *w, struct reference *r, double *worst)
{
    static const double force[3] = {0.2, -0.1, 0.3};
    for (int stage = 0; stage < 3; stage++) {
        struct fluid_substage sub = world_stage(stage, 0.02, force);
        if (world_substage(w, &sub, NULL, NULL) != 0)
            return -1;
    }
    *worst = fmax(*worst, difference(w, r));
    return 0;
}

static int run_case(const struct fluid_kernels *k, const int64_t cells[3],
                    int combination, struct worst *worst)
{
    static const double force[3] = {0.2, -0.1, 0.3};
    struct fluid_setup setup;
    struct reference r, start;
    make_case(&world, &setup, cells, combination);
    static double face[64];
    memcpy(face, world.face_z, sizeof face);
    setup.face_z = face;
    if (reference_create(&r, &setup) != 0 ||
        reference_create(&start, &setup) != 0)
        return -1;
    fill(&start, (uint64_t)combination + 1);
    for (int c = 0; c < 3; c++)
        memcpy(r.u[c], start.u[c], r.cells * sizeof(double));
    for (int stage = 0; stage < 3; stage++) {
        struct fluid_substage sub = world_stage(stage, 0.02, force);
        reference_predict(&r, &sub);
        reference_project(&r);
    }
    int status = 0;
    for (int c = 0; c < N_CUTS && status == 0; c++) {
        if (cuts[c][0] > cells[1] || cuts[c][1] > cells[2])
            continue;
        status =
            world_create(&world, k, &device, &setup, cuts[c][0], cuts[c][1]);
        if (status == 0)
            status = put(&world, &start);
        if (status == 0)
            status = substages(&world, &r, &worst->field[c]);
        if (status == 0)
            for (int d = 0; d < 3; d++)
                status |= world_get(&world, (enum fluid_field)d, start.work[d]);
        for (int d = 0; d < 3; d++) {
            double *u = start.u[d];
            start.u[d] = start.work[d];
            start.work[d] = u;
        }
        worst->divergence =
            fmax(worst->divergence, reference_divergence(&start, NULL));
        for (int d = 0; d < 3; d++) {
            double *u = start.u[d];
            start.u[d] = start.work[d];
            start.work[d] = u;
        }
        world_destroy(&world);
    }
    reference_destroy(&r);
    reference_destroy(&start);
    return status;
}

static void test_shape(const struct fluid_kernels *k, const int64_t cells[3],
                       double tolerance)
{
    struct worst worst = {{0}, 0};
    int status = 0;
    for (int combination = 0; combination < 27 && status == 0; combination++)
        status = run_case(k, cells, combination, &worst);
    tap_ok(status == 0, "%s, %d x %d x %d: every kind of walls can be run",
           k->name, (int)cells[0], (int)cells[1], (int)cells[2]);
    for (int c = 0; c < N_CUTS; c++)
        if (cuts[c][0] <= cells[1] && cuts[c][1] <= cells[2])
            tap_ok(worst.field[c] <= tolerance,
                   "%s, %d x %d x %d cells in %d x %d blocks: with all walls a "
                   "step is that of the equations (%.1e)",
                   k->name, (int)cells[0], (int)cells[1], (int)cells[2],
                   cuts[c][0], cuts[c][1], worst.field[c]);
    /* |u| is about 0.5, 1/h up to 40 where cells are smallest. */
    tap_ok(worst.divergence <= 40 * tolerance,
           "%s, %d x %d x %d: the divergence is round-off (%.1e)", k->name,
           (int)cells[0], (int)cells[1], (int)cells[2], worst.divergence);
}

/* ---- what the scheme conserves ---- */

/* The change of energy over a fixed time without viscosity. */
static double energy_change(enum fluid_wall wall_z, double stretch, int steps)
{
    const int64_t cells[3] = {12, 10, 14};
    const enum fluid_wall walls[3] = {FLUID_PERIODIC, FLUID_PERIODIC, wall_z};
    struct fluid_setup setup;
    struct reference r;
    static double face[64];
    world_setup(&world, &setup, cells, walls, stretch);
    memcpy(face, world.face_z, sizeof face);
    setup.face_z = face;
    if (reference_create(&r, &setup) != 0 ||
        world_create(&world, &fluid_kernels_cpu_double, &device, &setup, 1,
                     2) != 0)
        return NAN;
    fill(&r, 7);
    reference_project(&r);
    double before = reference_energy(&r), after = NAN;
    int status = put(&world, &r);
    for (int n = 0; n < steps && status == 0; n++)
        status = world_step(&world, 0.1 / steps, NULL, NULL);
    for (int c = 0; c < 3 && status == 0; c++)
        status = world_get(&world, (enum fluid_field)c, r.u[c]);
    if (status == 0)
        after = reference_energy(&r);
    world_destroy(&world);
    reference_destroy(&r);
    return after / before - 1;
}

static void test_energy(enum fluid_wall wall_z, double stretch,
                        const char *where)
{
    double coarse = energy_change(wall_z, stretch, 10);
    double fine = energy_change(wall_z, stretch, 20);
    /* Third order: 8; less is lost where a term does work. */
    tap_ok(coarse / fine > 6.5 && fabs(fine) < 1e-3,
           "without viscosity energy changes by the time scheme's error alone, "
           "%s (%.2e, with half the step %.2e)",
           where, coarse, fine);
}

/* ---- the Taylor-Green vortex ---- */

static void test_vortex(int dims_y, int dims_z)
{
    const int64_t cells[3] = {20, 20, 3};
    const enum fluid_wall walls[3] = {FLUID_PERIODIC, FLUID_PERIODIC,
                                      FLUID_PERIODIC};
    const double pi = acos(-1.0), h = 1.0 / 20, nu = 0.01, dt = 0.01;
    struct fluid_setup setup;
    struct reference r;
    static double face[64];
    world_setup(&world, &setup, cells, walls, 0);
    memcpy(face, world.face_z, sizeof face);
    setup.face_z = face;
    setup.viscosity = nu;
    if (reference_create(&r, &setup) != 0 ||
        world_create(&world, &fluid_kernels_cpu_double, &device, &setup, dims_y,
                     dims_z) != 0)
        return;
    for (int64_t k = 0; k < 3; k++)
        for (int64_t j = 0; j < 20; j++)
            for (int64_t i = 0; i < 20; i++) {
                size_t m = reference_index(&r, i, j, k);
                double x = 2 * pi * h * (double)i, y = 2 * pi * h * (double)j;
                r.u[0][m] = sin(x) * cos(y - pi * h);
                r.u[1][m] = -cos(x - pi * h) * sin(y);
                r.u[2][m] = 0;
            }
    int status = put(&world, &r);
    /* The mode is an eigenvector of diffusion and its advection a gradient:
     * one number, advanced by the same time scheme. */
    double rate = 2 * nu * (2 * cos(2 * pi * h) - 2) / (h * h), value = 1;
    for (int n = 0; n < 10; n++) {
        double before = 0;
        status |= world_step(&world, dt, NULL, NULL);
        for (int stage = 0; stage < 3; stage++) {
            struct fluid_substage sub = world_stage(stage, dt, NULL);
            double now = rate * value;
            value += dt * (sub.gamma * now + sub.zeta * before);
            before = now;
        }
    }
    for (int c = 0; c < 3; c++)
        for (size_t m = 0; m < r.cells; m++)
            r.u[c][m] *= value;
    double worst = status == 0 ? difference(&world, &r) : INFINITY;
    tap_ok(worst < 1e-13,
           "the vortex of Taylor and Green decays at its discrete rate, in %d "
           "x %d blocks (%.1e)",
           dims_y, dims_z, worst);
    world_destroy(&world);
    reference_destroy(&r);
}

/* ---- numbers by the way ---- */

static double greatest_rate(const struct reference *r)
{
    double most = 0;
    for (int64_t k = 0, m = 0; k < r->n[2]; k++)
        for (int64_t l = 0; l < r->n[0] * r->n[1]; l++, m++) {
            double low = fmin(reference_h(r, k), reference_h(r, k + 1));
            most = fmax(most, fabs(r->u[0][m]) / r->setup->spacing[0] +
                                  fabs(r->u[1][m]) / r->setup->spacing[1] +
                                  fabs(r->u[2][m]) / low);
        }
    return most;
}

static void predicted_sums(struct world *w, const struct fluid_substage *sub,
                           double flow[3])
{
    flow[0] = flow[1] = flow[2] = NAN;
    if (world_exchange(w, FLUID_HALO_Y) != 0 ||
        world_exchange(w, FLUID_HALO_Z) != 0)
        return;
    flow[0] = flow[1] = flow[2] = 0;
    for (int m = 0; m < w->n; m++) {
        double part[3] = {NAN, NAN, NAN};
        w->k->predict(&w->ctx, w->store[m], sub);
        w->k->predicted_flow(&w->ctx, w->store[m], part);
        for (int d = 0; d < 3; d++)
            flow[d] += part[d];
    }
}

static void test_numbers(void)
{
    const int64_t cells[3] = {11, 6, 9};
    const enum fluid_wall walls[3] = {FLUID_PERIODIC, FLUID_PERIODIC,
                                      FLUID_NO_SLIP};
    const double extra[3] = {0.25, -0.5, 3};
    struct fluid_setup setup;
    struct reference r;
    static double face[64];
    world_setup(&world, &setup, cells, walls, 1.2);
    memcpy(face, world.face_z, sizeof face);
    setup.face_z = face;
    setup.viscosity = 0.01;
    if (reference_create(&r, &setup) != 0 ||
        world_create(&world, &fluid_kernels_cpu_double, &device, &setup, 1,
                     2) != 0)
        return;
    fill(&r, 3);
    struct fluid_substage sub = world_stage(0, 0.01, NULL);
    int status = put(&world, &r);
    double late[3], early[3], sum = 0, got = 0;
    predicted_sums(&world, &sub, late);
    status |= put(&world, &r);
    predicted_sums(&world, &sub, early);
    reference_predict(&r, &sub);
    for (int64_t k = 0, m = 0; k < r.n[2]; k++)
        for (int64_t l = 0; l < r.n[0] * r.n[1]; l++, m++)
            sum += r.u[0][m] * reference_h(&r, k) * setup.spacing[0] *
                   setup.spacing[1];
    tap_near(late[0], sum, 1e-14, "the flow predicted is the sum of u");
    tap_ok(memcmp(late, early, sizeof late) == 0,
           "summed in the sweep it is the same, bit by bit");
    fill(&r, 3);
    status |= put(&world, &r);
    status |= world_substage(&world, &sub, extra, &got);
    reference_predict(&r, &sub);
    reference_project(&r);
    for (size_t m = 0; m < r.cells; m++) {
        r.u[0][m] += extra[0];
        r.u[1][m] += extra[1];
    }
    double off = difference(&world, &r);
    tap_ok(status == 0 && off < 1e-12,
           "a uniform velocity is added where no wall forbids it (%.1e)", off);
    tap_near(got, greatest_rate(&r), 1e-10, "the greatest rate is told");

    struct fluid_bad_cell bad = {0};
    world.k->find_bad(&world.ctx, world.store[1], &bad);
    tap_ok(!bad.found, "where all is finite nothing is found");
    r.u[1][reference_index(&r, 10, 5, 8)] = NAN;
    status |= put(&world, &r);
    world.k->find_bad(&world.ctx, world.store[1], &bad);
    tap_ok(bad.found && bad.cell[0] == 10 && bad.cell[1] == 5 &&
               bad.cell[2] == 8,
           "the cell of what is not a number is told");
    status |= world_substage(&world, &sub, NULL, &got);
    tap_ok(status == 0 && isinf(got), "and the rate is infinite");
    world_destroy(&world);
    reference_destroy(&r);
}

/* ---- memory ---- */

static void test_memory(int dims_y, int dims_z)
{
    const int64_t cells[3] = {64, 64, 64};
    const enum fluid_wall walls[3] = {FLUID_PERIODIC, FLUID_PERIODIC,
                                      FLUID_PERIODIC};
    struct fluid_setup setup;
    world_setup(&world, &setup, cells, walls, 0);
    if (world_create(&world, &fluid_kernels_cpu_double, &device, &setup, dims_y,
                     dims_z) != 0)
        return;
    struct fluid_counters counters;
    world.k->counters(world.store[0], &counters);
    double told = world.k->estimate(&world.setup[0]);
    /* Tables and message headers are not foreseen. */
    tap_ok(fabs(told / (double)counters.bytes - 1) < 0.02,
           "the memory estimated for a block of %d x %d is what is taken "
           "(%.0f, %zu)",
           dims_y, dims_z, told, counters.bytes);
    tap_ok(dims_y > 1 || counters.bytes_per_cell_state <= 75,
           "the state of a cell takes at most 75 bytes (%zu)",
           counters.bytes_per_cell_state);
    world_destroy(&world);
}

int main(void)
{
    static const int64_t shapes[][3] = {{7, 6, 5},  {17, 5, 6}, {16, 4, 3},
                                        {6, 1, 5},  {5, 6, 1},  {1, 4, 6},
                                        {19, 1, 1}, {1, 1, 7},  {2, 2, 2}};
    for (size_t m = 0; m < sizeof shapes / sizeof shapes[0]; m++) {
        /* The reference's own solver ends at 1e-13 or so. */
        test_shape(&fluid_kernels_cpu_double, shapes[m], 1e-12);
    }
    test_shape(&fluid_kernels_cpu_single, shapes[0], 3e-6);
    test_shape(&fluid_kernels_cpu_single, shapes[1], 3e-6);
    device.threads = 2;
    test_shape(&fluid_kernels_cpu_double, shapes[0], 1e-12);
    test_energy(FLUID_PERIODIC, 0, "periodic");
    test_energy(FLUID_NO_SLIP, 1.4, "between walls, stretched");
    device.threads = 1;
    test_vortex(1, 1);
    test_vortex(2, 1);
    test_vortex(1, 3);
    test_numbers();
    test_memory(1, 1);
    test_memory(2, 2);
    return tap_done();
}
