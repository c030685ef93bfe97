/* risk_csv.c: see risk_csv.h. */
#include "solvers/risk/risk_csv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/deck.h"
#include "base/error.h"
#include "base/log.h"
#include "base/numeral.h"

enum { ERRORS_BYTES = 6000, FILE_BYTES_MAX = 1 << 30 };

/* ---- complaints ---- */

void csv_error(struct csv *c, int line, int column, const char *fmt, ...)
{
    va_list args;
    char text[512];
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    c->n_errors++;
    if (c->errors == NULL)
        c->errors = calloc(ERRORS_BYTES, 1);
    if (c->errors == NULL)
        return;
    char whole[1024];
    int n = snprintf(whole, sizeof whole, "%s:%d:%d: error: %s\n", c->path,
                     line, column, text);
    if (n > 0 && c->errors_used + (size_t)n < ERRORS_BYTES) {
        memcpy(c->errors + c->errors_used, whole, (size_t)n);
        c->errors_used += (size_t)n;
    }
}

int csv_finish(struct ctx *ctx, const struct csv *c)
{
    if (c->n_errors == 0)
        return 0;
    return FAIL_AT(ctx, STATUS_DECK, "%s%d error%s; nothing was started",
                   c->errors != NULL ? c->errors : "", c->n_errors,
                   c->n_errors == 1 ? "" : "s");
}

int csv_number(struct csv *c, const struct csv_cell *cell, const char *what,
               double *out)
{
    const char *wrong = numeral_real(cell->text, strlen(cell->text), out);
    if (cell->text[0] == '\0')
        csv_error(c, cell->line, cell->column, "%s is blank", what);
    else if (wrong != NULL)
        csv_error(c, cell->line, cell->column, "%s: '%.60s' %s", what,
                  cell->text, wrong);
    else
        return 0;
    return -1;
}

/* ---- the format ---- */

/* Where the reader stands. Texts are unquoted in place. */
struct reader {
    struct csv *csv;
    char *at, *end;
    int line, column;
    struct csv_cell *cells;
    size_t n, room;
    int failed; /* no memory */
};

static char *step(struct reader *r)
{
    if (((unsigned char)*r->at & 0xc0) != 0x80)
        r->column++;
    return r->at++;
}

static void next_line(struct reader *r)
{
    r->line++;
    r->column = 1;
}

/* The bytes of a line's end here: 0, 1 or 2. */
static int line_end(const struct reader *r)
{
    if (r->at < r->end && *r->at == '\n')
        return 1;
    return r->at + 1 < r->end && r->at[0] == '\r' && r->at[1] == '\n' ? 2 : 0;
}

static struct csv_cell *new_cell(struct reader *r, char *text)
{
    if (r->n == r->room) {
        size_t room = 2 * r->room + 64;
        struct csv_cell *more = realloc(r->cells, room * sizeof *more);
        if (more == NULL) {
            r->failed = 1;
            return NULL;
        }
        r->cells = more;
        r->room = room;
    }
    r->cells[r->n] = (struct csv_cell){text, r->line, r->column};
    return &r->cells[r->n++];
}

/* A cell in quotes; returns where its text ends. */
static char *read_quoted(struct reader *r)
{
    const int line = r->line, column = r->column;
    step(r);
    char *to = r->at;
    while (r->at < r->end) {
        char c = *r->at;
        if (c == '"' && r->at + 1 < r->end && r->at[1] == '"') {
            step(r);
        } else if (c == '"') {
            step(r);
            return to;
        }
        *to++ = c;
        step(r);
        if (c == '\n')
            next_line(r);
    }
    csv_error(r->csv, line, column, "this quote is never closed");
    return to;
}

static char *read_plain(struct reader *r)
{
    char *last = r->at;
    while (r->at < r->end && *r->at != ',' && !line_end(r)) {
        if (*r->at == '"')
            csv_error(r->csv, r->line, r->column,
                      "a quote inside a cell that does not begin with one");
        else if (*r->at == '\r')
            csv_error(r->csv, r->line, r->column,
                      "a carriage return without a line feed");
        if (*r->at != ' ' && *r->at != '\t')
            last = r->at + 1;
        step(r);
    }
    return last;
}

static void skip_blanks(struct reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t'))
        step(r);
}

/* One cell and the comma behind it: 1 where another one follows. */
static int read_cell(struct reader *r)
{
    skip_blanks(r);
    int quoted = r->at < r->end && *r->at == '"';
    struct csv_cell *cell = new_cell(r, r->at + quoted);
    if (cell == NULL)
        return 0;
    char *end = quoted ? read_quoted(r) : read_plain(r);
    if (quoted) {
        skip_blanks(r);
        if (r->at < r->end && *r->at != ',' && !line_end(r))
            csv_error(r->csv, r->line, r->column,
                      "text behind a closed quote; a quote inside quotes is "
                      "written twice");
        while (r->at < r->end && *r->at != ',' && !line_end(r))
            step(r);
    }
    int more = r->at < r->end && *r->at == ',';
    if (more)
        step(r);
    else if (r->at < r->end)
        r->at += line_end(r);
    *end = '\0';
    return more;
}

/* A row, as long as the header's. */
static void read_row(struct reader *r)
{
    struct csv *c = r->csv;
    const size_t first = r->n;
    const int line = r->line;
    while (read_cell(r))
        ;
    next_line(r);
    if (r->failed)
        return;
    int n = (int)(r->n - first);
    if (n == 1 && r->cells[first].text[0] == '\0') {
        r->n = first; /* a blank line */
        return;
    }
    if (c->n_columns == 0) {
        c->n_columns = n;
        return;
    }
    if (n != c->n_columns) {
        csv_error(c, line, 1, "%d cell%s, but the header has %d", n,
                  n == 1 ? "" : "s", c->n_columns);
        r->n = first;
        return;
    }
    c->n_rows++;
}

