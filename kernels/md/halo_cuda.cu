/* halo_cuda.cu: copies of particles for other ranks, and theirs here. */
#include "kernels/md/box_cuda.h"
#include "kernels/md/team_cuda.h"
#include "kernels/primitives.h"

#include <math.h>
#include <stdlib.h>

size_t cuda_halo_record_bytes(int with_species)
{
    return with_species ? sizeof(struct halo_record) : 3 * sizeof(scalar);
}

/* A channel's block as a kernel argument. */
struct target_block {
    double lo[3], hi[3], reach2;
};

static __global__ void flag_near(struct md_view m, struct target_block t,
                                 uint32_t *flag, unsigned *total)
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    double sum = 0;
    for (int d = 0; d < 3; d++) {
        double x = (double)m.x[d * m.stride + i] + m.state_origin[d];
        double g = fmax(fmax(t.lo[d] - x, x - t.hi[d]), 0.0);
        sum += g * g;
    }
    int near = sum < t.reach2;
    flag[i] = (uint32_t)near;
    if (near)
        atomicAdd(total, 1u);
}

static __global__ void take_near(uint32_t n, const uint32_t *flag,
                                 const uint32_t *place, uint32_t first,
                                 uint32_t channel, uint32_t *slot,
                                 uint32_t *channel_of)
{
    uint32_t i = thread_index();
    if (i >= n || !flag[i])
        return;
    slot[first + place[i]] = i;
    channel_of[first + place[i]] = channel;
}

static struct target_block block_of(const struct md_store *s,
                                    const struct md_channel *channel)
{
    struct target_block t;
    /* A little more, so that rounding loses nobody. */
    double reach = s->setup.halo_radius * (1 + 1e-6);
    for (int d = 0; d < 3; d++) {
        t.lo[d] = channel->lo[d];
        t.hi[d] = channel->hi[d];
    }
    t.reach2 = reach * reach;
    return t;
}

static int flag_channel(struct ctx *ctx, struct md_store *s,
                        const struct md_channel *channel, unsigned *total)
{
    uint32_t n = s->view.n_own;
    LAUNCH(flag_near, cuda_blocks(n, MD_THREADS), MD_THREADS, 0,
           s->device->stream, s->view, block_of(s, channel),
           ARRAY(s, ARRAY_KEY, uint32_t), total);
    CUDA_TRY_LAUNCH(ctx, "flag_near");
    return 0;
}

/* Room on host and card for what is known of each channel. */
static int reserve_channels(struct ctx *ctx, struct md_store *s, size_t n)
{
    if (n > s->channels_capacity) {
        free(s->channel_n);
        free(s->channel_offset);
        s->channel_n = (uint32_t *)malloc(n * sizeof *s->channel_n);
        s->channel_offset = (double(*)[3])malloc(n * sizeof *s->channel_offset);
        if (!s->channel_n || !s->channel_offset)
            return FAIL(ctx, STATUS_MEMORY, "no memory for %zu channels", n);
        s->channels_capacity = n;
    }
    TRY(cuda_reserve(s, ARRAY_COUNTER, n + 64, sizeof(unsigned), "counters"));
    return cuda_reserve(s, ARRAY_CHANNEL_OFFSET, n, sizeof(double[3]),
                        "halo copies");
}

/* How many particles each channel gets. */
static int count_channels(struct ctx *ctx, struct md_store *s, int n_channels,
                          const struct md_channel *channels)
{
    unsigned *total = ARRAY(s, ARRAY_COUNTER, unsigned);
    CUDA_TRY(ctx, cudaMemsetAsync(total, 0, (size_t)n_channels * sizeof *total,
                                  s->device->stream));
    for (int c = 0; c < n_channels && s->view.n_own > 0; c++)
        TRY(flag_channel(ctx, s, &channels[c], total + c));
    return cuda_to_host(ctx, s->device, s->channel_n, total,
                        (size_t)n_channels * sizeof *total);
}

