/* slots_cuda.cu: the store's content slot by slot, for a run that is to go on
 * bit by bit.
 *
 * On a card own particles have no holes between steps: slot i is particle i.
 * The sort by cells is stable, so particles that are inserted in this order
 * where they stood when the list was built get the same order and the same list
 * again.
 */
#include "kernels/md/team_cuda.h"

#include <stdlib.h>

static const size_t SLOTS_AT_ONCE = 1 << 17;

static __device__ __forceinline__ void begin_way(const struct md_view &m,
                                                 state *listed)
{
    uint32_t i = thread_index();
    for (int d = 0; d < 3 && i < m.n_own; d++) {
        size_t at = d * m.stride + i;
        m.moved[at] = 0;
        listed[at] = m.x[at];
    }
}

int cuda_note_listed(struct md_store *s)
{
    TRY(cuda_reserve(s, ARRAY_LISTED, 3 * s->capacity, sizeof(state),
                     "particles"));
    return cuda_run(s, "begin_way", kernel_of<begin_way, 1>(),
                    cuda_own_blocks(s), s->view, ARRAY(s, ARRAY_LISTED, state));
}

/* ---- out ---- */

static __global__ void take_slots(struct md_view m, const state *listed,
                                  struct md_slot *to, uint32_t first,
                                  uint32_t n)
{
    uint32_t k = thread_index();
    if (k >= n)
        return;
    uint32_t i = first + k;
    struct md_slot r;
    r.p.charge = charge_of(m, i);
    r.p.id = m.id[i];
    r.p.species = m.species[i];
    for (int d = 0; d < 3; d++) {
        size_t at = d * m.stride + i;
        r.p.position[d] = (double)m.x[at] + m.state_origin[d];
        r.p.velocity[d] = (double)m.v[at];
        r.p.image[d] = m.image[at];
        r.listed[d] = (double)listed[at] + m.state_origin[d];
        r.moved[d] = m.moved[at];
    }
    to[k] = r;
}

int cuda_take_slots(struct ctx *ctx, const struct md_store *store,
                    struct md_slot *out)
{
    /* The records' scratch belongs to the store; its content does not change.
     */
    struct md_store *s = const_cast<struct md_store *>(store);
    size_t n = s->view.n_own, piece = n < SLOTS_AT_ONCE ? n : SLOTS_AT_ONCE;
    cuda_settle(s);
    if (s->failed != 0)
        return s->failed;
    if (s->n_slots != n || s->n_leavers > 0)
        return FAIL(ctx, STATUS_INTERNAL, "particles are not sorted yet");
    if (n == 0)
        return 0;
    TRY(cuda_reserve(s, ARRAY_RECORDS, piece, sizeof *out,
                     "particles on their way"));
    struct md_slot *from = ARRAY(s, ARRAY_RECORDS, struct md_slot);
    for (size_t done = 0; done < n; done += piece) {
        size_t k = n - done < piece ? n - done : piece;
        LAUNCH(take_slots, cuda_blocks(k, MD_THREADS), MD_THREADS, 0,
               s->device->stream, s->view, ARRAY(s, ARRAY_LISTED, state), from,
               (uint32_t)done, (uint32_t)k);
        CUDA_TRY_LAUNCH(ctx, "take_slots");
        TRY(cuda_to_host(ctx, s->device, out + done, from, k * sizeof *out));
    }
    return 0;
}

/* ---- in ---- */

/* *elsewhere: 1 + the slot of some particle that is not the one expected. */
static __global__ void put_slots(struct md_view m, const struct md_slot *from,
                                 uint32_t first, uint32_t n,
                                 unsigned *elsewhere)
{
    uint32_t k = thread_index();
    if (k >= n)
        return;
    uint32_t i = first + k;
    const struct md_slot *r = &from[k];
    if (m.id[i] != r->p.id) {
        atomicExch(elsewhere, i + 1);
        return;
    }
    for (int d = 0; d < 3; d++) {
        size_t at = d * m.stride + i;
        m.x[at] = (state)(r->p.position[d] - m.state_origin[d]);
        m.v[at] = (state)r->p.velocity[d];
        m.image[at] = r->p.image[d];
        m.moved[at] = r->moved[d];
    }
    set_pair(m, i);
}

static int put_pieces(struct ctx *ctx, struct md_store *s,
                      const struct md_slot *in, unsigned *elsewhere)
{
    size_t n = s->view.n_own, piece = n < SLOTS_AT_ONCE ? n : SLOTS_AT_ONCE;
    TRY(cuda_reserve(s, ARRAY_RECORDS, piece, sizeof *in,
                     "particles on their way"));
    TRY(cuda_reserve(s, ARRAY_COUNTER, 64, sizeof(unsigned), "counters"));
    struct md_slot *to = ARRAY(s, ARRAY_RECORDS, struct md_slot);
    unsigned *on_card = ARRAY(s, ARRAY_COUNTER, unsigned);
    CUDA_TRY(ctx,
             cudaMemsetAsync(on_card, 0, sizeof *on_card, s->device->stream));
    for (size_t done = 0; done < n; done += piece) {
        size_t k = n - done < piece ? n - done : piece;
        TRY(cuda_to_device(ctx, s->device, to, in + done, k * sizeof *in));
        LAUNCH(put_slots, cuda_blocks(k, MD_THREADS), MD_THREADS, 0,
               s->device->stream, s->view, to, (uint32_t)done, (uint32_t)k,
               on_card);
        CUDA_TRY_LAUNCH(ctx, "put_slots");
    }
    return cuda_to_host(ctx, s->device, elsewhere, on_card, sizeof *elsewhere);
}

int cuda_put_slots(struct ctx *ctx, struct md_store *s,
                   const struct md_slot *in, size_t n)
{
    unsigned elsewhere = 0;
    cuda_settle(s);
    if (n != s->view.n_own)
        return FAIL(ctx, STATUS_INTERNAL, "%u particles instead of %zu",
                    s->view.n_own, n);
    if (n > 0)
        TRY(put_pieces(ctx, s, in, &elsewhere));
    if (elsewhere > 0)
        return FAIL(ctx, STATUS_INTERNAL,
                    "particle %lld does not stand where it stood",
                    (long long)in[elsewhere - 1].p.id);
    return 0;
}
