/* Molecules on a card beside those on the CPU: terms along bonds of every style
 * and rigid groups of every shape, on the device of WARPDECK_TEST_DEVICE.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/error.h"
#include "base/timer.h"
#include "molecules.h"
#include "tests/tap.h"

/* One FENE bond of the chains is longer. */
static const double FENE_LONGEST = 1.214;

#define CHAINS                                                   \
    "[run]\nsolver = \"md\"\nseed = 3\n[md]\ntimestep = 0.002\n" \
    "steps = 1000\npressure_tensor = true\n%s[md.initial]\n"     \
    "read = \"%s/%s.data\"\ntemperature = 1.0\n[md.bonds]\n"     \
    "bond_style = \"none\"\nangle_style = \"none\"\n"            \
    "dihedral_style = \"none\"\nimproper_style = \"none\"\n%s"   \
    "[md.pair]\ncutoff = 2.5\nskin = 0.4\n%s"

#define PARTLY "special_lj = [0, 0.25, 0.5]\n"
#define LJ(shift)                                                         \
    "shift = \"" shift "\"\n[[md.pair.coefficients]]\n"                   \
    "species = [\"C\", \"C\"]\nepsilon = 1\nsigma = 0.9\n"                \
    "[[md.pair.coefficients]]\nspecies = [\"D\", \"D\"]\nepsilon = 0.5\n" \
    "sigma = 1.0\n"
#define SOFT_PAIR(a, b, strength)                                  \
    "[[md.pair.coefficients]]\nspecies = [\"" a "\", \"" b "\"]\n" \
    "style = \"soft\"\na = " strength "\n"
#define SOFT \
    SOFT_PAIR("C", "C", "6") SOFT_PAIR("C", "D", "4") SOFT_PAIR("D", "D", "9")

#define BODIES                                                            \
    "[run]\nsolver = \"md\"\nunits = \"real\"\nseed = 5\n[md]\n"          \
    "timestep = %g\nsteps = 1000\npressure_tensor = true\n%s"             \
    "[md.initial]\nread = \"%s/bodies.data\"\ntemperature = 300\n"        \
    "[md.pair]\ncutoff = 4.8\nshift = \"force\"\nskin = 0.8\n"            \
    "[[md.pair.coefficients]]\nspecies = [\"O\", \"O\"]\nepsilon = 0.2\n" \
    "sigma = 3.2\n[[md.pair.coefficients]]\nspecies = [\"C\", \"C\"]\n"   \
    "epsilon = 0.2\nsigma = 3.2\n[[md.pair.coefficients]]\n"              \
    "species = [\"H\", \"H\"]\nepsilon = 0\nsigma = 1\n"                  \
    "[md.constraints]\nrigid_water = [\"O\", \"H\"]\nbelow_mass = 1.5\n"

/* ---- terms along bonds ---- */

static void fill_chains(char *deck, size_t size, const char *keys,
                        const char *name, const char *special,
                        const char *pairs)
{
    char folder[1024] = "";
    if (!getcwd(folder, sizeof folder))
        folder[0] = 0;
    snprintf(deck, size, CHAINS, keys, folder, name, special, pairs);
}

static void check_chains(struct ctx *ctx, int steps)
{
    struct outcome card0, card, cpu0, cpu;
    char deck[4096];
    fill_chains(deck, sizeof deck, "", "chains", PARTLY, LJ("force"));
    int status = molecules_run(ctx, deck, 0, steps, &card0, &card);
    status = status ? status : molecules_run(ctx, deck, 1, steps, &cpu0, &cpu);
    if (!tap_ok(status == 0, "chains: runs on both devices"))
        return;
    molecules_compare(&card0, &cpu0, 1e-12, 0, "chains");
    tap_ok(memcmp(card0.counts, cpu0.counts, sizeof cpu0.counts) == 0,
           "chains: bonds by length and angles by size are the CPU's");
    double parts = 1;
    for (int e = MD_ENERGY_BOND; e <= MD_ENERGY_CMAP; e++)
        parts *= cpu0.sums[7 + e];
    tap_ok(fabs(parts) > 0 && cpu0.counts[0][60] > 0,
           "chains: terms of every kind are there");
    /* Round-off grows with the liquid's disorder: 1e-16 by some e^6. */
    molecules_compare(&card, &cpu, 1e-10, 1, "chains later");
    molecules_free(&card0, &card);
    molecules_free(&cpu0, &cpu);
}

