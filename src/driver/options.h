/* options.h: what commands ask of their command line beyond its words. */
#ifndef WARPDECK_DRIVER_OPTIONS_H
#define WARPDECK_DRIVER_OPTIONS_H

struct ctx;
struct command_line;

/* The whole number given to option `id` into *value, which stays as it is where
 * the option was not given. Errors: STATUS_USAGE. */
int option_count(struct ctx *ctx, const struct command_line *line, int id,
                 long min, long *value);

/* STATUS_USAGE with the nearest command's name. */
int unknown_command(struct ctx *ctx, const char *typed);

#endif
