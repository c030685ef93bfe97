/* exchange_cpu.c: ghost layers between ranks: what goes into a message and
 * where what came belongs.
 *
 * An exchange moves the last layer of some arrays up (into the upper neighbor's
 * lower ghosts), the first layer down, or both. A message to a rank that is
 * both neighbors holds what goes up before what goes down.
 */
#include "kernels/fluid/fluid_cpu.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/timer.h"

enum { PARTS_MAX = FLUID_FIELDS_MAX + 1 };

struct fluid_exchange_buffers {
    scalar *send_buffer, *recv_buffer; /* messages one behind the other */
    /* The exchange that is under way. */
    int n, partner[2];
    int to_upper[2], to_lower[2]; /* partner p is that neighbor */
    const void *send[2];
    void *recv[2];
    size_t send_bytes[2], recv_bytes[2];
};

/* What an exchange moves. */
struct parts {
    int axis, up, down, n;
    scalar *array[PARTS_MAX];
    int rule[PARTS_MAX];
};

static void add_part(struct parts *p, scalar *array, int rule)
{
    p->array[p->n] = array;
    p->rule[p->n++] = rule;
}

static struct parts parts_of(const struct fluid_store *s,
                             enum fluid_exchange what)
{
    struct parts p = {.axis = fluid_exchange_axis(what)};
    switch (what) {
    case FLUID_HALO_Y:
    case FLUID_HALO_Z:
        p.up = p.down = 1;
        for (int f = 0; f < s->n_fields; f++)
            add_part(&p, s->field[f], f);
        if (s->pressure)
            add_part(&p, s->pressure, FLUID_RULE_PRESSURE);
        break;
    case FLUID_LOW_Y:
    case FLUID_LOW_Z:
        p.up = 1;
        add_part(&p, s->field[p.axis], p.axis);
        break;
    default: /* FLUID_PSI_Y, FLUID_PSI_Z */
        p.up = s->any_implicit;
        p.down = 1;
        add_part(&p, s->psi, FLUID_RULE_PRESSURE);
    }
    return p;
}

/* Numbers of one layer of one array. */
static size_t layer_numbers(const struct fluid_store *s, int axis)
{
    return axis == FLUID_Y ? s->n[0] * s->n[2] : s->plane;
}

static scalar *pack(const struct fluid_store *s, int axis, scalar *array,
                    int64_t layer, scalar *to)
{
    if (axis == FLUID_Z) {
        memcpy(to, fluid_row(s, array, layer, -1), s->plane * sizeof *to);
        return to + s->plane;
    }
    for (int64_t k = 0; k < (int64_t)s->n[2]; k++, to += s->n[0])
        memcpy(to, fluid_row(s, array, k, layer), s->n[0] * sizeof *to);
    return to;
}

static const scalar *unpack(const struct fluid_store *s, int axis,
                            scalar *array, int64_t layer, const scalar *from)
{
    if (axis == FLUID_Z) {
        memcpy(fluid_row(s, array, layer, -1), from, s->plane * sizeof *from);
        return from + s->plane;
    }
    for (int64_t k = 0; k < (int64_t)s->n[2]; k++, from += s->n[0])
        memcpy(fluid_row(s, array, k, layer), from, s->n[0] * sizeof *from);
    return from;
}

#if defined(FLUID_POISON) || defined(__SANITIZE_ADDRESS__)
/* Whoever reads a ghost before it is filled again, finds a signaling NaN. */
#if KERNEL_SCALAR_BYTES == 8
#define SIGNALING __builtin_nans("")
#else
#define SIGNALING __builtin_nansf("")
#endif
static void poison_layer(const struct fluid_store *s, int axis, scalar *array,
                         int64_t layer)
{
    const scalar bad = SIGNALING;
    if (axis == FLUID_Z) {
        scalar *a = fluid_row(s, array, layer, -1);
        for (size_t i = 0; i < s->plane; i++)
            a[i] = bad;
        return;
    }
    for (int64_t k = 0; k < (int64_t)s->n[2]; k++)
        for (size_t i = 0; i < s->n[0]; i++)
            fluid_row(s, array, k, layer)[i] = bad;
}
#else
#define poison_layer(s, axis, array, layer) ((void)0)
#endif

static void poison(const struct fluid_store *s, const struct parts *p)
{
    (void)s;
    for (int f = 0; f < p->n; f++) {
        if (p->up)
            poison_layer(s, p->axis, p->array[f], -1);
        if (p->down)
            poison_layer(s, p->axis, p->array[f], (int64_t)s->n[p->axis]);
    }
}

/* The ranks before and behind this one: partners of the exchange. */
static void find_partners(const struct fluid_store *s, int axis,
                          struct fluid_exchange_buffers *b)
{
    int size = s->setup.dims[axis], me = s->setup.coords[axis];
    int upper = me + 1 < size ? me + 1 : s->periodic[axis] ? 0 : -1;
    int lower = me > 0 ? me - 1 : s->periodic[axis] ? size - 1 : -1;
    b->n = 0;
    if (size == 1)
        return;
    if (upper >= 0) {
        b->to_upper[b->n] = 1;
        b->to_lower[b->n] = upper == lower;
        b->partner[b->n++] = upper;
    }
    if (lower >= 0 && lower != upper) {
        b->to_upper[b->n] = 0;
        b->to_lower[b->n] = 1;
        b->partner[b->n++] = lower;
    }
}

