/* term_places_cuda.cu: terms along bonds for a card: who stands where. */
#include "kernels/md/terms_cuda.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/md/id_table.h"
#include "kernels/md/special_pairs.h"
#include "kernels/md/term_errors.h"

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

/* ---- ids to places ---- */

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
                       const struct md_term *term, uint32_t *slot, int *there)
{
    int may_miss = term->kind == MD_TERM_SPECIAL &&
                   s->terms->field.coulomb.method != MD_COULOMB_EWALD;
    *there = !special_is_plain(&s->terms->field, s->setup.charged, term);
    for (int k = 0; k < 4; k++) /* of groups as well */
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
static int take_kind(struct ctx *ctx, struct md_store *s, int kind)
{
    struct card_terms *t = s->terms;
    for (size_t k = 0; k < t->n_given; k++) {
        const struct md_term *from = &t->given[k];
        struct card_term term;
        int there;
        term.slot[MD_TERM_MOST - 1] = 0;
        if (from->kind != kind ||
            special_has_no_force(&t->field, s->setup.charged, from))
            continue;
        TRY(find_places(ctx, s, from, term.slot, &there));
        term.type = from->type;
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
    t->has_maps[0] = t->has_maps[1] = 0;
    for (size_t i = 0; i < t->n; i++) {
        int side = has_copy(&t->term[i], (uint32_t)own);
        t->pairs_only[side] &= t->term[i].kind == MD_TERM_SPECIAL ||
                               t->term[i].kind == MD_TERM_PAIR14;
        t->has_maps[side] |= t->term[i].kind == MD_TERM_CMAP;
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
                    (uint32_t)(TERM_PLACES * i + (size_t)k);
        }
    }
    return 0;
}

/* Special pairs by the place of one and the id of the other. */
static int list_excluded(struct ctx *ctx, struct md_store *s)
{
    struct card_terms *t = s->terms;
    size_t own = s->view.n_own;
    uint32_t slot[4];
    int there;
    TRY(reserve_host(ctx, &t->first_excluded, &t->cap_first_excluded, own + 2));
    memset(t->first_excluded, 0, (own + 2) * sizeof *t->first_excluded);
    for (int fill = 0; fill < 2; fill++) {
        for (size_t k = 0; k < t->n_given; k++) {
            const struct md_term *term = &t->given[k];
            if (term->kind != MD_TERM_SPECIAL)
                continue;
            TRY(find_places(ctx, s, term, slot, &there));
            for (int e = 0; e < 2 && there; e++) {
                if (slot[e] >= own)
                    continue;
                if (fill)
                    t->excluded[t->first_excluded[slot[e] + 1]++] =
                        term->id[1 - e];
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

/* ---- groups of rigid bonds ---- */

/* Shapes are numbered as they come; each stands once. -1: too many. */
static int find_shape(const struct md_term *term, struct card_terms *t)
{
    for (int k = 0; k < t->n_shapes; k++)
        if (t->shape[k][0] == term->kind && t->shape[k][1] == term->type)
            return k;
    if (t->n_shapes == SHAPES_MAX)
        return -1;
    t->shape[t->n_shapes][0] = term->kind;
    t->shape[t->n_shapes][1] = term->type;
    return t->n_shapes++;
}

static int find_groups(struct ctx *ctx, struct md_store *s, int kind)
{
    struct card_terms *t = s->terms;
    int there;
    for (size_t k = 0; k < t->n_given; k++) {
        const struct md_term *term = &t->given[k];
        if (term->kind != kind)
            continue;
        struct card_group *g = &t->group[t->n_groups++];
        TRY(find_places(ctx, s, term, g->slot, &there));
        int shape = find_shape(term, t);
        if (shape < 0)
            return FAIL(ctx, STATUS_UNSUPPORTED,
                        "more than %d kinds of rigid groups are too many for a "
                        "card; use device = \"cpu\"",
                        SHAPES_MAX);
        g->shape = (uint16_t)shape;
        g->own = 0;
        for (int e = 0; e < md_term_size(kind); e++)
            g->own |= (uint16_t)((g->slot[e] < s->view.n_own) << e);
    }
    return 0;
}

static int list_groups(struct ctx *ctx, struct md_store *s)
{
    struct card_terms *t = s->terms;
    size_t groups = 0;
    t->n_groups = 0;
    t->n_shapes = 0;
    for (size_t k = 0; k < t->n_given; k++)
        groups += (size_t)md_term_is_rigid(t->given[k].kind);
    TRY(reserve_host(ctx, &t->group, &t->cap_group, groups));
    TRY(reserve_host(ctx, &t->shape, &t->cap_shape, SHAPES_MAX));
    for (int kind = MD_TERM_RIGID_BOND; kind <= MD_TERM_RIGID_THREE; kind++) {
        t->first_group[kind - MD_TERM_RIGID_BOND] = (uint32_t)t->n_groups;
        TRY(find_groups(ctx, s, kind));
        t->first_group[kind - MD_TERM_RIGID_BOND + 1] = (uint32_t)t->n_groups;
    }
    return 0;
}

int cuda_find_places(struct ctx *ctx, struct md_store *s)
{
    struct card_terms *t = s->terms;
    TRY(index_places(ctx, s));
    TRY(reserve_host(ctx, &t->term, &t->cap_term, t->n_given));
    t->n = 0;
    for (int kind = 0; kind < MD_TERM_KINDS; kind++)
        if (!md_term_is_rigid(kind))
            TRY(take_kind(ctx, s, kind));
    TRY(list_entries(ctx, s));
    TRY(list_excluded(ctx, s));
    return list_groups(ctx, s);
}
