#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ctx.h"

struct log {
    int rank;
    int terminal;
    int progress_shown;
    enum log_level level;
    FILE *file;
    int file_failed; /* said once */
    char *early;     /* what was printed before the file was opened */
    size_t early_size;
};

/* mpirun gives every rank a pseudo-terminal, also where its own output goes to
 * a file. So where a launcher is in between, what counts is the launcher's
 * standard output, as far as this system lets us see it. */
static int output_is_terminal(void)
{
    if (!isatty(STDOUT_FILENO))
        return 0;
    if (getenv("OMPI_COMM_WORLD_SIZE") == NULL)
        return 1;
    char path[64];
    snprintf(path, sizeof(path), "/proc/%ld/fd/1", (long)getppid());
    char target[64];
    ssize_t n = readlink(path, target, sizeof(target) - 1);
    if (n <= 0)
        return 0;
    target[n] = '\0';
    return strncmp(target, "/dev/pts/", 9) == 0 ||
           strncmp(target, "/dev/tty", 8) == 0;
}

struct log *log_create(int rank, enum log_level level)
{
    struct log *log = calloc(1, sizeof(*log));
    if (log == NULL)
        return NULL;
    log->rank = rank;
    log->level = level;
    log->terminal = rank == 0 && output_is_terminal();
    return log;
}

void log_destroy(struct log *log)
{
    if (log == NULL)
        return;
    log_progress(log, "");
    if (log->file != NULL)
        fclose(log->file);
    free(log->early);
    free(log);
}

void log_set_level(struct log *log, enum log_level level)
{
    log->level = level;
}

enum log_level log_level(const struct log *log)
{
    return log->level;
}

static int open_file(struct ctx *ctx, const char *path, const char *mode)
{
    struct log *log = ctx->log;
    if (log->rank != 0)
        return 0;
    FILE *file = fopen(path, mode);
    if (file == NULL)
        return FAIL(ctx, STATUS_IO, "cannot write '%s': %s", path,
                    strerror(errno));
    if (log->file != NULL)
        fclose(log->file);
    log->file = file;
    if (log->early != NULL)
        fputs(log->early, file);
    free(log->early);
    log->early = NULL;
    log->early_size = 0;
    fflush(file);
    return 0;
}

int log_open(struct ctx *ctx, const char *path)
{
    return open_file(ctx, path, "w");
}

int log_append(struct ctx *ctx, const char *path)
{
    return open_file(ctx, path, "a");
}

/* Without a file yet, remember the text for it. Failing to remember is no
 * reason to fail: the terminal has it. */
static void to_file(struct log *log, const char *text)
{
    if (log->file != NULL) {
        int written = fputs(text, log->file) >= 0 && fflush(log->file) == 0;
        if (!written && !log->file_failed)
            fprintf(stderr, "warning: the log file cannot be written: %s\n",
                    strerror(errno));
        log->file_failed |= !written;
        return;
    }
    size_t n = strlen(text);
    char *grown = realloc(log->early, log->early_size + n + 1);
    if (grown == NULL)
        return;
    log->early = grown;
    memcpy(log->early + log->early_size, text, n + 1);
    log->early_size += n;
}

static void clear_progress(struct log *log)
{
    if (!log->progress_shown)
        return;
    fputs("\r\033[K", stdout);
    fflush(stdout);
    log->progress_shown = 0;
}

/* One formatted line with its start and newline, in new memory; NULL where
 * there is none. */
static char *format_line(const char *start, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    size_t head = strlen(start);
    char *line = n < 0 ? NULL : malloc(head + (size_t)n + 2);
    if (line != NULL) {
        memcpy(line, start, head);
        vsnprintf(line + head, (size_t)n + 1, fmt, again);
        memcpy(line + head + (size_t)n, "\n", 2);
    }
    va_end(again);
    return line;
}

static void print(struct log *log, FILE *stream, int show, const char *line)
{
    if (line == NULL)
        return;
    if (show) {
        clear_progress(log);
        fputs(line, stream);
        fflush(stream);
    }
    to_file(log, line);
}

void log_info(struct log *log, const char *fmt, ...)
{
    if (log->rank != 0)
        return;
    va_list args;
    va_start(args, fmt);
    char *line = format_line("", fmt, args);
    va_end(args);
    print(log, stdout, log->level >= LOG_NORMAL, line);
    free(line);
}

void log_verbose(struct log *log, const char *fmt, ...)
{
    if (log->rank != 0 || log->level < LOG_VERBOSE)
        return;
    va_list args;
    va_start(args, fmt);
    char *line = format_line("", fmt, args);
    va_end(args);
    print(log, stdout, 1, line);
    free(line);
}

void log_warn(struct log *log, const char *fmt, ...)
{
    if (log->rank != 0)
        return;
    va_list args;
    va_start(args, fmt);
    char *line = format_line("warning: ", fmt, args);
    va_end(args);
    print(log, stderr, 1, line);
    free(line);
}

void log_error(struct log *log, const char *text)
{
    if (log->rank == 0)
        print(log, stderr, 1, text);
}

void log_progress(struct log *log, const char *text)
{
    if (!log->terminal || log->level == LOG_QUIET)
        return;
    if (text[0] == '\0') {
        clear_progress(log);
        return;
    }
    fprintf(stdout, "\r%s\033[K", text);
    fflush(stdout);
    log->progress_shown = 1;
}

int log_is_terminal(const struct log *log)
{
    return log->terminal;
}
