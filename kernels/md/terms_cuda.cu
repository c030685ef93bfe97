/* terms_cuda.cu: terms along bonds in memory of a card. */
#include "kernels/md/terms_cuda.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/md/team_cuda.h"

/* ---- memory ---- */

/* The array's copy here in its place, and one on the card. */
template <class T>
static int copy_array(struct md_store *s, const T **array, size_t n,
                      enum md_array which)
{
    const T *from = *array;
    *array = NULL;
    if (!from || n == 0)
        return 0;
    T *fresh = (T *)malloc(n * sizeof *fresh);
    if (!fresh)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for bonds");
    memcpy(fresh, from, n * sizeof *fresh);
    *array = fresh;
    TRY(cuda_reserve(s, which, n, sizeof *fresh, "coefficients of bonds"));
    return cuda_to_device(s->ctx, s->device, s->array[which].p, fresh,
                          n * sizeof *fresh);
}

static int copy_field(struct md_store *s)
{
    struct md_force_field *f = &s->terms->field;
    size_t pairs = (size_t)(s->setup.n_species * s->setup.n_species);
    const struct md_force_field from = *s->setup.field;
    *f = from;
    f->bonds = NULL;
    f->angles = NULL;
    f->dihedrals = NULL;
    f->impropers = NULL;
    f->lj14 = NULL;
    f->pairs14 = NULL;
    f->cmaps = NULL;
    f->cmap_nodes = NULL;
    s->setup.field = f;
#define COPY(member, count, which)                                      \
    do {                                                                \
        f->member = from.member;                                        \
        TRY(copy_array(s, &f->member, (size_t)(count), ARRAY_##which)); \
    } while (0)
    COPY(bonds, f->n_bonds, BONDS);
    COPY(angles, f->n_angles, ANGLES);
    COPY(dihedrals, f->n_dihedrals, DIHEDRALS);
    COPY(impropers, f->n_impropers, IMPROPERS);
    COPY(lj14, pairs, LJ14);
    COPY(pairs14, f->n_pairs14, PAIRS14);
    COPY(cmaps, f->n_cmaps, CMAPS);
    COPY(cmap_nodes, f->n_cmap_nodes, CMAP_NODES);
#undef COPY
    TRY(cuda_reserve(s, ARRAY_EXACT_PAIRS, pairs, sizeof *s->setup.coeff,
                     "coefficients"));
    return cuda_to_device(s->ctx, s->device, s->array[ARRAY_EXACT_PAIRS].p,
                          s->setup.coeff, pairs * sizeof *s->setup.coeff);
}

int cuda_terms_create(struct md_store *s)
{
    s->terms = (struct card_terms *)calloc(1, sizeof *s->terms);
    if (!s->terms)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for bonds");
    TRY(copy_field(s));
    const struct md_force_field *f = &s->terms->field;
    for (int k = 0; k < f->n_bonds; k++)
        s->terms->may_break |= f->bonds[k].style == MD_BOND_FENE;
    TRY(cuda_reserve(s, ARRAY_BROKEN, 1, sizeof(unsigned long long), "bonds"));
    CUDA_TRY(s->ctx,
             cudaMemsetAsync(s->array[ARRAY_BROKEN].p, 0xff,
                             sizeof(unsigned long long), s->device->stream));
    return 0;
}

void cuda_terms_destroy(struct card_terms *t)
{
    if (!t)
        return;
    free((void *)t->field.bonds);
    free((void *)t->field.angles);
    free((void *)t->field.dihedrals);
    free((void *)t->field.impropers);
    free((void *)t->field.lj14);
    free((void *)t->field.pairs14);
    free((void *)t->field.cmaps);
    free((void *)t->field.cmap_nodes);
    if (t->staged)
        cudaFreeHost(t->staged);
    free(t->shape);
    free(t->id);
    free(t->key);
    free(t->value);
    free(t->term);
    free(t->first);
    free(t->entry);
    free(t->first_excluded);
    free(t->excluded);
    free(t->group);
    free(t);
}

/* A protein's particle is in about 8 terms, shares each with two or three
 * others, and has a dozen excluded ones; water's is in a third of a group. */
double cuda_terms_bytes(void)
{
    return 8.0 * (sizeof(uint32_t) + sizeof(struct card_term) / 3.0) +
           4.0 * sizeof(uint32_t) + 12.0 * sizeof(int64_t) +
           (sizeof(struct card_group) + 15.0 * sizeof(double)) / 3;
}

void cuda_ids(const struct md_store *store, int64_t *out)
{
    struct md_store *s = const_cast<struct md_store *>(store);
    cuda_settle(s);
    if (s->view.n_own > 0 && s->failed == 0)
        s->failed = cuda_to_host(s->ctx, s->device, out, s->view.id,
                                 s->view.n_own * sizeof *out);
}

/* ---- to the card ---- */

static const size_t STAGED_ALIGNMENT = 16;

static size_t aligned(size_t bytes)
{
    return (bytes + STAGED_ALIGNMENT - 1) / STAGED_ALIGNMENT * STAGED_ALIGNMENT;
}

int cuda_stage_terms(struct md_store *s, enum md_array which, const void *from,
                     size_t n)
{
    struct card_terms *t = s->terms;
    unsigned char *here = t->staged + t->staged_used;
    if (n == 0)
        return 0;
    if (t->staged_used + aligned(n) > t->staged_bytes)
        return FAIL(s->ctx, STATUS_INTERNAL, "no room for terms on their way");
    TRY(cuda_reserve(s, which, n, 1, "bonds"));
    memcpy(here, from, n);
    t->staged_used += aligned(n);
    CUDA_TRY(s->ctx,
             cudaMemcpyAsync(s->array[which].p, here, n, cudaMemcpyHostToDevice,
                             s->device->stream));
    s->device->bytes_to_device += n;
    return 0;
}

/* Nothing is on its way any more: whatever was, the host has waited for the
 * list that was built of it. */
static int reserve_staged(struct md_store *s, size_t n)
{
    struct card_terms *t = s->terms;
    t->staged_used = 0;
    if (n <= t->staged_bytes)
        return 0;
    if (t->staged)
        CUDA_TRY(s->ctx, cudaFreeHost(t->staged));
    t->staged = NULL;
    t->staged_bytes = 0;
    CUDA_TRY(s->ctx, cudaMallocHost(&t->staged, n + n / 8));
    t->staged_bytes = n + n / 8;
    return 0;
}

/* Pinned, so that the host need not wait. */
static int send_terms(struct md_store *s)
{
    const struct card_terms *t = s->terms;
    size_t own = s->view.n_own, rows = own > 0 ? 2 * own + 1 : 0;
    struct {
        enum md_array which;
        const void *from;
        size_t bytes;
    } part[] = {
        {ARRAY_TERM, t->term, t->n * sizeof *t->term},
        {ARRAY_TERM_FIRST, t->first, rows * sizeof *t->first},
        {ARRAY_TERM_ENTRY, t->entry,
         (t->n_entries[0] + t->n_entries[1]) * sizeof *t->entry},
        {ARRAY_EXCLUDED_FIRST, t->first_excluded,
         (rows - own) * sizeof *t->first_excluded},
        {ARRAY_EXCLUDED, t->excluded, t->n_excluded * sizeof *t->excluded},
        {ARRAY_RIGID_GROUP, t->group, t->n_groups * sizeof *t->group},
    };
    size_t parts = sizeof part / sizeof part[0], bytes = cuda_shapes_bytes(s);
    for (size_t k = 0; k < parts; k++)
        bytes += aligned(part[k].bytes);
    TRY(reserve_staged(s, bytes));
    for (size_t k = 0; k < parts; k++)
        TRY(cuda_stage_terms(s, part[k].which, part[k].from, part[k].bytes));
    return cuda_set_shapes(s);
}

/* ---- along with the sort ---- */

/* Particle i stood at order[i]: its row comes along, in `sorted`, and place[]
 * says where each has gone. */
static __device__ __forceinline__ void turn_rows(const uint32_t *order,
                                                 const uint32_t *row,
                                                 uint32_t *sorted,
                                                 uint32_t *place, uint32_t n)
{
    uint32_t i = thread_index();
    if (i >= n)
        return;
    uint32_t from = order[i];
    sorted[i] = row ? row[from] : from;
    place[from] = i;
}

/* Sizes of what turn_terms() goes through, one thread each. */
struct turned_sizes {
    uint32_t own, terms, groups;
};

static __device__ __forceinline__ void
turn_terms(const uint32_t *sorted, const uint32_t *place, uint32_t *row,
           struct card_term *term, struct card_group *group,
           struct turned_sizes n)
{
    uint32_t i = thread_index();
    if (i < n.own)
        row[i] = sorted[i];
    if (i < n.terms)
        for (int k = 0; k < term[i].size; k++)
            term[i].slot[k] = place[term[i].slot[k]];
    if (i < n.groups)
        for (int k = 0; k < 4; k++)
            if (group[i].own >> k & 1)
                group[i].slot[k] = place[group[i].slot[k]];
}

int cuda_turn_terms(struct md_store *s, const uint32_t *order)
{
    struct card_terms *t = s->terms;
    uint32_t own = s->view.n_own;
    uint32_t *row = ARRAY(s, ARRAY_TERM_ROW, uint32_t);
    /* Scratch of the columns' sort, which is over. */
    uint32_t *sorted = ARRAY(s, ARRAY_SORTED, uint32_t), *place = sorted + own;
    struct turned_sizes n = {own, (uint32_t)t->n, (uint32_t)t->n_groups};
    uint32_t most = n.terms > n.groups ? n.terms : n.groups;
    if (!s->setup.whole || !order || t->placed != own) {
        t->placed = 0; /* find_terms() is for others than these */
        return 0;
    }
    TRY(cuda_run(s, "turn_rows", kernel_of<turn_rows, 1>(), cuda_own_blocks(s),
                 order, (const uint32_t *)(t->turned ? row : NULL), sorted,
                 place, own));
    t->turned = 1;
    return cuda_run(s, "turn_terms", kernel_of<turn_terms, JOINS_LOOSELY>(),
                    dim3(cuda_blocks(own > most ? own : most, MD_THREADS)),
                    (const uint32_t *)sorted, (const uint32_t *)place, row,
                    ARRAY(s, ARRAY_TERM, struct card_term),
                    ARRAY(s, ARRAY_RIGID_GROUP, struct card_group), n);
}

/* ---- all of it ---- */

static int place_terms(struct ctx *ctx, struct md_store *s)
{
    struct card_terms *t = s->terms;
    t->placed = 0;
    TRY(cuda_find_places(ctx, s));
    TRY(send_terms(s));
    TRY(cuda_reserve(s, ARRAY_TERM_ROW, s->view.n_own, sizeof(uint32_t),
                     "bonds"));
    t->placed = s->view.n_own;
    t->turned = 0;
    return 0;
}

int cuda_set_terms(struct ctx *ctx, struct md_store *s,
                   const struct md_term *terms, size_t n)
{
    cuda_settle(s);
    if (!s->terms)
        return n == 0
                   ? 0
                   : FAIL(ctx, STATUS_INTERNAL, "terms without a force field");
    if (n > UINT32_MAX / 8)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "%zu bonds on one card are too many; use more ranks", n);
    s->terms->given = terms;
    s->terms->n_given = n;
    return place_terms(ctx, s);
}

/* Of a whole box the sort has taken them along, or will where it waits. */
int cuda_find_terms(struct ctx *ctx, struct md_store *s)
{
    if (!s->terms)
        return 0;
    if (s->setup.whole && s->terms->placed == s->n_slots && s->n_slots > 0)
        return s->failed;
    cuda_settle(s);
    return place_terms(ctx, s);
}

static const uint32_t *turned_rows(const struct md_store *s)
{
    return s->terms->turned ? ARRAY(s, ARRAY_TERM_ROW, uint32_t) : NULL;
}

struct excluded_ids cuda_excluded(const struct md_store *s)
{
    struct excluded_ids x = {{NULL, NULL}, NULL};
    if (s->terms && s->terms->n_excluded > 0) {
        x.rows.first = ARRAY(s, ARRAY_EXCLUDED_FIRST, uint32_t);
        x.rows.row = turned_rows(s);
        x.id = ARRAY(s, ARRAY_EXCLUDED, int64_t);
    }
    return x;
}

struct listed_terms cuda_listed_terms(const struct md_store *s, int side)
{
    struct listed_terms l;
    l.term = ARRAY(s, ARRAY_TERM, struct card_term);
    l.rows.first =
        ARRAY(s, ARRAY_TERM_FIRST, uint32_t) + (size_t)side * s->view.n_own;
    l.rows.row = turned_rows(s);
    l.entry = ARRAY(s, ARRAY_TERM_ENTRY, uint32_t);
    return l;
}
