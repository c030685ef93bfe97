/* Declared keys: typed values, and every mistake of a deck told at once. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "base/param.h"
#include "tests/tap.h"

#define NUMBER           \
    {                    \
        0, 0, 0, 0, 0, 0 \
    }
#define LENGTH           \
    {                    \
        0, 1, 0, 0, 0, 0 \
    }
#define TIME             \
    {                    \
        0, 0, 1, 0, 0, 0 \
    }

static const struct param_section driver_sections[] = {
    {"run", 0, 0, "What runs."},
    {"output", 0, 1, "What is written."},
    {NULL, 0, 0, NULL}};

static const struct param driver_keys[] = {
    {"run", "solver", PARAM_STRING, NUMBER, NULL, 0, 0, 0, PARAM_REQUIRED,
     "toy|-fluid|-risk", "The solver."},
    {"run", "units", PARAM_STRING, NUMBER, "\"lj\"", 0, 0, 0, 0,
     "lj|metal|real|si", "Units."},
    {"run", "seed", PARAM_INT, NUMBER, "1", 0, 0, 0, PARAM_HAS_MIN, NULL,
     "Seed."},
    {"run", "title", PARAM_STRING, NUMBER, "\"\"", 0, 0, 0, 0, NULL, "Title."},
    {"output", "every", PARAM_INTERVAL, TIME, "100", 0, 0, 0, 0, NULL,
     "How often."},
    {"output", "save", PARAM_INTERVAL, TIME, NULL, 0, 0, 0,
     PARAM_OPTIONAL | PARAM_WALL, NULL, "How often."},
    {"output", "fields", PARAM_STRINGS, NUMBER, "[\"a\"]", 0, 0, 0, 0, "a|b",
     "Fields."},
    {NULL, NULL, PARAM_BOOL, NUMBER, NULL, 0, 0, 0, 0, NULL, NULL}};

static const struct param_section toy_sections[] = {
    {"toy", 0, 0, "The toy."},
    {"toy.pair", 0, 0, "Forces."},
    {"toy.kind", 1, 1, "A kind."},
    {"toy.deep.part", 0, 1, "Far below."},
    {NULL, 0, 0, NULL}};

static const struct param toy_keys[] = {
    {"toy", "timestep", PARAM_DOUBLE, TIME, "0.005", 0, 0, 0,
     PARAM_HAS_MIN | PARAM_MIN_OPEN | PARAM_DEFAULT_LJ, NULL, "Step."},
    {"toy", "steps", PARAM_INT, NUMBER, NULL, 0, 0, 0,
     PARAM_REQUIRED | PARAM_HAS_MIN, NULL, "How many."},
    {"toy", "cells", PARAM_INTS, NUMBER, NULL, 1, 0, 3,
     PARAM_OPTIONAL | PARAM_HAS_MIN, NULL, "Cells."},
    {"toy", "size", PARAM_DOUBLES, LENGTH, NULL, 0, 0, 3,
     PARAM_OPTIONAL | PARAM_HAS_MIN | PARAM_MIN_OPEN, NULL, "Size."},
    {"toy", "share", PARAM_DOUBLE, NUMBER, "0.5", 0, 1, 0,
     PARAM_HAS_MIN | PARAM_HAS_MAX | PARAM_MAX_OPEN, NULL, "Share."},
    {"toy", "tail", PARAM_BOOL, NUMBER, "false", 0, 0, 0, 0, NULL, "Tail."},
    {"toy.pair", "style", PARAM_STRING, NUMBER, "\"lj\"", 0, 0, 0, 0,
     "lj|wca|morse", "Form."},
    {"toy.pair", "cutoff", PARAM_DOUBLE, LENGTH, NULL, 0, 0, 0,
     PARAM_REQUIRED | PARAM_HAS_MIN | PARAM_MIN_OPEN, NULL, "Reach."},
    {"toy.pair", "of", PARAM_STRING_PAIRS, NUMBER, NULL, 0, 0, 0,
     PARAM_OPTIONAL, NULL, "Pairs."},
    {"toy.kind", "name", PARAM_STRING, NUMBER, NULL, 0, 0, 0, PARAM_REQUIRED,
     NULL, "Name."},
    {"toy.kind",
     "mass",
     PARAM_DOUBLE,
     {1, 0, 0, 0, 0, 0},
     "1.0",
     0,
     0,
     0,
     0,
     NULL,
     "Mass."},
    {"toy.deep.part", "value", PARAM_INT, NUMBER, "3", 0, 0, 0, 0, NULL,
     "Value."},
    {NULL, NULL, PARAM_BOOL, NUMBER, NULL, 0, 0, 0, 0, NULL, NULL}};

static const struct param_table driver_table = {driver_sections, driver_keys};
static const struct param_table toy_table = {toy_sections, toy_keys};

static const struct param_table *choose(const char *solver, void *user)
{
    (void)user;
    return strcmp(solver, "toy") == 0 ? &toy_table : NULL;
}

static struct params *read_with(struct ctx *ctx, const char *text, int n,
                                const char *const *overrides)
{
    struct params *p = NULL;

    error_clear(ctx);
    params_parse(ctx, "folder/d.toml", text, strlen(text), n, overrides,
                 &driver_table, choose, NULL, &p);
    return p;
}

static struct params *read_text(struct ctx *ctx, const char *text)
{
    return read_with(ctx, text, 0, NULL);
}

#define RUN "[run]\nsolver = \"toy\"\n"
#define BASE RUN "[toy]\nsteps = 10\n[toy.pair]\ncutoff = 2.5\n"

/* The deck is refused with exactly this text. */
static void refused(struct ctx *ctx, const char *text, const char *sentence,
                    const char *want)
{
    struct params *p = read_text(ctx, text);

    tap_is_int(ctx->error.status, STATUS_DECK, "refused: %s", sentence);
    if (!tap_ok(strstr(ctx->error.text, want) != NULL, "told: %s", sentence))
        tap_note("want %s\ngot %.600s", want, ctx->error.text);
    params_destroy(p);
}

