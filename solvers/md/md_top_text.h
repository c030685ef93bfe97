/* md_top_text.h: the text of a GROMACS topology, line by line.
 *
 * Includes, definitions and conditions are resolved on the way, comments taken
 * out, and lines that end in a backslash joined with the next. Every line keeps
 * its place, a file and a number, for messages. Used by one rank; no call here
 * is collective.
 */
#ifndef WARPDECK_SOLVERS_MD_TOP_TEXT_H
#define WARPDECK_SOLVERS_MD_TOP_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct ctx;

enum {
    TOP_WORDS_MAX = 8192, /* a map of 90 x 90 points stands in a line */
    TOP_DEPTH_MAX = 32,   /* files that include one another */
    TOP_NAME_MAX = 32     /* bytes of a name of the topology, with the NUL */
};

struct top_place {
    int32_t file; /* of top_text.files */
    int32_t line;
};

struct top_macro;
struct top_source;

struct top_text {
    struct ctx *ctx;
    const char *const *folders; /* searched for includes */
    size_t n_folders;
    /* the present line */
    char *word[TOP_WORDS_MAX];
    int n_words;
    int is_head; /* "[ name ]": word[0] is the name */
    char section[TOP_NAME_MAX];
    struct top_place place;
    /* within */
    char **files;
    int32_t n_files;
    struct top_source *stack;
    int depth;
    struct top_macro *macros;
    size_t n_macros, cap_macros;
    struct top_condition {
        int active, taken, has_else, depth;
        struct top_place place;
    } conditions[TOP_DEPTH_MAX];
    int n_conditions;
    char *raw, *joined, *line;
    size_t cap_raw, cap_joined, cap_line, length;
};

/* Open the first file. folders: where includes are looked for, besides the
 * folder of the file that includes. Call top_text_close() in any case. Errors:
 * STATUS_INPUT, STATUS_MEMORY. */
int top_text_open(struct ctx *ctx, const char *path, const char *const *folders,
                  size_t n_folders, struct top_text *t);
/* "NAME" or "NAME=VALUE", as #define would have it. */
int top_text_define(struct top_text *t, const char *text);
/* The next line that has words. *there = 0: the end. */
int top_text_next(struct top_text *t, int *there);
void top_text_close(struct top_text *t);

/* STATUS_INPUT "file:line: error: [ section ]: ...", of the present line. */
int top_fail(struct top_text *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The same of another line. */
int top_fail_at(struct top_text *t, struct top_place place, const char *section,
                const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Word w of the present line as a number. Errors: STATUS_INPUT. */
int top_whole(struct top_text *t, int w, int64_t least, int64_t most,
              const char *what, int64_t *value);
int top_real(struct top_text *t, int w, const char *what, double *value);

#endif
