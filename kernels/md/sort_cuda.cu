/* sort_cuda.cu: particles that leave, and the order of those that stay. */
#include "kernels/md/store_cuda.h"
#include "kernels/primitives.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/md/wrap.h"

/* ---- leavers ---- */

/* What wrap_positions() counts. */
struct leave_counts {
    unsigned leaving;
    unsigned not_finite; /* 1 + the slot of some such particle, or 0 */
};

/* What has gone through no face keeps its bits. */
static __device__ __forceinline__ void put_back(const struct md_view &m,
                                                uint32_t i, const double x[3],
                                                const int32_t image[3])
{
    for (int d = 0; d < 3; d++) {
        size_t at = d * m.stride + i;
        double from = (double)m.x[at] + m.state_origin[d];
        m.image[at] = image[d];
        if (x[d] < from || x[d] > from)
            m.x[at] = (state)(x[d] - m.state_origin[d]);
    }
}

/* flag[i] = 1 where particle i is no longer in this rank's block. */
static __global__ void wrap_positions(struct md_view m, uint32_t *flag,
                                      struct leave_counts *counts)
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    int outside = 0;
    double x[3];
    int32_t image[3];
    for (int d = 0; d < 3; d++) {
        x[d] = (double)m.x[d * m.stride + i] + m.state_origin[d];
        image[d] = m.image[d * m.stride + i];
    }
    if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2]))
        atomicExch(&counts->not_finite, i + 1);
    else if (wrap_position(x, m.box_lo, m.box_length, m.tilt, image))
        put_back(m, i, x, image);
    for (int d = 0; d < 3; d++)
        if (m.cut[d] && (x[d] < m.lo[d] || x[d] >= m.hi[d]))
            outside = 1;
    flag[i] = (uint32_t)outside;
    if (outside)
        atomicAdd(&counts->leaving, 1u);
}

static __global__ void take_leavers(struct md_view m, const uint32_t *flag,
                                    const uint32_t *place,
                                    struct md_particle *to)
{
    uint32_t i = thread_index();
    if (i >= m.n_own || !flag[i])
        return;
    struct md_particle p;
    p.charge = charge_of(m, i);
    p.id = m.id[i];
    p.species = m.species[i];
    for (int d = 0; d < 3; d++) {
        size_t at = d * m.stride + i;
        p.position[d] = (double)m.x[at] + m.state_origin[d];
        p.velocity[d] = (double)m.v[at];
        p.image[d] = m.image[at];
    }
    to[place[i]] = p;
    m.id[i] = 0;
}

static int fail_not_finite(struct ctx *ctx, struct md_store *s, unsigned slot)
{
    int64_t id = 0;
    TRY(cuda_to_host(ctx, s->device, &id, s->view.id + slot, sizeof id));
    return FAIL(ctx, STATUS_PHYSICS, "particle %lld has no finite position",
                (long long)id);
}

static int reserve_keys(struct md_store *s, size_t n)
{
    TRY(cuda_reserve(s, ARRAY_KEY, n, sizeof(uint32_t), "sorting"));
    TRY(cuda_reserve(s, ARRAY_KEY_OUT, n, sizeof(uint32_t), "sorting"));
    TRY(cuda_reserve(s, ARRAY_ORDER, n, sizeof(uint32_t), "sorting"));
    TRY(cuda_reserve(s, ARRAY_ORDER_OUT, n, sizeof(uint32_t), "sorting"));
    return cuda_reserve(s, ARRAY_WORKSPACE, primitives_workspace(n), 1,
                        "sorting");
}

static int copy_leavers(struct ctx *ctx, struct md_store *s, uint32_t n)
{
    if (n > s->leavers_capacity) {
        free(s->leavers);
        s->leavers_capacity = n + n / 4;
        s->leavers = (struct md_particle *)malloc(s->leavers_capacity *
                                                  sizeof *s->leavers);
        if (!s->leavers)
            return FAIL(ctx, STATUS_MEMORY,
                        "no memory for migrating particles");
    }
    TRY(cuda_reserve(s, ARRAY_RECORDS, n, sizeof(struct md_particle),
                     "migrating particles"));
    CUDA_TRY(ctx,
             primitives_exclusive_sum_u32(s->array[ARRAY_WORKSPACE].p,
                                          s->array[ARRAY_WORKSPACE].bytes,
                                          ARRAY(s, ARRAY_KEY, uint32_t),
                                          ARRAY(s, ARRAY_KEY_OUT, uint32_t),
                                          s->view.n_own, s->device->stream));
    struct md_particle *from = ARRAY(s, ARRAY_RECORDS, struct md_particle);
    LAUNCH(take_leavers, cuda_blocks(s->view.n_own, MD_THREADS), MD_THREADS, 0,
           s->device->stream, s->view, ARRAY(s, ARRAY_KEY, uint32_t),
           ARRAY(s, ARRAY_KEY_OUT, uint32_t), from);
    CUDA_TRY_LAUNCH(ctx, "take_leavers");
    return cuda_to_host(ctx, s->device, s->leavers, from,
                        n * sizeof *s->leavers);
}