static void test_values(struct ctx *ctx)
{
    struct params *p = read_text(
        ctx, BASE "style = \"wca\"\nof = [[\"A\", \"B\"], [\"B\", \"B\"]]\n"
                  "[[toy.kind]]\nname = \"A\"\n[[toy.kind]]\nname = \"B\"\n"
                  "mass = 2\n[output]\nfields = [\"b\", \"a\"]\n");
    size_t n = 0;
    const char *const *texts;

    if (!tap_ok(p != NULL, "a good deck is read")) {
        tap_note("%s", ctx->error.text);
        return;
    }
    tap_ok(params_int(p, "toy", "steps") == 10 &&
               params_double(p, "toy.pair", "cutoff") == 2.5 &&
               strcmp(params_string(p, "toy.pair", "style"), "wca") == 0,
           "values have their types");
    tap_ok(params_double(p, "toy", "timestep") == 0.005 &&
               params_bool(p, "toy", "tail") == 0 &&
               params_int(p, "run", "seed") == 1,
           "defaults are filled in");
    tap_ok(!params_is_set(p, "toy", "timestep") &&
               params_is_set(p, "toy", "steps") &&
               !params_is_set(p, "toy", "cells"),
           "what the deck says is known from what it does not");
    texts = params_strings(p, "toy.pair", "of", &n);
    tap_ok(n == 2 && strcmp(texts[1], "B") == 0 && strcmp(texts[2], "B") == 0,
           "pairs of texts stand in a row");
    texts = params_strings(p, "output", "fields", &n);
    tap_ok(n == 2 && strcmp(texts[0], "b") == 0, "arrays keep their order");
    tap_ok(params_count(p, "toy.kind") == 2 &&
               strcmp(params_string_at(p, "toy.kind", 1, "name"), "B") == 0 &&
               params_double_at(p, "toy.kind", 1, "mass") == 2.0 &&
               params_double_at(p, "toy.kind", 0, "mass") == 1.0,
           "several sections of one name are kept apart");
    tap_ok(params_has_section(p, "toy.pair") &&
               !params_has_section(p, "toy.deep.part") &&
               params_int(p, "toy.deep.part", "value") == 3,
           "an optional section that does not stand has its defaults");
    tap_is_text(params_folder(p), "folder", "the deck's folder is known");
    tap_is_int(params_finish(ctx, p), 0, "nothing is wrong with it");
    (void)params_int(p, "toy", "timestep");
    tap_is_int(params_finish(ctx, p), STATUS_INTERNAL,
               "asking for a wrong type is told");
    params_destroy(p);
    p = read_text(ctx, "run.solver = \"toy\"\ntoy = {steps = 3000000000, "
                       "pair.cutoff = 1e1}\n");
    tap_ok(p != NULL && params_int(p, "toy", "steps") == 3000000000LL &&
               params_double(p, "toy.pair", "cutoff") == 10.0,
           "dotted keys and braces say the same, counts go beyond 2^31");
    params_destroy(p);
}

