/* md_top_define.c: see md_top_define.h. */
#define _POSIX_C_SOURCE 200809L /* strndup, strtok_r */

#include "md_top_define.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"

/* A definition that names two others, each of which names two others, and so
 * on, is short, and no computer finishes what it stands for; where the last of
 * them are empty there is not even a long line. So what is counted is how often
 * a definition is put in place, besides what comes of it. */
enum {
    DEPTH_MAX = 16,                 /* definitions within one another */
    PLACED_MAX = 4 * TOP_WORDS_MAX, /* definitions put in place in a line */
    EXPANDED_MAX = 1 << 20          /* bytes of a line after that */
};

struct top_macro {
    char *name, *value;
};

int top_text_no_memory(struct top_text *t)
{
    return FAIL(t->ctx, STATUS_MEMORY, "no memory for a topology");
}

int top_reserve(struct top_text *t, char **buffer, size_t *capacity,
                size_t size)
{
    if (size <= *capacity)
        return 0;
    char *grown = realloc(*buffer, 2 * size);
    if (!grown)
        return top_text_no_memory(t);
    *buffer = grown;
    *capacity = 2 * size;
    return 0;
}

/* ---- definitions ---- */

static struct top_macro *find_macro(const struct top_text *t, const char *name,
                                    size_t length)
{
    for (size_t k = 0; k < t->n_macros; k++)
        if (strncmp(t->macros[k].name, name, length) == 0 &&
            t->macros[k].name[length] == '\0')
            return &t->macros[k];
    return NULL;
}

int top_is_defined(const struct top_text *t, const char *name, size_t length)
{
    return find_macro(t, name, length) != NULL;
}

void top_undefine(struct top_text *t, const char *name, size_t length)
{
    struct top_macro *m = find_macro(t, name, length);
    if (!m)
        return;
    free(m->name);
    free(m->value);
    *m = t->macros[--t->n_macros];
}

int top_define(struct top_text *t, const char *name, size_t length,
               const char *value)
{
    top_undefine(t, name, length);
    if (t->n_macros == t->cap_macros) {
        size_t grown = 2 * t->cap_macros + 32;
        struct top_macro *m = realloc(t->macros, grown * sizeof *m);
        if (!m)
            return top_text_no_memory(t);
        t->macros = m;
        t->cap_macros = grown;
    }
    struct top_macro *m = &t->macros[t->n_macros];
    *m = (struct top_macro){strndup(name, length), strdup(value)};
    t->n_macros++;
    return m->name && m->value ? 0 : top_text_no_memory(t);
}

void top_free_definitions(struct top_text *t)
{
    for (size_t k = 0; k < t->n_macros; k++) {
        free(t->macros[k].name);
        free(t->macros[k].value);
    }
    free(t->macros);
}

/* ---- words ---- */

static int add_word(struct top_text *t, const char *text, size_t n)
{
    if (t->n_words == TOP_WORDS_MAX)
        return top_fail(t, "more than %d words in a line", TOP_WORDS_MAX);
    if (t->length + n > EXPANDED_MAX)
        return top_fail(t, "the line is too long with its definitions");
    TRY(top_reserve(t, &t->line, &t->cap_line, t->length + n + 2));
    memcpy(t->line + t->length, text, n);
    t->length += n;
    t->line[t->length++] = ' ';
    t->line[t->length] = '\0';
    t->n_words++;
    return 0;
}

/* Words of `text`, with definitions in their place, behind t->line. */
static int expand(struct top_text *t, const char *text, int depth, int *placed)
{
    for (;;) {
        text += strspn(text, " \t\r\n");
        size_t n = strcspn(text, " \t\r\n");
        if (n == 0)
            return 0;
        const struct top_macro *m = find_macro(t, text, n);
        if (m && depth == DEPTH_MAX)
            return top_fail(t,
                            "the definition of '%.60s' stands within %d "
                            "others, or within itself; write what it stands "
                            "for in its place",
                            m->name, DEPTH_MAX);
        if (m && ++*placed > PLACED_MAX)
            return top_fail(
                t,
                "definitions within one another are put in place "
                "more than %d times in this line; write what '%.60s' "
                "stands for in its place",
                PLACED_MAX, m->name);
        if (m)
            TRY(expand(t, m->value, depth + 1, placed));
        else
            TRY(add_word(t, text, n));
        text += n;
    }
}

int top_words(struct top_text *t, const char *text)
{
    int placed = 0;
    char *rest = NULL;
    t->length = 0;
    t->n_words = 0;
    TRY(expand(t, text, 0, &placed));
    for (int k = 0; k < t->n_words; k++)
        t->word[k] = strtok_r(k == 0 ? t->line : NULL, " ", &rest);
    return 0;
}
