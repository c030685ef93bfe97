#include "base/deck.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"

enum { MESSAGE_MAX = 512, MESSAGES_KEPT = 1000, EXCERPT_WIDTH = 72 };

struct message {
    struct deck_place where;
    int quote;
    size_t order;
    char *text;
};

struct deck_errors {
    struct message *messages;
    size_t kept, capacity;
    size_t count; /* also those not kept */
};

struct deck_errors *deck_errors_create(void)
{
    return calloc(1, sizeof(struct deck_errors));
}

void deck_errors_destroy(struct deck_errors *errors)
{
    if (errors == NULL)
        return;
    for (size_t i = 0; i < errors->kept; i++)
        free(errors->messages[i].text);
    free(errors->messages);
    free(errors);
}

static int make_room(struct deck_errors *errors)
{
    size_t capacity = errors->capacity ? 2 * errors->capacity : 16;
    struct message *grown;

    if (errors->kept < errors->capacity)
        return 0;
    if (errors->kept >= MESSAGES_KEPT)
        return -1;
    grown = realloc(errors->messages, capacity * sizeof *grown);
    if (grown == NULL)
        return -1;
    errors->messages = grown;
    errors->capacity = capacity;
    return 0;
}

/* Bytes that would upset a terminal become question marks; what was cut inside
 * a code point loses the rest of it. */
