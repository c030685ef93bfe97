/* Declared keys and their typed values. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "base/param.h"
#include "tests/deck/toy_tables.h"
#include "tests/tap.h"

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

static void test_words(struct ctx *ctx)
{
    static const char *const forms[] = {
        "[toy.side]\nleft = \"shut\"\n",
        "[toy.side]\nleft = { type = \"shut\" }\n",
        "[toy.side.left]\ntype = \"shut\"\nspeed = 0.0\n"};
    static const char *const typed[] = {"toy.side.left=shut"};
    char deck[256];

    for (int i = 0; i < 4; i++) {
        snprintf(deck, sizeof deck, BASE "%s", i < 3 ? forms[i] : "");
        struct params *p = read_with(ctx, deck, i == 3, typed);
        tap_ok(p != NULL && params_has_section(p, "toy.side.left") &&
                   strcmp(params_string(p, "toy.side.left", "type"), "shut") ==
                       0 &&
                   params_double(p, "toy.side.left", "speed") == 0.0,
               "a section in its long and its short form (%d)", i);
        if (p == NULL)
            tap_note("%s", ctx->error.text);
        params_destroy(p);
    }
    struct params *p = read_text(ctx, BASE "[toy.side]\nleft = \"shot\"\n");
    tap_ok(p == NULL &&
               strstr(ctx->error.text,
                      "d.toml:8:8: error: toy.side.left.type = "
                      "\"shot\"") &&
               strstr(ctx->error.text, "did you mean \"shut\"?"),
           "a wrong word is told as such");
    p = read_text(ctx, BASE "[toy.side]\nleft = [1]\n");
    tap_ok(p == NULL && strstr(ctx->error.text, "write [toy.side.left]"),
           "what is no word is told");
    p = read_text(ctx, BASE "[toy.side.left]\nspeed = 1\n");
    tap_ok(p == NULL &&
               strstr(ctx->error.text, "toy.side.left.type is missing"),
           "the word may not be missing in the long form");
}

/* What a solver says of the driver's sections. */
static void test_two_tables(struct ctx *ctx)
{
    struct params *p = read_text(ctx, BASE);
    size_t n = 0;
    const char *text = p != NULL ? params_resolved(p, &n) : NULL;

    tap_ok(p != NULL && strcmp(params_string(p, "run", "title"), "a toy") == 0,
           "the solver's default of a key of the driver holds");
    tap_ok(p != NULL && params_int(p, "output", "extra") == 7,
           "a solver may add a key to a section of the driver");
    const char *title = text != NULL ? strstr(text, "\ntitle = ") : NULL;
    tap_ok(title != NULL && strstr(title + 1, "\ntitle = ") == NULL,
           "a key of both stands once in the resolved deck");
    params_destroy(p);
}

static void test_resolved(struct ctx *ctx)
{
    struct params *p = read_text(
        ctx, "[run]\nsolver = \"toy\"\nunits = \"metal\"\n"
             "title = \"a \\\"b\\\" \\\\ \\u0007 \xc3\xa5\"\n[toy]\nsteps = 1\n"
             "timestep = \"0.3 fs\"\nsize = [\"1 nm\", 0.1, 3]\n"
             "[toy.pair]\ncutoff = 1e-7\nof = [[\"A\", \"B\"]]\n"
             "table = [[1, 2.5], [3, 4]]\n"
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
               strstr(first, "table = [[1.0, 2.5], [3.0, 4.0]]\n") != NULL &&
               strstr(first, "seed = 1\n") != NULL,
           "defaults stand in it, in the deck's units");
    tap_ok(strstr(first, "[toy.deep.part]") == NULL,
           "sections that do not stand are not in it");
    tap_ok(again != NULL && params_double(again, "toy", "timestep") ==
                                params_double(p, "toy", "timestep"),
           "numbers come back to the last bit");
    params_destroy(again);
    free(first);

    params_fill_double(p, "toy", "share", 0.25);
    tap_ok(strstr(params_resolved(p, &n), "share = 0.25") != NULL &&
               !params_is_set(p, "toy", "share"),
           "a default from other keys stands in the resolved deck, and is not "
           "set");
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
    test_overrides(ctx);
    test_words(ctx);
    test_two_tables(ctx);
    test_resolved(ctx);
    test_cross(ctx);
    test_line_ends(ctx);
    free(ctx);
    return tap_done();
}
