/* fluid.c: the flow on a card is the flow on the CPU: the same substages with
 * both tables of kernels, from the same random flow, for walls, scalars,
 * implicit diffusion and cuts, and all that can be looked at.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/error.h"
#include "kernels/device.h"
#include "tests/fluid/world.h"
#include "tests/tap.h"

static struct world on_cpu, on_card; /* large */

/* One kind of flow. */
struct flow {
    const char *name;
    int64_t cells[3];
    enum fluid_wall walls[3];
    double stretch;
    enum fluid_diffusion diffusion;
    int n_scalars, rotates;
};

#define P FLUID_PERIODIC
#define N FLUID_NO_SLIP
#define F FLUID_FREE_SLIP
static const struct flow flows[] = {
    {"periodic", {8, 8, 8}, {P, P, P}, 0, FLUID_EXPLICIT, 0, 0},
    {"one cell deep", {12, 1, 10}, {P, P, N}, 0, FLUID_EXPLICIT, 0, 0},
    {"one cell deep along z", {9, 8, 1}, {N, P, P}, 0, FLUID_EXPLICIT, 0, 0},
    {"rotating channel", {8, 6, 8}, {P, P, N}, 1.3, FLUID_EXPLICIT, 0, 1},
    {"cavity", {7, 8, 9}, {N, N, N}, 1.3, FLUID_EXPLICIT, 0, 0},
    {"free slip", {8, 7, 6}, {F, F, F}, 0, FLUID_EXPLICIT, 0, 0},
    {"duct with scalars", {8, 8, 8}, {P, F, N}, 1.3, FLUID_EXPLICIT, 2, 1},
    {"channel, implicit along z",
     {8, 6, 8},
     {P, P, N},
     1.3,
     FLUID_IMPLICIT_Z,
     1,
     0},
    {"duct, implicit", {8, 7, 8}, {P, N, F}, 1.3, FLUID_IMPLICIT, 1, 1},
    {"periodic, implicit", {6, 8, 7}, {P, P, P}, 0, FLUID_IMPLICIT, 1, 0},
};
enum { N_FLOWS = sizeof flows / sizeof flows[0] };

static double noise(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 40) / (double)(1u << 24) - 0.5;
}

static void set_scalars(const struct flow *f, struct fluid_setup *setup)
{
    setup->n_scalars = f->n_scalars;
    for (int n = 0; n < f->n_scalars; n++) {
        struct fluid_scalar *c = &setup->scalar[n];
        c->diffusivity = 0.002 * (n + 1);
        c->reference = 0.25;
        for (int d = 0; d < 3; d++) {
            c->buoyancy[d] = n == 0 ? 0.3 * d : 0;
            for (int side = 0; side < 2; side++) {
                enum fluid_scalar_wall type =
                    (d + side + n) % 2 ? FLUID_SCALAR_VALUE : FLUID_SCALAR_FLUX;
                c->face[d][side].type =
                    f->walls[d] == P ? FLUID_SCALAR_PERIODIC : type;
                c->face[d][side].value = 0.2 + 0.1 * d - 0.3 * side;
            }
        }
    }
}

static void make_setup(const struct flow *f, struct world *w,
                       struct fluid_setup *setup)
{
    world_setup(w, setup, f->cells, f->walls, f->stretch);
    setup->viscosity = 0.003;
    setup->density = 1.7;
    setup->diffusion = f->diffusion;
    for (int d = 0; d < 3; d++) {
        setup->rotation[d] = f->rotates ? 0.3 * (d + 1) : 0;
        for (int side = 0; side < 2; side++)
            for (int c = 0; c < 3; c++)
                if (c != d && f->walls[d] == N)
                    setup->face[d][side].velocity[c] =
                        0.1 * (1 + d + 2 * side - c);
    }
    set_scalars(f, setup);
    setup->face_z = w->face_z;
}

static size_t cells_of(const struct flow *f)
{
    return (size_t)(f->cells[0] * f->cells[1] * f->cells[2]);
}

static int start(const struct flow *f, const struct fluid_kernels *k,
                 struct ctx *ctx, struct world *w, int dims_y, int dims_z)
{
    struct fluid_setup setup;
    double *block = malloc(cells_of(f) * sizeof *block);
    uint64_t seed = 7;
    int status = block ? 0 : STATUS_MEMORY;
    make_setup(f, w, &setup);
    w->ctx = *ctx;
    if (status == 0)
        status = world_create(w, k, ctx->device, &setup, dims_y, dims_z);
    for (int n = 0; n < 3 + f->n_scalars && status == 0; n++) {
        for (size_t m = 0; m < cells_of(f); m++)
            block[m] = noise(&seed);
        status = world_set(
            w, (enum fluid_field)(n < 3 ? n : FLUID_SCALAR0 + n - 3), block);
    }
    free(block);
    return status;
}

