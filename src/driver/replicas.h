/* replicas.h: [ensemble] replicas: one deck run several times, each with a seed
 * and a folder of its own, on groups of ranks.
 */
#ifndef WARPDECK_DRIVER_REPLICAS_H
#define WARPDECK_DRIVER_REPLICAS_H

#include <stdint.h>

struct ctx;
struct command_line;

struct replicas {
    int count;    /* 1: an ordinary run */
    int groups;   /* how many run at a time */
    int64_t seed; /* of the first; each has one more than the one before */
};

/* What a deck asks for, on so many ranks. Errors: those of the deck; and
 * STATUS_USAGE where ranks and replicas do not divide one another.
 * Collective. */
int replicas_plan(struct ctx *ctx, const struct command_line *line, int ranks,
                  struct replicas *out);

#endif
