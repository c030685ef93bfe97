/* What a card does beside the plain step: graphs, sums in any order, messages
 * from its memory, and what it says of memory. On the device of
 * WARPDECK_TEST_DEVICE.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/error.h"
#include "tests/md/md_case.h"
#include "tests/tap.h"

#define MIXTURE                                                           \
    "[run]\nsolver = \"md\"\nseed = 8\n[md]\nsteps = 100\n"               \
    "timestep = 0.003\n%s[md.initial]\nlattice = \"bcc\"\n"               \
    "cells = [6, 5, 5]\ndensity = 1.1\ntemperature = 1.2\n[md.pair]\n"    \
    "cutoff = 2.3\nskin = 0.3\nshift = \"force\"\n"                       \
    "[[md.species]]\nname = \"A\"\nmass = 1\nfraction = 0.75\n"           \
    "[[md.species]]\nname = \"B\"\nmass = 2.5\nfraction = 0.25\n"         \
    "[[md.pair.coefficients]]\nspecies = [\"A\", \"A\"]\nepsilon = 1\n"   \
    "sigma = 1\n"                                                         \
    "[[md.pair.coefficients]]\nspecies = [\"B\", \"B\"]\nepsilon = 0.5\n" \
    "sigma = 0.88\n%s"
#define BUSSI \
    "[md.ensemble]\ntype = \"bussi\"\ntemperature = 1\nrelaxation = 0.1\n"
#define LANGEVIN \
    "[md.ensemble]\ntype = \"langevin\"\ntemperature = 1\nrelaxation = 0.1\n"

/* ---- one run ---- */

struct outcome {
    struct snapshot s;
    double energy, kinetic, pressure;
    struct md_counters counters;
};

static void read_outcome(struct md_case *c, struct outcome *o)
{
    o->energy = case_value(c, "potential_energy");
    o->kinetic = case_value(c, "kinetic_energy");
    o->pressure = case_value(c, "pressure");
    c->md->k->counters(c->md->store, &o->counters);
}

/* n steps of a deck; returns the status. */
static int run(struct ctx *ctx, const char *deck, int n, struct outcome *o)
{
    struct md_case c;
    *o = (struct outcome){0};
    int status = case_open(ctx, &c, NULL, "%s", deck);
    if (status == 0)
        status = case_steps(&c, n);
    if (status == 0)
        read_outcome(&c, o);
    if (status == 0)
        status = case_snapshot(&c, &o->s);
    if (status != 0)
        tap_note("%s", ctx->error.text);
    case_close(&c);
    return status;
}

static int same_numbers(const double *a, const double *b, size_t n)
{
    return memcmp(a, b, n * sizeof *a) == 0;
}

/* Whether two runs agree to the bit. order: NULL, or where particle i of `a`
 * stands in `b`. */
static int same_bits(const struct outcome *a, const struct outcome *b,
                     const size_t *order)
{
    int same = a->s.n == b->s.n && same_numbers(&a->energy, &b->energy, 1) &&
               same_numbers(&a->kinetic, &b->kinetic, 1) &&
               same_numbers(&a->pressure, &b->pressure, 1);
    for (size_t i = 0; same && i < a->s.n; i++) {
        size_t j = order ? order[i] : i;
        same = same_numbers(a->s.position[i], b->s.position[j], 3) &&
               same_numbers(a->s.velocity[i], b->s.velocity[j], 3) &&
               same_numbers(a->s.force[i], b->s.force[j], 3);
    }
    return same;
}

/* All bits of a run in one number (FNV-1a), for runs in other processes. */
static uint64_t mix(uint64_t hash, const void *bytes, size_t n)
{
    for (size_t k = 0; k < n; k++)
        hash = (hash ^ ((const unsigned char *)bytes)[k]) * 0x100000001b3u;
    return hash;
}