static struct interval interval_of(struct ctx *ctx, const char *line,
                                   const char *key)
{
    struct interval every = {INTERVAL_NEVER, -1, -1};
    char text[256];
    struct params *p;

    snprintf(text, sizeof text,
             "[run]\nsolver = \"toy\"\nunits = \"real\"\n[toy]\nsteps = 1\n"
             "timestep = 1\n[toy.pair]\ncutoff = 9\n[output]\n%s\n",
             line);
    p = read_text(ctx, text);
    if (p != NULL)
        every = params_interval(p, "output", key);
    else
        tap_note("%s", ctx->error.text);
    params_destroy(p);
    return every;
}

static void test_intervals(struct ctx *ctx)
{
    struct interval every = interval_of(ctx, "every = 20", "every");
    static const struct {
        const char *line;
        double seconds;
    } walls[] = {{"save = \"30 min\"", 1800},
                 {"save = \"1h\"", 3600},
                 {"save = \"3:55:00\"", 14100},
                 {"save = \"120:00:01\"", 432001}};

    tap_ok(every.kind == INTERVAL_STEPS && every.steps == 20,
           "a whole number is an interval in steps");
    every = interval_of(ctx, "every = 20.0", "every");
    tap_ok(every.kind == INTERVAL_TIME && every.time == 20.0,
           "a number with a fraction is an interval in time");
    every = interval_of(ctx, "every = \"1 ps\"", "every");
    tap_ok(every.kind == INTERVAL_TIME && fabs(every.time - 1000) < 1e-9,
           "so is a quantity");
    every = interval_of(ctx, "every = 0", "every");
    tap_ok(every.kind == INTERVAL_NEVER && every.steps == 0, "0 is never");
    for (size_t i = 0; i < sizeof walls / sizeof walls[0]; i++) {
        every = interval_of(ctx, walls[i].line, "save");
        tap_ok(every.kind == INTERVAL_TIME && every.time == walls[i].seconds,
               "%s is %g seconds", walls[i].line, walls[i].seconds);
    }
}