static void make_printable(char *text)
{
    size_t n = strlen(text);

    for (char *c = text; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    while (n > 0 && ((unsigned char)text[n - 1] & 0xc0) == 0x80)
        n--;
    if (n > 0 && (unsigned char)text[n - 1] >= 0xc0) {
        unsigned char lead = (unsigned char)text[n - 1];
        size_t want = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
        if (strlen(text + n - 1) < want)
            text[n - 1] = '\0';
    }
}

void deck_errors_vadd(struct deck_errors *errors, struct deck_place where,
                      int quote, const char *fmt, va_list args)
{
    char text[MESSAGE_MAX];
    char *kept;

    errors->count++;
    if (make_room(errors) != 0)
        return;
    vsnprintf(text, sizeof text, fmt, args);
    make_printable(text);
    kept = strdup(text);
    if (kept == NULL)
        return;
    errors->messages[errors->kept] =
        (struct message){where, quote, errors->kept, kept};
    errors->kept++;
}

void deck_errors_add(struct deck_errors *errors, struct deck_place where,
                     int quote, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    deck_errors_vadd(errors, where, quote, fmt, args);
    va_end(args);
}

static int compare(const void *a, const void *b)
{
    const struct message *x = a, *y = b;

    if (x->where.override != y->where.override)
        return x->where.override < y->where.override ? -1 : 1;
    if (x->where.line != y->where.line)
        return x->where.line < y->where.line ? -1 : 1;
    if (x->where.column != y->where.column)
        return x->where.column < y->where.column ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* ---- the line and its caret ---- */

static const char *find_line(const struct deck *deck, int line, size_t *length)
{
    const char *s = deck->text, *end = deck->text + deck->length, *stop;

    if (deck->length >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0)
        s += 3;
    for (int i = 1; i < line; i++) {
        s = memchr(s, '\n', (size_t)(end - s));
        if (s == NULL)
            return NULL;
        s++;
    }
    stop = memchr(s, '\n', (size_t)(end - s));
    if (stop == NULL)
        stop = end;
    if (stop > s && stop[-1] == '\r')
        stop--;
    *length = (size_t)(stop - s);
    return s;
}

static int is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* The code points first .. first + EXCERPT_WIDTH - 1 (from 0) of a line. */
static void cut_line(const char *line, size_t length, int first, char *out,
                     size_t size)
{
    int column = -1;
    size_t used = 0;

    for (size_t i = 0; i < length && used + 1 < size; i++) {
        unsigned char c = (unsigned char)line[i];
        if (!is_continuation(line[i]))
            column++;
        if (column >= first + EXCERPT_WIDTH)
            break;
        if (column >= first)
            out[used++] = c == '\t'               ? ' '
                          : c < 0x20 || c == 0x7f ? '?'
                                                  : line[i];
    }
    out[used] = '\0';
}

/* Long lines are shown around the column only. */
static void append_excerpt(const struct deck *deck, struct deck_place where,
                           char *out, size_t size)
{
    char text[4 * EXCERPT_WIDTH + 1];
    size_t length, used = strlen(out);
    const char *line = find_line(deck, where.line, &length);
    int first = where.column > EXCERPT_WIDTH - 12
                    ? where.column - EXCERPT_WIDTH / 2
                    : 0;
    int before = where.column > 0 ? where.column - 1 - first : 0;

    if (line == NULL)
        return;
    cut_line(line, length, first, text, sizeof text);
    snprintf(out + used, size - used, "%5d | %s%s\n      | %*s^\n", where.line,
             first > 0 ? "..." : "", text, before + (first > 0 ? 3 : 0), "");
}

static void print_message(const struct deck *deck, const struct message *m,
                          char *out, size_t size)
{
    if (m->where.override > 0) {
        snprintf(out, size, "command line: %.200s: error: %s\n",
                 deck->overrides[m->where.override - 1], m->text);
        return;
    }
    snprintf(out, size, "%s:%d:%d: error: %s\n", deck->path,
             m->where.line > 0 ? m->where.line : 1,
             m->where.column > 0 ? m->where.column : 1, m->text);
    if (m->quote && m->where.line > 0)
        append_excerpt(deck, m->where, out, size);
}

int deck_errors_finish(struct ctx *ctx, const struct deck *deck,
                       struct deck_errors *errors)
{
    /* the last lines and what main() may add must still fit */
    enum { ROOM = ERROR_TEXT_MAX - 512 };
    static const char *const plural[] = {"s", ""};
    char text[ROOM] = "", one[ROOM];
    size_t used = 0, shown = 0;

    if (errors->count == 0)
        return 0;
    qsort(errors->messages, errors->kept, sizeof errors->messages[0], compare);
    for (; shown < errors->kept; shown++) {
        print_message(deck, &errors->messages[shown], one, sizeof one);
        size_t length = strlen(one);
        if (used + length + 128 > sizeof text)
            break;
        memcpy(text + used, one, length + 1);
        used += length;
    }
    if (shown < errors->count)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "... and %zu more\n", errors->count - shown);
    snprintf(text + used, sizeof text - used,
             "%zu error%s; nothing was started", errors->count,
             plural[errors->count == 1]);
    return FAIL_AT(ctx, STATUS_DECK, "%s", text);
}

/* ---- did you mean ---- */

enum { WORD_MAX = 64 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Optimal string alignment: Damerau's distance where no piece is edited twice.
 */
int deck_distance(const char *a, const char *b)
{
    int rows[3][WORD_MAX + 1];
    int *before = rows[0], *above = rows[1], *row = rows[2];
    size_t n = strlen(a), m = strlen(b);

    if (n > WORD_MAX || m > WORD_MAX)
        return WORD_MAX;
    for (size_t j = 0; j <= m; j++)
        above[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int cost = a[i - 1] != b[j - 1];
            row[j] = least(above[j] + 1, row[j - 1] + 1);
            row[j] = least(row[j], above[j - 1] + cost);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
        int *spare = before;
        before = above;
        above = row;
        row = spare;
    }
    return above[m];
}

const char *deck_nearest(const char *word, size_t n, const char *const *names)
{
    const char *nearest = NULL;
    int best = 1 + (int)strlen(word) / 4;

    for (size_t i = 0; i < n; i++) {
        int distance = deck_distance(word, names[i]);
        if (distance < (int)strlen(names[i]) &&
            (nearest == NULL ? distance <= best : distance < best)) {
            nearest = names[i];
            best = distance;
        }
    }
    return nearest;
}