static int begin(struct fluid_store *s, const struct parts *p,
                 struct fluid_transfer *out)
{
    struct fluid_exchange_buffers *b = s->exchange;
    size_t one = layer_numbers(s, p->axis) * (size_t)p->n * sizeof(scalar);
    int64_t last = (int64_t)s->n[p->axis] - 1;
    scalar *to = b->send_buffer, *from = b->recv_buffer;
    find_partners(s, p->axis, b);
    for (int m = 0; m < b->n; m++) {
        int up = p->up && b->to_upper[m], down = p->down && b->to_lower[m];
        b->send[m] = to;
        b->recv[m] = from;
        for (int f = 0; f < p->n && up; f++)
            to = pack(s, p->axis, p->array[f], last, to);
        for (int f = 0; f < p->n && down; f++)
            to = pack(s, p->axis, p->array[f], 0, to);
        b->send_bytes[m] = (size_t)(up + down) * one;
        /* From the lower neighbor comes what goes up. */
        up = p->up && b->to_lower[m];
        down = p->down && b->to_upper[m];
        b->recv_bytes[m] = (size_t)(up + down) * one;
        from += b->recv_bytes[m] / sizeof *from;
    }
    poison(s, p);
    *out = (struct fluid_transfer){.n = b->n,
                                   .partner = b->partner,
                                   .send = b->send,
                                   .send_bytes = b->send_bytes,
                                   .recv = b->recv,
                                   .recv_bytes = b->recv_bytes};
    return 0;
}

static int end(struct fluid_store *s, const struct parts *p)
{
    struct fluid_exchange_buffers *b = s->exchange;
    int64_t n = (int64_t)s->n[p->axis];
    for (int m = 0; m < b->n; m++) {
        const scalar *from = b->recv[m];
        for (int f = 0; f < p->n && p->up && b->to_lower[m]; f++)
            from = unpack(s, p->axis, p->array[f], -1, from);
        for (int f = 0; f < p->n && p->down && b->to_upper[m]; f++)
            from = unpack(s, p->axis, p->array[f], n, from);
    }
    for (int f = 0; f < p->n; f++) {
        if (p->up)
            fluid_fill_ghosts(s, p->array[f], p->rule[f], p->axis, 0);
        if (p->down)
            fluid_fill_ghosts(s, p->array[f], p->rule[f], p->axis, 1);
    }
    return 0;
}

/* Whose exchange it is. */
static int is_poisson(const struct fluid_store *s, enum fluid_exchange what)
{
    return what == FLUID_TRANSPOSE || what == FLUID_TRANSPOSE_BACK ||
           what == FLUID_COLUMNS || (what == FLUID_PSI_Z && !s->own_psi);
}
static int is_lines(enum fluid_exchange what)
{
    return what == FLUID_LINES_Y || what == FLUID_LINES_Z;
}
static int phase_of(enum fluid_exchange what)
{
    if (what == FLUID_TRANSPOSE || what == FLUID_TRANSPOSE_BACK)
        return FLUID_PHASE_TRANSPOSE;
    if (what == FLUID_COLUMNS)
        return FLUID_PHASE_COLUMNS;
    return is_lines(what) ? FLUID_PHASE_LINES : FLUID_PHASE_HALO;
}

static int send_begin(struct ctx *ctx, struct fluid_store *s,
                      enum fluid_exchange what, struct fluid_transfer *out)
{
    *out = (struct fluid_transfer){0};
    if (is_poisson(s, what))
        return poisson_send_begin(ctx, s->poisson, what, out);
    if (is_lines(what))
        return fluid_lines_send_begin(ctx, s, what, out);
    if (what == FLUID_PSI_Y && !s->own_psi)
        return 0;
    if (what == FLUID_LOW_Y || what == FLUID_LOW_Z)
        fluid_apply_delta(s);
    if (what == FLUID_PSI_Y || what == FLUID_PSI_Z)
        fluid_need_psi(s);
    struct parts p = parts_of(s, what);
    return begin(s, &p, out);
}

static int send_end(struct ctx *ctx, struct fluid_store *s,
                    enum fluid_exchange what)
{
    if (is_poisson(s, what))
        return poisson_send_end(ctx, s->poisson, what);
    if (is_lines(what))
        return fluid_lines_send_end(ctx, s, what);
    if (what == FLUID_PSI_Y && !s->own_psi)
        return 0;
    struct parts p = parts_of(s, what);
    return end(s, &p);
}

int fluid_send_begin(struct ctx *ctx, struct fluid_store *s,
                     enum fluid_exchange what, struct fluid_transfer *out)
{
    double start = timer_now();
    int status = send_begin(ctx, s, what, out);
    s->seconds[phase_of(what)] += timer_now() - start;
    return status;
}

int fluid_send_end(struct ctx *ctx, struct fluid_store *s,
                   enum fluid_exchange what)
{
    double start = timer_now();
    int status = send_end(ctx, s, what);
    s->seconds[phase_of(what)] += timer_now() - start;
    return status;
}

int fluid_exchange_create(struct ctx *ctx, struct fluid_store *s)
{
    size_t layer = 0, arrays = (size_t)s->n_fields + (s->pressure ? 1 : 0);
    for (int d = 1; d < 3; d++)
        if (s->cut[d] && layer_numbers(s, d) > layer)
            layer = layer_numbers(s, d);
    struct fluid_exchange_buffers *b = calloc(1, sizeof *b);
    s->exchange = b;
    if (!b)
        return FAIL(ctx, STATUS_MEMORY, "no memory for the fluid's messages");
    if (layer == 0)
        return 0;
    /* Room for both directions. */
    b->send_buffer = fluid_new(s, 2 * arrays * layer);
    b->recv_buffer = fluid_new(s, 2 * arrays * layer);
    if (!b->send_buffer || !b->recv_buffer)
        return FAIL(ctx, STATUS_MEMORY, "no memory for the fluid's messages");
    return 0;
}

void fluid_exchange_destroy(struct fluid_store *s)
{
    free(s->exchange);
    s->exchange = NULL;
}
