/* The shipped decks, changed at random 10 000 times: whatever stands in a deck,
 * the reader neither crashes nor hangs, says yes or tells every mistake with
 * its place, and what it accepts comes back from the resolved deck.
 *
 * The numbers are fixed, so that a failure can be repeated; it prints the
 * number of its mutation. Usage: t_fuzz_deck [MUTATIONS [SEED]] */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "base/param.h"
#include "driver/driver_params.h"
#include "solvers/solver.h"
#include "tests/fuzz.h"
#include "tests/tap.h"

enum { DECKS_MAX = 64 };

struct decks {
    char *text[DECKS_MAX];
    size_t length[DECKS_MAX];
    size_t n;
};

static const char *const tokens[] = {"[",
                                     "]",
                                     "[[",
                                     "]]",
                                     "{",
                                     "}",
                                     "=",
                                     ".",
                                     ",",
                                     "\"",
                                     "\"\"\"",
                                     "'",
                                     "'''",
                                     "#",
                                     "\n",
                                     "\r\n",
                                     "\r",
                                     "\t",
                                     "\\",
                                     "\\u0000",
                                     "\\U0010FFFF",
                                     "true",
                                     "nan",
                                     "inf",
                                     "-",
                                     "1e999",
                                     "0x7fffffffffffffff",
                                     "9223372036854775808",
                                     "-1",
                                     "1_000",
                                     "2020-01-01T00:00:00Z",
                                     "\"2 fs\"",
                                     "\"1e308 km\"",
                                     "\xef\xbb\xbf",
                                     "\xff\xfe",
                                     "\xc3\x28",
                                     "\xf4\x90\x80\x80",
                                     "[run]",
                                     "[md]",
                                     "[md.pair]",
                                     "[[md.species]]",
                                     "[[md.pair.coefficients]]",
                                     "[md.analysis.rdf]",
                                     "solver = \"md\"",
                                     "units = \"real\"",
                                     "name = \"A\"",
                                     "md.steps = 1",
                                     "cutoff = 2.5",
                                     "every = 0.5",
                                     "[md.a.b.c.d.e.f]",
                                     "= [[[[[[[[[[[["};

static int add_deck(struct decks *decks, const char *path)
{
    FILE *in = fopen(path, "rb");
    char *text = malloc(TEXT_MAX);
    size_t n = 0;

    if (in != NULL && text != NULL)
        n = fread(text, 1, TEXT_MAX / 2, in);
    if (in != NULL)
        fclose(in);
    if (n == 0 || decks->n == DECKS_MAX) {
        free(text);
        return -1;
    }
    decks->text[decks->n] = text;
    decks->length[decks->n++] = n;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* In the order of names, since folders list their files in any order. */
static void add_folder(struct decks *decks, const char *folder)
{
    const char *top = getenv("top_srcdir");
    char path[1024], *names[DECKS_MAX];
    struct dirent *entry;
    size_t n = 0;
    DIR *dir;

    snprintf(path, sizeof path, "%s/%s", top != NULL ? top : ".", folder);
    dir = opendir(path);
    while (dir != NULL && n < DECKS_MAX && (entry = readdir(dir)) != NULL)
        if (strstr(entry->d_name, ".toml") != NULL)
            names[n++] = strdup(entry->d_name);
    if (dir != NULL)
        closedir(dir);
    qsort(names, n, sizeof names[0], by_name);
    for (size_t i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s/%s", top != NULL ? top : ".", folder,
                 names[i]);
        (void)add_deck(decks, path);
        free(names[i]);
    }
}

static const char *const values[] = {
    "0",         "-1",       "1",         "3",        "2.5",
    "1e300",     "-0.0",     "nan",       "inf",      "true",
    "\"lj\"",    "\"2 fs\"", "\"\"",      "[]",       "[1]",
    "{}",        "\"10 K\"", "[1, 2, 3]", "[\"A\"]",  "[[]]",
    "\"1 h\"",   "1e18",     "1e-9",      "12:00:00", "[[\"A\", \"A\"]]",
    "\"metal\"", "[{}]"};

/* Another value for a key, so that more than the syntax is tried. */
static size_t change_value(char *text, size_t length, uint64_t *state)
{
    size_t n_values = sizeof values / sizeof values[0];
    const char *value = values[below(state, n_values)], *end;
    size_t at = below(state, length + 1);
    char *equals = memchr(text + at, '=', length - at);

    if (equals == NULL)
        return length;
    at = (size_t)(equals - text) + 1;
    end = memchr(text + at, '\n', length - at);
    return splice(text, length, at,
                  end != NULL ? (size_t)(end - text) - at : length - at, value,
                  strlen(value));
}

