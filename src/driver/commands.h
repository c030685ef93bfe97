/* commands.h: what can be typed after `warpdeck`.
 *
 * The two tables, commands and options, are the only place where the command
 * line is described: the parser, --help, the man page and the completion are
 * made from them. A new command is one function, one row here and nothing else.
 */
#ifndef WARPDECK_DRIVER_COMMANDS_H
#define WARPDECK_DRIVER_COMMANDS_H

#include <stddef.h>
#include <stdio.h>

struct ctx;

enum option_id {
    OPTION_OUTPUT,
    OPTION_OVERWRITE,
    OPTION_RESUME,
    OPTION_FORCE,
    OPTION_WALL_TIME,
    OPTION_DEVICE,
    OPTION_RANKS,
    OPTION_MEASURE,
    OPTION_GPUS,
    OPTION_TIME,
    OPTION_ARRAY,
    OPTION_LAUNCH,
    OPTION_NO_REQUEUE,
    OPTION_SIZES,
    OPTION_STEPS,
    OPTION_PRECISION,
    OPTION_REBUILD_EVERY,
    OPTION_ALL,
    OPTION_QUIET,
    OPTION_VERBOSE,
    OPTION_HELP,
    OPTION_VERSION,
    OPTION_COUNT
};

/* One option. Which commands take it stands in the command's row; help is
 * taken by all, version by none. */
struct option {
    const char *name;     /* "output", typed as --output */
    char letter;          /* 'o' for -o, or 0 */
    const char *argument; /* "DIR"; "auto|cpu|cuda" lists all values; NULL:
                           * takes none */
    const char *help;     /* one line */
};

enum { ARGUMENTS_MAX = 4 };

/* A parsed command line. Everything is borrowed from argv; the array of
 * overrides belongs to the command line (command_line_free()). */
struct command_line {
    const struct command *command;
    const char *option[OPTION_COUNT]; /* the argument; "" for one without; NULL
                                       * where it was not given */
    int n_arguments;
    const char *arguments[ARGUMENTS_MAX]; /* DECK, SOLVER, ... */
    int n_overrides;
    const char **overrides; /* "section.key=value" */
    int argc;               /* the whole line as typed */
    char **argv;
};

enum command_flag {
    COMMAND_RANKS = 1,     /* works on all ranks: MPI is started */
    COMMAND_OVERRIDES = 2, /* section.key=value may follow */
    COMMAND_HIDDEN = 4,    /* for the build; not shown by --help */
    COMMAND_STOPS = 8      /* answers a signal by ending in order */
};

struct command {
    const char *name;
    const char *synopsis; /* what follows the name: "DECK [section.key=value
                           * ...]"; options are added from the table */
    const char *help;     /* one line */
    const char *details;  /* paragraphs for `help NAME` and the man page */
    int arguments_min, arguments_max;
    int flags;
    unsigned options; /* bits 1u << OPTION_... */
    /* Returns 0 or a status; the failure's text is in ctx->error. */
    int (*run)(struct ctx *ctx, const struct command_line *line);
};

extern const struct option options[OPTION_COUNT];
extern const struct command commands[]; /* ended by a row without a name */

/* The command of a name, or NULL. */
const struct command *command_find(const char *name);

/* Understand a command line. Errors: STATUS_USAGE, with the nearest name for a
 * misspelt one. --help and --version, wherever they stand, win over errors.
 * `line` is to be freed whatever is returned. */
int command_line_parse(struct ctx *ctx, int argc, char **argv,
                       struct command_line *line);
void command_line_free(struct command_line *line);

/* The help of the whole program, and of one command. */
void help_program(FILE *out);
void help_command(FILE *out, const struct command *command);

int cmd_run(struct ctx *ctx, const struct command_line *line);
int cmd_check(struct ctx *ctx, const struct command_line *line);
int cmd_batch(struct ctx *ctx, const struct command_line *line);
int cmd_explain(struct ctx *ctx, const struct command_line *line);
int cmd_new(struct ctx *ctx, const struct command_line *line);
int cmd_info(struct ctx *ctx, const struct command_line *line);
int cmd_bench(struct ctx *ctx, const struct command_line *line);
int cmd_help(struct ctx *ctx, const struct command_line *line);
int cmd_docs(struct ctx *ctx, const struct command_line *line);

#endif
