/* Faults that other programs shipped with, in the decks of this one: each has
 * the number it has in the list of them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "base/param.h"
#include "driver/driver_params.h"
#include "solvers/solver.h"
#include "tests/tap.h"

static const char deck[] = "# A small melt.\n"
                           "[run]\n"
                           "solver = \"md\"\n"
                           "seed = 87287\n"
                           "\n"
                           "[md]\n"
                           "timestep = 0.005 # short\n"
                           "steps = 10\n"
                           "[md.initial]\n"
                           "lattice = \"fcc\"\n"
                           "cells = [5, 5, 5]\n"
                           "density = 0.8442\n"
                           "[md.pair]\n"
                           "cutoff = 2.5\n"
                           "[checkpoint]\n"
                           "every = \"30 min\"\n";

static const struct param_table *choose(const char *name, void *user)
{
    const struct solver *solver = solver_find(name);

    (void)user;
    return solver != NULL ? solver->params : NULL;
}

static struct params *read_bytes(struct ctx *ctx, const char *text, size_t n,
                                 const char *override)
{
    struct params *p = NULL;
    const char *const overrides[] = {override};

    error_clear(ctx);
    params_parse(ctx, "d.toml", text, n, override != NULL, overrides,
                 driver_param_table(), choose, NULL, &p);
    return p;
}

/* Whether the text means what `deck` means. */
static int same(struct ctx *ctx, const char *text, size_t n)
{
    struct params *p = read_bytes(ctx, deck, strlen(deck), NULL);
    struct params *q = read_bytes(ctx, text, n, NULL);
    size_t m = 0;
    int equal = p != NULL && q != NULL &&
                strcmp(params_resolved(p, &m), params_resolved(q, &m)) == 0;

    if (!equal)
        tap_note("%.300s", ctx->error.text);
    params_destroy(p);
    params_destroy(q);
    return equal;
}

/* `deck` with every `from` replaced by `to`; the caller frees it. */
static char *replaced(const char *from, const char *to)
{
    size_t room = strlen(deck) * (strlen(to) + 2) + 1;
    char *text = malloc(room), *out = text;
    const char *s = deck;

    while (text != NULL && *s != '\0') {
        if (strncmp(s, from, strlen(from)) == 0) {
            memcpy(out, to, strlen(to));
            out += strlen(to);
            s += strlen(from);
        } else {
            *out++ = *s++;
        }
    }
    if (text != NULL)
        *out = '\0';
    return text;
}

static void stays_the_same(struct ctx *ctx, const char *from, const char *to,
                           const char *sentence)
{
    char *text = replaced(from, to);

    tap_ok(text != NULL && same(ctx, text, strlen(text)), "%s", sentence);
    free(text);
}

static void test_blanks(struct ctx *ctx)
{
    char *text;
    char with_mark[2048];
    int n = snprintf(with_mark, sizeof with_mark, "\xef\xbb\xbf%s", deck);
    char *long_comment = calloc(1, 100000 + sizeof deck + 8);

    stays_the_same(ctx, "\n", "\r\n", "1: CRLF line ends change nothing");
    text = replaced("# A small melt.\n[run]\nsolver", "[run]\r\nsolver");
    tap_ok(text != NULL && same(ctx, text, strlen(text)),
           "2: a CR behind the very first line changes nothing");
    free(text);
    stays_the_same(ctx, " = ", "\t=\t", "3: TABs around = are blanks");
    stays_the_same(ctx, "]\n", "]\t \n", "3: so are TABs behind a section");
    stays_the_same(ctx, "\n", "\n\t\n \t \n",
                   "5: lines of blanks and TABs are nothing");
    tap_ok(same(ctx, with_mark, (size_t)n),
           "6: a byte order mark is no part of the deck");
    for (size_t i = 0; long_comment != NULL && i < 5; i++) {
        static const size_t lengths[] = {254, 255, 256, 257, 100000};
        memset(long_comment, '#', lengths[i]);
        snprintf(long_comment + lengths[i], sizeof deck + 8, "\n%s", deck);
        tap_ok(same(ctx, long_comment, strlen(long_comment)),
               "7: a comment of %zu characters changes nothing", lengths[i]);
    }
    free(long_comment);
}

