/* Decks as text: what is read, what is refused, and where things stand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/deck.h"
#include "base/error.h"
#include "tests/tap.h"

static struct deck *parse(struct ctx *ctx, const char *text, size_t n)
{
    struct deck *deck = NULL;

    error_clear(ctx);
    deck_parse(ctx, "d.toml", text, n, &deck);
    return deck;
}

static struct deck *parse_text(struct ctx *ctx, const char *text)
{
    return parse(ctx, text, strlen(text));
}

static struct deck_node *find2(struct deck *deck, const char *a, const char *b)
{
    return deck != NULL ? deck_find(deck_find(deck->root, a), b) : NULL;
}

/* The deck is refused, and every text of the list is in the message. */
static void refused_bytes(struct ctx *ctx, const char *text, size_t n,
                          const char *sentence, const char *want1,
                          const char *want2)
{
    struct deck *deck = parse(ctx, text, n);

    if (!tap_ok(deck == NULL && ctx->error.status == STATUS_DECK &&
                    strstr(ctx->error.text, want1) != NULL &&
                    strstr(ctx->error.text, want2) != NULL,
                "%s", sentence))
        tap_note("want %s, %s; status %d: %.400s", want1, want2,
                 ctx->error.status, ctx->error.text);
    deck_destroy(deck);
}

static void refused(struct ctx *ctx, const char *text, const char *sentence,
                    const char *want1, const char *want2)
{
    refused_bytes(ctx, text, strlen(text), sentence, want1, want2);
}

static void test_places(struct ctx *ctx)
{
    struct deck *deck =
        parse_text(ctx, "# top\n[run]\nsolver = \"md\"\n\n[md.pair]\n"
                        "  cutoff = 2.5\nlist = [1, \"x\"]\n"
                        "[[md.species]]\nname = \"A\"\n"
                        "[[md.species]]\nname = 'B'\n");
    struct deck_node *n = find2(deck, "run", "solver");

    tap_ok(n != NULL && n->kind == DECK_STRING && strcmp(n->text, "md") == 0,
           "a text is read");
    tap_ok(n != NULL && n->key_place.line == 3 && n->key_place.column == 1 &&
               n->place.line == 3 && n->place.column == 10,
           "a key and its value know line and column");
    n = find2(deck, "md", "pair");
    tap_ok(n != NULL && n->kind == DECK_TABLE && n->place.line == 5,
           "a section knows its line");
    n = deck_find(n, "cutoff");
    tap_ok(n != NULL && n->kind == DECK_DOUBLE && n->number == 2.5 &&
               n->key_place.column == 3,
           "blanks before a key count as columns");
    n = find2(deck, "md", "species");
    tap_ok(n != NULL && n->kind == DECK_ARRAY && n->is_tables &&
               n->first != n->last && n->last->place.line == 10,
           "each of several sections knows its line");
    deck_destroy(deck);
}

static void test_accepted(struct ctx *ctx)
{
    struct deck *deck = parse_text(ctx, "\xef\xbb\xbf[run]\r\nseed = 7\r\n"
                                        "\t\r\n\t \r\n[md]\t \r\n\ta\t=\t1");
    struct deck_node *n = find2(deck, "run", "seed");
    char *big = malloc((10u << 20) + 64);

    tap_ok(n != NULL && n->integer == 7 && n->key_place.line == 2 &&
               n->key_place.column == 1,
           "a byte order mark and CRLF are no part of keys and columns");
    n = find2(deck, "md", "a");
    tap_ok(n != NULL && n->integer == 1,
           "TABs are blanks, lines of blanks are nothing, the last line needs "
           "no end");
    deck_destroy(deck);

    static const size_t lengths[] = {254, 255, 256, 257, 100000, 10u << 20};
    int good = 1;
    for (size_t i = 0; big && i < sizeof lengths / sizeof lengths[0]; i++) {
        int used = snprintf(big, 64, "[run]\n#");
        memset(big + used, 'x', lengths[i]);
        size_t n_bytes = (size_t)used + lengths[i];
        n_bytes += (size_t)snprintf(big + n_bytes, 20, "\nseed = 9\n");
        deck = parse(ctx, big, n_bytes);
        n = find2(deck, "run", "seed");
        good = good && n != NULL && n->integer == 9 && n->key_place.line == 3;
        deck_destroy(deck);
    }
    tap_ok(good, "comments of 254 to 257 characters, of 100 000 and of 10 MiB "
                 "change nothing");
    if (big != NULL) {
        int used = snprintf(big, 64, "[run]\ntitle = \"");
        memset(big + used, 'y', 10u << 20);
        size_t n_bytes = (size_t)used + (10u << 20);
        n_bytes += (size_t)snprintf(big + n_bytes, 20, "\"\nseed = 9\n");
        deck = parse(ctx, big, n_bytes);
        n = find2(deck, "run", "title");
        tap_ok(n != NULL && n->length == 10u << 20 &&
                   strlen(n->text) == n->length,
               "a text of 10 MiB in one line is read");
        deck_destroy(deck);
        big[n_bytes - 5] = '=';
        refused_bytes(ctx, big, n_bytes, "an error behind it names its line",
                      "d.toml:3:", "seed");
        big[used + 7000000] = '\x01';
        refused_bytes(ctx, big, n_bytes,
                      "an error within it shows a part of it",
                      "d.toml:2:", "...yyy");
    }
    free(big);
    deck = parse_text(ctx, "\"\xc3\xa9\".x = \"\xc3\xa9\" # \xc3\xa9\n");
    tap_ok(find2(deck, "\xc3\xa9", "x") != NULL,
           "letters beyond ASCII stand in quotes and comments");
    deck_destroy(deck);
    deck = parse_text(ctx, "");
    tap_ok(deck != NULL && deck->root->first == NULL,
           "an empty text is an empty table");
    deck_destroy(deck);
}