static void test_mistakes(struct ctx *ctx)
{
    refused(
        ctx, RUN "[toy]\nsteps = 1\ntimestp = 1\n[toy.pair]\ncutoff=1\n",
        "a misspelt key",
        "folder/d.toml:5:1: error: unknown key 'timestp' in [toy]; did you "
        "mean 'timestep'?\n    5 | timestp = 1\n      | ^\n1 error; nothing "
        "was started\n");
    refused(ctx, BASE "steps = 1\n", "a key of another section",
            "unknown key 'steps' in [toy.pair]; it belongs in [toy]");
    refused(ctx, BASE "[outptu]\nevery = 1\n", "a misspelt section",
            "unknown section [outptu]; did you mean [output]?");
    refused(ctx, BASE "[pair]\ncutoff = 1\n", "a section without its parent",
            "unknown section [pair]; did you mean [toy.pair]?");
    refused(ctx, "seed = 1\n" BASE, "a key outside of sections",
            "unknown key 'seed' outside of any section; it belongs in [run]");
    refused(ctx, RUN "[toy]\nsteps = \"ten\"\n[toy.pair]\ncutoff = 1\n",
            "a wrong type",
            "d.toml:4:9: error: toy.steps = \"ten\": expected an integer, got "
            "a text");
    refused(ctx, RUN "[toy]\nsteps = 1.5\n[toy.pair]\ncutoff = 1\n",
            "half a step", "expected a whole number");
    refused(ctx, RUN "[toy]\nsteps = -1\n[toy.pair]\ncutoff = 1\n",
            "a number below its range", "toy.steps = -1: must be at least 0");
    refused(ctx, RUN "[toy]\nsteps = 1\ntimestep = 0\n[toy.pair]\ncutoff = 1\n",
            "a number at an open end", "must be greater than 0");
    refused(ctx, RUN "[toy]\nsteps = 1\nshare = 1.0\n[toy.pair]\ncutoff = 1\n",
            "a number at the other open end", "must be less than 1");
    refused(ctx, RUN "[toy]\nsteps = 1\n[toy.pair]\ncutoff = inf\n",
            "an infinite number", "cutoff = inf: must be a finite number");
    refused(ctx, RUN "[toy]\nsteps = 1\n[toy.pair]\ncutoff = nan\n",
            "a number that is none", "must be a finite number");
    refused(ctx, RUN "[toy]\nsteps = nan\n[toy.pair]\ncutoff = 1\n",
            "a count that is none", "expected a whole number");
    refused(ctx, BASE "style = \"jl\"\n", "a wrong choice",
            "toy.pair.style = \"jl\": expected one of \"lj\", \"wca\", "
            "\"morse\"; did you mean \"lj\"?");
    refused(ctx, BASE "of = [[\"A\"]]\n", "half a pair",
            "each entry is a pair of texts");
    refused(ctx, RUN "[toy]\nsteps = 1\ncells = [5, 5]\n[toy.pair]\ncutoff=1\n",
            "an array too short", "toy.cells: expected 3 integers, got 2");
    refused(ctx,
            RUN "[toy]\nsteps = 1\ncells = [5, 0, 5]\n"
                "[toy.pair]\ncutoff=1\n",
            "an array's second number", "d.toml:5:13: error: toy.cells = 0");
    refused(ctx, RUN "[toy]\nsteps = 1\ncells = 5\n[toy.pair]\ncutoff=1\n",
            "no array", "expected an array of integers, got an integer");
    refused(ctx, RUN "[toy]\nsteps = 1\n[toy.pair]\ncutoff = \"2.5 nm\"\n",
            "a unit in lj", "bare numbers are in reduced units");
    refused(ctx,
            "[run]\nsolver = \"toy\"\nunits = \"real\"\n[toy]\nsteps = 1\n"
            "timestep = \"1 fs\"\n[toy.pair]\ncutoff = \"9 K\"\n",
            "a wrong dimension", "wrong kind of unit here; use Angstrom");
    refused(ctx,
            "[run]\nsolver = \"toy\"\nunits = \"real\"\n[toy]\nsteps = 1\n"
            "[toy.pair]\ncutoff = 9\n",
            "a default of lj units in others", "toy.timestep is missing");
    refused(ctx, RUN "[toy]\n[toy.pair]\ncutoff = 1\n", "a missing key",
            "d.toml:3:1: error: toy.steps is missing: How many.");
    refused(ctx, BASE "[[toy.kind]]\nmass = 1\n",
            "a missing key in one of several sections",
            "d.toml:7:1: error: toy.kind.name is missing");
    refused(ctx, BASE "[toy.kind]\nname = \"A\"\n",
            "one section where several may stand", "write [[toy.kind]]");
    refused(ctx, RUN "[toy]\nsteps = 1\n[[toy.pair]]\ncutoff = 1\n",
            "several sections where one may stand", "write [toy.pair]");
    refused(ctx, RUN "[toy]\nsteps = 1\npair = 3\n", "a value for a section",
            "toy.pair is a section");
    refused(ctx, BASE "[toy.steps]\nx = 1\n", "a section for a value",
            "stands twice");
    refused(ctx, BASE "cutoff.x = 1\n", "a value with keys below", "redefine");
    refused(ctx, BASE "[run.seed]\nx = 1\n", "a section that is a key",
            "run.seed is a key with a value, not a section");
    refused(ctx, BASE "[toy.deep]\nx = 1\n", "a key in a section that has none",
            "unknown key 'x' in [toy.deep]");
    refused(ctx, "", "an empty deck",
            "d.toml:1:1: error: run.solver is missing");
    refused(ctx, "[run]\nslover = \"toy\"\n", "a misspelt solver key",
            "unknown key 'slover' in [run]; did you mean 'solver'?");
    refused(ctx, "[run]\nsolver = \"tyo\"\n[zzzzzzz]\n", "a misspelt solver",
            "run.solver = \"tyo\": expected \"toy\"\n    2 | solver = \"tyo\"\n"
            "      |          ^\n1 error;");
    refused(
        ctx, "[run]\nsolver = \"fluid\"\n[fluid]\nx = 1\n",
        "a solver of another version",
        "run.solver = \"fluid\": known, but not in this version, which has "
        "\"toy\"\n    2 | solver = \"fluid\"\n      |          ^\n1 error;");
    refused(ctx, BASE "[output]\nsave = 1.5\n", "a wall time without a unit",
            "a wall time in quotes");
    refused(ctx, BASE "[output]\nsave = \"soon\"\n", "no time", "soon");
    refused(ctx, BASE "[output]\nsave = \"3:75:00\"\n", "75 minutes",
            "expected a wall time such as");
    refused(ctx, BASE "[output]\nevery = -1\n", "a negative interval",
            "must be at least 0");
    refused(ctx, BASE "[output]\nevery = 0.0\n", "an interval of no time",
            "greater than 0");
    refused(ctx, BASE "[output]\nfields = []\n", "an empty array",
            "at least one");
    refused(ctx, BASE "[output]\nfields = [\"a\", \"c\"]\n",
            "a wrong choice in an array",
            "d.toml:8:16: error: output.fields = "
            "\"c\": expected one of");
    refused(ctx,
            "[run]\nsolver = \"toy\"\ntitle = \"a\\u0000b\"\n"
            "[toy]\nsteps = 1\n[toy.pair]\ncutoff = 1\n",
            "a text with NUL", "must not hold the character NUL");
    refused(ctx,
            "[run]\nsolver = \"toy\"\ntitle = 2020-01-01\n"
            "[toy]\nsteps = 1\n[toy.pair]\ncutoff = 1\n",
            "a date for a text", "got a date or time");
}