static uint64_t hash_bytes(const char *bytes, size_t n)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)bytes[i]) * 1099511628211u;
    return h;
}

/* The first byte that is no text. */
static void check_encoding(struct csv *c, const char *bytes, size_t n)
{
    int line = 1, column = 1;
    for (size_t i = 0; i < n;) {
        const unsigned char *s = (const unsigned char *)bytes + i;
        const size_t length = deck_utf8_length(s, n - i);
        if (length == 0) {
            csv_error(c, line, column,
                      "byte 0x%02X is not UTF-8; save the file as UTF-8", *s);
            return;
        }
        column = *s == '\n' ? 1 : column + 1;
        line += *s == '\n';
        i += length;
    }
}

static void check_header(struct csv *c)
{
    for (int i = 0; i < c->n_columns; i++)
        for (int j = 0; j < i; j++)
            if (strcmp(c->header[i].text, c->header[j].text) == 0)
                csv_error(c, c->header[i].line, c->header[i].column,
                          "column '%.60s' stands twice", c->header[i].text);
}

int csv_parse(struct ctx *ctx, const char *path, const char *bytes, size_t n,
              struct csv *out)
{
    struct reader r = {.csv = out, .line = 1, .column = 1};
    *out = (struct csv){.path = strdup(path), .bytes = malloc(n + 1)};
    if (out->path == NULL || out->bytes == NULL)
        return FAIL(ctx, STATUS_MEMORY, "no memory for '%s'", path);
    memcpy(out->bytes, bytes, n);
    out->bytes[n] = '\0';
    out->hash = hash_bytes(bytes, n);
    r.at = out->bytes;
    r.end = r.at + n;
    const char *nul = memchr(out->bytes, '\0', n);
    if (nul != NULL)
        return FAIL(ctx, STATUS_INPUT, "'%s' is not text: byte %zu is NUL",
                    path, (size_t)(nul - out->bytes) + 1);
    if (n >= 3 && memcmp(r.at, "\xef\xbb\xbf", 3) == 0)
        r.at += 3;
    check_encoding(out, r.at, (size_t)(r.end - r.at));
    while (r.at < r.end && !r.failed)
        read_row(&r);
    if (numeral_may_be_cut(bytes, n))
        log_warn(ctx->log, "%s:%d: " NUMERAL_CUT, path, r.line - 1);
    out->header = r.cells;
    if (r.failed)
        return FAIL(ctx, STATUS_MEMORY, "no memory for '%s'", path);
    out->cells = r.cells != NULL ? r.cells + out->n_columns : NULL;
    if (out->n_columns == 0)
        csv_error(out, 1, 1, "there is no header");
    check_header(out);
    return 0;
}

void csv_free(struct csv *c)
{
    free(c->path);
    free(c->header);
    free(c->errors);
    free(c->bytes);
    *c = (struct csv){0};
}

int csv_column(const struct csv *c, const char *name)
{
    for (int i = 0; i < c->n_columns; i++)
        if (strcmp(c->header[i].text, name) == 0)
            return i;
    return -1;
}

const struct csv_cell *csv_cell(const struct csv *c, int64_t row, int column)
{
    return &c->cells[row * c->n_columns + column];
}

/* ---- the file ---- */

static int read_all(struct ctx *ctx, const char *path, char **out, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return FAIL(ctx, STATUS_INPUT, "cannot read '%s': %s", path,
                    strerror(errno));
    int status = 0;
    size_t room = 1 << 16, got = 1;
    *n = 0;
    *out = malloc(room);
    while (*out != NULL && got > 0) {
        got = fread(*out + *n, 1, room - *n, f);
        *n += got;
        if (*n < room)
            continue;
        char *more = room < FILE_BYTES_MAX ? realloc(*out, 2 * room) : NULL;
        if (more == NULL)
            break;
        *out = more;
        room *= 2;
    }
    if (*out == NULL || *n == room)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for '%s'", path);
    else if (ferror(f))
        status = FAIL(ctx, STATUS_INPUT, "cannot read '%s': %s", path,
                      strerror(errno));
    fclose(f);
    return status;
}

int csv_read(struct ctx *ctx, const char *folder, const char *name,
             struct csv *out)
{
    const int first = comm_rank(ctx->comm) == 0;
    char path[1024], *bytes = NULL;
    size_t n = 0;
    *out = (struct csv){0};
    if (name[0] == '/' || strcmp(folder, ".") == 0)
        snprintf(path, sizeof path, "%s", name);
    else
        snprintf(path, sizeof path, "%s/%s", folder, name);
    int status = first ? read_all(ctx, path, &bytes, &n) : 0;
    TRY_CLEANUP(comm_agree(ctx, status));
    uint64_t size = n;
    TRY_CLEANUP(comm_bcast(ctx, &size, sizeof size));
    if (!first)
        bytes = malloc((size_t)size + 1);
    if (bytes == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for '%s'", path);
    TRY_CLEANUP(comm_agree(ctx, status));
    TRY_CLEANUP(comm_bcast(ctx, bytes, (size_t)size));
    status = csv_parse(ctx, path, bytes, (size_t)size, out);
    status = comm_agree(ctx, status);
cleanup:
    free(bytes);
    return status;
}
