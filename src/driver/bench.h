/* bench.h: what the kinds of `warpdeck bench` share. */
#ifndef WARPDECK_DRIVER_BENCH_H
#define WARPDECK_DRIVER_BENCH_H

struct ctx;
struct command_line;

/* `warpdeck bench io`: the time that a run loses to its output, with and
 * without a helper thread (cmd_bench_io.c). Collective. */
int bench_io(struct ctx *ctx, const struct command_line *line);

#endif
