/* Every mistake of a deck is told, all at once, each with its place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "base/param.h"
#include "tests/deck/toy_tables.h"
#include "tests/tap.h"

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
    refused(ctx, BASE "style = \"MORSE\"\n", "a choice in capitals",
            "did you mean \"morse\"?");
    refused(ctx, BASE "style = \"lj/cut\"\n", "what another program calls it",
            "expected one of \"lj\", \"wca\", \"morse\"; here that is \"lj\"");
    refused(ctx, RUN "[toy]\nNr-steps = 1\n[toy.pair]\ncutoff = 1\n",
            "what another program calls a key",
            "unknown key 'Nr-steps' in [toy]; here that is toy.steps");
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
    refused(ctx,
            "[run]\nsolver = \"toy\"\nunits = \"reel\"\n[toy]\n"
            "steps = 1\n[toy.pair]\ncutoff = \"9 nm\"\n",
            "wrong units, and nothing that follows from them",
            "did you mean \"real\"?\n    3 | units = \"reel\"\n"
            "      |         ^\n1 error;");
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
    refused(ctx, "solver = \"toy\"\n", "a solver outside of [run]",
            "unknown key 'solver' outside of any section; it belongs in [run]");
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
    refused(ctx, BASE "[toy.later]\nx = 1\n", "a section of another version",
            "d.toml:7:6: error: section [toy.later]: known, but not in this "
            "version\n    7 | [toy.later]\n      |      ^\n1 error;");
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

int main(void)
{
    struct ctx *ctx = calloc(1, sizeof *ctx);

    if (ctx == NULL)
        return 1;
    test_mistakes(ctx);
    test_many(ctx);
    free(ctx);
    return tap_done();
}