static void test_many(struct ctx *ctx)
{
    static const char *const overrides[] = {"toy.tail=maybe", "toy.nope=1"};
    struct params *p =
        read_with(ctx,
                  "[toy]\nsteps = 1\ntail = 1\n[run]\nseed = -1\n"
                  "solver = \"toy\"\n[toy.pair]\ncutof = 1\n",
                  2, overrides);

    tap_ok(p == NULL, "a deck of many mistakes is refused");
    tap_is_text(
        ctx->error.text,
        "folder/d.toml:5:8: error: run.seed = -1: must be at least 0\n"
        "    5 | seed = -1\n"
        "      |        ^\n"
        "folder/d.toml:7:1: error: toy.pair.cutoff is missing: Reach.\n"
        "    7 | [toy.pair]\n"
        "      | ^\n"
        "folder/d.toml:8:1: error: unknown key 'cutof' in [toy.pair]; did you "
        "mean 'cutoff'?\n"
        "    8 | cutof = 1\n"
        "      | ^\n"
        "command line: toy.tail=maybe: error: toy.tail = \"maybe\": expected "
        "true or false, got a text\n"
        "command line: toy.nope=1: error: unknown key 'nope' in [toy]; see "
        "warpdeck explain toy\n"
        "5 errors; nothing was started\n",
        "all are told, those of the deck by line, then the command line's");

    char *text = malloc(60000);
    size_t used = 0;
    if (text == NULL)
        return;
    used += (size_t)snprintf(text, 60000, BASE);
    for (int i = 0; i < 2500; i++)
        used += (size_t)snprintf(text + used, 60000 - used, "wrong%d = 1\n", i);
    p = read_text(ctx, text);
    tap_ok(p == NULL &&
               strstr(ctx->error.text, "2500 errors; nothing was started\n") &&
               strstr(ctx->error.text, "... and ") != NULL,
           "of 2500 mistakes the first are told and all are counted");
    free(text);
    params_destroy(p);
}

static void test_overrides(struct ctx *ctx)
{
    static const char *const good[] = {
        "toy.steps=20",        "toy.pair.style=morse", "run.title=2026-01-01",
        "toy.cells=[1, 2, 3]", "toy.steps=30",         "toy.deep.part.value=4"};
    static const char *const wrong[] = {"toy.stesp=20", "steps=1"};
    struct params *p = read_with(ctx, BASE, 6, good);
    size_t n = 0;

    tap_ok(p != NULL && params_int(p, "toy", "steps") == 30,
           "the last override of a key holds");
    tap_ok(p != NULL &&
               strcmp(params_string(p, "run", "title"), "2026-01-01") == 0 &&
               strcmp(params_string(p, "toy.pair", "style"), "morse") == 0,
           "texts need no quotes on the command line");
    tap_ok(p != NULL && params_ints(p, "toy", "cells", &n)[2] == 3 &&
               params_has_section(p, "toy.deep.part"),
           "arrays and new sections can be given");
    params_destroy(p);
    p = read_with(ctx, BASE, 2, wrong);
    tap_ok(p == NULL &&
               strstr(ctx->error.text,
                      "command line: toy.stesp=20: error: unknown key 'stesp' "
                      "in [toy]; did you mean 'steps'?\n") &&
               strstr(ctx->error.text, "command line: steps=1: error: expected "
                                       "section.key=value\n2 errors"),
           "overrides go through the same checks");
    params_destroy(p);
}

