/* resume_deck.c: what has changed in a deck since a checkpoint was written.
 *
 * Resolved decks are compared, line by line: all keys with their values, so
 * that a default that is now written out is no change.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "driver/job.h"
#include "driver/resume.h"
#include "solvers/solver.h"

enum { KEY_MAX = 256, TOLD_MAX = 8 };

/* A walk over the lines of a resolved deck. */
struct walk {
    const char *at;
    char section[KEY_MAX];
    int index;         /* how many of this name stood before */
    char key[KEY_MAX]; /* "md.pair.cutoff", "md.species.0.mass" */
    const char *value;
    int length;
};

static void take_section(struct walk *w, const char *line, size_t n)
{
    char name[KEY_MAX];
    int repeated = line[1] == '[';
    size_t skip = repeated ? 2 : 1;
    snprintf(name, sizeof name, "%.*s", (int)(n - 2 * skip), line + skip);
    w->index = repeated && strcmp(name, w->section) == 0 ? w->index + 1 : 0;
    snprintf(w->section, sizeof w->section, "%s", name);
    if (!repeated)
        w->index = -1;
}

/* To the next key. Returns 0 at the end. */
static int next_key(struct walk *w)
{
    while (*w->at != '\0') {
        const char *line = w->at;
        size_t n = strcspn(line, "\n");
        const char *equals = memchr(line, '=', n);
        w->at = line + n + (line[n] != '\0');
        if (n > 2 && line[0] == '[') {
            take_section(w, line, n);
        } else if (equals != NULL && equals - line >= 2) {
            int key = (int)(equals - line) - 1;
            if (w->index >= 0)
                snprintf(w->key, sizeof w->key, "%.200s.%d.%.*s", w->section,
                         w->index, key < 40 ? key : 40, line);
            else
                snprintf(w->key, sizeof w->key, "%.200s.%.*s", w->section,
                         key < 50 ? key : 50, line);
            w->value = equals + 2;
            w->length = (int)(line + n - w->value);
            return 1;
        }
    }
    return 0;
}

/* The value of `key` in a deck, or 0. */
static int find_key(const char *deck, const char *key, struct walk *w)
{
    *w = (struct walk){.at = deck};
    while (next_key(w))
        if (strcmp(w->key, key) == 0)
            return 1;
    return 0;
}

static int begins(const char *key, const char *section)
{
    size_t n = strlen(section);
    return strncmp(key, section, n) == 0 && key[n] == '.';
}

/* What is written, where and how fast it is computed, and how long the run is,
 * change nothing of what has been. */
static int may_differ(const struct job *job, const char *key)
{
    static const char *const free_keys[] = {"run.device", "run.threads",
                                            "run.title", "run.gpu_transfer",
                                            "domain.ranks"};
    static const char *const free_sections[] = {"output", "checkpoint",
                                                "monitor", "guard"};
    for (size_t i = 0; i < sizeof free_keys / sizeof free_keys[0]; i++)
        if (strcmp(key, free_keys[i]) == 0)
            return 1;
    for (size_t i = 0; i < sizeof free_sections / sizeof free_sections[0]; i++)
        if (begins(key, free_sections[i]))
            return 1;
    for (const char *const *k = job->solver->later_keys;
         k != NULL && *k != NULL; k++)
        if (strcmp(key, *k) == 0)
            return 1;
    return 0;
}

struct changes {
    int n;
    char text[TOLD_MAX][3 * KEY_MAX];
};

static void note(struct changes *c, const char *key, const struct walk *then,
                 const struct walk *now)
{
    if (c->n < TOLD_MAX)
        snprintf(c->text[c->n], sizeof c->text[c->n], "%s: %.*s, was %.*s", key,
                 now != NULL && now->length < 200 ? now->length : 200,
                 now != NULL ? now->value : "not set",
                 then != NULL && then->length < 200 ? then->length : 200,
                 then != NULL ? then->value : "not set");
    c->n++;
}

/* Keys of `one` that `other` has not, or (with `differ`) has with another
 * value. `one` is the present deck where `one_is_now`. */
static void compare(const struct job *job, const char *one, const char *other,
                    int one_is_now, struct changes *c)
{
    struct walk a = {.at = one}, b;
    while (next_key(&a)) {
        if (may_differ(job, a.key))
            continue;
        if (!find_key(other, a.key, &b))
            note(c, a.key, one_is_now ? NULL : &a, one_is_now ? &a : NULL);
        else if (one_is_now &&
                 (a.length != b.length ||
                  strncmp(a.value, b.value, (size_t)a.length) != 0))
            note(c, a.key, &b, &a);
    }
}

int resume_compare(struct ctx *ctx, const struct job *job, const char *then,
                   const char *now, int force)
{
    struct changes *c = calloc(1, sizeof *c);
    int status = 0;
    if (c == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory");
    compare(job, now, then, 1, c);
    compare(job, then, now, 0, c);
    int told = c->n < TOLD_MAX ? c->n : TOLD_MAX;
    if (c->n > 0 && force) {
        for (int i = 0; i < told; i++)
            log_warn(ctx->log, "changed since the checkpoint: %s", c->text[i]);
    } else if (c->n > 0) {
        status =
            FAIL(ctx, STATUS_USAGE, "the deck is not that of the checkpoint");
        for (int i = 0; i < told; i++)
            error_context(ctx, status, "because of %s", c->text[i]);
        if (c->n > told)
            error_context(ctx, status, "because of %d more", c->n - told);
        error_context(ctx, status, "use --force to go on with it anyway");
    }
    free(c);
    return status;
}
