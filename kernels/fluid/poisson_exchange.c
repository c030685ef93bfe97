/* poisson_exchange.c: what the Poisson solver says to other ranks. Everything
 * is sent from where it stands and received where it is wanted. */
#include "kernels/fluid/poisson_state.h"
#include "base/error.h"
#include <string.h>

static void add(struct poisson *p, int *n, int partner, const void *send,
                size_t send_bytes, void *recv, size_t recv_bytes)
{
    p->partner[*n] = partner;
    p->send_list[*n] = send;
    p->send_bytes[*n] = send_bytes;
    p->recv_list[*n] = recv;
    p->recv_bytes[*n] = recv_bytes;
    ++*n;
}

static size_t segment_bytes(const struct poisson *p, const struct segment *s)
{
    return p->planes * s->plane * sizeof(scalar);
}

static void transposition(struct poisson *p, int back, int *n)
{
    for (int r = 0; r < p->y_ranks; r++) {
        const struct segment *from = back ? &p->column[r] : &p->stage[r];
        const struct segment *to = back ? &p->stage[r] : &p->column[r];
        if (r != p->y_rank)
            add(p, n, r, from->base, segment_bytes(p, from), to->base,
                segment_bytes(p, to));
    }
}

static void columns(struct poisson *p, int *n)
{
    for (int r = 0; r < p->z_ranks; r++) {
        size_t mine = p->mean_at, theirs = p->mean_at;
        if (p->has_mean) {
            mine += p->planes;
            theirs += poisson_rank_planes(p, r);
        }
        if (r != p->z_rank)
            add(p, n, r, p->send, mine * sizeof(scalar), p->recv[r],
                theirs * sizeof(scalar));
    }
}

/* The spectrum's first plane goes down; the upper neighbor's first plane is
 * kept after the last of this rank. */
static void upper_plane(struct poisson *p, int *n)
{
    const struct segment *s = p->column;
    const size_t bytes = s->plane * sizeof(scalar);
    const int last = p->z_ranks - 1;
    int down = p->z_rank > 0 ? p->z_rank - 1 : p->periodic_z ? last : -1;
    int up = p->z_rank < last ? p->z_rank + 1 : p->periodic_z ? 0 : -1;
    void *above = s->base + p->planes * s->plane;
    if (p->cut_y || p->z_ranks == 1)
        return;
    if (down == up) {
        add(p, n, up, s->base, bytes, above, bytes);
        return;
    }
    if (down >= 0)
        add(p, n, down, s->base, bytes, NULL, 0);
    if (up >= 0)
        add(p, n, up, NULL, 0, above, bytes);
}

int poisson_send_begin(struct ctx *ctx, struct poisson *p,
                       enum fluid_exchange what, struct fluid_transfer *out)
{
    int n = 0;
    switch (what) {
    case FLUID_TRANSPOSE:
        transposition(p, 0, &n);
        break;
    case FLUID_TRANSPOSE_BACK:
        transposition(p, 1, &n);
        break;
    case FLUID_COLUMNS:
        columns(p, &n);
        break;
    case FLUID_PSI_Z:
        upper_plane(p, &n);
        break;
    default:
        return FAIL(ctx, STATUS_INTERNAL,
                    "the pressure takes no part in exchange %d", (int)what);
    }
    *out = (struct fluid_transfer){n,
                                   p->partner,
                                   p->send_list,
                                   p->send_bytes,
                                   p->recv_list,
                                   p->recv_bytes};
    return 0;
}

int poisson_send_end(struct ctx *ctx, struct poisson *p,
                     enum fluid_exchange what)
{
    /* All arrived where it is wanted. */
    (void)ctx;
    (void)p;
    (void)what;
    return 0;
}
