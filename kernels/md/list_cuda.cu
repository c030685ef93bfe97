/* list_cuda.cu: the pair list, one thread a particle over the cells around it.
 */
#include "kernels/md/eam_cuda.h"
#include "kernels/md/fixed_cuda.h"
#include "kernels/md/outer_cuda.h"
#include "kernels/md/team_cuda.h"
#include "kernels/md/terms_cuda.h"

#include <float.h>
#include <math.h>

/* Writes as many neighbors as there is room for and counts all; *most is the
 * greatest count, by which the caller sees whether the room was enough. */
static __device__ __forceinline__ void
neighbors_one(const struct md_view &m, const struct cell_grid &g,
              const uint32_t *start, uint32_t base, scalar radius2,
              struct excluded_ids out, uint32_t *neighbor, uint32_t *count,
              uint32_t rows, unsigned *most)
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    uint32_t n = 0;
    size_t stride = m.stride;
    for_each_near(m, g, start, base, i, radius2, [&](uint32_t j, scalar) {
        if (is_excluded(out, i, m.id[j]))
            return;
        if (n < rows)
            neighbor[n * stride + i] = j;
        n++;
    });
    count[i] = n;
    if (n > rows)
        atomicMax(most, n);
}

static __global__ void find_neighbors(struct md_view m, struct cell_grid g,
                                      const uint32_t *start, uint32_t base,
                                      scalar radius2, struct excluded_ids out,
                                      uint32_t *neighbor, uint32_t *count,
                                      uint32_t rows, unsigned *most)
{
    neighbors_one(m, g, start, base, radius2, out, neighbor, count, rows, most);
}

/* Of each store of a team; and where its particles are now. */
static __global__ void neighbors_joint(const struct team_member *member,
                                       scalar radius2)
{
    struct md_view m = member[blockIdx.y].view;
    struct cell_grid g = member[blockIdx.y].cells;
    struct excluded_ids none = {NULL, NULL};
    uint32_t i = thread_index();
    neighbors_one(m, g, member[blockIdx.y].start, 0, radius2, none,
                  member[blockIdx.y].neighbor, member[blockIdx.y].count,
                  member[blockIdx.y].rows, &member[blockIdx.y].result->needed);
    for (int d = 0; d < 3 && i < m.n_own; d++) {
        size_t at = d * m.stride + i;
        m.moved[at] = 0;
        member[blockIdx.y].listed[at] = m.x[at];
    }
}

static int reserve_list(struct ctx *ctx, struct md_store *s,
                        struct pair_list *list, uint32_t rows)
{
    TRY(cuda_grow(ctx, &list->count.p, &list->count.bytes,
                  s->capacity * sizeof(uint32_t), "the pair list"));
    /* The old list is of no use: no need to keep it. */
    size_t bytes = (size_t)rows * s->capacity * sizeof(uint32_t);
    if (bytes > list->neighbor.bytes) {
        TRY(cuda_release(ctx, list->neighbor.p));
        list->neighbor.p = NULL;
        list->neighbor.bytes = 0;
        TRY(cuda_grow(ctx, &list->neighbor.p, &list->neighbor.bytes, bytes,
                      "the pair list"));
    }
    list->rows = rows;
    return 0;
}

/* Neighbors to expect at this density, with room for fluctuations. */
static uint32_t expected_rows(const struct md_store *s)
{
    const struct md_setup *setup = &s->setup;
    double volume = 1, r = setup->list_radius;
    for (int d = 0; d < 3; d++)
        volume *= setup->hi[d] - setup->lo[d];
    double n = 4.18879020478639 * r * r * r * s->view.n_own / volume;
    return (uint32_t)fmin(1.25 * n + 16,
                          (double)s->view.n_own + s->view.n_halo);
}

static scalar square_of_radius(const struct md_store *s)
{
    double r = s->setup.list_radius;
    return (scalar)(r * r * (1 + 16 * FLT_EPSILON));
}

static int build(struct ctx *ctx, struct md_store *s, struct pair_list *list,
                 enum md_array start, uint32_t base)
{
    scalar radius2 = square_of_radius(s);
    uint32_t rows = list->rows > 0 ? list->rows : expected_rows(s) + 1;
    unsigned *most = ARRAY(s, ARRAY_COUNTER, unsigned);
    for (;;) {
        unsigned needed = 0;
        TRY(reserve_list(ctx, s, list, rows));
        CUDA_TRY(ctx,
                 cudaMemsetAsync(most, 0, sizeof *most, s->device->stream));
        LAUNCH(find_neighbors, cuda_blocks(s->view.n_own, MD_THREADS),
               MD_THREADS, 0, s->device->stream, s->view, s->cells,
               ARRAY(s, start, uint32_t), base, radius2, cuda_excluded(s),
               (uint32_t *)list->neighbor.p, (uint32_t *)list->count.p, rows,
               most);
        CUDA_TRY_LAUNCH(ctx, "find_neighbors");
        TRY(cuda_to_host(ctx, s->device, &needed, most, sizeof needed));
        if (needed <= rows)
            return 0;
        rows = needed + needed / 8 + 1;
    }
}

/* Below this many particles kernels are over sooner than they are launched, so
 * that a graph gains. */
static const uint32_t GRAPHS_BELOW = 100000;

/* All that the calls of a step get is settled with the list, but a box that
 * changes: then no graph is the next one's. */
static int begin_epoch(struct md_store *s)
{
    struct step_queue *q = &s->queue;
    TRY(cuda_reserve_sums(s));
    TRY(cuda_reserve_wide(s));
    TRY(cuda_eam_reserve(s));
    TRY(cuda_outer_refresh(s));
    q->on = s->setup.graphs == MD_GRAPHS_ON ||
            (s->setup.graphs == MD_GRAPHS_AUTO &&
             s->view.n_own < GRAPHS_BELOW && !s->box_moves);
    q->on = q->on && !s->clock; /* what is captured cannot be timed */
    q->on |= s->team != NULL;   /* calls wait for those of others */
    q->epoch++;
    return 0;
}

int cuda_list_is_built(struct md_store *s)
{
    TRY(begin_epoch(s));
    s->lists_built++;
    return 0;
}

int cuda_launch_list(struct md_store *s)
{
    struct ctx *ctx = s->ctx;
    TRY(cuda_reserve(s, ARRAY_COUNTER, 64, sizeof(unsigned), "counters"));
    if (s->view.n_own > 0) {
        TRY(build(ctx, s, &s->own, ARRAY_START_OWN, 0));
        if (s->view.n_halo > 0)
            TRY(build(ctx, s, &s->halo, ARRAY_START_HALO, s->view.n_own));
        CUDA_TRY(ctx, cudaMemsetAsync(s->view.moved, 0,
                                      3 * s->capacity * sizeof(float),
                                      s->device->stream));
        TRY(cuda_note_listed(s));
    }
    return cuda_list_is_built(s);
}

int cuda_team_list(const struct team_launch *t)
{
    LAUNCH(neighbors_joint, team_grid(t), MD_THREADS, 0, t->s->device->stream,
           t->member, square_of_radius(t->s));
    return cuda_status(t->s->ctx, cudaGetLastError(), "neighbors_joint");
}

int cuda_build_list(struct ctx *ctx, struct md_store *s)
{
    (void)ctx; /* the store's */
    if (cuda_keeps_all(s)) {
        cuda_do(s, {STEP_LIST, 0, 0, NULL});
        return s->failed;
    }
    cuda_settle(s);
    return cuda_launch_list(s);
}