int cuda_extract_leavers(struct ctx *ctx, struct md_store *s,
                         const struct md_particle **out, size_t *n)
{
    cuda_settle(s);
    struct leave_counts counts = {0, 0};
    *out = s->leavers;
    *n = 0;
    if (s->view.n_own == 0)
        return 0;
    TRY(reserve_keys(s, s->view.n_own));
    TRY(cuda_reserve(s, ARRAY_COUNTER, 64, sizeof(unsigned), "counters"));
    struct leave_counts *on_card = ARRAY(s, ARRAY_COUNTER, struct leave_counts);
    CUDA_TRY(ctx,
             cudaMemsetAsync(on_card, 0, sizeof counts, s->device->stream));
    LAUNCH(wrap_positions, cuda_blocks(s->view.n_own, MD_THREADS), MD_THREADS,
           0, s->device->stream, s->view, ARRAY(s, ARRAY_KEY, uint32_t),
           on_card);
    CUDA_TRY_LAUNCH(ctx, "wrap_positions");
    TRY(cuda_to_host(ctx, s->device, &counts, on_card, sizeof counts));
    if (counts.not_finite > 0)
        return fail_not_finite(ctx, s, counts.not_finite - 1);
    if (counts.leaving > 0)
        TRY(copy_leavers(ctx, s, counts.leaving));
    s->n_leavers = counts.leaving;
    *out = s->leavers;
    *n = counts.leaving;
    return 0;
}

/* ---- cells ---- */

/* As many cells as fit with sides of the list radius; fewer where particles are
 * sparse. */
static void shape_cells(struct md_store *s, size_t n)
{
    const struct md_setup *setup = &s->setup;
    struct cell_grid *g = &s->cells;
    double radius = setup->list_radius, width[3], count = 1;
    for (int d = 0; d < 3; d++) {
        double reach = setup->cut[d] ? setup->halo_radius : 0;
        g->lo[d] = setup->lo[d] - s->view.origin[d] - reach;
        width[d] = setup->hi[d] - setup->lo[d] + 2 * reach;
        g->n[d] = width[d] > radius ? (int)fmin(width[d] / radius, 1024) : 1;
        g->wrap[d] = !setup->cut[d];
        g->lean[d] = g->corner[d] = 0;
        s->cell_tilt[d] = setup->tilt[d];
        count *= g->n[d];
    }
    double most = 4.0 * (double)n + 64;
    double shrink = count > most ? cbrt(most / count) : 1;
    for (int d = 0; d < 3; d++) {
        int cells = (int)(g->n[d] * shrink);
        g->n[d] = cells > 1 ? cells : 1;
        g->per_side[d] = g->n[d] / width[d];
        g->reach[d] = (int)ceil(radius * g->per_side[d]);
    }
}

static uint32_t cell_count(const struct cell_grid *g)
{
    return (uint32_t)g->n[0] * (uint32_t)g->n[1] * (uint32_t)g->n[2];
}

/* Thread t looks at sorted keys t - 1 and t: the cells between them start at t.
 */
static __global__ void find_starts(const uint32_t *key, uint32_t n,
                                   uint32_t cells, uint32_t *start)
{
    uint32_t t = thread_index();
    if (t > n)
        return;
    uint32_t first = t == 0 ? 0 : key[t - 1] + 1;
    uint32_t last = t == n ? cells : key[t];
    for (uint32_t c = first; c <= last && c <= cells; c++)
        start[c] = t;
}

int cuda_place_cells(struct ctx *ctx, struct md_store *s, size_t n,
                     enum md_array start)
{
    uint32_t cells = cell_count(&s->cells);
    int bits = 1;
    while (bits < 32 && (cells >> bits) != 0)
        bits++;
    TRY(cuda_reserve(s, start, (size_t)cells + 1, sizeof(uint32_t), "cells"));
    CUDA_TRY(ctx, primitives_sort_pairs_u32(s->array[ARRAY_WORKSPACE].p,
                                            s->array[ARRAY_WORKSPACE].bytes,
                                            ARRAY(s, ARRAY_KEY, uint32_t),
                                            ARRAY(s, ARRAY_KEY_OUT, uint32_t),
                                            ARRAY(s, ARRAY_ORDER, uint32_t),
                                            ARRAY(s, ARRAY_ORDER_OUT, uint32_t),
                                            n, bits, s->device->stream));
    LAUNCH(find_starts, cuda_blocks(n + 1, MD_THREADS), MD_THREADS, 0,
           s->device->stream, ARRAY(s, ARRAY_KEY_OUT, uint32_t), (uint32_t)n,
           cells, ARRAY(s, start, uint32_t));
    CUDA_TRY_LAUNCH(ctx, "find_starts");
    return 0;
}

