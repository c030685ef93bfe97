/* terms_cuda.cu: terms along bonds for a card: who stands where. */
#include "kernels/md/terms_cuda.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/md/id_table.h"
#include "kernels/md/special_pairs.h"
#include "kernels/md/term_errors.h"

/* ---- memory ---- */

template <class T>
static int reserve_host(struct ctx *ctx, T **p, size_t *capacity, size_t n)
{
    if (n <= *capacity && *p)
        return 0;
    size_t fresh = n + n / 4 + 16;
    free(*p);
    *p = (T *)malloc(fresh * sizeof **p);
    *capacity = *p ? fresh : 0;
    return *p ? 0
              : FAIL(ctx, STATUS_MEMORY,
                     "no memory for %zu bonds or their "
                     "particles",
                     n);
}

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
           3.0 * sizeof(uint32_t) + 12.0 * sizeof(int64_t) +
           (sizeof(struct card_group) + 15.0 * sizeof(double)) / 3;
}

/* ---- ids to places ---- */

void cuda_ids(const struct md_store *store, int64_t *out)
{
    struct md_store *s = const_cast<struct md_store *>(store);
    cuda_settle(s);
    if (s->view.n_own > 0 && s->failed == 0)
        s->failed = cuda_to_host(s->ctx, s->device, out, s->view.id,
                                 s->view.n_own * sizeof *out);
}

/* Own particles come first, so that theirs are the places that are kept. */
static int index_places(struct ctx *ctx, struct md_store *s)
{
    struct card_terms *t = s->terms;
    size_t n = (size_t)s->view.n_own + s->view.n_halo, capacity = 64;
    while (capacity < 2 * n)
        capacity *= 2;
    TRY(reserve_host(ctx, &t->id, &t->cap_id, n));
    TRY(reserve_host(ctx, &t->key, &t->cap_key, capacity));
    TRY(reserve_host(ctx, &t->value, &t->cap_value, capacity));
    t->capacity = capacity;
    memset(t->key, 0, capacity * sizeof *t->key);
    if (n > 0)
        TRY(cuda_to_host(ctx, s->device, t->id, s->view.id, n * sizeof *t->id));
    for (size_t i = 0; i < n; i++) {
        size_t k = id_home(t->id[i], capacity);
        while (t->key[k] != 0 && t->key[k] != t->id[i])
            k = (k + 1) & (capacity - 1);
        if (t->key[k] == t->id[i])
            continue;
        t->key[k] = t->id[i];
        t->value[k] = (uint32_t)i;
    }
    return 0;
}

/* UINT32_MAX where it is not here. */
static uint32_t place_of(const struct card_terms *t, int64_t id)
{
    for (size_t k = id_home(id, t->capacity);;
         k = (k + 1) & (t->capacity - 1)) {
        if (t->key[k] == id)
            return t->value[k];
        if (t->key[k] == 0)
            return UINT32_MAX;
    }
}

/* Particles that are farther apart than copies reach have no pair force, so
 * that one that only changes it may be missing: *there = 0. A mesh has forces
 * at any distance. */
static int find_places(struct ctx *ctx, const struct md_store *s,
                       const struct md_term *term, uint32_t slot[4], int *there)
{
    int may_miss = term->kind == MD_TERM_SPECIAL &&
                   s->terms->field.coulomb.method != MD_COULOMB_EWALD;
    *there = !special_is_plain(&s->terms->field, s->setup.charged, term);
    for (int k = 0; k < 4; k++)
        slot[k] = 0;
    for (int k = 0; k < md_term_size(term->kind) && *there; k++) {
        slot[k] = place_of(s->terms, term->id[k]);
        if (slot[k] == UINT32_MAX && !may_miss)
            return fail_missing(ctx, term, k);
        if (slot[k] == UINT32_MAX)
            *there = 0;
    }
    return 0;
}

/* ---- the terms ---- */

/* Those of one kind, behind those that are there. */
static int take_kind(struct ctx *ctx, struct md_store *s, int kind,
                     const struct md_term *terms, size_t n)
{
    struct card_terms *t = s->terms;
    for (size_t k = 0; k < n; k++) {
        struct card_term term;
        int there;
        if (terms[k].kind != kind ||
            special_has_no_force(&s->terms->field, s->setup.charged, &terms[k]))
            continue;
        TRY(find_places(ctx, s, &terms[k], term.slot, &there));
        term.type = terms[k].type;
        term.kind = (uint16_t)kind;
        term.size = (uint16_t)md_term_size(kind);
        if (there)
            t->term[t->n++] = term;
    }
    return 0;
}