static void note_bits(const struct outcome *o, const char *what)
{
    uint64_t hash = mix(0xcbf29ce484222325u, &o->energy, sizeof o->energy);
    hash = mix(hash, &o->kinetic, sizeof o->kinetic);
    hash = mix(hash, o->s.position, o->s.n * sizeof *o->s.position);
    hash = mix(hash, o->s.force, o->s.n * sizeof *o->s.force);
    tap_note("bits of %s: %016llx", what, (unsigned long long)hash);
}

/* ---- graphs ---- */

static void check_graphs(struct ctx *ctx, const char *keys,
                         const char *ensemble, const char *what)
{
    struct outcome with, without;
    char deck[4096], line[128];
    snprintf(line, sizeof line, "%sgraphs = \"on\"\n", keys);
    snprintf(deck, sizeof deck, MIXTURE, line, ensemble);
    int status = run(ctx, deck, 30, &with);
    snprintf(line, sizeof line, "%sgraphs = \"off\"\n", keys);
    snprintf(deck, sizeof deck, MIXTURE, line, ensemble);
    if (status == 0)
        status = run(ctx, deck, 30, &without);
    if (tap_ok(status == 0, "%s: two runs", what)) {
        tap_ok(with.counters.graphs >= 20 && without.counters.graphs == 0,
               "%s: steps run as graphs where they should", what);
        tap_note("%llu graphs launched",
                 (unsigned long long)with.counters.graphs);
        tap_ok(same_bits(&with, &without, NULL),
               "%s: graphs change no bit of the result", what);
        tap_near(with.counters.moved, without.counters.moved,
                 1e-9 * without.counters.moved,
                 "%s: nor the bytes that kernels move", what);
    }
    snapshot_free(&with.s);
    snapshot_free(&without.s);
}

/* ---- sums in any order ---- */

enum { SIDE = 7, COUNT = SIDE * SIDE * SIDE };

static size_t number_of(const size_t *order, size_t i)
{
    return order ? order[i] : i;
}

/* A shaken lattice; particle i stands in line order[i]. */
static int write_shaken(struct ctx *ctx, const char *path, const size_t *order)
{
    double x[COUNT][3];
    uint32_t random = 12345;
    if (comm_rank(ctx->comm) != 0)
        return comm_agree(ctx, 0);
    for (size_t i = 0; i < COUNT; i++) {
        size_t at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        for (int d = 0; d < 3; d++) {
            random = random * 1664525u + 1013904223u;
            x[number_of(order, i)][d] =
                1.1 * ((double)at[d] + 0.5 + 0.2 * (random / 4294967296.0));
        }
    }
    FILE *f = fopen(path, "w");
    if (!f)
        return comm_agree(ctx, FAIL(ctx, STATUS_IO, "cannot write %s", path));
    fprintf(f, "%d\n7.7 7.7 7.7\n", COUNT);
    for (size_t i = 0; i < COUNT; i++)
        fprintf(f, "A %.17g %.17g %.17g\n", x[i][0], x[i][1], x[i][2]);
    fclose(f);
    return comm_agree(ctx, 0);
}

static int run_shaken(struct ctx *ctx, const char *file, const char *keys,
                      const char *more, struct outcome *o)
{
    char folder[1024], deck[4096];
    if (!getcwd(folder, sizeof folder))
        return FAIL(ctx, STATUS_IO, "no folder");
    snprintf(deck, sizeof deck,
             "[run]\nsolver = \"md\"\n[md]\nsteps = 100\ntimestep = 0.003\n%s"
             "[md.initial]\nread = \"%s/%s\"\n[md.pair]\ncutoff = 2.5\n"
             "skin = 0.3\n%s",
             keys, folder, file, more);
    return run(ctx, deck, 25, o);
}