static void refused(struct ctx *ctx, const char *from, const char *to,
                    const char *override, const char *want,
                    const char *sentence)
{
    char *text = replaced(from, to);
    struct params *p = NULL;

    if (text != NULL)
        p = read_bytes(ctx, text, strlen(text), override);
    if (!tap_ok(p == NULL && ctx->error.status == STATUS_DECK &&
                    strstr(ctx->error.text, want) != NULL,
                "%s", sentence))
        tap_note("want %s\ngot %.300s", want, ctx->error.text);
    params_destroy(p);
    free(text);
}

static void test_keys(struct ctx *ctx)
{
    struct params *p;

    refused(ctx, "steps = 10\n", "steps = 10\nsteps = 20\n", NULL,
            "d.toml:9:9: error: 'steps' stands twice: here and in line 8",
            "9: a key given twice names both lines");
    p = read_bytes(ctx, deck, strlen(deck), "md.steps=20");
    tap_ok(p != NULL && params_int(p, "md", "steps") == 20,
           "9: on the command line it may be given again");
    params_destroy(p);
    refused(ctx, "steps", "setps", NULL,
            "d.toml:8:1: error: unknown key 'setps' in [md]; did you mean "
            "'steps'?",
            "10: a misspelt key names its line and the nearest key");
    p = read_bytes(ctx, deck, strlen(deck), "md.steps=3000000000");
    tap_ok(p != NULL && params_int(p, "md", "steps") == INT64_C(3000000000),
           "11: counts of steps go beyond 2^31");
    params_destroy(p);
    refused(ctx, "steps = 10", "steps = 9223372036854775808", NULL,
            "d.toml:8:", "13: an integer beyond 2^63 is refused");
    refused(ctx, "5, 5, 5", "5, 99999999999999999999, 5", NULL,
            "d.toml:11:", "13: so is one in an array");
}

static int is_numeric(const struct param *q)
{
    return q->type == PARAM_INT || q->type == PARAM_DOUBLE ||
           q->type == PARAM_INTS || q->type == PARAM_DOUBLES ||
           q->type == PARAM_INTERVAL;
}

/* Each numeric key of the tables, given a number that is none. */
static void test_numbers(struct ctx *ctx)
{
    static const char *const wrong[] = {"nan", "inf", "-inf"};
    const struct param_table *table;
    const char *solver, *title;
    int n = 0, taken = 0;

    for (int i = 0; (table = param_table_at(i, &solver, &title)) != NULL; i++)
        for (const struct param *q = table->params; q->section != NULL; q++)
            for (size_t w = 0; is_numeric(q) && w < 3; w++) {
                int many = q->type == PARAM_INTS || q->type == PARAM_DOUBLES;
                char override[200];
                snprintf(override, sizeof override,
                         many ? "%s.%s=[1, %s, 1]" : "%s.%s=%s", q->section,
                         q->key, wrong[w]);
                struct params *p =
                    read_bytes(ctx, deck, strlen(deck), override);
                n++;
                if (p != NULL || strstr(ctx->error.text, q->key) == NULL) {
                    taken++;
                    tap_note("%s: %.200s", override, ctx->error.text);
                }
                params_destroy(p);
            }
    tap_ok(n > 40 && taken == 0,
           "13: no numeric key takes nan, inf or -inf (%d tried)", n);
}

int main(void)
{
    struct ctx *ctx = calloc(1, sizeof *ctx);

    if (ctx == NULL)
        return 1;
    test_blanks(ctx);
    test_keys(ctx);
    test_numbers(ctx);
    free(ctx);
    return tap_done();
}
