/* main.c: from a command line to an exit status. Only here a process ends. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timer.h"
#include "driver/commands.h"
#include "driver/stop.h"
#include "driver/version.h"
#include "io/h5md_read.h"

/* Where a standard stream is closed, the next file or socket that is opened
 * gets its number, and what is printed goes into it. */
static void hold_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY) < 0)
            return;
}

static int has_flag(const struct command_line *line, int flag)
{
    return line->command != NULL && (line->command->flags & flag) != 0;
}

static int show_help(const struct command_line *line)
{
    if (line->option[OPTION_VERSION] != NULL)
        printf("Warpdeck %s  (git %s)\n", version_number(), version_git());
    else if (line->command != NULL)
        help_command(stdout, line->command);
    else
        help_program(stdout);
    return 0;
}

/* MPI is started where ranks work together, or where a launcher started several
 * of us and only one should talk. */
static int start(struct ctx *ctx, int *argc, char ***argv,
                 const struct command_line *line)
{
    int with_mpi = comm_launched() || has_flag(line, COMMAND_RANKS);
    int stoppable = has_flag(line, COMMAND_STOPS);
    if (stoppable)
        stop_watch();
    int status = with_mpi ? comm_start(argc, argv, &ctx->comm)
                          : comm_start_alone(1, &ctx->comm);
    if (status != 0)
        return status;
    if (stoppable)
        stop_watch();
    ctx->log = log_create(comm_rank(ctx->comm), LOG_NORMAL);
    ctx->timers = timers_create();
    if (ctx->log == NULL || ctx->timers == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory");
    if (line->option[OPTION_QUIET] != NULL)
        log_set_level(ctx->log, LOG_QUIET);
    if (line->option[OPTION_VERBOSE] != NULL)
        log_set_level(ctx->log, LOG_VERBOSE);
    return 0;
}

static int run_command(struct ctx *ctx, const struct command_line *line)
{
    int help = line->option[OPTION_HELP] != NULL ||
               line->option[OPTION_VERSION] != NULL;
    int only_rank_0 = help || !has_flag(line, COMMAND_RANKS);
    if (only_rank_0 && comm_rank(ctx->comm) != 0)
        return 0;
    return help ? show_help(line) : line->command->run(ctx, line);
}

/* What a command prints is its result; that of a run stands in files. */
static int check_printed(struct ctx *ctx, const struct command_line *line)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    if (line->command != NULL && line->command->run == cmd_run &&
        line->option[OPTION_HELP] == NULL)
        return 0;
    return FAIL(ctx, STATUS_IO, "cannot write to the standard output");
}

/* All ranks end with one status, and rank 0 tells why. */
static int farewell(struct ctx *ctx, int status)
{
    int alone;
    char text[sizeof(ctx->error.text) + 16];
    status = comm_farewell(ctx, status, &alone);
    if (status == 0)
        return 0;
    if (ctx->error.text[0] == '\0')
        FAIL(ctx, status, "%s", status_text(status));
    snprintf(text, sizeof(text), "%s%s", error_prefix(ctx), ctx->error.text);
    if (alone) {
        fputs(text, stderr);
        comm_abort(ctx->comm, status_exit(status));
    } else if (ctx->log != NULL) {
        log_error(ctx->log, text);
    } else if (comm_rank(ctx->comm) == 0) {
        fputs(text, stderr);
    }
    return status;
}

int main(int argc, char **argv)
{
    struct ctx ctx = {.frames = &h5md_frame_reader};
    struct command_line line;
    hold_standard_streams();
    int status = command_line_parse(&ctx, argc, argv, &line);
    int started = start(&ctx, &argc, &argv, &line);
    if (ctx.comm == NULL)
        return status_exit(started);
    if (status == 0)
        status = started;
    if (status == 0)
        status = run_command(&ctx, &line);
    if (status == 0)
        status = check_printed(&ctx, &line);
    status = farewell(&ctx, status);
    log_destroy(ctx.log);
    timers_destroy(ctx.timers);
    comm_finish(ctx.comm);
    command_line_free(&line);
    return status_exit(status);
}
