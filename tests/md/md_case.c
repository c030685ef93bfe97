#include "md_case.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timer.h"
#include "reference_kernels.h"
#include "tests/tap.h"

/* ---- the process ---- */

int test_start(int *argc, char ***argv, struct ctx *ctx)
{
    *ctx = (struct ctx){0};
    if (comm_start(argc, argv, &ctx->comm) != 0)
        return -1;
    ctx->log = log_create(comm_rank(ctx->comm), LOG_QUIET);
    ctx->timers = timers_create();
    if (comm_rank(ctx->comm) != 0)
        tap_silence();
    return ctx->log && ctx->timers ? 0 : -1;
}

int test_end(struct ctx *ctx)
{
    int status = tap_done();
    timers_destroy(ctx->timers);
    log_destroy(ctx->log);
    comm_finish(ctx->comm);
    return status;
}

/* ---- a simulation ---- */

/* A device of the case hands out these, whatever the precision; there is one
 * case at a time that asks. */
static const struct md_kernels *chosen_kernels;

static const struct md_kernels *chosen(enum precision precision)
{
    (void)precision;
    return chosen_kernels;
}

static int read_deck(struct ctx *ctx, struct md_case *c, const char *format,
                     va_list args)
{
    char deck[8192];
    *c = (struct md_case){.ctx = ctx};
    vsnprintf(deck, sizeof deck, format, args);
    TRY(job_open_text(ctx, "test.toml", deck, 0, NULL, &c->job));
    c->md = c->job.state;
    return 0;
}

/* The same tests run on every device. */
static const char *test_device(void)
{
    const char *name = getenv("WARPDECK_TEST_DEVICE");
    return name && name[0] ? name : "cpu";
}

int case_read(struct ctx *ctx, struct md_case *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int status = read_deck(ctx, c, format, args);
    va_end(args);
    return status;
}

int case_open(struct ctx *ctx, struct md_case *c,
              const struct md_kernels *kernels, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int status = read_deck(ctx, c, format, args);
    va_end(args);
    TRY(status);
    if (kernels) {
        c->device.name = "test";
        c->device.threads = 1;
        c->device.md = chosen;
        chosen_kernels = kernels;
        ctx->device = &c->device;
    } else {
        TRY(job_open_device(ctx, &c->job, test_device()));
    }
    return job_initial(ctx, &c->job);
}

void case_close(struct md_case *c)
{
    error_clear(c->ctx);
    job_close(c->ctx, &c->job);
    c->ctx->device = NULL;
}

int case_steps(struct md_case *c, int64_t n)
{
    int stop = 0;
    for (int64_t i = 0; i < n; i++)
        TRY(job_step(c->ctx, &c->job, i == n - 1, &stop));
    return 0;
}

double case_value(struct md_case *c, const char *name)
{
    double values[MD_OBSERVABLES_MAX];
    int n;
    const struct observable *o = c->job.solver->observables(c->md, &n);
    if (job_observe(c->ctx, &c->job, values) != 0)
        return NAN;
    for (int i = 0; i < n; i++)
        if (strcmp(o[i].name, name) == 0)
            return values[i];
    return NAN;
}

/* ---- all particles ---- */

/* A field's slabs of all ranks, to all; the caller frees. */
static void *whole_field(struct md_case *c, const struct field *f)
{
    int size = comm_size(c->ctx->comm);
    size_t one = f->type == FIELD_INT32 ? 4 : 8;
    size_t mine = (size_t)f->n * (size_t)f->components * one;
    unsigned char *send = malloc(mine * (size_t)size + 1);
    size_t *bytes = calloc((size_t)size, sizeof *bytes);
    size_t *received = calloc((size_t)size, sizeof *received);
    void *all = NULL;
    for (int r = 0; r < size && send && bytes; r++) {
        if (mine > 0)
            memcpy(send + (size_t)r * mine, f->values, mine);
        bytes[r] = mine;
    }
    if (!send || !bytes || !received ||
        comm_alltoall(c->ctx, send, bytes, &all, received) != 0)
        all = NULL;
    free(send);
    free(bytes);
    free(received);
    return all;
}

int case_snapshot(struct md_case *c, struct snapshot *s)
{
    static const char *const names[] = {"position", "velocity", "force",
                                        "image", "species"};
    const struct field_frame *frame;
    *s = (struct snapshot){.n = (size_t)c->md->n_particles};
    TRY(job_frame(c->ctx, &c->job, 5, names, &frame));
    for (int i = 0; i < frame->n_fields; i++) {
        const struct field *f = &frame->fields[i];
        if (strcmp(f->name, "position") == 0)
            s->position = whole_field(c, f);
        if (strcmp(f->name, "velocity") == 0)
            s->velocity = whole_field(c, f);
        if (strcmp(f->name, "force") == 0)
            s->force = whole_field(c, f);
        if (strcmp(f->name, "image") == 0)
            s->image = whole_field(c, f);
        if (strcmp(f->name, "species") == 0)
            s->species = whole_field(c, f);
    }
    if (!s->position || !s->velocity || !s->force || !s->image || !s->species)
        return FAIL(c->ctx, STATUS_MEMORY, "no snapshot");
    return 0;
}

void snapshot_free(struct snapshot *s)
{
    free(s->position);
    free(s->velocity);
    free(s->force);
    free(s->image);
    free(s->species);
    *s = (struct snapshot){0};
}

int case_direct(struct md_case *c, const struct snapshot *s, struct direct *d)
{
    *d = (struct direct){.force = malloc(s->n * sizeof *d->force)};
    if (!d->force)
        return FAIL(c->ctx, STATUS_MEMORY, "no memory");
    reference_direct(c->md->box_length, c->md->n_species, c->md->pair.coeff,
                     s->n, s->position, s->species, d->force, &d->sums);
    return 0;
}

void direct_free(struct direct *d)
{
    free(d->force);
    *d = (struct direct){0};
}

double force_error(const struct snapshot *s, const struct direct *d)
{
    double square = 0, worst = 0;
    for (size_t i = 0; i < s->n; i++)
        for (int e = 0; e < 3; e++) {
            double difference = fabs(s->force[i][e] - d->force[i][e]);
            square += d->force[i][e] * d->force[i][e];
            if (!(difference <= worst))
                worst = difference;
        }
    /* On a perfect lattice all forces cancel; then those of single pairs, which
     * are of the order of 1 in reduced units, are the measure. */
    return worst / fmax(sqrt(square / (double)(3 * s->n)), 1);
}
