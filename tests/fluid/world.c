/* world.c: blocks of one grid in one process. */
#include "tests/fluid/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "kernels/device.h"
#include "tests/tap.h"

void world_setup(struct world *w, struct fluid_setup *whole,
                 const int64_t cells[3], const enum fluid_wall walls[3],
                 double stretch)
{
    memset(w, 0, sizeof *w);
    memset(whole, 0, sizeof *whole);
    for (int d = 0; d < 3; d++) {
        whole->cells[d] = whole->local[d] = cells[d];
        whole->dims[d] = 1;
        for (int side = 0; side < 2; side++)
            whole->face[d][side].type = walls[d];
    }
    whole->spacing[0] = 1.0 / (double)cells[0];
    whole->spacing[1] = 1.0 / (double)cells[1];
    for (int64_t k = 0; k <= cells[2]; k++) {
        double z = (double)k / (double)cells[2];
        if (stretch > 0)
            z = 0.5 + 0.5 * tanh(stretch * (2 * z - 1)) / tanh(stretch);
        w->face_z[k] = z;
    }
    whole->uniform_z = stretch <= 0;
    whole->density = 1;
}

int world_create(struct world *w, const struct fluid_kernels *k,
                 struct device *device, const struct fluid_setup *whole,
                 int dims_y, int dims_z)
{
    w->k = k;
    w->ctx.device = device;
    w->dims[0] = 1;
    w->dims[1] = dims_y;
    w->dims[2] = dims_z;
    w->n = dims_y * dims_z;
    for (int d = 0; d < 3; d++)
        for (int c = 0; c <= w->dims[d]; c++)
            w->cuts[d][c] = whole->cells[d] * c / w->dims[d];
    for (int r = 0; r < w->n; r++) {
        struct fluid_setup *s = &w->setup[r];
        *s = *whole;
        s->face_z = w->face_z;
        s->coords[1] = r % dims_y;
        s->coords[2] = r / dims_y;
        for (int d = 0; d < 3; d++) {
            s->dims[d] = w->dims[d];
            s->cuts[d] = w->cuts[d];
            s->first[d] = w->cuts[d][s->coords[d]];
            s->local[d] = w->cuts[d][s->coords[d] + 1] - s->first[d];
        }
        int status = k->create(&w->ctx, s, &w->store[r]);
        if (status != 0) {
            tap_note("%s", w->ctx.error.text);
            return status;
        }
    }
    return 0;
}

void world_destroy(struct world *w)
{
    for (int r = 0; r < w->n; r++)
        w->k->destroy(w->store[r]);
    w->n = 0;
}

/* Copy rows between the whole field and one rank's block. */
static void move(const struct fluid_setup *s, double *whole, double *block,
                 int out)
{
    for (int64_t k = 0; k < s->local[2]; k++)
        for (int64_t j = 0; j < s->local[1]; j++) {
            int64_t row = (s->first[2] + k) * s->cells[1] + s->first[1] + j;
            double *a = whole + row * s->cells[0];
            double *b = block + (k * s->local[1] + j) * s->local[0];
            size_t bytes = (size_t)s->local[0] * sizeof *a;
            memcpy(out ? a : b, out ? b : a, bytes);
        }
}

static int transfer(struct world *w, enum fluid_field f, double *whole, int out)
{
    int status = 0;
    for (int r = 0; r < w->n && status == 0; r++) {
        const struct fluid_setup *s = &w->setup[r];
        size_t n = (size_t)(s->local[0] * s->local[1] * s->local[2]);
        double *block = malloc(n * sizeof *block);
        if (!block)
            return STATUS_MEMORY;
        if (out) {
            status = w->k->get(&w->ctx, w->store[r], f, block);
            move(s, whole, block, 1);
        } else {
            move(s, whole, block, 0);
            status = w->k->set(&w->ctx, w->store[r], f, block);
        }
        free(block);
    }
    return status;
}

int world_set(struct world *w, enum fluid_field f, const double *whole)
{
    return transfer(w, f, (double *)(uintptr_t)whole, 0);
}

int world_get(struct world *w, enum fluid_field f, double *whole)
{
    return transfer(w, f, whole, 1);
}

/* The rank at `coordinate` along `axis` from rank r. */
static int rank_along(const struct world *w, int r, int axis, int coordinate)
{
    int c[3] = {0, r % w->dims[1], r / w->dims[1]};
    c[axis] = coordinate;
    return c[2] * w->dims[1] + c[1];
}

