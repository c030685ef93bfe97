/* together.h: replicas that exchange temperatures advance side by side.
 *
 * Each group of ranks has some of them, and moves them in turn from one attempt
 * to the next; there, and where one is to stop or to save, all are at the same
 * step.
 */
#ifndef WARPDECK_DRIVER_TOGETHER_H
#define WARPDECK_DRIVER_TOGETHER_H

struct ctx;
struct command_line;
struct replicas;

/* Run them all, on the ranks of ctx->comm. One that fails ends all. Errors also
 * STATUS_STOPPED. Collective. */
int together_run(struct ctx *ctx, const struct command_line *line,
                 const struct replicas *r);

#endif