static int has_copy(const struct card_term *term, uint32_t own)
{
    for (int k = 0; k < term->size; k++)
        if (term->slot[k] >= own)
            return 1;
    return 0;
}

/* Counts stand two places behind; then first[k + 1] is where row k begins, and
 * once it is filled, one behind, where it ends. */
static uint32_t begin_rows(uint32_t *first, size_t rows)
{
    for (size_t k = 2; k < rows + 2; k++)
        first[k] += first[k - 1];
    return first[rows + 1];
}

/* For each own particle the terms that it is in: rows of those of own particles
 * alone, then rows of those with a copy. */
static int list_entries(struct ctx *ctx, struct md_store *s)
{
    struct card_terms *t = s->terms;
    size_t own = s->view.n_own, rows = 2 * own;
    TRY(reserve_host(ctx, &t->first, &t->cap_first, rows + 2));
    memset(t->first, 0, (rows + 2) * sizeof *t->first);
    t->n_entries[0] = t->n_entries[1] = 0;
    t->pairs_only[0] = t->pairs_only[1] = 1;
    for (size_t i = 0; i < t->n; i++) {
        int side = has_copy(&t->term[i], (uint32_t)own);
        t->pairs_only[side] &= t->term[i].kind == MD_TERM_SPECIAL ||
                               t->term[i].kind == MD_TERM_PAIR14;
        for (int k = 0; k < t->term[i].size; k++)
            if (t->term[i].slot[k] < own) {
                t->first[side * own + t->term[i].slot[k] + 2]++;
                t->n_entries[side]++;
            }
    }
    size_t n = begin_rows(t->first, rows);
    TRY(reserve_host(ctx, &t->entry, &t->cap_entry, n));
    for (size_t i = 0; i < t->n; i++) {
        int side = has_copy(&t->term[i], (uint32_t)own);
        for (int k = 0; k < t->term[i].size; k++) {
            size_t slot = t->term[i].slot[k];
            if (slot < own)
                t->entry[t->first[side * own + slot + 1]++] =
                    (uint32_t)(4 * i + (size_t)k);
        }
    }
    return 0;
}

/* Special pairs by the place of one and the id of the other. */
static int list_excluded(struct ctx *ctx, struct md_store *s,
                         const struct md_term *terms, size_t n)
{
    struct card_terms *t = s->terms;
    size_t own = s->view.n_own;
    uint32_t slot[4];
    int there;
    TRY(reserve_host(ctx, &t->first_excluded, &t->cap_first_excluded, own + 2));
    memset(t->first_excluded, 0, (own + 2) * sizeof *t->first_excluded);
    for (int fill = 0; fill < 2; fill++) {
        for (size_t k = 0; k < n; k++) {
            if (terms[k].kind != MD_TERM_SPECIAL)
                continue;
            TRY(find_places(ctx, s, &terms[k], slot, &there));
            for (int e = 0; e < 2 && there; e++) {
                if (slot[e] >= own)
                    continue;
                if (fill)
                    t->excluded[t->first_excluded[slot[e] + 1]++] =
                        terms[k].id[1 - e];
                else
                    t->first_excluded[slot[e] + 2]++;
            }
        }
        if (!fill) {
            t->n_excluded = begin_rows(t->first_excluded, own);
            TRY(reserve_host(ctx, &t->excluded, &t->cap_excluded,
                             t->n_excluded));
        }
    }
    return 0;
}

/* ---- to the card ---- */

template <class T>
static int send(struct ctx *ctx, struct md_store *s, enum md_array which,
                const T *from, size_t n)
{
    if (n == 0)
        return 0;
    TRY(cuda_reserve(s, which, n, sizeof *from, "bonds"));
    return cuda_to_device(ctx, s->device, s->array[which].p, from,
                          n * sizeof *from);
}

static int send_terms(struct ctx *ctx, struct md_store *s)
{
    const struct card_terms *t = s->terms;
    size_t own = s->view.n_own;
    TRY(send(ctx, s, ARRAY_TERM, t->term, t->n));
    TRY(send(ctx, s, ARRAY_TERM_FIRST, t->first, 2 * own + 1));
    TRY(send(ctx, s, ARRAY_TERM_ENTRY, t->entry,
             t->n_entries[0] + t->n_entries[1]));
    TRY(send(ctx, s, ARRAY_EXCLUDED_FIRST, t->first_excluded, own + 1));
    return send(ctx, s, ARRAY_EXCLUDED, t->excluded, t->n_excluded);
}