/* Greatest difference over the greatest magnitude. */
static double difference(const double *a, const double *b, size_t n)
{
    double worst = 0, scale = 0;
    for (size_t m = 0; m < n; m++) {
        double d = fabs(a[m] - b[m]);
        worst = d <= worst ? worst : isfinite(d) ? d : INFINITY;
        scale = fmax(scale, fabs(a[m]));
    }
    return scale > 0 ? worst / scale : worst;
}

/* A block of numbers and the mean taken off, as for a pressure. */
static void take_mean(double *a, size_t n)
{
    double sum = 0;
    for (size_t m = 0; m < n; m++)
        sum += a[m] / (double)n;
    for (size_t m = 0; m < n; m++)
        a[m] -= sum;
}

static double compare_field(const struct flow *f, enum fluid_field field)
{
    size_t n = cells_of(f);
    double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
    double worst = INFINITY;
    if (a && b && world_get(&on_cpu, field, a) == 0 &&
        world_get(&on_card, field, b) == 0) {
        if (field == FLUID_PRESSURE) {
            take_mean(a, n);
            take_mean(b, n);
        }
        worst = difference(a, b, n);
    }
    free(a);
    free(b);
    return worst;
}

/* All but the pressure, which is known up to a constant. */
static double compare_fields(const struct flow *f)
{
    double worst = 0;
    for (int n = 0; n < FLUID_SCALAR0 + f->n_scalars; n++)
        if (n != FLUID_PRESSURE && n != FLUID_STORED_PRESSURE)
            worst = fmax(worst, compare_field(f, (enum fluid_field)n));
    return worst;
}

/* What a rank sees, added up over the ranks; every number of it. */
static int look(struct world *w, struct fluid_look *all)
{
    memset(all, 0, sizeof *all);
    for (int r = 0; r < w->n; r++) {
        struct fluid_look one;
        TRY(w->k->look(&w->ctx, w->store[r], &one));
        double *to = (double *)all, *from = (double *)&one;
        for (size_t m = 0; m < sizeof one / sizeof(double); m++)
            to[m] += from[m];
    }
    return 0;
}

static double compare_looks(void)
{
    struct fluid_look a, b;
    double worst = 0;
    if (look(&on_cpu, &a) != 0 || look(&on_card, &b) != 0)
        return INFINITY;
    /* The divergence is round-off: as large as it may be. */
    double most = on_cpu.k == &fluid_kernels_cpu_double ? 1e-11 : 1e-3;
    if (!(b.divergence <= most))
        tap_note("divergence %g", b.divergence);
    worst = b.divergence <= most ? 0 : INFINITY;
    a.divergence = b.divergence = 0;
    const double *x = (double *)&a, *y = (double *)&b;
    for (size_t m = 0; m < sizeof a / sizeof(double); m++) {
        double d = fabs(x[m] - y[m]) / fmax(fabs(x[m]), 0.1);
        if (!(d <= 1e-4))
            tap_note("number %zu of a look: %g and %g", m, x[m], y[m]);
        worst = fmax(worst, isfinite(d) ? d : INFINITY);
    }
    return worst;
}

/* The constant of the pressure is anybody's: its variance in each plane instead
 * of its moments. */
static void take_variance(double *sums, size_t planes, size_t moments,
                          double cells)
{
    for (size_t p = 0; p < planes; p++, sums += moments) {
        sums[FLUID_M_PP] -= sums[FLUID_M_P] * sums[FLUID_M_P] / cells;
        sums[FLUID_M_P] = 0;
    }
}

static double compare_profiles(const struct flow *f)
{
    double worst = 0;
    for (int axis = 0; axis < 3; axis++)
        for (int r = 0; r < on_cpu.n; r++) {
            const int64_t *local = on_cpu.setup[r].local;
            size_t planes = (size_t)local[axis];
            size_t moments = (size_t)fluid_moments(f->n_scalars);
            size_t n = planes * moments;
            double cells =
                (double)(local[0] * local[1] * local[2]) / (double)local[axis];
            double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
            if (!a || !b ||
                on_cpu.k->profile(&on_cpu.ctx, on_cpu.store[r], axis, a) ||
                on_card.k->profile(&on_card.ctx, on_card.store[r], axis, b))
                worst = INFINITY;
            if (isfinite(worst)) {
                take_variance(a, planes, moments, cells);
                take_variance(b, planes, moments, cells);
                worst = fmax(worst, difference(a, b, n));
            }
            free(a);
            free(b);
        }
    return worst;
}

/* One step with a flow that is held, and the rate and flow of its end. */
static int step(struct world *w, double *rate, double flow[3])
{
    static const double force[3] = {0.2, -0.1, 0.3};
    static const double extra[3] = {0.01, 0.02, 0.03};
    for (int stage = 0; stage < 3; stage++) {
        struct fluid_substage sub = world_stage(stage, 0.02, force);
        TRY(world_substage(w, &sub, extra, stage == 2 ? rate : NULL));
    }
    for (int d = 0; d < 3; d++)
        flow[d] = 0;
    for (int r = 0; r < w->n; r++) {
        double one[3];
        TRY(w->k->predicted_flow(&w->ctx, w->store[r], one));
        for (int d = 0; d < 3; d++)
            flow[d] += one[d];
    }
    TRY(world_exchange(w, FLUID_HALO_Y));
    return world_exchange(w, FLUID_HALO_Z);
}