static size_t mutate(char *text, size_t length, const struct decks *decks,
                     uint64_t *state)
{
    size_t at = below(state, length + 1), left = length - at;
    size_t other = below(state, decks->n), from;
    size_t n_tokens = sizeof tokens / sizeof tokens[0];
    const char *token = tokens[below(state, n_tokens)];
    size_t gone = below(state, left < 20 ? left + 1 : 20), n;
    char bytes[64];

    switch (below(state, 10)) {
    case 0: /* one bit */
        if (left > 0)
            text[at] = (char)(text[at] ^ (1 << below(state, 8)));
        return length;
    case 1: /* a piece goes */
        return splice(text, length, at, gone, "", 0);
    case 2: /* a token comes, or takes a piece's place */
        gone = below(state, 2) ? gone : 0;
        return splice(text, length, at, gone, token, strlen(token));
    case 3: /* random bytes */
        n = below(state, 8);
        for (size_t i = 0; i < n; i++)
            bytes[i] = (char)below(state, 256);
        return splice(text, length, at, 0, bytes, n);
    case 4: /* a piece stands twice */
        n = below(state, left < sizeof bytes ? left + 1 : sizeof bytes);
        memcpy(bytes, text + at, n);
        return splice(text, length, below(state, length + 1), 0, bytes, n);
    case 5: /* a piece of another deck */
        from = below(state, decks->length[other]);
        n = below(state, decks->length[other] - from);
        return splice(text, length, at, 0, decks->text[other] + from, n);
    case 6: /* the rest is missing */
        return below(state, 4) == 0 ? at : length;
    default:
        return change_value(text, length, state);
    }
}

static const struct param_table *choose(const char *name, void *user)
{
    const struct solver *solver = solver_find(name);

    (void)user;
    return solver != NULL ? solver->params : NULL;
}

static struct params *read_deck(struct ctx *ctx, const char *text, size_t n,
                                int n_overrides, const char *const *overrides)
{
    struct params *p = NULL;

    error_clear(ctx);
    params_parse(ctx, "fuzz.toml", text, n, n_overrides, overrides,
                 driver_param_table(), choose, NULL, &p);
    return p;
}

/* Every line of the message is a complaint with its place, the line it is
 * about, a caret, or one of the two closing lines. */
static int message_is_whole(const char *text)
{
    int complaints = 0, closed = 0;

    for (const char *line = text, *end; *line != '\0'; line = end + 1) {
        int row = 0, column = 0, used = 0;
        end = strchr(line, '\n');
        if (end == NULL)
            return 0;
        if (sscanf(line, "fuzz.toml:%d:%d: error: %n", &row, &column, &used) ==
                2 &&
            used > 0 && row > 0 && column > 0)
            complaints++;
        else if (strncmp(line, "command line: ", 14) == 0)
            complaints++;
        else if (strstr(line, "nothing was started") != NULL)
            closed = end[1] == '\0';
        else if (strncmp(line, "... and ", 8) != 0 &&
                 !(line[0] == ' ' && memchr(line, '|', (size_t)(end - line))))
            return 0;
    }
    return complaints > 0 && closed;
}

/* 0 where all is as it should be. */
static int check_one(struct ctx *ctx, const char *text, size_t n,
                     int accepted[])
{
    static const char *const overrides[] = {"md.pair.cutoff=2.0"};
    int n_overrides = (int)(n % 2);
    struct params *p = read_deck(ctx, text, n, n_overrides, overrides), *again;
    const char *resolved;
    char *copy;
    int good;
    size_t m = 0;

    if (p == NULL)
        return ctx->error.status == STATUS_DECK &&
                       message_is_whole(ctx->error.text)
                   ? 0
                   : -1;
    accepted[0]++;
    resolved = params_resolved(p, &m);
    copy = strdup(resolved != NULL ? resolved : "");
    params_destroy(p);
    again = read_deck(ctx, copy, strlen(copy), 0, NULL);
    good = again != NULL && copy[0] != '\0' &&
           strcmp(params_resolved(again, &m), copy) == 0;
    params_destroy(again);
    free(copy);
    return good ? 0 : -1;
}

int main(int argc, char **argv)
{
    /* In short, a few of those that the ordinary build's test looks at. */
    long n_mutations = getenv("WARPDECK_TEST_SHORT") ? 2000 : 10000;
    uint64_t state = fuzz_state;
    struct ctx *ctx = calloc(1, sizeof *ctx);
    struct decks *decks = calloc(1, sizeof *decks);
    char *text = malloc(TEXT_MAX);
    int failures = 0, accepted = 0;

    if (ctx == NULL || decks == NULL || text == NULL)
        return 1;
    if (argc > 1)
        n_mutations = strtol(argv[1], NULL, 10);
    if (argc > 2)
        state += strtoull(argv[2], NULL, 10);
    add_folder(decks, "inputs/md");
    add_folder(decks, "tests/deck/cases");
    tap_ok(decks->n > 15, "the shipped decks are found (%zu)", decks->n);
    for (size_t i = 0; i < decks->n; i++)
        if (check_one(ctx, decks->text[i], decks->length[i], &accepted) != 0)
            failures++;
    tap_is_int(failures, 0, "they are accepted, or refused with places");
    for (long i = 0; i < n_mutations && decks->n > 0 && failures < 10; i++) {
        size_t deck = below(&state, decks->n), length = decks->length[deck];
        size_t changes = 1 + below(&state, 6);
        memcpy(text, decks->text[deck], length);
        for (size_t c = 0; c < changes; c++)
            length = mutate(text, length, decks, &state);
        if (check_one(ctx, text, length, &accepted) != 0) {
            failures++;
            tap_note("mutation %ld, status %d: %.500s", i, ctx->error.status,
                     ctx->error.text);
        }
    }
    tap_is_int(failures, 0,
               "so are %ld mutations of them (%d accepted, and the same again "
               "from the resolved deck)",
               n_mutations, accepted);
    for (size_t i = 0; i < decks->n; i++)
        free(decks->text[i]);
    free(decks);
    free(text);
    free(ctx);
    return tap_done();
}
