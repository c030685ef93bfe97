#include "driver/resume.h"

#include <dirent.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/param.h"
#include "driver/commands.h"
#include "driver/job.h"
#include "driver/output.h"
#include "driver/saves.h"
#include "io/checkpoint.h"

/* Checkpoints of one name, the newest first. */
struct found {
    int n;
    struct candidate {
        char *path;
        int64_t serial; /* the greatest where its header cannot be read */
    } * list;
};

static void free_found(struct found *f)
{
    for (int i = 0; i < f->n; i++)
        free(f->list[i].path);
    free(f->list);
    *f = (struct found){0};
}

static int newer_first(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return x->serial < y->serial ? 1 : x->serial > y->serial ? -1 : 0;
}

static int add(struct ctx *ctx, struct found *f, char *path)
{
    struct candidate *grown =
        realloc(f->list, ((size_t)f->n + 1) * sizeof(*grown));
    if (path == NULL || grown == NULL) {
        free(path);
        if (grown != NULL)
            f->list = grown;
        return FAIL(ctx, STATUS_MEMORY, "out of memory");
    }
    f->list = grown;
    f->list[f->n] = (struct candidate){path, 0};
    /* It may be the newest: the user is to read what is wrong with it. */
    if (checkpoint_peek(ctx, path, &f->list[f->n].serial) != 0)
        f->list[f->n].serial = INT64_MAX;
    f->n++;
    return 0;
}

/* Rank 0 only. */
static int look(struct ctx *ctx, const struct output *output, const char *name,
                struct found *f)
{
    DIR *dir = opendir(output->folder);
    int status = 0;
    if (dir == NULL)
        return 0; /* no folder, no checkpoint */
    for (struct dirent *e; status == 0 && (e = readdir(dir)) != NULL;) {
        int64_t slot = saves_slot_of(e->d_name, name);
        if (slot >= 0)
            status = add(ctx, f, saves_path(output, name, slot));
    }
    closedir(dir);
    if (f->n > 1)
        qsort(f->list, (size_t)f->n, sizeof(*f->list), newer_first);
    return status;
}

/* Rank 0's list, to all. */
static int share(struct ctx *ctx, struct found *f)
{
    int64_t n = f->n;
    int status = 0;
    TRY(comm_bcast(ctx, &n, sizeof(n)));
    if (comm_rank(ctx->comm) != 0) {
        f->list = calloc((size_t)n + 1, sizeof(*f->list));
        if (f->list == NULL)
            status = FAIL(ctx, STATUS_MEMORY, "out of memory");
    }
    TRY(comm_agree(ctx, status));
    f->n = (int)n;
    for (int i = 0; i < f->n; i++) {
        struct candidate *c = &f->list[i];
        size_t size = c->path != NULL ? strlen(c->path) + 1 : 0;
        TRY(comm_bcast(ctx, &size, sizeof(size)));
        if (comm_rank(ctx->comm) != 0) {
            c->path = malloc(size);
            if (c->path == NULL)
                status = FAIL(ctx, STATUS_MEMORY, "out of memory");
        }
        TRY(comm_agree(ctx, status));
        TRY(comm_bcast(ctx, c->path, size));
    }
    return 0;
}

static int find_all(struct ctx *ctx, const struct output *output,
                    const char *name, struct found *f)
{
    int status = 0;
    *f = (struct found){0};
    if (comm_rank(ctx->comm) == 0)
        status = look(ctx, output, name, f);
    status = comm_agree(ctx, status);
    return status != 0 ? status : share(ctx, f);
}

/* The first of the list that is whole, other than `but`. What is wrong with
 * those passed over is warned of. */
static int first_good(struct ctx *ctx, const struct found *f, const char *but,
                      int tell, struct checkpoint **out, const char **path)
{
    *out = NULL;
    *path = NULL;
    for (int i = 0; i < f->n && *out == NULL; i++) {
        if (but != NULL && strcmp(f->list[i].path, but) == 0)
            continue;
        int status = checkpoint_open(ctx, f->list[i].path, out);
        if (status == 0) {
            *path = f->list[i].path;
            return 0;
        }
        if (status != STATUS_INPUT)
            return status;
        if (tell) {
            char *end = strchr(ctx->error.text, '\n');
            if (end != NULL)
                *end = '\0';
            log_warn(ctx->log, "%s; it is passed over", ctx->error.text);
        }
        error_clear(ctx);
    }
    return 0;
}

static int open_newest(struct ctx *ctx, const struct job *job,
                       const struct output *output, struct resume *out)
{
    struct found f;
    const char *path;
    int status = find_all(ctx, output, job->name, &f);
    if (status == 0)
        status = first_good(ctx, &f, NULL, 1, &out->from, &path);
    if (status == 0 && out->from != NULL) {
        out->own = 1;
        out->path = strdup(path);
        if (out->path == NULL)
            status = FAIL(ctx, STATUS_MEMORY, "out of memory");
    } else if (status == 0 && f.n > 0) {
        status = FAIL(ctx, STATUS_INPUT,
                      "none of the %d checkpoints of '%s' in '%s' is good", f.n,
                      job->name, output->folder);
    } else if (status == 0) {
        log_info(ctx->log,
                 "no checkpoint of '%s' in '%s' yet: the run begins at step 0",
                 job->name, output->folder);
    }
    free_found(&f);
    return status;
}

