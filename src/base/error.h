/* error.h: how a failure travels from where it happens to main().
 *
 * Nothing below main() ends the process. A function that can fail returns an
 * int: 0 or a status of status.def. The first failure on a rank is kept with
 * its message; later failures on the way up only add lines to its story, so
 * that the user reads the cause first.
 */
#ifndef WARPDECK_BASE_ERROR_H
#define WARPDECK_BASE_ERROR_H

#include <stddef.h>
#include <stdint.h>

enum status {
#define STATUS(name, exit_status, text) name,
#include "base/status.def"
#undef STATUS
    STATUS_COUNT
};

enum { ERROR_TEXT_MAX = 8192 };

/* The first failure of this rank. text holds the message and, after it, one
 * line per added context, each ended by '\n'. */
struct error {
    int status;
    int has_place; /* the text says "error:" itself, behind a place */
    int has_rank;  /* and on which rank it happened */
    char text[ERROR_TEXT_MAX];
};

struct ctx;

/* The program's exit status for a status, and the status's short name. */
int status_exit(int status);
const char *status_text(int status);

/* Record a failure unless one is recorded already; returns `status`, so that
 * `return FAIL(ctx, STATUS_IO, "cannot open '%s'", path);` reads well. */
int error_fail(struct ctx *ctx, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The same of a place in a file: `fmt` begins with it and with "error:",
 * "FILE:LINE: error: ...". */
int error_fail_at(struct ctx *ctx, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* What to print before the recorded message: "error: ", or "" where it says so
 * itself or is none, as of a run that was stopped. */
const char *error_prefix(const struct ctx *ctx);

/* Add a line below the recorded message: what was being attempted, or what to
 * do. It is indented by two; "while " is put before it unless it begins with
 * while, because, use, in or on. Returns `status` unchanged. */
int error_context(struct ctx *ctx, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Add "on rank ...", once. Returns `status` unchanged. */
int error_on_rank(struct ctx *ctx, int status, int rank, int size);

/* Put "step N: " before a message that physics failed and that does not begin
 * so: solvers and kernels leave that to whoever calls them. Returns `status`
 * unchanged. */
int error_at_step(struct ctx *ctx, int status, int64_t step);

/* Forget the recorded failure (tests; a caller that can go on without). */
void error_clear(struct ctx *ctx);

/* Whether a text has control characters: such names hide in messages. */
int text_has_control(const char *text);
/* Put '?' in their place: words of a file that a message shows are not to steer
 * the terminal. */
void text_hide_control(char *text);

#define FAIL(ctx, status, ...) error_fail((ctx), (status), __VA_ARGS__)
#define FAIL_AT(ctx, status, ...) error_fail_at((ctx), (status), __VA_ARGS__)

/* Return upward when the call failed. */
#define TRY(call)                 \
    do {                          \
        int try_status_ = (call); \
        if (try_status_ != 0)     \
            return try_status_;   \
    } while (0)

/* Return upward when the call failed, adding a line that says what was being
 * attempted. */
#define TRY_WHILE(ctx, call, ...)                                  \
    do {                                                           \
        int try_status_ = (call);                                  \
        if (try_status_ != 0)                                      \
            return error_context((ctx), try_status_, __VA_ARGS__); \
    } while (0)

/* For functions with a `cleanup:` label and an `int status`. */
#define TRY_CLEANUP(call) \
    do {                  \
        status = (call);  \
        if (status != 0)  \
            goto cleanup; \
    } while (0)

#endif
