/* replicas.h: [ensemble] replicas: one deck run several times, each with a seed
 * and a folder of its own, on groups of ranks.
 */
#ifndef WARPDECK_DRIVER_REPLICAS_H
#define WARPDECK_DRIVER_REPLICAS_H

#include <stdint.h>

#include "driver/commands.h"

struct ctx;

struct replicas {
    int count;     /* 1: an ordinary run */
    int groups;    /* how many run at a time */
    int64_t seed;  /* of the first; each has one more than the one before */
    int exchanged; /* they exchange temperatures (together.h) */
    int sole;      /* one writer of files at a time: several share a process */
};

/* The command line of one of them: its folder, its seed, and no replicas within
 * it, so that its results tell of a run like any other. */
struct replica_line {
    struct command_line line;
    const char **overrides; /* owned */
    char seed[40], folder[4096];
};

/* What a group of ranks has done. */
struct tally {
    int64_t failed, stopped;
    int worst; /* status of one that failed */
};

/* What a deck asks for, on so many ranks. Errors: those of the deck; and
 * STATUS_USAGE where ranks and replicas do not divide one another.
 * Collective. */
int replicas_plan(struct ctx *ctx, const struct command_line *line, int ranks,
                  struct replicas *out);

/* replica_line_free() whatever is returned. Errors: STATUS_MEMORY,
 * STATUS_USAGE. Not collective. */
int replica_line_make(struct ctx *ctx, const struct command_line *line,
                      const struct replicas *r, int i,
                      struct replica_line *out);
void replica_line_free(struct replica_line *l);

/* Replica i did not come to its end: what ctx->error says of it goes to
 * ctx->log, and it is counted. */
void replica_tell(struct ctx *ctx, const struct replicas *r, int i, int status,
                  struct tally *t);

#endif