static void test_resolved(struct ctx *ctx)
{
    struct params *p = read_text(
        ctx, "[run]\nsolver = \"toy\"\nunits = \"metal\"\n"
             "title = \"a \\\"b\\\" \\\\ \\u0007 \xc3\xa5\"\n[toy]\nsteps = 1\n"
             "timestep = \"0.3 fs\"\nsize = [\"1 nm\", 0.1, 3]\n"
             "[toy.pair]\ncutoff = 1e-7\nof = [[\"A\", \"B\"]]\n"
             "[[toy.kind]]\nname = \"A\"\n[[toy.kind]]\nname = \"B\"\n"
             "[output]\nevery = \"2 ps\"\nsave = \"1:00:00\"\n");
    struct params *again;
    char *first;
    const char *second = NULL;
    size_t n = 0, m = 0;

    if (!tap_ok(p != NULL, "a deck with units is read")) {
        tap_note("%s", ctx->error.text);
        return;
    }
    first = strdup(params_resolved(p, &n));
    again = read_text(ctx, first);
    if (again != NULL)
        second = params_resolved(again, &m);
    if (!tap_is_text(second, first, "the resolved deck resolves to itself"))
        tap_note("%s", ctx->error.text);
    tap_ok(strlen(first) == n && strstr(first, "tail = false\n") != NULL &&
               strstr(first, "save = \"3600.0 s\"\n") != NULL &&
               strstr(first, "every = 2.0\n") != NULL &&
               strstr(first, "seed = 1\n") != NULL,
           "defaults stand in it, in the deck's units");
    tap_ok(strstr(first, "[toy.deep.part]") == NULL,
           "sections that do not stand are not in it");
    tap_ok(again != NULL && params_double(again, "toy", "timestep") ==
                                params_double(p, "toy", "timestep"),
           "numbers come back to the last bit");
    params_destroy(again);
    free(first);

    tap_is_int(params_fill_string(ctx, p, "toy.pair", "style", "x"), 0,
               "a default from other keys can be filled in");
    tap_ok(strstr(params_resolved(p, &n), "style = \"x\"") != NULL &&
               !params_is_set(p, "toy.pair", "style"),
           "it stands in the resolved deck, and is not set");
    params_destroy(p);
}

static void test_cross(struct ctx *ctx)
{
    struct params *p = read_text(ctx, BASE "[[toy.kind]]\nname = \"A\"\n");

    if (!tap_ok(p != NULL, "a deck for checks over several keys is read"))
        return;
    params_error(p, "toy.pair", "cutoff", "cutoff %g is too long", 2.5);
    params_error(p, "toy", "timestep", "timestep is odd");
    params_error_at(p, "toy.kind", 0, "mass", "mass is odd");
    params_error(p, "output", "every", "every is odd");
    tap_is_int(params_finish(ctx, p), STATUS_DECK, "they refuse the deck");
    tap_is_text(ctx->error.text,
                "folder/d.toml:1:1: error: every is odd\n"
                "folder/d.toml:3:1: error: timestep is odd\n"
                "    3 | [toy]\n      | ^\n"
                "folder/d.toml:6:10: error: cutoff 2.5 is too long\n"
                "    6 | cutoff = 2.5\n      |          ^\n"
                "folder/d.toml:7:1: error: mass is odd\n"
                "    7 | [[toy.kind]]\n      | ^\n"
                "4 errors; nothing was started\n",
                "each stands at its key, or at its section");
    params_destroy(p);
}

static void test_line_ends(struct ctx *ctx)
{
    static const char unix_deck[] = BASE "of = [\n[\"A\", \"B\"],\n]\n";
    char dos[sizeof unix_deck * 2], *d = dos;
    struct params *p = read_text(ctx, unix_deck), *q;
    size_t n = 0;

    for (const char *c = unix_deck; *c != '\0'; c++) {
        if (*c == '\n')
            *d++ = '\r';
        *d++ = *c;
    }
    *d = '\0';
    q = read_text(ctx, dos);
    tap_ok(p != NULL && q != NULL &&
               strcmp(params_resolved(p, &n), params_resolved(q, &n)) == 0,
           "CRLF decks mean the same");
    params_destroy(p);
    params_destroy(q);
}

int main(void)
{
    struct ctx *ctx = calloc(1, sizeof *ctx);

    if (ctx == NULL)
        return 1;
    test_values(ctx);
    test_intervals(ctx);
    test_mistakes(ctx);
    test_many(ctx);
    test_overrides(ctx);
    test_resolved(ctx);
    test_cross(ctx);
    test_line_ends(ctx);
    free(ctx);
    return tap_done();
}