/* Beside pairs of another form. */
static void check_forms(struct ctx *ctx)
{
    struct outcome card0, card, cpu0, cpu;
    char deck[4096];
    fill_chains(deck, sizeof deck, "", "chains", "special_lj = [0, 1, 0]\n",
                SOFT);
    int status = molecules_run(ctx, deck, 0, 20, &card0, &card);
    status = status ? status : molecules_run(ctx, deck, 1, 20, &cpu0, &cpu);
    if (!tap_ok(status == 0, "soft chains: runs on both devices"))
        return;
    /* Tables are good to 1e-12 of a pair; both read the same. */
    molecules_compare(&card0, &cpu0, 1e-11, 0, "soft chains");
    molecules_compare(&card, &cpu, 1e-10, 1, "soft chains later");
    molecules_free(&card0, &card);
    molecules_free(&cpu0, &cpu);
}

static void check_precision(struct ctx *ctx, const char *mode)
{
    struct outcome card, cpu;
    char deck[4096], keys[64];
    snprintf(keys, sizeof keys, "precision = \"%s\"\n", mode);
    fill_chains(deck, sizeof deck, "", "chains", PARTLY, LJ("energy"));
    int status = molecules_run(ctx, deck, 1, 0, NULL, &cpu);
    fill_chains(deck, sizeof deck, keys, "chains", PARTLY, LJ("energy"));
    status = status ? status : molecules_run(ctx, deck, 0, 0, NULL, &card);
    if (!tap_ok(status == 0, "chains, %s: runs", mode))
        return;
    /* Positions of up to 8 from the middle of a block have 24 bits. */
    molecules_below(molecules_off(card.s.force, cpu.s.force, 3 * cpu.s.n), 1e-4,
                    mode, "forces are double's");
    molecules_below(molecules_off(card.sums + 7, cpu.sums + 7, MD_ENERGIES),
                    1e-5, mode, "energies are double's");
    molecules_free(&card, &cpu);
}

static int same(const struct outcome *a, const struct outcome *b)
{
    size_t bytes = a->s.n * sizeof *a->s.force;
    return memcmp(a->s.position, b->s.position, bytes) == 0 &&
           memcmp(a->s.velocity, b->s.velocity, bytes) == 0 &&
           memcmp(a->s.force, b->s.force, bytes) == 0 &&
           memcmp(a->sums, b->sums, sizeof a->sums) == 0;
}

/* Sums in any order, and graphs. */
static void check_deterministic(struct ctx *ctx, int steps)
{
    struct outcome one, other, cpu;
    char deck[4096];
    fill_chains(deck, sizeof deck, "deterministic = true\ngraphs = \"on\"\n",
                "chains", PARTLY, LJ("energy"));
    int status = molecules_run(ctx, deck, 0, steps, NULL, &one);
    fill_chains(deck, sizeof deck, "deterministic = true\ngraphs = \"off\"\n",
                "backwards", PARTLY, LJ("energy"));
    status = status ? status : molecules_run(ctx, deck, 0, steps, NULL, &other);
    fill_chains(deck, sizeof deck, "", "chains", PARTLY, LJ("energy"));
    status = status ? status : molecules_run(ctx, deck, 1, steps, NULL, &cpu);
    if (!tap_ok(status == 0, "deterministic: runs"))
        return;
    if (comm_size(ctx->comm) == 1)
        tap_ok(same(&one, &other), "deterministic: no bit depends on graphs "
                                   "or on the order of particles");
    /* A unit of forces is some 4e-12 of the greatest. */
    molecules_compare(&one, &cpu, 1e-7, 1, "deterministic");
    molecules_free(&one, &other);
    snapshot_free(&cpu.s);
}

/* A new list with each step. taken: 0, terms are looked up anew each time. */
static int run_rebuilding(struct ctx *ctx, const char *deck, int taken,
                          struct outcome *o)
{
    struct md_case c;
    struct md_kernels k;
    int status = molecules_start(ctx, &c, 0, 1.9, deck);
    if (status == 0) {
        k = *c.md->k;
        if (!taken)
            k.find_terms = NULL;
        c.md->k = &k;
        c.md->pair.rebuild_every = 1;
        status = case_steps(&c, 6);
    }
    if (status == 0)
        status = molecules_look(&c, o);
    case_close(&c);
    return status;
}