/* Add to a failure which other checkpoint can be gone on from. */
static int offer_other(struct ctx *ctx, const struct job *job,
                       const struct output *output, const char *bad, int status)
{
    struct error kept = ctx->error;
    struct checkpoint *other = NULL;
    struct found f;
    const char *path = NULL;
    error_clear(ctx);
    int looked = find_all(ctx, output, job->name, &f);
    if (looked == 0)
        looked = first_good(ctx, &f, bad, 0, &other, &path);
    ctx->error = kept;
    if (looked == 0 && other != NULL)
        error_context(ctx, status,
                      "use --resume %s, which is whole, of step %" PRId64, path,
                      checkpoint_header(other)->step);
    checkpoint_close(other);
    free_found(&f);
    return status;
}

/* This process alone: whether `path` is a checkpoint of `name` in the folder.
 */
static unsigned char is_own(const struct output *output, const char *name,
                            const char *path)
{
    char *there = realpath(path, NULL);
    char *here = realpath(output->folder, NULL);
    char *slash = there != NULL ? strrchr(there, '/') : NULL;
    unsigned char own = 0;
    if (slash != NULL && here != NULL) {
        size_t n = (size_t)(slash - there);
        own = strlen(here) == n && strncmp(here, there, n) == 0 &&
              saves_slot_of(slash + 1, name) >= 0;
    }
    free(there);
    free(here);
    return own;
}

static int open_named(struct ctx *ctx, const struct job *job,
                      const struct output *output, const char *path,
                      struct resume *out)
{
    out->path = strdup(path);
    TRY(comm_agree(ctx, out->path != NULL
                            ? 0
                            : FAIL(ctx, STATUS_MEMORY, "out of memory")));
    unsigned char own = 0;
    if (comm_rank(ctx->comm) == 0)
        own = is_own(output, job->name, path);
    TRY(comm_bcast(ctx, &own, sizeof own));
    out->own = own;
    int status = checkpoint_open(ctx, path, &out->from);
    return status == STATUS_INPUT ? offer_other(ctx, job, output, path, status)
                                  : status;
}

static int check_deck(struct ctx *ctx, const struct command_line *line,
                      const struct job *job, const struct resume *r)
{
    const struct checkpoint_header *h = checkpoint_header(r->from);
    size_t n;
    if (strcmp(h->solver, job->solver->name) != 0)
        return FAIL(ctx, STATUS_USAGE,
                    "'%s' is of solver %s, and the deck asks for %s", r->path,
                    h->solver, job->solver->name);
    const char *now = params_resolved(job->params, &n);
    if (now == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory");
    TRY_WHILE(ctx,
              resume_compare(ctx, job, h->resolved, now,
                             line->option[OPTION_FORCE] != NULL),
              "going on from '%s'", r->path);
    return 0;
}

int resume_open(struct ctx *ctx, const struct command_line *line,
                const struct job *job, const struct output *output,
                struct resume *out)
{
    const char *wanted = line->option[OPTION_RESUME];
    *out = (struct resume){0};
    if (wanted == NULL)
        return 0;
    if (job->solver->restore == NULL)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "solver %s cannot go on from a checkpoint",
                    job->solver->name);
    if (strcmp(wanted, "auto") == 0)
        TRY(open_newest(ctx, job, output, out));
    else
        TRY(open_named(ctx, job, output, wanted, out));
    return out->from != NULL ? comm_agree(ctx, check_deck(ctx, line, job, out))
                             : 0;
}

/* The first of the list that is whole and of that step. */
static int first_of_step(struct ctx *ctx, const struct found *f, int64_t step,
                         struct checkpoint **out, const char **path)
{
    *out = NULL;
    for (int i = 0; i < f->n && *out == NULL; i++) {
        int status = checkpoint_open(ctx, f->list[i].path, out);
        *path = f->list[i].path;
        if (status != 0 && status != STATUS_INPUT)
            return status;
        error_clear(ctx);
        if (status == 0 && checkpoint_header(*out)->step != step) {
            checkpoint_close(*out);
            *out = NULL;
        }
    }
    return 0;
}

int resume_at(struct ctx *ctx, const struct command_line *line,
              const struct job *job, const struct output *output, int64_t step,
              struct resume *out)
{
    struct found f;
    const char *path = NULL;
    resume_free(out);
    int status = find_all(ctx, output, job->name, &f);
    if (status == 0)
        status = first_of_step(ctx, &f, step, &out->from, &path);
    if (status == 0 && out->from == NULL)
        status = FAIL(ctx, STATUS_INPUT,
                      "there is no good checkpoint of '%s' in '%s' of step "
                      "%" PRId64 ", from which the others could go on with it",
                      job->name, output->folder, step);
    if (status == 0) {
        out->own = 1;
        out->path = strdup(path);
        if (out->path == NULL)
            status = FAIL(ctx, STATUS_MEMORY, "out of memory");
    }
    free_found(&f);
    TRY(comm_agree(ctx, status));
    return comm_agree(ctx, check_deck(ctx, line, job, out));
}

void resume_free(struct resume *r)
{
    checkpoint_close(r->from);
    free(r->path);
    *r = (struct resume){0};
}
