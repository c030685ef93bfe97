/* sort_cuda.cu: particles that leave, and the order of those that stay. */
#include "kernels/md/team_cuda.h"
#include "kernels/md/terms_cuda.h"
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

/* Returns whether particle i is no longer in this rank's block. */
static __device__ __forceinline__ int wrap_one(const struct md_view &m,
                                               uint32_t i, int *finite)
{
    int outside = 0;
    double x[3];
    int32_t image[3];
    for (int d = 0; d < 3; d++) {
        x[d] = (double)m.x[d * m.stride + i] + m.state_origin[d];
        image[d] = m.image[d * m.stride + i];
    }
    *finite = isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]);
    if (*finite && wrap_position(x, m.box_lo, m.box_length, m.tilt, image))
        put_back(m, i, x, image);
    for (int d = 0; d < 3; d++)
        if (m.cut[d] && (x[d] < m.lo[d] || x[d] >= m.hi[d]))
            outside = 1;
    return outside;
}

/* flag[i] = 1 for those. */
static __device__ __forceinline__ void
wrap_positions(const struct md_view &m, uint32_t *flag,
               struct leave_counts *counts)
{
    uint32_t i = thread_index();
    int finite;
    if (i >= m.n_own)
        return;
    int outside = wrap_one(m, i, &finite);
    if (!finite)
        atomicExch(&counts->not_finite, i + 1);
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

int cuda_launch_wrap(struct md_store *s)
{
    TRY(reserve_keys(s, s->view.n_own));
    TRY(cuda_reserve(s, ARRAY_COUNTER, 64, sizeof(unsigned), "counters"));
    struct leave_counts *counts = ARRAY(s, ARRAY_COUNTER, struct leave_counts);
    if (!s->notes) /* of a team nobody leaves */
        CUDA_TRY(s->ctx,
                 cudaMemsetAsync(counts, 0, sizeof *counts, s->device->stream));
    return cuda_run(s, "wrap_positions", kernel_of<wrap_positions, 1>(),
                    cuda_own_blocks(s), s->view, ARRAY(s, ARRAY_KEY, uint32_t),
                    counts);
}

int cuda_extract_leavers(struct ctx *ctx, struct md_store *s,
                         const struct md_particle **out, size_t *n)
{
    struct leave_counts counts = {0, 0};
    *out = s->leavers;
    *n = 0;
    if (cuda_keeps_all(s)) {
        /* A position that is not finite has been noticed by its way. */
        cuda_do(s, {STEP_WRAP, 0, 0, NULL});
        return s->failed;
    }
    cuda_settle(s);
    if (s->view.n_own == 0)
        return 0;
    TRY(cuda_launch_wrap(s));
    TRY(cuda_to_host(ctx, s->device, &counts, s->array[ARRAY_COUNTER].p,
                     sizeof counts));
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
static __device__ __forceinline__ void find_starts(const uint32_t *key,
                                                   uint32_t below, uint32_t n,
                                                   uint32_t cells,
                                                   uint32_t *start)
{
    uint32_t t = thread_index();
    if (t > n)
        return;
    uint32_t first = t == 0 ? 0 : key[t - 1] - below + 1;
    uint32_t last = t == n ? cells : key[t] - below;
    for (uint32_t c = first; c <= last && c <= cells; c++)
        start[c] = t;
}

int cuda_sort_bits(uint32_t n)
{
    int bits = 1;
    while (bits < 32 && (n >> bits) != 0)
        bits++;
    return bits;
}

int cuda_reserve_starts(struct md_store *s, enum md_array start, uint32_t *n)
{
    *n = cell_count(&s->cells);
    return cuda_reserve(s, start, (size_t)*n + 1, sizeof(uint32_t), "cells");
}

int cuda_launch_starts(struct md_store *s, struct sorting_place at, size_t n,
                       enum md_array start)
{
    return cuda_run(s, "find_starts", kernel_of<find_starts, JOINS_LOOSELY>(),
                    dim3(cuda_blocks(n + 1, MD_THREADS)),
                    (const uint32_t *)at.key_out, at.below, (uint32_t)n,
                    cell_count(&s->cells), ARRAY(s, start, uint32_t));
}

struct sorting_place cuda_own_place(const struct md_store *s)
{
    struct sorting_place at = {ARRAY(s, ARRAY_KEY, uint32_t),
                               ARRAY(s, ARRAY_KEY_OUT, uint32_t),
                               ARRAY(s, ARRAY_ORDER, uint32_t),
                               ARRAY(s, ARRAY_ORDER_OUT, uint32_t), 0};
    return at;
}

int cuda_sort_keys(struct md_store *s, struct sorting_place at, size_t n)
{
    CUDA_TRY(s->ctx,
             primitives_sort_pairs_u32(
                 s->array[ARRAY_WORKSPACE].p, s->array[ARRAY_WORKSPACE].bytes,
                 at.key, at.key_out, at.order, at.order_out, n,
                 cuda_sort_bits(cell_count(&s->cells)), s->device->stream));
    return 0;
}

/* ---- order ---- */

static __device__ __forceinline__ uint32_t
cell_of_one(const struct md_view &m, const struct cell_grid &g, uint32_t i)
{
    double x[3];
    int c[3];
    for (int d = 0; d < 3; d++)
        x[d] = (double)m.x[d * m.stride + i] + m.state_origin[d] - m.origin[d];
    cell_of(&g, x, c);
    return cell_number(&g, c);
}

/* The cell of each particle; holes go to the end. */
static __device__ __forceinline__ void
find_cells(const struct md_view &m, const struct cell_grid &g, uint32_t n,
           uint32_t cells, uint32_t below, uint32_t *key, uint32_t *order)
{
    uint32_t i = thread_index();
    if (i >= n)
        return;
    key[i] = below + (m.id[i] != 0 ? cell_of_one(m, g, i) : cells);
    order[i] = i;
}

/* order: NULL, as they stand. */
template <class T>
static __device__ __forceinline__ void
permute_columns(const T *from, T *to, const uint32_t *order, size_t stride,
                int columns, uint32_t n)
{
    uint32_t t = thread_index();
    if (t >= n)
        return;
    for (int d = 0; d < columns; d++)
        to[d * stride + t] = from[d * stride + (order ? order[t] : t)];
}

template <class T>
static int permute(struct md_store *s, const void *from, void *to,
                   const uint32_t *order, int columns)
{
    return cuda_run(s, "permute_columns", kernel_of<permute_columns<T>, 1>(),
                    cuda_own_blocks(s), (const T *)from, (T *)to, order,
                    s->capacity, columns, s->view.n_own);
}

/* Positions and velocities change places with the scratch. */
static int permute_state(struct md_store *s, enum md_array which,
                         const uint32_t *order)
{
    struct device_array *a = &s->array[which], *b = &s->array[ARRAY_SORTED];
    TRY(permute<state>(s, a->p, b->p, order, 3));
    struct device_array swap = *a;
    *a = *b;
    *b = swap;
    return 0;
}

/* Labels are copied back. */
template <class T>
static int permute_label(struct md_store *s, enum md_array which,
                         const uint32_t *order, int columns)
{
    void *label = s->array[which].p, *sorted = s->array[ARRAY_SORTED].p;
    TRY(permute<T>(s, label, sorted, order, columns));
    return permute<T>(s, sorted, label, NULL, columns);
}

static __device__ __forceinline__ void fill_pair(const struct md_view &m)
{
    uint32_t i = thread_index();
    if (i < m.n_own)
        set_pair(m, i);
}

int cuda_shape_cells(struct md_store *s, uint32_t *n)
{
    shape_cells(s, s->view.n_own);
    return cuda_reserve_starts(s, ARRAY_START_OWN, n);
}

int cuda_launch_keys(struct md_store *s, struct sorting_place at,
                     uint32_t slots)
{
    return cuda_run(s, "find_cells", kernel_of<find_cells, 1>(),
                    dim3(cuda_blocks(slots, MD_THREADS)), s->view, s->cells,
                    slots, cell_count(&s->cells), at.below, at.key, at.order);
}

int cuda_launch_order(struct md_store *s, struct sorting_place at,
                      uint32_t slots)
{
    const uint32_t *order = at.order_out;
    TRY(cuda_launch_starts(s, at, slots, ARRAY_START_OWN));
    if (s->view.n_own == 0)
        return 0;
    TRY(permute_state(s, ARRAY_X, order));
    TRY(permute_state(s, ARRAY_V, order));
    TRY(permute_label<int64_t>(s, ARRAY_ID, order, 1));
    TRY(permute_label<int32_t>(s, ARRAY_IMAGE, order, 3));
    TRY(permute_label<int32_t>(s, ARRAY_SPECIES, order, 1));
    if (s->setup.charged)
        TRY(permute_label<scalar>(s, ARRAY_CHARGE, order, 1));
    cuda_set_view(s);
    if (s->terms)
        TRY(cuda_turn_terms(s, slots == s->view.n_own ? order : NULL));
    return cuda_run(s, "fill_pair", kernel_of<fill_pair, 1>(),
                    cuda_own_blocks(s), s->view);
}

int cuda_launch_sort(struct md_store *s)
{
    uint32_t slots = s->n_slots, cells;
    s->view.n_own = s->n_slots = slots - s->n_leavers;
    s->view.n_halo = s->n_leavers = 0;
    TRY(cuda_shape_cells(s, &cells));
    TRY(reserve_keys(s, slots > 0 ? slots : 1));
    if (slots == 0)
        return 0;
    struct sorting_place at = cuda_own_place(s);
    TRY(cuda_launch_keys(s, at, slots));
    TRY(cuda_sort_keys(s, at, slots));
    return cuda_launch_order(s, at, slots);
}

int cuda_sort(struct ctx *ctx, struct md_store *s)
{
    (void)ctx; /* the store's */
    if (cuda_keeps_all(s)) {
        cuda_do(s, {STEP_SORT, 0, 0, NULL});
        return s->failed;
    }
    cuda_settle(s);
    return cuda_launch_sort(s);
}