/* ---- order ---- */

/* The cell of each particle; holes go to the end. */
static __global__ void find_cells(struct md_view m, struct cell_grid g,
                                  uint32_t n, uint32_t cells, uint32_t *key,
                                  uint32_t *order)
{
    uint32_t i = thread_index();
    if (i >= n)
        return;
    double x[3];
    int c[3];
    for (int d = 0; d < 3; d++)
        x[d] = (double)m.x[d * m.stride + i] + m.state_origin[d] - m.origin[d];
    cell_of(&g, x, c);
    key[i] = m.id[i] != 0 ? cell_number(&g, c) : cells;
    order[i] = i;
}

template <class T>
static __global__ void permute_columns(const T *from, T *to,
                                       const uint32_t *order, size_t stride,
                                       int columns, uint32_t n)
{
    uint32_t t = thread_index();
    if (t >= n)
        return;
    for (int d = 0; d < columns; d++)
        to[d * stride + t] = from[d * stride + order[t]];
}

template <class T>
static int permute(struct ctx *ctx, struct md_store *s, enum md_array which,
                   int columns, uint32_t n)
{
    T *sorted = ARRAY(s, ARRAY_SORTED, T);
    LAUNCH((permute_columns<T>), cuda_blocks(n, MD_THREADS), MD_THREADS, 0,
           s->device->stream, (const T *)s->array[which].p, sorted,
           ARRAY(s, ARRAY_ORDER_OUT, uint32_t), s->capacity, columns, n);
    CUDA_TRY_LAUNCH(ctx, "permute_columns");
    return 0;
}

/* Positions and velocities change places with the scratch. */
static int permute_state(struct ctx *ctx, struct md_store *s,
                         enum md_array which, uint32_t n)
{
    TRY(permute<state>(ctx, s, which, 3, n));
    struct device_array swap = s->array[which];
    s->array[which] = s->array[ARRAY_SORTED];
    s->array[ARRAY_SORTED] = swap;
    return 0;
}

/* Labels are copied back. */
template <class T>
static int permute_label(struct ctx *ctx, struct md_store *s,
                         enum md_array which, int columns, uint32_t n)
{
    TRY(permute<T>(ctx, s, which, columns, n));
    for (int d = 0; d < columns; d++)
        CUDA_TRY(ctx,
                 cudaMemcpyAsync(ARRAY(s, which, T) + d * s->capacity,
                                 ARRAY(s, ARRAY_SORTED, T) + d * s->capacity,
                                 n * sizeof(T), cudaMemcpyDeviceToDevice,
                                 s->device->stream));
    return 0;
}

static __global__ void fill_pair(struct md_view m)
{
    uint32_t i = thread_index();
    if (i < m.n_own)
        set_pair(m, i);
}

int cuda_sort(struct ctx *ctx, struct md_store *s)
{
    cuda_settle(s);
    uint32_t slots = s->n_slots, n = slots - s->n_leavers;
    cudaStream_t stream = s->device->stream;
    shape_cells(s, n);
    TRY(reserve_keys(s, slots > 0 ? slots : 1));
    s->view.n_own = n;
    s->view.n_halo = 0;
    if (slots > 0) {
        LAUNCH(find_cells, cuda_blocks(slots, MD_THREADS), MD_THREADS, 0,
               stream, s->view, s->cells, slots, cell_count(&s->cells),
               ARRAY(s, ARRAY_KEY, uint32_t), ARRAY(s, ARRAY_ORDER, uint32_t));
        CUDA_TRY_LAUNCH(ctx, "find_cells");
        TRY(cuda_place_cells(ctx, s, slots, ARRAY_START_OWN));
    }
    s->n_slots = n;
    s->n_leavers = 0;
    if (n == 0)
        return 0;
    TRY(permute_state(ctx, s, ARRAY_X, n));
    TRY(permute_state(ctx, s, ARRAY_V, n));
    TRY(permute_label<int64_t>(ctx, s, ARRAY_ID, 1, n));
    TRY(permute_label<int32_t>(ctx, s, ARRAY_IMAGE, 3, n));
    TRY(permute_label<int32_t>(ctx, s, ARRAY_SPECIES, 1, n));
    if (s->setup.charged)
        TRY(permute_label<scalar>(ctx, s, ARRAY_CHARGE, 1, n));
    cuda_set_view(s);
    LAUNCH(fill_pair, cuda_blocks(n, MD_THREADS), MD_THREADS, 0, stream,
           s->view);
    CUDA_TRY_LAUNCH(ctx, "fill_pair");
    return 0;
}
