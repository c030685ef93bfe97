/* param.h: the declared keys of decks, their checked values, and help made from
 * the same tables.
 *
 * A solver declares each key once (section, key, type, dimension, default,
 * range, choices, help). Reading a deck against the tables collects all errors
 * with line and column; `explain`, `new`, the man page and the completion are
 * printed from the tables. After params_read() the values are typed, in the
 * deck's unit system, and complete: a default has been filled in where the deck
 * is silent.
 */
#ifndef WARPDECK_BASE_PARAM_H
#define WARPDECK_BASE_PARAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/units.h"

struct ctx;

enum param_type {
    PARAM_BOOL,
    PARAM_INT,      /* int64_t; 1_000 and 1e3-like floats without fraction ok */
    PARAM_DOUBLE,   /* number, or quoted quantity with a unit */
    PARAM_STRING,   /* text; with choices: one of them */
    PARAM_INTERVAL, /* every so often: whole number = steps; number with a
                     * fraction or quoted time = simulated time (wall time where
                     * PARAM_WALL is set) */
    PARAM_INTS,     /* array of integers */
    PARAM_DOUBLES,  /* array of numbers or quantities */
    PARAM_STRINGS,  /* array of texts, each one of choices where given */
    PARAM_STRING_PAIRS, /* array of [text, text] */
    PARAM_MATRIX        /* array of rows, each an array of as many numbers */
};

enum param_flag {
    PARAM_REQUIRED = 1, /* no default; absence is an error */
    PARAM_OPTIONAL = 2, /* may be absent: param_is_set() tells */
    PARAM_MIN_OPEN = 4, /* value > min instead of >= */
    PARAM_MAX_OPEN = 8, /* value < max instead of <= */
    PARAM_WALL = 16,    /* an interval of wall time */
    PARAM_HAS_MIN = 32,
    PARAM_HAS_MAX = 64,
    PARAM_DEFAULT_LJ = 128, /* the default holds with run.units = "lj" only; in
                             * other units the key is required */
    PARAM_STARTER = 256,    /* `warpdeck new` writes it as a live line, with its
                             * example; required keys are written so in any case */
    PARAM_WORD = 512,       /* a section that stands once may be written as this
                             * key's value alone: `x = "wall"` for
                             * `x = { type = "wall" }` */
    PARAM_ALONE = 1024,     /* of an array: one entry may stand without
                             * brackets */
    PARAM_DIGITS = 2048     /* of a text: a whole number may stand without
                             * quotes */
};

/* One declared key. section is the full dotted path, "md.pair"; a section that
 * may stand several times ([[md.species]]) is declared with a struct
 * param_section of .repeated = 1. */
struct param {
    const char *section, *key;
    enum param_type type;
    struct dimension dim;
    const char *fallback; /* default, as deck text: "0.3", "\"nve\"",
                           * "[\"position\"]". Where the flags say required or
                           * optional it is an example for `explain` and `new`
                           * only, or NULL */
    double min, max;      /* of each number, where the flags say so */
    int count;            /* length of an array; 0: any, at least one */
    int flags;
    const char *choices; /* "nve|langevin|bussi", or NULL. "-npt" at the end of
                          * the list: known, but not in this version; said
                          * instead of "unknown" */
    const char *help;    /* one sentence or two */
};

struct param_section {
    const char *name; /* "md.pair" */
    int repeated;     /* [[name]]; not optional: at least one */
    int optional;     /* keys with PARAM_REQUIRED count only if it stands */
    const char *help;
};

/* What other programs call a key or one of its choices. */
struct param_word {
    const char *of;   /* the key whose value it is, "md.ensemble.type"; NULL: it
                       * stands in the place of a key */
    const char *word; /* small letters; NULL ends a list */
    const char *here; /* what is meant, for a message */
};

/* The tables of one solver, or of the driver ([run], [domain], [output], ...).
 * Both lists end with a NULL name. A solver may add keys to a section of the
 * driver, and declare one of the driver's keys in its own way, which then holds
 * (of the same type). A section that either table has as not optional is not.
 */
struct param_table {
    const struct param_section *sections;
    const struct param *params;
    const char *absent; /* "md.coulomb|md.constraints": sections that are known,
                         * but not in this version; or NULL */
    const struct param_word *words; /* or NULL */
};

struct params;

/* Read `path` (rank 0 reads, all get it), apply the overrides
 * "section.key=value" (TOML values; a bare word counts as a string), check
 * against the tables, and collect all errors. On error: STATUS_DECK, the error
 * text holds every message ("file:line:column: error: ...", the line, a caret)
 * and ends with "N errors; nothing was started". The caller owns *out.
 * `select` is called once run.solver is known and returns the solver's table,
 * or NULL for an unknown solver; it is given `user`. Collective. */
