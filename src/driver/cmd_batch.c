/* warpdeck batch: a script for Slurm, of a deck that has been checked. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/param.h"
#include "driver/batch.h"
#include "driver/commands.h"
#include "driver/job.h"
#include "driver/options.h"

double batch_seconds(const char *text)
{
    double days = 0, part[3] = {0, 0, 0};
    const char *dash = strchr(text, '-'), *at = text;
    int n = 0, digits = 0;
    if (dash != NULL) {
        for (; at < dash && isdigit((unsigned char)*at); at++)
            days = 10 * days + (*at - '0');
        if (at != dash || dash == text)
            return -1;
        at++;
    }
    for (;; at++) {
        if (isdigit((unsigned char)*at)) {
            part[n] = 10 * part[n] + (*at - '0');
            digits++;
            continue;
        }
        if (digits == 0 || digits > 6 ||
            (*at != '\0' && (*at != ':' || n == 2)))
            return -1;
        n++;
        digits = 0;
        if (*at == '\0')
            break;
    }
    double seconds = dash != NULL ? 3600 * part[0] + 60 * part[1] + part[2]
                     : n == 1     ? 60 * part[0]
                     : n == 2     ? 60 * part[0] + part[1]
                                  : 3600 * part[0] + 60 * part[1] + part[2];
    seconds += 86400 * days;
    return seconds > 0 && seconds < 1e9 ? seconds : -1;
}

int batch_ahead(double seconds)
{
    double ahead = fmin(600, fmax(60, seconds / 20));
    return (int)fmin(ahead, seconds / 2);
}

/* Behind the value that begins at `from`; NULL where it does not end. */
static const char *end_of_value(const char *from)
{
    int depth = 0;
    char quote = '\0';
    const char *c = from;
    for (; *c != '\0' && (*c != ',' || depth > 0 || quote != '\0'); c++)
        if (quote != '\0')
            quote = *c == quote ? '\0' : quote;
        else if (*c == '"' || *c == '\'')
            quote = *c;
        else if (*c == '[')
            depth++;
        else if (*c == ']')
            depth--;
    return depth == 0 && quote == '\0' ? c : NULL;
}

int batch_split(const char *list, char ***out)
{
    int n = 0;
    *out = NULL;
    for (const char *at = list;; at++) {
        const char *end = end_of_value(at);
        if (end == NULL || end == at)
            return 0;
        char **grown = realloc(*out, ((size_t)n + 2) * sizeof(*grown));
        if (grown == NULL)
            return -1;
        *out = grown;
        grown[n] = strndup(at, (size_t)(end - at));
        grown[n + 1] = NULL;
        if (grown[n++] == NULL)
            return -1;
        if (*end == '\0')
            return n;
        at = end;
    }
}

/* "section.key=v1,v2,..." */
static int take_array(struct ctx *ctx, struct batch *b, const char *text,
                      char **key)
{
    const char *equal = strchr(text, '=');
    if (equal == NULL || equal == text || strcspn(text, ".") > strlen(text) - 1)
        return FAIL(ctx, STATUS_USAGE,
                    "--array %s: expected a key and its values, for example "
                    "run.seed=1,2,3",
                    text);
    *key = strndup(text, (size_t)(equal - text));
    b->n_values = batch_split(equal + 1, &b->values);
    if (*key == NULL || b->n_values < 0)
        return FAIL(ctx, STATUS_MEMORY, "out of memory");
    if (b->n_values == 0)
        return FAIL(ctx, STATUS_USAGE,
                    "--array %s: a value is empty, or a bracket or quote open",
                    text);
    b->key = *key;
    return 0;
}

/* One rank drives one card. */
static int place_ranks(struct ctx *ctx, struct batch *b)
{
    if (b->gpus_per_node == 0)
        return 0;
    if (b->ranks < b->gpus_per_node)
        return FAIL(
            ctx, STATUS_USAGE,
            "--ranks %ld leave some of %ld GPUs idle: there is one rank "
            "to a GPU",
            b->ranks, b->gpus_per_node);
    if (b->ranks % b->gpus_per_node != 0)
        return FAIL(ctx, STATUS_USAGE,
                    "--ranks %ld do not fill nodes of %ld GPUs: there is one "
                    "rank to a GPU",
                    b->ranks, b->gpus_per_node);
    b->nodes = b->ranks / b->gpus_per_node;
    return 0;
}