/* The same particles in two orders. */
static void check_order(struct ctx *ctx, const char *keys, const char *more,
                        const char *what)
{
    struct outcome one, other, loose;
    size_t order[COUNT];
    char exact[128];
    for (size_t i = 0; i < COUNT; i++)
        order[i] = (i * 100 + 17) % COUNT; /* 100 and 343 have no divisor */
    snprintf(exact, sizeof exact, "%sdeterministic = true\n", keys);
    int status = write_shaken(ctx, "shaken.xyz", NULL);
    if (status == 0)
        status = write_shaken(ctx, "other.xyz", order);
    if (status == 0)
        status = run_shaken(ctx, "shaken.xyz", exact, more, &one);
    if (status == 0)
        status = run_shaken(ctx, "other.xyz", exact, more, &other);
    if (status == 0)
        status = run_shaken(ctx, "shaken.xyz", keys, more, &loose);
    if (tap_ok(status == 0, "deterministic, %s: three runs", what)) {
        tap_ok(same_bits(&one, &other, order),
               "deterministic, %s: the order of particles changes no bit",
               what);
        note_bits(&one, what);
        /* Rounding to 2^-38 of 24, by 25 steps of a liquid. */
        tap_near(one.energy, loose.energy, 1e-6 * fabs(loose.energy),
                 "deterministic, %s: the energy is that of other sums", what);
        tap_near(one.kinetic, loose.kinetic, 1e-6 * loose.kinetic,
                 "deterministic, %s: so is the kinetic energy", what);
    }
    snapshot_free(&one.s);
    snapshot_free(&other.s);
    snapshot_free(&loose.s);
}

static void check_fixed_forces(struct ctx *ctx)
{
    struct md_case c;
    struct snapshot s = {0};
    struct direct d = {0};
    int status =
        case_open(ctx, &c, NULL, MIXTURE, "deterministic = true\n", LANGEVIN);
    if (status == 0)
        status = case_steps(&c, 20);
    if (status == 0)
        status = case_snapshot(&c, &s);
    if (status == 0)
        status = case_direct(&c, &s, &d);
    if (tap_ok(status == 0, "deterministic, two species: 20 steps")) {
        /* Some 50 roundings of half 2^-38 of 27, over 10 or more. */
        tap_ok(force_error(&s, &d) < 1e-10,
               "deterministic, two species: forces equal a direct sum");
        tap_note("worst %.2e of the root mean square", force_error(&s, &d));
        tap_near(case_value(&c, "potential_energy"), d.sums.energy,
                 1e-9 * fabs(d.sums.energy),
                 "deterministic, two species: so does the energy");
    } else {
        tap_note("%s", ctx->error.text);
    }
    snapshot_free(&s);
    direct_free(&d);
    case_close(&c);
}

/* Two particles 0.2 apart: 24 (2 / 0.2^13) is more than 2^24 times 24. */
static void check_beyond(struct ctx *ctx)
{
    char folder[1024];
    struct md_case c;
    int status = 0;
    if (comm_rank(ctx->comm) == 0) {
        FILE *f = fopen("close.xyz", "w");
        if (f) {
            fprintf(f, "3\n12 12 12\nA 1 1 1\nA 4 4 4\nA 4.2 4 4\n");
            fclose(f);
        } else {
            status = FAIL(ctx, STATUS_IO, "cannot write close.xyz");
        }
    }
    if (!getcwd(folder, sizeof folder) || comm_agree(ctx, status) != 0)
        return;
    status = case_open(ctx, &c, NULL,
                       "[run]\nsolver = \"md\"\n[md]\nsteps = 100\n"
                       "deterministic = true\n[md.initial]\n"
                       "read = \"%s/close.xyz\"\noverlap = 0\n"
                       "[md.pair]\ncutoff = 2.5\nskin = 0.3\n",
                       folder);
    if (status == 0)
        status = case_steps(&c, 1);
    tap_is_int(status, STATUS_PHYSICS,
               "deterministic: a force beyond the range is a failure");
    tap_ok(strstr(ctx->error.text, "the forces on particle 2 ") != NULL,
           "deterministic: which names the particle");
    tap_note("%s", ctx->error.text);
    case_close(&c);
}

/* ---- messages ---- */