/* Rebuilds take the terms of a whole box along on the card. */
static void check_taken(struct ctx *ctx, const char *deck, const char *what)
{
    struct outcome o[2];
    memset(o, 0, sizeof o);
    int status = run_rebuilding(ctx, deck, 0, &o[0]);
    status = status ? status : run_rebuilding(ctx, deck, 1, &o[1]);
    tap_ok(status == 0 && same(&o[0], &o[1]) &&
               memcmp(o[0].inner, o[1].inner, sizeof o[0].inner) == 0 &&
               memcmp(o[0].counts, o[1].counts, sizeof o[0].counts) == 0,
           "%s: terms that rebuilds take along are those that are looked up "
           "anew, to the bit",
           what);
    molecules_free(&o[0], &o[1]);
}

/* One step of a deck that cannot be: both devices say so in the same words, up
 * to `until`. */
static void check_failure(struct ctx *ctx, const char *deck, double fene,
                          const char *words, const char *until,
                          const char *what)
{
    char said[2][512];
    int status[2];
    for (int cpu = 0; cpu < 2; cpu++) {
        struct md_case c;
        status[cpu] = molecules_start(ctx, &c, cpu, fene, deck);
        if (status[cpu] == 0)
            status[cpu] = case_steps(&c, 1);
        snprintf(said[cpu], sizeof said[cpu], "%.500s", ctx->error.text);
        case_close(&c);
    }
    const char *end = strstr(said[0], until);
    size_t n = end ? (size_t)(end - said[0]) : 0;
    tap_ok(status[0] != 0 && status[0] == status[1] && n > strlen(words) &&
               strncmp(said[0], words, strlen(words)) == 0 &&
               strncmp(said[0], said[1], n) == 0,
           "%s ends the run in the CPU's words", what);
    tap_note("status %d and %d, %s", status[0], status[1], said[0]);
    tap_note("%s", said[1]);
}

/* ---- rigid groups ---- */

static void fill_bodies(char *deck, size_t size, double dt, const char *keys)
{
    char folder[1024] = "";
    if (!getcwd(folder, sizeof folder))
        folder[0] = 0;
    snprintf(deck, size, BODIES, dt, keys, folder);
}

static void check_bodies(struct ctx *ctx, const char *keys, double tolerance,
                         int steps, const char *what)
{
    struct outcome card0, card, cpu0, cpu;
    char deck[4096];
    fill_bodies(deck, sizeof deck, 1, keys);
    int status = molecules_run(ctx, deck, 0, steps, &card0, &card);
    fill_bodies(deck, sizeof deck, 1, strstr(keys, "determ") ? "" : keys);
    status = status ? status : molecules_run(ctx, deck, 1, steps, &cpu0, &cpu);
    if (!tap_ok(status == 0, "%s: runs on both devices", what))
        return;
    molecules_compare(&card0, &cpu0, tolerance, 1, what);
    molecules_compare(&card, &cpu, 100 * tolerance, 1, what);
    molecules_below(molecules_off(card.inner, cpu.inner, 6), 100 * tolerance,
                    what, "what groups have beside their centers is the CPU's");
    tap_ok(fabs(cpu.sums[0]) > 0 && cpu.inner[0] > 0, "%s: there are groups",
           what);
    molecules_free(&card0, &card);
    molecules_free(&cpu0, &cpu);
}

/* Groups go along with a box by their centers alone. */
static void check_unstretch(struct ctx *ctx)
{
    static const struct md_stretch m = {
        {1, 1, 1}, 0, {0.99, 1, 1.02}, 0.4, {1.01, 0.98, 1}, NULL};
    static const double grow[3] = {1.001, 1, 0.998};
    struct outcome o[2];
    char deck[4096];
    int status = 0;
    fill_bodies(deck, sizeof deck, 1, "");
    memset(o, 0, sizeof o);
    for (int cpu = 0; cpu < 2 && status == 0; cpu++) {
        struct md_case c;
        status = molecules_start(ctx, &c, cpu, 0, deck);
        if (status == 0)
            status = md_rigid_unstretch(ctx, c.md, &m, grow);
        if (status == 0)
            status = case_snapshot(&c, &o[cpu].s);
        case_close(&c);
    }
    if (tap_ok(status == 0, "groups in a box that changes: runs"))
        molecules_below(
            fmax(molecules_off(o[0].s.position, o[1].s.position, 3 * o[0].s.n),
                 molecules_off(o[0].s.velocity, o[1].s.velocity, 3 * o[0].s.n)),
            1e-12, "groups in a box that changes",
            "places and velocities are the CPU's");
    molecules_free(&o[0], &o[1]);
}

