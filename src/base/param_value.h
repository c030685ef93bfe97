/* param_value.h: what the files of param share: declared sections and the typed
 * values of a deck. For src/base/param*.c alone.
 */
#ifndef WARPDECK_BASE_PARAM_VALUE_H
#define WARPDECK_BASE_PARAM_VALUE_H

#include <stddef.h>
#include <stdint.h>

#include "base/deck.h"
#include "base/param.h"

enum { PARAM_TABLES_MAX = 2, PARAM_PATH_MAX = 160 };

/* A declared section and where it stands in this deck. */
struct param_standing {
    const char *name;
    int repeated, optional;
    int count;                /* how often it stands */
    struct deck_place *place; /* of each */
};

/* The value of a key in one place. */
struct param_value {
    const struct param *param;
    int index;               /* of a repeated section */
    int is_set;              /* written in the deck or on the command line */
    int present;             /* there is a value: set, default or filled */
    int left_out;            /* of the resolved deck */
    struct deck_place place; /* where it is set */
    int64_t integer;
    double number;
    struct interval interval;
    char *text;
    size_t n;       /* of an array; rows of a matrix */
    size_t columns; /* of a matrix */
    int64_t *integers;
    double *numbers;
    char **texts; /* 2 n of string pairs */
};

struct params {
    struct deck *deck;
    const struct param_table *tables[PARAM_TABLES_MAX];
    int n_tables;
    int has_solver; /* tables are complete: unknown keys can be told */
    enum unit_system units;
    int units_wrong; /* run.units is told already: no more about units */
    struct param_standing *sections;
    size_t n_sections;
    struct param_value *values;
    size_t n_values, capacity;
    size_t *places; /* of 2 capacity, by name: 1 + the value's, 0 is empty */
    struct deck_errors *errors;
    char **overrides;
    int n_overrides;
    char *folder;
    char *resolved;
    char *misuse; /* PARAM_PATH_MAX bytes: the first wrong use of a getter */
    int no_memory;
};

/* Choices, "a|b|-c": the i-th in n bytes at the address returned, or NULL;
 * those that are known but absent count where `absent` is set, without their
 * '-'. */
const char *param_choice(const char *choices, int i, int absent, size_t *n);
/* Whether `word` is one that is there, or one that is known but absent. */
int param_is_choice(const char *choices, const char *word, int absent);
/* "a|b|-c" as "\"a\", \"b\"" into buf. */
const char *param_list_choices(const char *choices, char *buf, size_t size);
/* The choice nearest to `word`, in buf; NULL where none is near. */
const char *param_near_choice(const char *choices, const char *word, char *buf,
                              size_t size);
/* Whether the fallback is a default, not an example only. */
int param_has_default(const struct param *param);

const struct param *param_declared(const struct params *p, const char *section,
                                   const char *key);
/* The keys of a section in all tables, each once, in order: the one behind `q`,
 * the first behind NULL; NULL at the end. */
const struct param *param_next(const struct params *p, const char *section,
                               const struct param *q);
struct param_standing *param_standing(const struct params *p, const char *name);
/* In a time that does not depend on how many there are: a deck may have
 * thousands of instruments. NULL where there is none. */
struct param_value *param_find(const struct params *p, const char *section,
                               int index, const char *key);
/* One more, empty; NULL without memory, which p then knows. Addresses of others
 * may change. */
struct param_value *param_value_new(struct params *p, const struct param *param,
                                    int index);
void param_values_destroy(struct params *p);

/* From a node of the deck to the typed value; complaints go to p->errors. The
 * value is left absent where the node is wrong. */
void param_convert(struct params *p, const struct deck_node *node,
                   struct param_value *value);
void param_value_clear(struct param_value *value);
/* Fill the value from the key's default. */
void param_default(struct params *p, struct param_value *value);

/* A number as deck text that reads back to the same bits; a whole one gets
 * ".0". */
const char *param_format_double(double number, char *buf, size_t size);

/* Complaints about names that the tables do not have. */
void param_unknown_key(struct params *p, const char *section,
                       const struct deck_node *node);
void param_unknown_section(struct params *p, const char *path,
                           const struct deck_node *node);

/* What a word of other programs means here, in the place of a key (of = "") or
 * of the value of `of`; NULL where it is none. */
const char *param_meant(const struct params *p, const char *of,
                        const char *word);

/* Wall time, "30 min" or "3:55:00", in seconds. Returns 0, or -1. */
int param_parse_wall(const char *text, double *seconds, char *why, size_t size);

#endif
