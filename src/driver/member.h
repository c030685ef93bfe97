/* member.h: one of several runs that go on side by side in a process, and what
 * a run has of the process while it is its turn.
 */
#ifndef WARPDECK_DRIVER_MEMBER_H
#define WARPDECK_DRIVER_MEMBER_H

#include <stddef.h>
#include <stdint.h>

#include "driver/replicas.h"
#include "driver/resume.h"

struct comm;
struct command_line;
struct ctx;
struct log;
struct run;
struct timers;

/* What the process has while it is nobody's turn; all borrowed. */
struct aside {
    struct comm *all, *few; /* all ranks; those of this group */
    struct log *log;
    struct timers *timers;
    int team; /* the runs share a card and each other's time; 0: in turn */
};

struct member {
    int replica;
    struct run *run;
    struct resume resume;
    struct replica_line line;
    struct log *log;
    struct timers *timers;
    double left;         /* when another one's turn came */
    uint64_t left_bytes; /* and what this rank had sent by then */
};

/* Replica i, with a log of its own, which the terminal shows where it is the
 * first. member_free() whatever is returned. Errors: STATUS_MEMORY,
 * STATUS_USAGE. Not collective. */
int member_make(struct ctx *ctx, const struct aside *a,
                const struct replicas *plan, const struct command_line *line,
                int i, struct member *m);
/* `status`: of all. Collective over the group. */
void member_free(struct ctx *ctx, const struct aside *a, struct member *m,
                 int status);
/* Its turn begins, and ends. In turn, only its own time counts. */
void member_enter(struct ctx *ctx, const struct aside *a, struct member *m);
void member_leave(struct ctx *ctx, const struct aside *a, struct member *m);
/* What the log says of the others behind the replica's folder, or "". */
const char *member_note(const struct aside *a, char *text, size_t size);
/* Between run_prepare() and run_begin(): it takes the device of `owner`, which
 * is freed later, or opens the one of the team (owner = NULL). */
void member_share(struct member *m, const struct aside *a,
                  const struct member *owner);

#endif