static int choose_channel(struct ctx *ctx, struct md_store *s, int c,
                          const struct md_channel *channel, uint32_t first)
{
    uint32_t n = s->view.n_own;
    TRY(flag_channel(ctx, s, channel, ARRAY(s, ARRAY_COUNTER, unsigned) + c));
    CUDA_TRY(ctx,
             primitives_exclusive_sum_u32(
                 s->array[ARRAY_WORKSPACE].p, s->array[ARRAY_WORKSPACE].bytes,
                 ARRAY(s, ARRAY_KEY, uint32_t),
                 ARRAY(s, ARRAY_KEY_OUT, uint32_t), n, s->device->stream));
    LAUNCH(take_near, cuda_blocks(n, MD_THREADS), MD_THREADS, 0,
           s->device->stream, n, ARRAY(s, ARRAY_KEY, uint32_t),
           ARRAY(s, ARRAY_KEY_OUT, uint32_t), first, (uint32_t)c,
           ARRAY(s, ARRAY_SEND_SLOT, uint32_t),
           ARRAY(s, ARRAY_SEND_CHANNEL, uint32_t));
    CUDA_TRY_LAUNCH(ctx, "take_near");
    return 0;
}

void cuda_channel_offset(const struct md_store *s, const struct md_channel *c,
                         double offset[3])
{
    for (int d = 0; d < 3; d++) {
        double middle = 0.5 * (c->receiver_lo[d] + c->receiver_hi[d]);
        offset[d] = c->shift[d] + s->view.state_origin[d] -
                    (MD_PRECISION == 1 ? 0 : middle);
    }
}

int cuda_select_halo(struct ctx *ctx, struct md_store *s, int n_channels,
                     const struct md_channel *channels, size_t *counts)
{
    if (n_channels == 0 && cuda_keeps_all(s))
        return 0;
    cuda_settle(s);
    s->copies_here = 0;
    s->n_channels = n_channels;
    s->n_send = 0;
    if (n_channels == 0)
        return 0;
    TRY(reserve_channels(ctx, s, (size_t)n_channels));
    TRY(count_channels(ctx, s, n_channels, channels));
    size_t all = 0;
    for (int c = 0; c < n_channels; c++) {
        counts[c] = s->channel_n[c];
        all += counts[c];
        cuda_channel_offset(s, &channels[c], s->channel_offset[c]);
    }
    if (all >= UINT32_MAX)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "too many halo copies; use more "
                    "ranks");
    TRY(cuda_to_device(ctx, s->device, s->array[ARRAY_CHANNEL_OFFSET].p,
                       s->channel_offset,
                       (size_t)n_channels * sizeof *s->channel_offset));
    TRY(cuda_reserve(s, ARRAY_SEND_SLOT, all, sizeof(uint32_t), "halo copies"));
    TRY(cuda_reserve(s, ARRAY_SEND_CHANNEL, all, sizeof(uint32_t),
                     "halo copies"));
    TRY(cuda_reserve(s, ARRAY_PACKED, all, sizeof(struct halo_record),
                     "halo copies"));
    for (int c = 0; c < n_channels; c++) {
        if (s->channel_n[c] > 0)
            TRY(choose_channel(ctx, s, c, &channels[c], s->n_send));
        s->n_send += s->channel_n[c];
    }
    return 0;
}

static __global__ void pack(struct md_view m, const uint32_t *slot,
                            const uint32_t *channel_of,
                            const double *channel_offset, uint32_t n,
                            int with_species, struct halo_record *full,
                            scalar *plain)
{
    uint32_t k = thread_index();
    if (k >= n)
        return;
    uint32_t i = slot[k];
    const double *offset = channel_offset + 3 * channel_of[k];
    scalar x[3];
    for (int d = 0; d < 3; d++)
        x[d] = (scalar)((double)m.x[d * m.stride + i] + offset[d]);
    if (with_species) {
        struct halo_record r;
        r.id = m.id[i];
        r.species = m.species[i];
        r.charge = (scalar)charge_of(m, i);
        for (int d = 0; d < 3; d++)
            r.x[d] = x[d];
        full[k] = r;
    } else {
        for (int d = 0; d < 3; d++)
            plain[3 * k + d] = x[d];
    }
}

