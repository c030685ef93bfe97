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
    int is_open;      /* the line is the file's last one and has no end */
    int told_open;    /* as was said, or is not to be */
    char section[64]; /* named in messages, where it is set */
    char *word[MD_TEXT_WORDS_MAX];
    int n_words;
    char *comment; /* what stands behind '#', or NULL */
};

/* The next line, whole; in the first one an editor's byte order mark becomes
 * blanks. 0: *there = 0 at the end. Errors: STATUS_INPUT. */
int md_text_line(struct md_text *t, int *there);
/* The same, cut into words, its comment off; no words at the end. */
int md_text_words(struct md_text *t, int *there);
/* Close the file, where there is one, and free the line. */
void md_text_close(struct md_text *t);

/* Tell of a last line that may have been cut, see numeral.h. */
void md_text_warn_open(struct ctx *ctx, const char *path, int64_t number,
                       const char *line, size_t length);

/* What a message of such a file ends with; of others "". */
const char *md_text_open_words(const struct md_text *t);

/* STATUS_INPUT "path:line: error: section: ...", of the present line. */
int md_text_fail(struct md_text *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* A word (NULL: it is missing) as a number, see numeral.h; `what` is what
 * messages call it. What is wrong with it goes to `wrong`. 0: nothing is. */
enum { MD_TEXT_WRONG = 160 };
int md_word_whole(const char *word, int64_t least, int64_t most,
                  const char *what, int64_t *value, char wrong[MD_TEXT_WRONG]);
int md_word_real(const char *word, const char *what, double *value,
                 char wrong[MD_TEXT_WRONG]);

/* Word w as a number. Errors: STATUS_INPUT, calling it `what`. */
int md_text_whole(struct md_text *t, int w, int64_t least, int64_t most,
                  const char *what, int64_t *value);
int md_text_real(struct md_text *t, int w, const char *what, double *value);

#endif