int params_read(struct ctx *ctx, const char *path, int n_overrides,
                const char *const *overrides, const struct param_table *driver,
                const struct param_table *(*select)(const char *solver,
                                                    void *user),
                void *user, struct params **out);
void params_destroy(struct params *p);

/* The same from bytes in memory; `path` is for messages. Not collective. */
int params_parse(struct ctx *ctx, const char *path, const char *text, size_t n,
                 int n_overrides, const char *const *overrides,
                 const struct param_table *driver,
                 const struct param_table *(*select)(const char *solver,
                                                     void *user),
                 void *user, struct params **out);

/* Values. The section and key must be declared with the type asked for (an
 * internal error otherwise, caught by a test). `params_*_at` address element
 * `index` of a repeated section. Strings and arrays are owned by params. */
int params_is_set(const struct params *p, const char *section, const char *key);
int params_has_section(const struct params *p, const char *section);
int params_count(const struct params *p, const char *section); /* repeated */
int params_bool(const struct params *p, const char *section, const char *key);
int64_t params_int(const struct params *p, const char *section,
                   const char *key);
double params_double(const struct params *p, const char *section,
                     const char *key);
const char *params_string(const struct params *p, const char *section,
                          const char *key);

struct interval {
    enum { INTERVAL_NEVER, INTERVAL_STEPS, INTERVAL_TIME } kind;
    int64_t steps;
    double time; /* in the deck's units; seconds for wall time */
};
struct interval params_interval(const struct params *p, const char *section,
                                const char *key);

/* Arrays: *n entries. For string pairs 2 * *n texts. */
const int64_t *params_ints(const struct params *p, const char *section,
                           const char *key, size_t *n);
const double *params_doubles(const struct params *p, const char *section,
                             const char *key, size_t *n);
const char *const *params_strings(const struct params *p, const char *section,
                                  const char *key, size_t *n);
/* A matrix, row by row; NULL and 0 rows where it is not set. */
const double *params_matrix(const struct params *p, const char *section,
                            const char *key, size_t *rows, size_t *columns);

int params_is_set_at(const struct params *p, const char *section, int index,
                     const char *key);
double params_double_at(const struct params *p, const char *section, int index,
                        const char *key);
int64_t params_int_at(const struct params *p, const char *section, int index,
                      const char *key);
const char *params_string_at(const struct params *p, const char *section,
                             int index, const char *key);
const char *const *params_strings_at(const struct params *p,
                                     const char *section, int index,
                                     const char *key, size_t *n);

const double *params_doubles_at(const struct params *p, const char *section,
                                int index, const char *key, size_t *n);
struct interval params_interval_at(const struct params *p, const char *section,
                                   int index, const char *key);

/* A default that follows from other keys: fill in where the deck is silent (the
 * key is optional). Nothing happens where it is set. params_is_set() stays 0;
 * the value is there to get, and stands in the resolved deck. */
void params_fill_double(struct params *p, const char *section, const char *key,
                        double value);

enum unit_system params_units(const struct params *p);
const char *params_path(const struct params *p); /* of the deck */
/* The folder of the deck, for files it names ("." where it has none). */
const char *params_folder(const struct params *p);
/* The path of a file that the deck names, for the caller to free. NULL: no
 * memory. */
char *params_file(const struct params *p, const char *name);
/* The deck's bytes as read, and the resolved deck as TOML (all keys, defaults
 * filled in, overrides applied, bare numbers in the deck's units). The resolved
 * deck is made at the call; the pointer holds until the next call or fill.
 * NULL: no memory. */
const char *params_text(const struct params *p, size_t *n);
const char *params_resolved(const struct params *p, size_t *n);

/* Errors that need several keys (cutoff against box): like a deck error, with
 * file, line and column of the value (of the section where the key is not
 * written). May be called several times; params_finish() turns the collected
 * messages into STATUS_DECK, or returns 0 where there is none. */
void params_error(struct params *p, const char *section, const char *key,
                  const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* A key that means nothing beside the others: an error where it is set (1 is
 * returned then, else 0). The resolved deck does not have it, so that it is a
 * deck that can be run. */
int params_refuse(struct params *p, const char *section, const char *key,
                  const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void params_error_at(struct params *p, const char *section, int index,
                     const char *key, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
int params_finish(struct ctx *ctx, struct params *p);

#endif
