#include "base/error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/ctx.h"

static const struct {
    int exit;
    const char *text;
} statuses[] = {
#define STATUS(name, exit_status, text) [name] = {exit_status, text},
#include "base/status.def"
#undef STATUS
};

int status_exit(int status)
{
    if (status < 0 || status >= STATUS_COUNT)
        return 1;
    return statuses[status].exit;
}

const char *status_text(int status)
{
    if (status < 0 || status >= STATUS_COUNT)
        return "unknown status";
    return statuses[status].text;
}

/* Append to the text of `e`, which stays whole lines: what does not fit is cut
 * and the line is still ended. */
static void append_line(struct error *e, const char *start, const char *fmt,
                        va_list args)
{
    size_t used = strlen(e->text);
    size_t room = sizeof(e->text) - used;
    if (room < 2)
        return;
    size_t end = used;
    int n = snprintf(e->text + end, room, "%s", start);
    end += (size_t)n < room ? (size_t)n : room - 1;
    room = sizeof(e->text) - end;
    n = vsnprintf(e->text + end, room, fmt, args);
    if (n > 0)
        end += (size_t)n < room ? (size_t)n : room - 1;
    while (end > used && e->text[end - 1] == '\n')
        end--;
    if (end > sizeof(e->text) - 2)
        end = sizeof(e->text) - 2;
    e->text[end] = '\n';
    e->text[end + 1] = '\0';
}

static int record(struct ctx *ctx, int status, int has_place, const char *fmt,
                  va_list args)
{
    if (status == 0)
        status = STATUS_INTERNAL;
    struct error *e = &ctx->error;
    if (e->status != 0)
        return status;
    error_clear(ctx);
    e->status = status;
    e->has_place = has_place;
    append_line(e, "", fmt, args);
    return status;
}

int error_fail(struct ctx *ctx, int status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    status = record(ctx, status, 0, fmt, args);
    va_end(args);
    return status;
}

int error_fail_at(struct ctx *ctx, int status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    status = record(ctx, status, 1, fmt, args);
    va_end(args);
    return status;
}

const char *error_prefix(const struct ctx *ctx)
{
    const struct error *e = &ctx->error;
    return e->has_place || e->status == STATUS_STOPPED ? "" : "error: ";
}

/* The story's lines say what they are: "while", "because", "use". Where the
 * caller did not begin with such a word, "while" is put before. */
static const char *context_start(const char *fmt)
{
    static const char *const words[] = {"while ", "because", "use ", "in ",
                                        "on "};
    if (fmt[0] == ' ')
        return "";
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strncmp(fmt, words[i], strlen(words[i])) == 0)
            return "  ";
    return "  while ";
}

int error_context(struct ctx *ctx, int status, const char *fmt, ...)
{
    struct error *e = &ctx->error;
    if (e->status == 0) {
        e->status = status;
        snprintf(e->text, sizeof(e->text), "%s\n", status_text(status));
    }
    va_list args;
    va_start(args, fmt);
    append_line(e, context_start(fmt), fmt, args);
    va_end(args);
    return status;
}

int error_on_rank(struct ctx *ctx, int status, int rank, int size)
{
    if (!ctx->error.has_rank)
        error_context(ctx, status, "on rank %d of %d", rank, size);
    ctx->error.has_rank = 1;
    return status;
}

int error_at_step(struct ctx *ctx, int status, int64_t step)
{
    struct error *e = &ctx->error;
    char words[32];
    if (status_exit(e->status) != 3 || strncmp(e->text, "step ", 5) == 0)
        return status;
    size_t n =
        (size_t)snprintf(words, sizeof(words), "step %" PRId64 ": ", step);
    size_t used = strlen(e->text);
    if (used + n >= sizeof(e->text))
        return status;
    memmove(e->text + n, e->text, used + 1);
    memcpy(e->text, words, n);
    return status;
}

void error_clear(struct ctx *ctx)
{
    ctx->error.status = ctx->error.has_place = ctx->error.has_rank = 0;
    ctx->error.text[0] = '\0';
}

void text_hide_control(char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}

int text_has_control(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return 1;
    return 0;
}