/* ---- groups of rigid bonds ---- */

/* Shapes are numbered as they come; each stands once. -1: too many. */
static int find_shape(const struct md_term *term, int32_t (*known)[2], int *n)
{
    for (int k = 0; k < *n; k++)
        if (known[k][0] == term->kind && known[k][1] == term->type)
            return k;
    if (*n == SHAPES_MAX)
        return -1;
    known[*n][0] = term->kind;
    known[*n][1] = term->type;
    return (*n)++;
}

static int find_groups(struct ctx *ctx, struct md_store *s, int kind,
                       const struct md_term *terms, size_t n,
                       int32_t (*known)[2], int *n_shapes)
{
    struct card_terms *t = s->terms;
    int there;
    for (size_t k = 0; k < n; k++) {
        if (terms[k].kind != kind)
            continue;
        struct card_group *g = &t->group[t->n_groups++];
        TRY(find_places(ctx, s, &terms[k], g->slot, &there));
        int size = md_term_size(terms[k].kind);
        int shape = find_shape(&terms[k], known, n_shapes);
        if (shape < 0)
            return FAIL(ctx, STATUS_UNSUPPORTED,
                        "more than %d kinds of rigid groups are too many for a "
                        "card; use device = \"cpu\"",
                        SHAPES_MAX);
        g->shape = (uint16_t)shape;
        g->own = 0;
        for (int e = 0; e < size; e++)
            g->own |= (uint16_t)((g->slot[e] < s->view.n_own) << e);
    }
    return 0;
}

static int set_groups(struct ctx *ctx, struct md_store *s,
                      const struct md_term *terms, size_t n)
{
    struct card_terms *t = s->terms;
    int32_t known[SHAPES_MAX][2];
    int n_shapes = 0;
    size_t groups = 0;
    t->n_groups = 0;
    for (size_t k = 0; k < n; k++)
        groups += (size_t)md_term_is_rigid(terms[k].kind);
    TRY(reserve_host(ctx, &t->group, &t->cap_group, groups));
    for (int kind = MD_TERM_RIGID_BOND; kind <= MD_TERM_RIGID_THREE; kind++) {
        t->first_group[kind - MD_TERM_RIGID_BOND] = (uint32_t)t->n_groups;
        TRY(find_groups(ctx, s, kind, terms, n, known, &n_shapes));
        t->first_group[kind - MD_TERM_RIGID_BOND + 1] = (uint32_t)t->n_groups;
    }
    TRY(send(ctx, s, ARRAY_RIGID_GROUP, t->group, t->n_groups));
    return cuda_set_shapes(ctx, s, known, n_shapes);
}

/* ---- all of it ---- */

int cuda_set_terms(struct ctx *ctx, struct md_store *s,
                   const struct md_term *terms, size_t n)
{
    struct card_terms *t = s->terms;
    cuda_settle(s);
    if (!t)
        return n == 0
                   ? 0
                   : FAIL(ctx, STATUS_INTERNAL, "terms without a force field");
    if (n > UINT32_MAX / 8)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "%zu bonds on one card are too many; use more ranks", n);
    TRY(index_places(ctx, s));
    TRY(reserve_host(ctx, &t->term, &t->cap_term, n));
    t->n = 0;
    for (int kind = 0; kind < MD_TERM_KINDS; kind++)
        if (!md_term_is_rigid(kind))
            TRY(take_kind(ctx, s, kind, terms, n));
    TRY(list_entries(ctx, s));
    TRY(list_excluded(ctx, s, terms, n));
    TRY(send_terms(ctx, s));
    return set_groups(ctx, s, terms, n);
}

struct excluded_ids cuda_excluded(const struct md_store *s)
{
    struct excluded_ids x = {NULL, NULL};
    if (s->terms && s->terms->n_excluded > 0) {
        x.first = ARRAY(s, ARRAY_EXCLUDED_FIRST, uint32_t);
        x.id = ARRAY(s, ARRAY_EXCLUDED, int64_t);
    }
    return x;
}

struct listed_terms cuda_listed_terms(const struct md_store *s, int side)
{
    struct listed_terms l;
    l.term = ARRAY(s, ARRAY_TERM, struct card_term);
    l.first =
        ARRAY(s, ARRAY_TERM_FIRST, uint32_t) + (size_t)side * s->view.n_own;
    l.entry = ARRAY(s, ARRAY_TERM_ENTRY, uint32_t);
    return l;
}