/* The buffer is the device's memory for messages (device.h): pinned, or the
 * card's own. It is ready when this returns. */
static int pack_and_copy(struct md_store *s, int with_species, void *buffer)
{
    int direct = s->ctx->device->direct;
    size_t bytes = s->n_send * cuda_halo_record_bytes(with_species);
    void *packed = direct ? buffer : s->array[ARRAY_PACKED].p;
    LAUNCH(pack, cuda_blocks(s->n_send, MD_THREADS), MD_THREADS, 0,
           s->device->stream, s->view, ARRAY(s, ARRAY_SEND_SLOT, uint32_t),
           ARRAY(s, ARRAY_SEND_CHANNEL, uint32_t),
           ARRAY(s, ARRAY_CHANNEL_OFFSET, double), s->n_send, with_species,
           (struct halo_record *)packed, (scalar *)packed);
    CUDA_TRY_LAUNCH(s->ctx, "pack");
    if (!direct) {
        CUDA_TRY(s->ctx,
                 cudaMemcpyAsync(buffer, packed, bytes, cudaMemcpyDeviceToHost,
                                 s->device->stream));
        s->device->bytes_to_host += bytes;
    }
    return 0;
}

void cuda_pack_halo(struct md_store *s, int with_species, void *buffer)
{
    cuda_settle(s);
    if (s->n_send > 0 && s->failed == 0)
        s->failed = pack_and_copy(s, with_species, buffer);
    /* Also where nothing is sent: the messages that come next overwrite those
     * that may still be unpacked. */
    if (s->failed == 0)
        s->failed =
            cuda_status(s->ctx, cudaStreamSynchronize(s->device->stream),
                        "cudaStreamSynchronize");
}

/* ---- what comes in ---- */

static __device__ __forceinline__ void
find_halo_cells(const struct halo_record *from, uint32_t n,
                const struct cell_grid &g, uint32_t below, uint32_t *key,
                uint32_t *order)
{
    uint32_t k = thread_index();
    if (k >= n)
        return;
    double x[3] = {(double)from[k].x[0], (double)from[k].x[1],
                   (double)from[k].x[2]};
    int c[3];
    cell_of(&g, x, c);
    key[k] = below + cell_number(&g, c);
    order[k] = k;
}

/* Copy t stands behind the own particles; slot says where each record went. */
static __device__ __forceinline__ void
place_halo(const struct md_view &m, const struct halo_record *from,
           const uint32_t *order, uint32_t *slot)
{
    uint32_t t = thread_index();
    if (t >= m.n_halo)
        return;
    struct halo_record r = from[order[t]];
    struct pair_position p;
    p.x = r.x[0];
    p.y = r.x[1];
    p.z = r.x[2];
    p.species = r.species;
    m.pair[m.n_own + t] = p;
    m.id[m.n_own + t] = r.id;
    set_charge(m, m.n_own + t, (double)r.charge);
    slot[order[t]] = m.n_own + t;
}

int cuda_message_on_card(struct md_store *s, const void *buffer, size_t n,
                         const void **out)
{
    *out = buffer;
    if (s->ctx->device->direct)
        return 0;
    CUDA_TRY(s->ctx,
             cudaMemcpyAsync(s->array[ARRAY_RECORDS].p, buffer, n,
                             cudaMemcpyHostToDevice, s->device->stream));
    s->device->bytes_to_device += n;
    *out = s->array[ARRAY_RECORDS].p;
    return 0;
}