/* The greatest part by which a block takes more than was told before it was
 * made, or (negative) less. */
static double beyond_estimate(const struct world *w)
{
    double worst = 0;
    for (int r = 0; r < w->n; r++) {
        struct fluid_counters counters;
        w->k->counters(w->store[r], &counters);
        double told = w->k->estimate(&w->setup[r]);
        double part = (double)counters.bytes / told - 1;
        worst = fabs(part) > fabs(worst) ? part : worst;
    }
    return worst;
}

static void test_flow(const struct flow *f, const struct fluid_kernels *cpu,
                      const struct fluid_kernels *card, struct ctx *ctx,
                      struct ctx *host, int dims_y, int dims_z)
{
    /* A step of round-off. */
    double tolerance = cpu == &fluid_kernels_cpu_double ? 1e-10 : 1e-5;
    double rates[2] = {0, 0}, flows_of[2][3];
    int status = start(f, cpu, host, &on_cpu, dims_y, dims_z);
    if (status == 0)
        status = start(f, card, ctx, &on_card, dims_y, dims_z);
    if (status == 0)
        status = step(&on_cpu, &rates[0], flows_of[0]);
    if (status == 0)
        status = step(&on_card, &rates[1], flows_of[1]);
    tap_ok(status == 0, "%s, %s, %d x %d blocks: a step can be made",
           card->name, f->name, dims_y, dims_z);
    if (status == 0) {
        double a = compare_fields(f), b = compare_looks();
        double p = compare_field(f, FLUID_PRESSURE);
        double c = compare_profiles(f), again = compare_fields(f);
        /* Where walls stop it the flow is round-off: add what it is of. */
        for (int d = 0; d < 3; d++) {
            flows_of[0][d] += 0.5;
            flows_of[1][d] += 0.5;
        }
        double d = fmax(difference(&rates[0], &rates[1], 1),
                        difference(flows_of[0], flows_of[1], 3));
        tap_ok(a <= tolerance, "its fields are those of the CPU (%.1e)", a);
        /* What it is solved from is the difference of velocities over a cell
         * and a time step, and has fewer digits than they. */
        tap_ok(p <= 5 * tolerance, "so is its pressure (%.1e)", p);
        tap_ok(b <= tolerance, "so is what is looked at (%.1e)", b);
        tap_ok(c <= tolerance, "and what is averaged (%.1e)", c);
        tap_ok(d <= tolerance, "and its rate and flow (%.1e)", d);
        tap_ok(again == a, "looking changes nothing");
        /* How much cuFFT works in, a card says only when it is asked. */
        double beyond = beyond_estimate(&on_card);
        if (strstr(ctx->device->description, "cudasim"))
            tap_ok(fabs(beyond) < 1e-9,
                   "and takes the memory that was told before (%+.1e)", beyond);
        else
            tap_note("takes %+.1f%% more memory than was told before",
                     100 * beyond);
    } else {
        tap_note("%s%s", on_cpu.ctx.error.text, on_card.ctx.error.text);
    }
    world_destroy(&on_cpu);
    world_destroy(&on_card);
}

int main(int argc, char **argv)
{
    static const int cuts[][2] = {{1, 1}, {1, 2}, {2, 1}, {2, 3}};
    struct ctx ctx, host;
    struct device cpu = {.name = "cpu", .threads = 1};
    memset(&ctx, 0, sizeof ctx);
    if (comm_start(&argc, &argv, &ctx.comm) != 0 ||
        device_open(&ctx, "cuda", 1e9, &ctx.device) != 0) {
        tap_note("%s", ctx.error.text);
        return 1;
    }
    host = ctx;
    host.device = &cpu;
    /* One precision, or both; flows with a word in their name, or all. */
    const char *only = argc > 1 ? argv[1] : "";
    const char *word = argc > 2 ? argv[2] : "";
    for (int single = 0; single < 2; single++) {
        const struct fluid_kernels *k =
            ctx.device->fluid(single ? PRECISION_SINGLE : PRECISION_DOUBLE);
        if (only[0] && strcmp(only, k->name) != 0)
            continue;
        for (int n = 0; n < N_FLOWS; n++)
            for (int c = 0; c < (single ? 1 : 4); c++)
                if (strstr(flows[n].name, word) &&
                    cuts[c][0] <= flows[n].cells[1] &&
                    2 * cuts[c][1] <= flows[n].cells[2] + 1)
                    test_flow(&flows[n],
                              single ? &fluid_kernels_cpu_single
                                     : &fluid_kernels_cpu_double,
                              k, &ctx, &host, cuts[c][0], cuts[c][1]);
    }
    device_close(ctx.device);
    comm_finish(ctx.comm);
    return tap_done();
}
