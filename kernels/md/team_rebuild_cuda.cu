/* team_rebuild_cuda.cu: rebuilds of several stores at the same time: particles
 * and copies of all are sorted at once, and lists are found.
 */
#include "kernels/md/team_parts_cuda.h"
#include "kernels/primitives.h"

/* Room for so many numbers, and for sorts and sums of so many; what is there is
 * kept. */
static int reserve_scratch(struct md_store *s, size_t numbers, size_t sorted)
{
    struct cuda_team *t = s->team;
    TRY(cuda_grow(s->ctx, &t->scratch.p, &t->scratch.bytes,
                  numbers * sizeof(uint32_t), "sorting"));
    return cuda_grow(s->ctx, &t->workspace.p, &t->workspace.bytes,
                     primitives_workspace(sorted), "sorting");
}

/* ---- one sort for all ---- */

/* Keys, values, and what becomes of them, n each, of which those of a store
 * begin at `first`; its keys come behind those of the stores before. */
static struct sorting_place place_of(uint32_t *all, size_t n, size_t first,
                                     uint32_t below)
{
    struct sorting_place at = {all + first, all + n + first,
                               all + 2 * n + first, all + 3 * n + first, below};
    return at;
}

static int sort_all(struct md_store *s, uint32_t *all, size_t n, uint64_t cells)
{
    struct cuda_team *t = s->team;
    if (cells >= UINT32_MAX)
        return FAIL(s->ctx, STATUS_UNSUPPORTED,
                    "too many replicas for one card; use more ranks");
    CUDA_TRY(s->ctx, primitives_sort_pairs_u32(
                         t->workspace.p, t->workspace.bytes, all, all + n,
                         all + 2 * n, all + 3 * n, n,
                         cuda_sort_bits((uint32_t)cells), s->device->stream));
    return 0;
}

int cuda_team_sort(struct md_store *s)
{
    struct cuda_team *t = s->team;
    size_t own = s->view.n_own, n = t->n_with * own;
    uint64_t cells = 0;
    TRY(cuda_team_flush(s));
    TRY(reserve_scratch(s, 4 * n, n));
    for (unsigned k = 0; k < t->n_with; k++) {
        uint32_t of_one;
        t->below[k] = (uint32_t)cells;
        TRY(cuda_shape_cells(t->with[k], &of_one));
        cells += of_one;
    }
    uint32_t *all = (uint32_t *)t->scratch.p;
    TRY(note_each(t, [=](struct md_store *one, unsigned k) {
        return cuda_launch_keys(one, place_of(all, n, k * own, t->below[k]),
                                one->view.n_own);
    }));
    TRY(cuda_team_flush(s));
    TRY(sort_all(s, all, n, cells));
    return note_each(t, [=](struct md_store *one, unsigned k) {
        return cuda_launch_order(one, place_of(all, n, k * own, t->below[k]),
                                 one->view.n_own);
    });
}

/* ---- copies ---- */

/* Room for the copies that each has; how many they are, and in how many cells.
 */
static int ready_copies(struct md_store *s, uint64_t *copies, uint64_t *cells)
{
    struct cuda_team *t = s->team;
    *copies = *cells = 0;
    for (unsigned k = 0; k < t->n_with; k++) {
        uint32_t of_one;
        t->first[k] = (uint32_t)*copies;
        t->below[k] = (uint32_t)*cells;
        TRY(cuda_ready_copies(t->with[k]));
        TRY(cuda_reserve_starts(t->with[k], ARRAY_START_HALO, &of_one));
        *copies += t->with[k]->view.n_halo;
        *cells += of_one;
    }
    if (*copies >= UINT32_MAX)
        return FAIL(s->ctx, STATUS_UNSUPPORTED,
                    "too many replicas for one card; use more ranks");
    return 0;
}

static struct halo_record *records_of(const struct md_store *s)
{
    return ARRAY(s, ARRAY_RECORDS, struct halo_record);
}

static int launch_copies(struct md_store *s, const uint32_t *place,
                         uint32_t below, struct sorting_place at)
{
    TRY(cuda_launch_copies(s, place, below));
    return cuda_launch_copy_keys(s, records_of(s), at);
}

/* The numbers of copies, n of them, are in the scratch; their sums come behind
 * them, and then what is sorted. */
static int place_copies(struct md_store *s, size_t n)
{
    struct cuda_team *t = s->team;
    size_t own = s->view.n_own;
    uint64_t copies, cells;
    TRY(ready_copies(s, &copies, &cells));
    if (copies == 0)
        return 0;
    TRY(reserve_scratch(s, 2 * n + 4 * copies, copies > n ? copies : n));
    uint32_t *count = (uint32_t *)t->scratch.p, *sum = count + n;
    uint32_t *all = sum + n;
    CUDA_TRY(s->ctx,
             primitives_exclusive_sum_u32(t->workspace.p, t->workspace.bytes,
                                          count, sum, n, s->device->stream));
    TRY(note_each(t, [=](struct md_store *one, unsigned k) {
        return launch_copies(one, sum + k * own, t->first[k],
                             place_of(all, copies, t->first[k], t->below[k]));
    }));
    TRY(cuda_team_flush(s));
    TRY(sort_all(s, all, copies, cells));
    return note_each(t, [=](struct md_store *one, unsigned k) {
        return cuda_launch_copy_order(
            one, records_of(one),
            place_of(all, copies, t->first[k], t->below[k]));
    });
}

/* How many copies each has is known after the same wait. */
int cuda_team_choose(struct md_store *s)
{
    struct cuda_team *t = s->team;
    size_t own = s->view.n_own, n = t->n_with * own;
    TRY(cuda_team_flush(s));
    TRY(reserve_scratch(s, 2 * n, n));
    uint32_t *count = (uint32_t *)t->scratch.p;
    TRY(note_each(t, [=](struct md_store *one, unsigned k) {
        return cuda_count_copies(one, count + k * own);
    }));
    TRY(cuda_team_flush(s));
    TRY(cuda_team_ask(s));
    TRY(cuda_team_take(s));
    return place_copies(s, n);
}

/* ---- lists ---- */

/* Those that had too little room are built once more, one by one. */
int cuda_team_lists(struct md_store *s)
{
    struct cuda_team *t = s->team;
    for (unsigned k = 0; k < t->n_with; k++)
        TRY(cuda_ready_list(t->with[k]));
    TRY(note_each(t, [](struct md_store *one, unsigned) {
        return cuda_launch_neighbors(one);
    }));
    TRY(cuda_team_flush(s));
    TRY(cuda_team_ask(s));
    TRY(cuda_team_take(s));
    for (unsigned k = 0; k < t->n_with; k++)
        TRY(cuda_list_had_room(t->with[k]) ? cuda_list_is_built(t->with[k])
                                           : cuda_launch_list(t->with[k]));
    return 0;
}
