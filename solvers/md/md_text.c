/* md_text.c: see md_text.h. */
#define _POSIX_C_SOURCE 200809L /* getline */

#include "md_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/numeral.h"

int md_text_fail(struct md_text *t, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    text_hide_control(text);
    return FAIL_AT(t->ctx, STATUS_INPUT, "%s:%" PRId64 ": error: %s%s%s%s",
                   t->path, t->number > 0 ? t->number : 1, t->section,
                   t->section[0] ? ": " : "", text, md_text_open_words(t));
}

void md_text_warn_open(struct ctx *ctx, const char *path, int64_t number,
                       const char *line, size_t length)
{
    if (numeral_may_be_cut(line, length))
        log_warn(ctx->log, "%s:%" PRId64 ": " NUMERAL_CUT, path, number);
}

const char *md_text_open_words(const struct md_text *t)
{
    return t->is_open ? "; the file ends in the middle of a line, as one that "
                        "was copied in part does"
                      : "";
}

int md_text_line(struct md_text *t, int *there)
{
    errno = 0;
    ssize_t n = getline(&t->line, &t->capacity, t->file);
    *there = n >= 0;
    t->n_words = 0;
    if (n < 0)
        return ferror(t->file)
                   ? FAIL(t->ctx, STATUS_INPUT, "cannot read '%s': %s", t->path,
                          strerror(errno))
                   : 0;
    t->number++;
    t->length = (size_t)n;
    if (t->number == 1 && strncmp(t->line, "\xEF\xBB\xBF", 3) == 0)
        memset(t->line, ' ', 3);
    t->is_open = t->line[n - 1] != '\n';
    if (t->is_open && !t->told_open) {
        md_text_warn_open(t->ctx, t->path, t->number, t->line, t->length);
        t->told_open = 1;
    }
    size_t zero = strlen(t->line);
    return zero == t->length
               ? 0
               : FAIL_AT(t->ctx, STATUS_INPUT,
                         "%s:%" PRId64 ":%zu: error: a zero byte: this is not "
                         "a text file",
                         t->path, t->number, zero + 1);
}

int md_text_words(struct md_text *t, int *there)
{
    char *rest = NULL;
    TRY(md_text_line(t, there));
    if (!*there)
        return 0;
    t->comment = strchr(t->line, '#');
    if (t->comment)
        *t->comment++ = '\0';
    for (char *w = strtok_r(t->line, MD_TEXT_BLANKS, &rest);
         w && t->n_words < MD_TEXT_WORDS_MAX;
         w = strtok_r(NULL, MD_TEXT_BLANKS, &rest))
        t->word[t->n_words++] = w;
    return 0;
}

void md_text_close(struct md_text *t)
{
    if (t->file)
        fclose(t->file);
    free(t->line);
    t->file = NULL;
    t->line = NULL;
}

int md_word_whole(const char *word, int64_t least, int64_t most,
                  const char *what, int64_t *value, char wrong[MD_TEXT_WRONG])
{
    const char *why =
        word ? numeral_whole(word, strlen(word), value) : "is missing";
    wrong[0] = '\0';
    if (!word)
        snprintf(wrong, MD_TEXT_WRONG, "%s is missing", what);
    else if (why)
        snprintf(wrong, MD_TEXT_WRONG, "%s: '%.40s' %s", what, word, why);
    else if (*value < least || *value > most)
        snprintf(wrong, MD_TEXT_WRONG,
                 "%s: %" PRId64 " is outside of %" PRId64 " to %" PRId64, what,
                 *value, least, most);
    return wrong[0] != '\0';
}

int md_word_real(const char *word, const char *what, double *value,
                 char wrong[MD_TEXT_WRONG])
{
    const char *why =
        word ? numeral_real(word, strlen(word), value) : "is missing";
    wrong[0] = '\0';
    if (!word)
        snprintf(wrong, MD_TEXT_WRONG, "%s is missing", what);
    else if (why)
        snprintf(wrong, MD_TEXT_WRONG, "%s: '%.40s' %s", what, word, why);
    return wrong[0] != '\0';
}

static const char *word_of(const struct md_text *t, int w)
{
    return w < t->n_words ? t->word[w] : NULL;
}

int md_text_whole(struct md_text *t, int w, int64_t least, int64_t most,
                  const char *what, int64_t *value)
{
    char wrong[MD_TEXT_WRONG];
    if (!md_word_whole(word_of(t, w), least, most, what, value, wrong))
        return 0;
    return md_text_fail(t, "%s", wrong);
}

int md_text_real(struct md_text *t, int w, const char *what, double *value)
{
    char wrong[MD_TEXT_WRONG];
    if (!md_word_real(word_of(t, w), what, value, wrong))
        return 0;
    return md_text_fail(t, "%s", wrong);
}