static int take_options(struct ctx *ctx, const struct command_line *line,
                        struct batch *b)
{
    b->ranks = 1;
    b->launch = line->option[OPTION_LAUNCH];
    b->requeue = line->option[OPTION_NO_REQUEUE] == NULL;
    b->time = line->option[OPTION_TIME];
    TRY(option_count(ctx, line, OPTION_RANKS, 1, &b->ranks));
    TRY(option_count(ctx, line, OPTION_GPUS, 1, &b->gpus_per_node));
    if (b->launch == NULL)
        b->launch = "srun";
    /* It stands in the script as words for the shell. */
    if (strpbrk(b->launch, "\n'\"\\$`{}&|;<>()") != NULL)
        return FAIL(ctx, STATUS_USAGE,
                    "--launch %s: expected a command with its options, for "
                    "example srun --mpi=pmix",
                    b->launch);
    if (b->time != NULL) {
        b->seconds = batch_seconds(b->time);
        if (b->seconds < 0)
            return FAIL(ctx, STATUS_USAGE,
                        "--time %s: expected hours:minutes:seconds or "
                        "days-hours:minutes:seconds, for example 04:00:00",
                        b->time);
    }
    return place_ranks(ctx, b);
}

/* The deck, with the i-th value of the array where there is one. */
static int open_member(struct ctx *ctx, const struct batch *b, int i,
                       struct job *job)
{
    const struct command_line *line = b->line;
    int n = line->n_overrides;
    const char **all = calloc((size_t)n + 1, sizeof(*all));
    char *own = NULL;
    int status = 0;
    if (b->key != NULL) {
        size_t size = strlen(b->key) + strlen(b->values[i]) + 2;
        own = malloc(size);
        if (own != NULL)
            snprintf(own, size, "%s=%s", b->key, b->values[i]);
    }
    if (all == NULL || (b->key != NULL && own == NULL)) {
        *job = (struct job){0};
        status = FAIL(ctx, STATUS_MEMORY, "out of memory");
    } else {
        for (int j = 0; j < n; j++)
            all[j] = line->overrides[j];
        if (own != NULL)
            all[n++] = own;
        status = job_open(ctx, line->arguments[0], n, all, job);
    }
    free(all);
    free(own);
    return status;
}

/* Find what is wrong before anything waits in a queue: each job's deck is
 * checked, for as many ranks as it will have. The first one names the rest. */
static int check_decks(struct ctx *ctx, struct batch *b, char **name)
{
    int n = b->key != NULL ? b->n_values : 1;
    for (int i = 0; i < n; i++) {
        struct job job;
        int status = open_member(ctx, b, i, &job);
        if (status == 0 && i == 0) {
            *name = strdup(job.name);
            b->threads = (long)params_int(job.params, "run", "threads");
            if (b->threads == 0)
                b->threads = 1;
            if (*name == NULL)
                status = FAIL(ctx, STATUS_MEMORY, "out of memory");
        }
        job_close(ctx, &job);
        if (status != 0)
            return status;
    }
    return 0;
}

static int make(struct ctx *ctx, const struct command_line *line,
                struct batch *b, char **name, char **key)
{
    const char *array = line->option[OPTION_ARRAY];
    TRY(take_options(ctx, line, b));
    if (array != NULL)
        TRY(take_array(ctx, b, array, key));
    TRY(check_decks(ctx, b, name));
    b->name = *name;
    b->folder = line->option[OPTION_OUTPUT];
    if (b->folder == NULL)
        b->folder = *name;
    batch_script(stdout, b);
    return 0;
}

/* As for check: one process takes itself for the first of the ranks. */
int cmd_batch(struct ctx *ctx, const struct command_line *line)
{
    struct batch b = {.line = line};
    struct comm *real = ctx->comm, *planned = NULL;
    char *name = NULL, *key = NULL;
    long ranks = 1;
    TRY(option_count(ctx, line, OPTION_RANKS, 1, &ranks));
    int status = comm_start_alone((int)ranks, &planned);
    if (status != 0)
        return FAIL(ctx, status, "out of memory");
    ctx->comm = planned;
    status = make(ctx, line, &b, &name, &key);
    ctx->comm = real;
    comm_finish(planned);
    for (int i = 0; b.values != NULL && b.values[i] != NULL; i++)
        free(b.values[i]);
    free(b.values);
    free(name);
    free(key);
    return status;
}