/* What md.c asks of the clock of terms, and is told. */
static double (*clock_of_terms)(struct md_store *s, double seconds);
static double asked, told;

static double listen(struct md_store *s, double seconds)
{
    double terms = clock_of_terms(s, seconds);
    asked += seconds;
    told += terms;
    return terms;
}

/* The phases "pair" and "bonded", where launches return before the work is done
 * and most steps run as graphs. */
static void check_phases(struct ctx *ctx)
{
    struct md_case c;
    struct md_kernels k;
    struct md_counters counters = {0};
    char deck[4096];
    fill_chains(deck, sizeof deck, "", "chains", PARTLY, LJ("force"));
    int status = molecules_start(ctx, &c, 0, 1.9, deck);
    if (status == 0) {
        k = *c.md->k;
        clock_of_terms = k.terms_seconds;
        k.terms_seconds = listen;
        c.md->k = &k;
        timers_reset(ctx->timers);
        status = case_steps(&c, 40);
    }
    if (tap_ok(status == 0, "phases: 40 steps")) {
        double pair = timer_seconds(ctx->timers, c.md->phase_pair);
        double bonded = timer_seconds(ctx->timers, c.md->phase_bonded);
        double share = k.terms_seconds(c.md->store, 1);
        k.counters(c.md->store, &counters);
        tap_ok(share > 0 && share < 1 && counters.graphs > 20,
               "phases: what part of the forces' time terms take is known, and "
               "most steps were graphs");
        tap_note("%g, %llu graphs", share, (unsigned long long)counters.graphs);
        tap_ok(pair > 0 && bonded > 0, "phases: bonded is told from pair");
        asked -= 1;
        told -= share;
        tap_near(pair + bonded, asked, 1e-9 * asked,
                 "phases: together they have the time of the calls");
        tap_near(bonded, told, 1e-9 * asked, "phases: terms have their part");
    }
    case_close(&c);
}

static void check_failures(struct ctx *ctx)
{
    char deck[4096];
    fill_chains(deck, sizeof deck, "", "chains", PARTLY, LJ("energy"));
    check_failure(ctx, deck, FENE_LONGEST,
                  "step 1: the FENE bond of particles ", " is ",
                  "a FENE bond that breaks");
    fill_bodies(deck, sizeof deck, 60, "");
    check_failure(ctx, deck, 0, "step 1: the rigid bonds of", "particle ",
                  "a group that is torn apart");
}

static void check_rebuilds(struct ctx *ctx)
{
    char deck[4096];
    fill_chains(deck, sizeof deck, "", "chains", PARTLY, LJ("force"));
    check_taken(ctx, deck, "chains");
    fill_chains(deck, sizeof deck, "deterministic = true\n", "backwards",
                "special_lj = [0, 1, 0]\n", SOFT);
    check_taken(ctx, deck, "soft chains in any order");
    fill_bodies(deck, sizeof deck, 1, "");
    check_taken(ctx, deck, "rigid groups");
}

int main(int argc, char **argv)
{
    struct ctx ctx;
    if (test_start(&argc, &argv, &ctx) != 0)
        return 99;
    int brief = getenv("WARPDECK_TEST_SHORT") != NULL;
    int status = 0;
    if (comm_rank(ctx.comm) == 0 &&
        (molecules_write_chains("chains.data", 0, 0) ||
         molecules_write_chains("backwards.data", 1, 0) ||
         molecules_write_bodies("bodies.data", 0) ||
         molecules_write_chains("charged.data", 0, 1) ||
         molecules_write_chains("swapped.data", 1, 1) ||
         molecules_write_bodies("water.data", 1)))
        status = FAIL(&ctx, STATUS_IO, "cannot write the molecules");
    if (tap_ok(comm_agree(&ctx, status) == 0, "files of molecules")) {
        check_chains(&ctx, brief ? 30 : 200);
        check_deterministic(&ctx, 20);
        check_forms(&ctx);
        check_bodies(&ctx, "", 1e-12, brief ? 30 : 200, "rigid groups");
        check_bodies(&ctx, "deterministic = true\n", 1e-9, 10,
                     "deterministic rigid groups");
        check_rebuilds(&ctx);
        check_unstretch(&ctx);
        check_phases(&ctx);
        molecules_check_charged(&ctx);
        check_failures(&ctx);
        check_precision(&ctx, "mixed");
        check_precision(&ctx, "single");
    }
    return test_end(&ctx);
}