static void check_plan(void)
{
    static const struct {
        const char *wanted;
        int takes;
        enum device_transfer plan;
        const char *sentence;
    } cases[] = {
        {"auto", 1, TRANSFER_TRY, "auto: tried where MPI says that it can"},
        {"auto", 0, TRANSFER_STAGED, "auto: staged where MPI says it cannot"},
        {"auto", -1, TRANSFER_STAGED, "auto: staged where MPI says nothing"},
        {"direct", 1, TRANSFER_TRY, "direct: tried before it is used"},
        {"direct", 0, TRANSFER_REFUSED, "direct: refused where MPI cannot"},
        {"direct", -1, TRANSFER_TRY, "direct: tried where MPI says nothing"},
        {"staged", 1, TRANSFER_STAGED, "staged: whatever MPI can do"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        tap_ok(device_plan_transfer(cases[k].wanted, cases[k].takes) ==
                   cases[k].plan,
               "messages, %s", cases[k].sentence);
}

static int lost_message(struct ctx *ctx, int *works)
{
    (void)ctx;
    *works = 0;
    return 0;
}

static int good_message(struct ctx *ctx, int *works)
{
    (void)ctx;
    *works = 1;
    return 0;
}

/* What a trial's result leads to, on several ranks of an MPI that says it takes
 * memory of cards. */
static void check_trial(struct ctx *ctx)
{
    struct device d = {.name = "test", .try_direct = good_message};
    if (comm_size(ctx->comm) == 1 || comm_takes_card_memory() != 1) {
        tap_skip(1, "MPI does not say that it takes memory of cards");
        return;
    }
    tap_ok(device_choose_transfer(ctx, &d, "auto") == 0 && d.direct == 1,
           "messages: direct after a good trial");
    tap_ok(device_choose_transfer(ctx, &d, "staged") == 0 && d.direct == 0,
           "messages: not where the deck says staged");
    d.try_direct = lost_message;
    tap_ok(device_choose_transfer(ctx, &d, "auto") == 0 && d.direct == 0,
           "messages, auto: staged after a bad trial");
    tap_is_int(device_choose_transfer(ctx, &d, "direct"), STATUS_UNSUPPORTED,
               "messages, direct: refused after a bad trial");
    error_clear(ctx);
}

/* ---- memory ---- */

static void check_estimate(struct ctx *ctx, const char *keys, const char *what)
{
    struct md_case c;
    int status = case_open(ctx, &c, NULL, MIXTURE, keys, BUSSI);
    if (status == 0)
        status = case_steps(&c, 20);
    if (tap_ok(status == 0, "memory, %s: a run", what)) {
        struct md_counters counters;
        double used, most = c.job.plan.memory_per_rank;
        c.md->k->counters(c.md->store, &counters);
        used = (double)counters.bytes;
        status = comm_max_double(ctx, &used, 1);
        /* Counts of particles and copies differ from the mean by some tenths in
         * so small blocks; small arrays come on top. */
        tap_ok(used < 1.2 * most && used > 0.5 * most,
               "memory, %s: as much as was told before the run", what);
        tap_note("%.0f of %.0f bytes", used, most);
    } else {
        tap_note("%s", ctx->error.text);
    }
    case_close(&c);
}

int main(int argc, char **argv)
{
    struct ctx ctx;
    if (test_start(&argc, &argv, &ctx) != 0)
        return 99;
    check_graphs(&ctx, "", "", "nve");
    check_graphs(&ctx, "precision = \"mixed\"\n", BUSSI, "bussi, mixed");
    check_graphs(&ctx, "", LANGEVIN, "langevin");
    check_graphs(&ctx, "deterministic = true\n", BUSSI, "bussi, deterministic");
    check_order(&ctx, "", "", "double");
    check_order(&ctx, "precision = \"single\"\n", BUSSI, "single, bussi");
    check_fixed_forces(&ctx);
    check_beyond(&ctx);
    check_plan();
    check_trial(&ctx);
    check_estimate(&ctx, "", "double");
    check_estimate(&ctx, "precision = \"single\"\ndeterministic = true\n",
                   "single, deterministic");
    return test_end(&ctx);
}
