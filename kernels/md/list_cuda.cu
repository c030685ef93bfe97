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
find_neighbors(const struct md_view &m, const struct cell_grid &g,
               const uint32_t *start, uint32_t base, scalar radius2,
               const struct excluded_ids &out, uint32_t *neighbor,
               uint32_t *count, uint32_t rows, unsigned *most)
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    uint32_t n = 0;
    size_t stride = m.stride;
    struct row_range row = row_of(out.rows, i);
    for_each_near(m, g, start, base, i, radius2, [&](uint32_t j, scalar) {
        if (is_excluded(out, row, m.id[j]))
            return;
        if (n < rows)
            neighbor[n * stride + i] = j;
        n++;
    });
    count[i] = n;
    if (n > rows)
        atomicMax(most, n);
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

/* The list of own particles, or of copies. */
static struct pair_list *list_of(struct md_store *s, int halo)
{
    return halo ? &s->halo : &s->own;
}

static int launch_find(struct md_store *s, int halo)
{
    unsigned *most = ARRAY(s, ARRAY_COUNTER, unsigned) + halo;
    enum md_array start = halo ? ARRAY_START_HALO : ARRAY_START_OWN;
    struct pair_list *list = list_of(s, halo);
    uint32_t base = halo ? s->view.n_own : 0;
    TRY(cuda_run(s, "clear_number", kernel_of<clear_number, 1>(), dim3(1),
                 most));
    return cuda_run(s, "find_neighbors", kernel_of<find_neighbors, 1>(),
                    cuda_own_blocks(s), s->view, s->cells,
                    ARRAY(s, start, const uint32_t), base, square_of_radius(s),
                    cuda_excluded(s), (uint32_t *)list->neighbor.p,
                    (uint32_t *)list->count.p, list->rows, most);
}

static uint32_t first_rows(const struct md_store *s,
                           const struct pair_list *list)
{
    return list->rows > 0 ? list->rows : expected_rows(s) + 1;
}

/* Room for both lists, or that of copies, with the rows there are. */
static int ready_lists(struct md_store *s, int first)
{
    for (int halo = first; halo < (s->view.n_halo > 0 ? 2 : 1); halo++) {
        struct pair_list *list = list_of(s, halo);
        TRY(reserve_list(s->ctx, s, list, first_rows(s, list)));
    }
    return 0;
}

/* And for particles with more neighbors than there is room for. */
static int widen_lists(struct md_store *s)
{
    for (int halo = 0; halo < 2; halo++) {
        struct pair_list *list = list_of(s, halo);
        unsigned needed = s->result->needed[halo];
        if (needed > list->rows)
            TRY(reserve_list(s->ctx, s, list, needed + needed / 8 + 1));
    }
    return 0;
}

static int build(struct md_store *s)
{
    TRY(ready_lists(s, 0));
    for (;;) {
        TRY(cuda_launch_neighbors(s));
        TRY(cuda_wait_for_result(s));
        if (cuda_list_had_room(s))
            return 0;
        TRY(widen_lists(s));
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
    q->on = q->on && !s->setup.timed; /* what is captured cannot be timed */
    q->on |= s->team != NULL;         /* calls wait for those of others */
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
    TRY(cuda_reserve(s, ARRAY_COUNTER, 64, sizeof(unsigned), "counters"));
    if (s->view.n_own > 0)
        TRY(build(s));
    return cuda_list_is_built(s);
}

int cuda_ready_list(struct md_store *s)
{
    return ready_lists(s, 1);
}

int cuda_launch_neighbors(struct md_store *s)
{
    s->result->needed[0] = s->result->needed[1] = 0;
    for (int halo = 0; halo < (s->view.n_halo > 0 ? 2 : 1); halo++) {
        TRY(launch_find(s, halo));
        TRY(cuda_send(s, &s->result->needed[halo],
                      ARRAY(s, ARRAY_COUNTER, unsigned) + halo,
                      sizeof s->result->needed[halo]));
    }
    return cuda_note_listed(s);
}

int cuda_list_had_room(const struct md_store *s)
{
    return s->result->needed[0] <= s->own.rows &&
           s->result->needed[1] <= s->halo.rows;
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