static void test_refused(struct ctx *ctx)
{
    static const char utf16[] = "\xff\xfe[\0r\0u\0n\0]\0\n";
    static const char bare_utf16[] = "[\0r\0u\0n\0]\0\n";

    refused_bytes(ctx, utf16, sizeof utf16, "UTF-16 is told", "UTF-16",
                  "save it as UTF-8");
    refused_bytes(ctx, bare_utf16, sizeof bare_utf16,
                  "UTF-16 without a mark is told", "UTF-16", "d.toml:1:1");
    refused(ctx, "[run]\ntitle = \"caf\xe9\"\n",
            "a Latin-1 byte is told with its place",
            "d.toml:2:13: error: byte 0xE9 is not UTF-8", "1 error;");
    refused(ctx, "a = \"\xc0\xaf\"\n", "an overlong sequence is no UTF-8",
            "0xC0", "d.toml:1:6");
    refused(ctx, "a = \"\xed\xa0\x80\"\n", "half a surrogate is no UTF-8",
            "0xED", "d.toml:1:6");
    refused(ctx, "[run]\nseed = 1\nunits = \"lj\"\nseed = 2\n",
            "a key given twice is an error with both lines",
            "d.toml:4:", "'seed' stands twice: here and in line 2");
    refused(ctx, "[a]\nb.c = 1\nd = 1\nb.c = 2\n", "so is a dotted one",
            "d.toml:4:", "'b.c' stands twice: here and in line 2");
    refused(ctx, "[a]\nx = 1\n[b]\nx = 1\n[a]\ny = 1\n", "so is a section",
            "d.toml:5:", "'a' stands twice: here and in line 1");
    refused(ctx, "[[a]]\nx = 1\n[[a]]\nx = 1\nx = 1\n",
            "the second of several sections is meant",
            "d.toml:5:", "'x' stands twice: here and in line 4");
    refused(ctx, "[a]\nb = { c = 1, c = 2 }\n",
            "within braces the second is told", "d.toml:2:", "redefine");
    refused(ctx, "[a]\nb = [1, 2\n\nc = 3\n", "an open array is told",
            "d.toml:4:", "1 error; nothing was started");
    refused(ctx, "[run\n", "an open section is told with its line and a caret",
            "d.toml:1:", "    1 | [run\n      |     ^");
    refused(ctx, "[a]\n\xc3\xa9 = 1\n", "a letter beyond ASCII needs quotes",
            "d.toml:2:", "    2 | \xc3\xa9 = 1");
    refused(ctx, "[a]\nx = \"\\\xc3\xa9\"\n", "a wrong escape is told",
            "d.toml:2:", "escape");
    refused(ctx, "[a]\nx = 1\n[=]\n", "a section of no key is told",
            "d.toml:3:", "    3 | [=]");
    refused(ctx, "\t\tx = = 1\n", "the caret stands below its column",
            "    1 |   x = = 1\n      |       ^", "d.toml:1:7");
}

/* `open` n times, "1", `close` n times; to be refused without a crash. */
static void nested(struct ctx *ctx, const char *start, const char *open,
                   const char *close, size_t n, const char *sentence)
{
    size_t size = strlen(start) + n * (strlen(open) + strlen(close)) + 16;
    char *text = malloc(size), *end = text;
    struct deck *deck;

    if (text == NULL)
        return;
    end += snprintf(end, size, "%s", start);
    for (size_t i = 0; i < n; i++, end += strlen(open))
        memcpy(end, open, strlen(open));
    *end++ = '1';
    for (size_t i = 0; i < n; i++, end += strlen(close))
        memcpy(end, close, strlen(close));
    *end = '\0';
    deck = parse_text(ctx, text);
    if (!tap_ok(deck == NULL && ctx->error.status == STATUS_DECK &&
                    strncmp(ctx->error.text, "d.toml:", 7) == 0,
                "%s", sentence))
        tap_note("%.300s", ctx->error.text);
    deck_destroy(deck);
    free(text);
}

