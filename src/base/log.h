/* log.h: what the user reads while a run goes: terminal and NAME.log.
 *
 * Only rank 0 prints. Everything printed also goes to the log file once one is
 * opened; the progress line (rewritten in place) is for terminals only. The
 * file gets what a normal level shows even where the terminal is quiet.
 */
#ifndef WARPDECK_BASE_LOG_H
#define WARPDECK_BASE_LOG_H

struct log;
struct ctx;

enum log_level { LOG_QUIET, LOG_NORMAL, LOG_VERBOSE };

struct log *log_create(int rank, enum log_level level); /* NULL: no memory */
void log_destroy(struct log *log);                      /* closes the file */
void log_set_level(struct log *log, enum log_level level);
enum log_level log_level(const struct log *log);

/* Open (truncate) the log file on rank 0 and write into it what was printed so
 * far. Not collective. Errors: STATUS_IO. */
int log_open(struct ctx *ctx, const char *path);
/* The same behind what stands there, for a run that goes on. */
int log_append(struct ctx *ctx, const char *path);

/* A line (the newline is added). log_info: unless quiet; log_verbose: only with
 * -v; log_warn: "warning: ..." to standard error, always. */
void log_info(struct log *log, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void log_verbose(struct log *log, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void log_warn(struct log *log, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The text of a failure, whole lines as in struct error, to standard error and
 * to the file. */
void log_error(struct log *log, const char *text);

/* Rewrite the progress line; nothing where standard output is no terminal or
 * the level is quiet. An empty text clears it. */
void log_progress(struct log *log, const char *text);
int log_is_terminal(const struct log *log);

#endif