int cuda_reserve_halo(struct md_store *s, size_t n)
{
    size_t all = s->view.n_own + n;
    TRY(cuda_reserve(s, ARRAY_KEY, n, sizeof(uint32_t), "halo copies"));
    TRY(cuda_reserve(s, ARRAY_KEY_OUT, n, sizeof(uint32_t), "halo copies"));
    TRY(cuda_reserve(s, ARRAY_ORDER, n, sizeof(uint32_t), "halo copies"));
    TRY(cuda_reserve(s, ARRAY_ORDER_OUT, n, sizeof(uint32_t), "halo copies"));
    TRY(cuda_reserve(s, ARRAY_WORKSPACE, primitives_workspace(n), 1,
                     "halo copies"));
    TRY(cuda_reserve(s, ARRAY_RECORDS, n, sizeof(struct halo_record),
                     "halo copies"));
    TRY(cuda_reserve(s, ARRAY_HALO_SLOT, n, sizeof(uint32_t), "halo copies"));
    TRY(cuda_reserve(s, ARRAY_ID, all, sizeof(int64_t), "halo copies"));
    TRY(cuda_reserve(s, ARRAY_PAIR, all, sizeof(struct pair_position),
                     "halo copies"));
    if (s->setup.charged)
        TRY(cuda_reserve(s, ARRAY_CHARGE, all, sizeof(scalar), "halo copies"));
    cuda_set_view(s);
    return 0;
}

int cuda_launch_copy_keys(struct md_store *s, const struct halo_record *from,
                          struct sorting_place at)
{
    return cuda_run(s, "find_halo_cells",
                    kernel_of<find_halo_cells, JOINS_LOOSELY>(),
                    cuda_copy_blocks(s), from, s->view.n_halo, s->cells,
                    at.below, at.key, at.order);
}

int cuda_launch_copy_order(struct md_store *s, const struct halo_record *from,
                           struct sorting_place at)
{
    TRY(cuda_launch_starts(s, at, s->view.n_halo, ARRAY_START_HALO));
    return cuda_run(s, "place_halo", kernel_of<place_halo, JOINS_LOOSELY>(),
                    cuda_copy_blocks(s), s->view, from,
                    (const uint32_t *)at.order_out,
                    ARRAY(s, ARRAY_HALO_SLOT, uint32_t));
}

int cuda_place_copies(struct md_store *s, const struct halo_record *from)
{
    struct sorting_place at = cuda_own_place(s);
    uint32_t cells;
    TRY(cuda_reserve_starts(s, ARRAY_START_HALO, &cells));
    TRY(cuda_launch_copy_keys(s, from, at));
    TRY(cuda_sort_keys(s, at, s->view.n_halo));
    return cuda_launch_copy_order(s, from, at);
}

int cuda_accept_halo(struct ctx *ctx, struct md_store *s, size_t n,
                     const void *buffer)
{
    if (n == 0 && cuda_keeps_all(s))
        return 0;
    cuda_settle(s);
    s->view.n_halo = 0;
    if (n == 0)
        return 0;
    if (s->view.n_own + n >= UINT32_MAX / 2)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "too many halo copies; use more ranks");
    TRY(cuda_reserve_halo(s, n));
    const struct halo_record *from = NULL;
    TRY(cuda_message_on_card(s, buffer, n * sizeof *from,
                             (const void **)&from));
    s->view.n_halo = (uint32_t)n;
    return cuda_place_copies(s, from);
}

static __global__ void unpack(struct md_view m, const uint32_t *slot,
                              const scalar *from)
{
    uint32_t k = thread_index();
    if (k >= m.n_halo)
        return;
    struct pair_position *p = &m.pair[slot[k]];
    p->x = from[3 * k];
    p->y = from[3 * k + 1];
    p->z = from[3 * k + 2];
}

int cuda_launch_unpack(struct md_store *s, const void *buffer)
{
    const scalar *from = NULL;
    TRY(cuda_message_on_card(s, buffer,
                             (size_t)s->view.n_halo * 3 * sizeof *from,
                             (const void **)&from));
    LAUNCH(unpack, cuda_blocks(s->view.n_halo, MD_THREADS), MD_THREADS, 0,
           s->device->stream, s->view, ARRAY(s, ARRAY_HALO_SLOT, uint32_t),
           from);
    CUDA_TRY_LAUNCH(s->ctx, "unpack");
    return 0;
}

void cuda_unpack_halo(struct md_store *s, const void *buffer)
{
    if (s->view.n_halo > 0)
        cuda_do(s, {STEP_UNPACK, 0, 0, buffer});
}
