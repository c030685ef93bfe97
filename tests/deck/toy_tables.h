/* toy_tables.h: keys of a solver that does not exist, for tests of the reader.
 *
 * Included by the test programs of this folder, each of which uses some of it.
 */
#ifndef WARPDECK_TESTS_DECK_TOY_TABLES_H
#define WARPDECK_TESTS_DECK_TOY_TABLES_H

#include <string.h>

#include "base/dimensions.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/param.h"

#define NUMBER           \
    {                    \
        0, 0, 0, 0, 0, 0 \
    }

static const struct param_section driver_sections[] = {
    {"run", 0, 0, "What runs."},
    {"output", 0, 1, "What is written."},
    {NULL, 0, 0, NULL}};

static const struct param driver_keys[] = {
    {"run", "solver", PARAM_STRING, NUMBER, NULL, 0, 0, 0, PARAM_REQUIRED,
     "toy|-fluid|-risk", "The solver."},
    {"run", "units", PARAM_STRING, NUMBER, "\"lj\"", 0, 0, 0, 0,
     "lj|metal|real|si", "Units."},
    {"run", "seed", PARAM_INT, NUMBER, "1", 0, 0, 0, PARAM_HAS_MIN, NULL,
     "Seed."},
    {"run", "title", PARAM_STRING, NUMBER, "\"\"", 0, 0, 0, 0, NULL, "Title."},
    {"output", "every", PARAM_INTERVAL, TIME, "100", 0, 0, 0, 0, NULL,
     "How often."},
    {"output", "save", PARAM_INTERVAL, TIME, NULL, 0, 0, 0,
     PARAM_OPTIONAL | PARAM_WALL, NULL, "How often."},
    {"output", "fields", PARAM_STRINGS, NUMBER, "[\"a\"]", 0, 0, 0, 0, "a|b",
     "Fields."},
    {NULL, NULL, PARAM_BOOL, NUMBER, NULL, 0, 0, 0, 0, NULL, NULL}};

static const struct param_section toy_sections[] = {
    {"toy", 0, 0, "The toy."},          {"toy.pair", 0, 0, "Forces."},
    {"toy.kind", 1, 1, "A kind."},      {"toy.deep.part", 0, 1, "Far below."},
    {"toy.side.left", 0, 1, "A side."}, {NULL, 0, 0, NULL}};

static const struct param toy_keys[] = {
    {"toy", "timestep", PARAM_DOUBLE, TIME, "0.005", 0, 0, 0,
     PARAM_HAS_MIN | PARAM_MIN_OPEN | PARAM_DEFAULT_LJ, NULL, "Step."},
    {"toy", "steps", PARAM_INT, NUMBER, NULL, 0, 0, 0,
     PARAM_REQUIRED | PARAM_HAS_MIN, NULL, "How many."},
    {"toy", "cells", PARAM_INTS, NUMBER, NULL, 1, 0, 3,
     PARAM_OPTIONAL | PARAM_HAS_MIN, NULL, "Cells."},
    {"toy", "size", PARAM_DOUBLES, LENGTH, NULL, 0, 0, 3,
     PARAM_OPTIONAL | PARAM_HAS_MIN | PARAM_MIN_OPEN, NULL, "Size."},
    {"toy", "share", PARAM_DOUBLE, NUMBER, "0.5", 0, 1, 0,
     PARAM_HAS_MIN | PARAM_HAS_MAX | PARAM_MAX_OPEN, NULL, "Share."},
    {"toy", "tail", PARAM_BOOL, NUMBER, "false", 0, 0, 0, 0, NULL, "Tail."},
    {"toy.pair", "style", PARAM_STRING, NUMBER, "\"lj\"", 0, 0, 0, 0,
     "lj|wca|morse", "Form."},
    {"toy.pair", "cutoff", PARAM_DOUBLE, LENGTH, NULL, 0, 0, 0,
     PARAM_REQUIRED | PARAM_HAS_MIN | PARAM_MIN_OPEN, NULL, "Reach."},
    {"toy.pair", "of", PARAM_STRING_PAIRS, NUMBER, NULL, 0, 0, 0,
     PARAM_OPTIONAL, NULL, "Pairs."},
    {"toy.pair", "table", PARAM_MATRIX, NUMBER, NULL, 0, 0, 0, PARAM_OPTIONAL,
     NULL, "Numbers."},
    {"toy.kind", "name", PARAM_STRING, NUMBER, NULL, 0, 0, 0, PARAM_REQUIRED,
     NULL, "Name."},
    {"toy.kind",
     "mass",
     PARAM_DOUBLE,
     {1, 0, 0, 0, 0, 0},
     "1.0",
     0,
     0,
     0,
     0,
     NULL,
     "Mass."},
    {"toy.deep.part", "value", PARAM_INT, NUMBER, "3", 0, 0, 0, 0, NULL,
     "Value."},
    {"toy.side.left", "type", PARAM_STRING, NUMBER, "\"open\"", 0, 0, 0,
     PARAM_REQUIRED | PARAM_WORD, "open|shut", "Kind."},
    {"toy.side.left", "speed", PARAM_DOUBLE, NUMBER, "0", 0, 0, 0, 0, NULL,
     "Speed."},
    {"run", "title", PARAM_STRING, NUMBER, "\"a toy\"", 0, 0, 0, 0, NULL,
     "Title of a toy."},
    {"output", "extra", PARAM_INT, NUMBER, "7", 0, 0, 0, 0, NULL, "More."},
    {NULL, NULL, PARAM_BOOL, NUMBER, NULL, 0, 0, 0, 0, NULL, NULL}};

static const struct param_word toy_words[] = {
    {NULL, "nr_steps", "toy.steps"},
    {"toy.pair.style", "lj/cut", "\"lj\""},
    {NULL, NULL, NULL}};

static const struct param_table driver_table = {driver_sections, driver_keys,
                                                NULL, NULL};
static const struct param_table toy_table = {
    toy_sections, toy_keys, "toy.later|toy.much_later", toy_words};

static inline const struct param_table *choose(const char *solver, void *user)
{
    (void)user;
    return strcmp(solver, "toy") == 0 ? &toy_table : NULL;
}

static inline struct params *read_with(struct ctx *ctx, const char *text, int n,
                                       const char *const *overrides)
{
    struct params *p = NULL;

    error_clear(ctx);
    params_parse(ctx, "folder/d.toml", text, strlen(text), n, overrides,
                 &driver_table, choose, NULL, &p);
    return p;
}

static inline struct params *read_text(struct ctx *ctx, const char *text)
{
    return read_with(ctx, text, 0, NULL);
}

#define RUN "[run]\nsolver = \"toy\"\n"
#define BASE RUN "[toy]\nsteps = 10\n[toy.pair]\ncutoff = 2.5\n"

#endif
