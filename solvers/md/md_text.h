/* md_text.h: text files line by line, with messages that name file and line,
 * for the readers of data files, tables and coordinates. Used by one rank; no
 * call here is collective.
 */
#ifndef WARPDECK_SOLVERS_MD_TEXT_H
#define WARPDECK_SOLVERS_MD_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct ctx;

enum { MD_TEXT_WORDS_MAX = 32 };

/* What separates words. */
#define MD_TEXT_BLANKS " \t\r\n\f\v"

struct md_text {
    struct ctx *ctx;
    const char *path;
    FILE *file; /* opened by the caller */
    char *line; /* the present one */
    size_t capacity, length;
    int64_t number;
    char section[64]; /* named in messages, where it is set */
    char *word[MD_TEXT_WORDS_MAX];
    int n_words;
    char *comment; /* what stands behind '#', or NULL */
};

/* The next line, whole. 0: *there = 0 at the end. Errors: STATUS_INPUT. */
int md_text_line(struct md_text *t, int *there);
/* The same, cut into words, its comment off; no words at the end. */
int md_text_words(struct md_text *t, int *there);
/* Close the file, where there is one, and free the line. */
void md_text_close(struct md_text *t);

/* STATUS_INPUT "path:line: error: section: ...", of the present line. */
int md_text_fail(struct md_text *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Word w as a number. Errors: STATUS_INPUT, calling it `what`. */
int md_text_whole(struct md_text *t, int w, int64_t least, int64_t most,
                  const char *what, int64_t *value);
int md_text_real(struct md_text *t, int w, const char *what, double *value);

#endif
