/* param_help.h: what the tables of keys say, in words.
 *
 * `explain`, `new`, the man page and the completion are printed with these, so
 * that help can not differ from what is checked.
 */
#ifndef WARPDECK_BASE_PARAM_HELP_H
#define WARPDECK_BASE_PARAM_HELP_H

#include <stddef.h>
#include <stdio.h>

#include "base/param.h"

enum { PARAM_TEXT_MAX = 256 };

/* Each writes into buf (PARAM_TEXT_MAX bytes) and returns it; "" where there is
 * nothing to say. */
const char *param_type_text(const struct param *param, char *buf);
const char *param_unit_text(const struct param *param, char *buf);
const char *param_range_text(const struct param *param, char *buf);
const char *param_default_text(const struct param *param, char *buf);
const char *param_choices_text(const struct param *param, char *buf);
/* All of these in one line: "number > 0; length; default 0.3". */
const char *param_summary(const struct param *param, char *buf);

/* Deck text of a value: the default, the table's example, the first choice (in
 * buf), or a placeholder. */
const char *param_example(const struct param *param, char *buf);

/* Print text in lines of at most `width` columns, each after `indent`. */
void param_wrap(FILE *out, const char *indent, int width, const char *text);

/* One key in full, and all keys of a section (of both kinds of tables). */
void param_explain_key(FILE *out, const struct param *param);
void param_explain_section(FILE *out, const struct param_table *table,
                           const char *section);

/* The declared section's row, or NULL. */
const struct param_section *param_table_section(const struct param_table *table,
                                                const char *name);
/* The declared key, or NULL. */
const struct param *param_table_key(const struct param_table *table,
                                    const char *section, const char *key);
/* The sections of a table in order, each once, also those that only keys name:
 * the i-th, or NULL behind the last. */
const char *param_table_section_at(const struct param_table *table, int i);

#endif