static int deliver(struct world *w, int axis, const struct fluid_transfer *t)
{
    for (int r = 0; r < w->n; r++)
        for (int p = 0; p < t[r].n; p++) {
            int q = rank_along(w, r, axis, t[r].partner[p]);
            int me = axis == 1 ? r % w->dims[1] : r / w->dims[1], back = 0;
            while (back < t[q].n && t[q].partner[back] != me)
                back++;
            if (q == r || back == t[q].n ||
                t[q].recv_bytes[back] != t[r].send_bytes[p]) {
                tap_note("message from %d to %d along %d: not expected", r, q,
                         axis);
                return STATUS_INTERNAL;
            }
            if (t[r].send_bytes[p] > 0)
                memcpy(t[q].recv[back], t[r].send[p], t[r].send_bytes[p]);
        }
    return 0;
}

int world_exchange(struct world *w, enum fluid_exchange what)
{
    struct fluid_transfer t[WORLD_RANKS_MAX];
    for (int r = 0; r < w->n; r++)
        TRY(w->k->send_begin(&w->ctx, w->store[r], what, &t[r]));
    TRY(deliver(w, fluid_exchange_axis(what), t));
    for (int r = 0; r < w->n; r++)
        TRY(w->k->send_end(&w->ctx, w->store[r], what));
    return 0;
}

struct fluid_substage world_stage(int stage, double dt, const double force[3])
{
    static const double gamma[3] = {8. / 15, 5. / 12, 3. / 4};
    static const double zeta[3] = {0, -17. / 60, -5. / 12};
    struct fluid_substage sub = {.first = stage == 0,
                                 .last = stage == 2,
                                 .dt = dt,
                                 .gamma = gamma[stage],
                                 .zeta = zeta[stage],
                                 .alpha = gamma[stage] + zeta[stage]};
    for (int d = 0; d < 3 && force; d++)
        sub.force[d] = force[d];
    return sub;
}

#define EACH(call)                 \
    for (int r = 0; r < w->n; r++) \
    TRY(call)

static int lines(struct world *w, const struct fluid_substage *sub)
{
    enum fluid_diffusion how = w->setup[0].diffusion;
    for (int d = 0; d < 3 && how != FLUID_EXPLICIT; d++) {
        if (d < 2 && how == FLUID_IMPLICIT_Z)
            continue;
        EACH(w->k->lines_begin(&w->ctx, w->store[r], d, sub));
        if (d > 0)
            TRY(world_exchange(w, d == 1 ? FLUID_LINES_Y : FLUID_LINES_Z));
        EACH(w->k->lines_end(&w->ctx, w->store[r], d, sub));
    }
    return 0;
}

static int solve(struct world *w, const struct fluid_substage *sub)
{
    TRY(world_exchange(w, FLUID_LOW_Y));
    TRY(world_exchange(w, FLUID_LOW_Z));
    EACH(w->k->source(&w->ctx, w->store[r], sub));
    if (w->dims[1] > 1) {
        TRY(world_exchange(w, FLUID_TRANSPOSE));
        EACH(w->k->transform_y(&w->ctx, w->store[r]));
    }
    EACH(w->k->columns_begin(&w->ctx, w->store[r]));
    TRY(world_exchange(w, FLUID_COLUMNS));
    EACH(w->k->columns_end(&w->ctx, w->store[r]));
    if (w->dims[1] > 1) {
        EACH(w->k->inverse_y(&w->ctx, w->store[r]));
        TRY(world_exchange(w, FLUID_TRANSPOSE_BACK));
        EACH(w->k->inverse_x(&w->ctx, w->store[r]));
    }
    TRY(world_exchange(w, FLUID_PSI_Y));
    return world_exchange(w, FLUID_PSI_Z);
}

int world_substage(struct world *w, const struct fluid_substage *sub,
                   const double extra[3], double *rate)
{
    static const double none[3] = {0, 0, 0};
    TRY(world_exchange(w, FLUID_HALO_Y));
    TRY(world_exchange(w, FLUID_HALO_Z));
    EACH(w->k->predict(&w->ctx, w->store[r], sub));
    TRY(lines(w, sub));
    TRY(solve(w, sub));
    for (int r = 0; r < w->n; r++) {
        double mine = 0;
        TRY(w->k->correct(&w->ctx, w->store[r], sub, extra ? extra : none,
                          rate ? &mine : NULL));
        if (rate)
            *rate = r == 0 ? mine : fmax(*rate, mine);
    }
    return 0;
}

int world_step(struct world *w, double dt, const double force[3], double *rate)
{
    for (int stage = 0; stage < 3; stage++) {
        struct fluid_substage sub = world_stage(stage, dt, force);
        TRY(world_substage(w, &sub, NULL, stage == 2 ? rate : NULL));
    }
    return 0;
}
