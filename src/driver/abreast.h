/* abreast.h: replicas that share a card go on step by step side by side, so
 * that it launches once what all of them do. Each has its own files, its own
 * checkpoints and its own end.
 */
#ifndef WARPDECK_DRIVER_ABREAST_H
#define WARPDECK_DRIVER_ABREAST_H

struct aside;
struct command_line;
struct ctx;
struct replicas;
struct tally;

/* Whether the replicas of this group, each on one rank, gain by it: a->team is
 * how many there are then, or 0; where it is a card and they do not, the log
 * says why. Collective over all ranks. */
int team_wanted(struct ctx *ctx, struct aside *a, const struct replicas *r,
                const struct command_line *line, int group);

/* Run those of this group; one that fails leaves the others alone. */
void abreast_run(struct ctx *ctx, const struct aside *a,
                 const struct replicas *r, const struct command_line *line,
                 int group, struct tally *tally);

#endif
