/* risk_csv.h: tables from CSV files (RFC 4180), with the place of each cell for
 * messages.
 */
#ifndef WARPDECK_SOLVERS_RISK_RISK_CSV_H
#define WARPDECK_SOLVERS_RISK_RISK_CSV_H

#include <stddef.h>
#include <stdint.h>

struct ctx;

/* line and column count from 1; the column in characters. */
struct csv_cell {
    const char *text; /* without quotes; unquoted ones without blanks around */
    int line, column;
};

/* A header row and n_rows further ones of n_columns cells each. Lines end with
 * LF or CRLF; blank lines and a byte order mark are passed over. */
struct csv {
    char *path;
    int n_columns;
    int64_t n_rows;
    struct csv_cell *header; /* [n_columns] */
    struct csv_cell *cells;  /* [n_rows][n_columns] */
    uint64_t hash;           /* of the file's bytes */
    /* complaints so far */
    int n_errors;
    char *errors;
    size_t errors_used;
    char *bytes; /* what the cells' texts lie in */
};

/* Read `name`, relative to `folder`, on rank 0 for all. Faults of the format
 * are collected as complaints. Errors: STATUS_INPUT where the file cannot be
 * read. The caller owns *out, whatever is returned. Collective. */
int csv_read(struct ctx *ctx, const char *folder, const char *name,
             struct csv *out);
/* The same from bytes in memory, which are copied. Not collective. */
int csv_parse(struct ctx *ctx, const char *path, const char *bytes, size_t n,
              struct csv *out);
void csv_free(struct csv *c);

/* The column of that heading; -1: there is none. */
int csv_column(const struct csv *c, const char *name);
const struct csv_cell *csv_cell(const struct csv *c, int64_t row, int column);

/* Keep "path:line:column: error: ...". */
void csv_error(struct csv *c, int line, int column, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* A finite number, the whole cell; 0, or -1 and a complaint, which begins with
 * `what`. */
int csv_number(struct csv *c, const struct csv_cell *cell, const char *what,
               double *out);
/* STATUS_DECK with all complaints, or 0. */
int csv_finish(struct ctx *ctx, const struct csv *c);

#endif
