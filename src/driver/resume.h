/* resume.h: which checkpoint a run goes on from, and whether it may.
 */
#ifndef WARPDECK_DRIVER_RESUME_H
#define WARPDECK_DRIVER_RESUME_H

#include <stdint.h>

struct checkpoint;
struct command_line;
struct ctx;
struct job;
struct output;

struct resume {
    struct checkpoint *from; /* NULL: from the beginning */
    char *path;
    int own; /* it is this run's: of its name, in its folder. Another one's
              * state begins results of its own */
};

/* What --resume asks for: a file, or the newest good one of this run's name in
 * its folder; where there is none of those, the run begins at step 0, as the
 * script of a batch job wants it. Damaged ones are passed over with a warning.
 * Then compare the deck with the checkpoint's: only keys that do not change
 * what has been computed may differ, unless --force. resume_free() whatever is
 * returned. Errors: STATUS_INPUT, STATUS_USAGE. Collective. */
int resume_open(struct ctx *ctx, const struct command_line *line,
                const struct job *job, const struct output *output,
                struct resume *out);
/* The same run from its checkpoint of another step, in place of *out. Errors:
 * STATUS_INPUT where there is none. Collective. */
int resume_at(struct ctx *ctx, const struct command_line *line,
              const struct job *job, const struct output *output, int64_t step,
              struct resume *out);
void resume_free(struct resume *r);

/* resume_deck.c: STATUS_USAGE with a line for each key that differs and may
 * not; `force` = 1 warns of it. Both are resolved decks. */
int resume_compare(struct ctx *ctx, const struct job *job, const char *then,
                   const char *now, int force);

#endif