static void test_depth(struct ctx *ctx)
{
    struct deck *deck;

    nested(ctx, "a = ", "[", "]", 100000, "100 000 nested arrays are refused");
    nested(ctx, "a = ", "{a=", "}", 100000,
           "100 000 nested tables are refused");
    nested(ctx, "a", ".a", "", 1000000, "a key of a million parts is refused");
    nested(ctx, "x = {s = \"\"\"\n\"\"\", a", " . 'b'", "", 1000000,
           "also behind a text of several lines");
    nested(ctx, "[a", ".\"a\"", "", 1000000,
           "a section of a million parts is refused");
    deck = parse_text(ctx, "# ........................................\n"
                           "a = \"......................................\"\n"
                           "b = '''\n......................................\n"
                           "''' # .......................................\n"
                           "c = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0,"
                           "1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0,"
                           "1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0,"
                           "1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]\n");
    if (!tap_ok(deck != NULL,
                "dots of texts, comments and numbers are no depth"))
        tap_note("%s", ctx->error.text);
    deck_destroy(deck);
}

static void test_overrides(struct ctx *ctx)
{
    char why[256] = "";
    struct deck *deck =
        parse_text(ctx, "[md]\nsteps = 1\nx = [1]\n[[s]]\na=1\n");
    struct deck_node *n;

    tap_ok(deck_override(deck, "md.steps=20", 1, why, sizeof why) == 0,
           "an override is taken");
    n = find2(deck, "md", "steps");
    tap_ok(n != NULL && n->integer == 20 && n->place.override == 1,
           "it replaces the value and knows its number");
    tap_ok(deck_override(deck, "md.a=+05", 1, why, sizeof why) == 0 &&
               deck_override(deck, "md.b=.5", 1, why, sizeof why) == 0 &&
               deck_override(deck, "md.c=99999999999999999999", 1, why,
                             sizeof why) == 0 &&
               deck_override(deck, "md.d=.5.", 1, why, sizeof why) == 0,
           "numbers that TOML does not take are overrides, too");
    n = deck_find(deck->root, "md");
    const struct deck_node *a = deck_find(n, "a"), *b = deck_find(n, "b"),
                           *c = deck_find(n, "c"), *d = deck_find(n, "d");
    tap_ok(a->kind == DECK_INT && a->integer == 5 && b->kind == DECK_DOUBLE &&
               b->number == 0.5 && c->kind == DECK_DOUBLE &&
               c->number == 1e20 && d->kind == DECK_STRING,
           "with the numbers that they say; other words are texts");
    tap_ok(deck_override(deck, "md.pair.style=lj", 2, why, sizeof why) == 0,
           "an override makes the sections it needs");
    n = deck_find(find2(deck, "md", "pair"), "style");
    tap_ok(n != NULL && n->kind == DECK_STRING && strcmp(n->text, "lj") == 0,
           "a bare word is a text");
    tap_ok(deck_override(deck, "md.t=2 fs", 3, why, sizeof why) == 0 &&
               strcmp(find2(deck, "md", "t")->text, "2 fs") == 0,
           "so is a quantity");
    tap_ok(deck_override(deck, "md.x=[1, 2, 3]", 4, why, sizeof why) == 0 &&
               find2(deck, "md", "x")->last->integer == 3,
           "an array is an array");
    tap_ok(deck_override(deck, "md.x=[1, 2", 5, why, sizeof why) != 0,
           "a broken array is refused");
    tap_ok(deck_override(deck, "md.x=1\ny=2", 6, why, sizeof why) == 0 &&
               find2(deck, "md", "x")->kind == DECK_STRING &&
               deck_find(deck->root, "y") == NULL,
           "an override brings no second key with it");
    tap_ok(deck_override(deck, "steps", 7, why, sizeof why) != 0 &&
               deck_override(deck, "steps=1", 7, why, sizeof why) != 0 &&
               deck_override(deck, "md..steps=1", 7, why, sizeof why) != 0 &&
               deck_override(deck, "=1", 7, why, sizeof why) != 0,
           "an override without section, key or value is refused");
    tap_ok(deck_override(deck, "s.a=2", 8, why, sizeof why) != 0 &&
               strstr(why, "list of sections") != NULL,
           "one of several sections can not be overridden");
    deck_destroy(deck);
}

static void test_nearest(void)
{
    static const char *const names[] = {"timestep", "steps", "precision", "x"};

    tap_is_int(deck_distance("timestp", "timestep"), 1,
               "a missing letter is 1");
    tap_is_int(deck_distance("ensembel", "ensemble"), 1,
               "two letters swapped are 1");
    tap_is_int(deck_distance("", "abc"), 3, "three letters are 3");
    tap_is_text(deck_nearest("timestp", 4, names), "timestep",
                "the nearest name is found");
    tap_is_text(deck_nearest("viscosity", 4, names), NULL,
                "where nothing is near, nothing is proposed");
    tap_is_text(deck_nearest("y", 4, names), NULL,
                "a name of one letter is not near to another");
}

int main(void)
{
    struct ctx *ctx = calloc(1, sizeof *ctx);

    if (ctx == NULL)
        return 1;
    test_places(ctx);
    test_accepted(ctx);
    test_refused(ctx);
    test_depth(ctx);
    test_overrides(ctx);
    test_nearest();
    free(ctx);
    return tap_done();
}
