/* md_top_define.h: definitions of a GROMACS topology, and a line's words with
 * what they stand for in their place. Of md_top_text.c only.
 */
#ifndef WARPDECK_SOLVERS_MD_TOP_DEFINE_H
#define WARPDECK_SOLVERS_MD_TOP_DEFINE_H

#include "md_top_text.h"

/* Of the first `length` bytes of a name. Errors: STATUS_MEMORY. */
int top_define(struct top_text *t, const char *name, size_t length,
               const char *value);
void top_undefine(struct top_text *t, const char *name, size_t length);
int top_is_defined(const struct top_text *t, const char *name, size_t length);
void top_free_definitions(struct top_text *t);

/* Cut a line into t->word[0 .. n_words - 1]. Errors: STATUS_INPUT, where
 * definitions make more of it than a line may be. */
int top_words(struct top_text *t, const char *text);

/* Room for `size` bytes in a buffer that grows. Errors: STATUS_MEMORY. */
int top_reserve(struct top_text *t, char **buffer, size_t *capacity,
                size_t size);
int top_text_no_memory(struct top_text *t);

#endif
