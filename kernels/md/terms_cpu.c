/* terms_cpu.c: terms along bonds: who stands where, and their forces. */
#include "kernels/md/chain_cpu.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "kernels/md/special_pairs.h"
#include "kernels/md/term_errors.h"

/* ---- memory ---- */

static int copy_array(const void **array, int n, size_t size)
{
    if (!*array || n == 0) {
        *array = NULL;
        return 0;
    }
    void *fresh = malloc((size_t)n * size);
    if (!fresh)
        return -1;
    memcpy(fresh, *array, (size_t)n * size);
    *array = fresh;
    return 0;
}

int md_terms_create(struct ctx *ctx, struct md_store *s)
{
    int species = s->setup.n_species, failed = 0;
    struct md_terms *t = calloc(1, sizeof *t);
    if (!t)
        return FAIL(ctx, STATUS_MEMORY, "no memory for bonds");
    struct md_force_field *f = &t->field;
    *f = *s->setup.field;
    struct {
        const void **array;
        int n;
        size_t size;
    } arrays[] = {
        {(const void **)&f->bonds, f->n_bonds, sizeof *f->bonds},
        {(const void **)&f->angles, f->n_angles, sizeof *f->angles},
        {(const void **)&f->dihedrals, f->n_dihedrals, sizeof *f->dihedrals},
        {(const void **)&f->impropers, f->n_impropers, sizeof *f->impropers},
        {(const void **)&f->lj14, species * species, sizeof *f->lj14},
        {(const void **)&f->pairs14, f->n_pairs14, sizeof *f->pairs14},
        {(const void **)&f->cmaps, f->n_cmaps, sizeof *f->cmaps},
        {(const void **)&f->cmap_nodes, f->n_cmap_nodes, sizeof *f->cmap_nodes},
    };
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) {
        if (failed)
            *arrays[k].array = NULL;
        else if (copy_array(arrays[k].array, arrays[k].n, arrays[k].size) != 0)
            failed = 1;
        if (failed)
            *arrays[k].array = NULL;
    }
    s->setup.field = f;
    s->terms = t;
    if (!failed && (md_lanes_create(s) != 0 || md_wide_create(s) != 0 ||
                    md_chain_create(s) != 0))
        failed = 1;
    return failed ? FAIL(ctx, STATUS_MEMORY, "no memory for bonds") : 0;
}

void md_terms_destroy(struct md_terms *t)
{
    if (!t)
        return;
    free((void *)(uintptr_t)t->field.bonds);
    free((void *)(uintptr_t)t->field.angles);
    free((void *)(uintptr_t)t->field.dihedrals);
    free((void *)(uintptr_t)t->field.impropers);
    free((void *)(uintptr_t)t->field.lj14);
    free((void *)(uintptr_t)t->field.pairs14);
    free((void *)(uintptr_t)t->field.cmaps);
    free((void *)(uintptr_t)t->field.cmap_nodes);
    free(t->kept);
    free(t->place);
    free(t->next_image);
    free(t->terms);
    free(t->apart);
    free(t->excluded);
    free(t->first_excluded);
    free(t->lanes);
    free(t->wide);
    md_chain_destroy(t->chain);
    free(t);
}

/* ---- ids to slots ---- */

void md_own_ids(const struct md_store *s, int64_t *out)
{
    size_t slots = (size_t)s->n_clusters * (size_t)LANES;
    for (size_t slot = 0; slot < slots; slot++)
        if (s->id[slot] != 0)
            *out++ = s->id[slot];
}

/* Room to find n particles by ids up to `greatest`. */
static int reserve_places(struct md_terms *t, size_t n, int64_t greatest)
{
    size_t capacity = 64;
    while (capacity < 2 * n)
        capacity *= 2;
    t->direct = (size_t)greatest < 4 * capacity;
    t->capacity = t->direct ? (size_t)greatest + 1 : capacity;
    if (md_grow((void **)&t->place, &t->cap_place, t->capacity,
                sizeof *t->place) != 0)
        return -1;
    memset(t->place, 0xff, t->capacity * sizeof *t->place);
    return 0;
}

static int index_slots(struct ctx *ctx, struct md_store *s)
{
    struct md_terms *t = s->terms;
    size_t slots = (size_t)(s->n_clusters + s->n_clusters_halo) * (size_t)LANES;
    int64_t greatest = 0;
    for (size_t slot = 0; slot < slots; slot++)
        greatest = s->id[slot] > greatest ? s->id[slot] : greatest;
    if (reserve_places(t, s->n_own + s->n_halo, greatest) != 0 ||
        md_grow((void **)&t->next_image, &t->cap_next_image, slots,
                sizeof *t->next_image) != 0)
        return FAIL(ctx, STATUS_MEMORY, "no memory to find bonds");
    memset(t->next_image, 0xff, slots * sizeof *t->next_image);
    for (size_t slot = 0; slot < slots; slot++) {
        int64_t id = s->id[slot];
        if (id == 0)
            continue;
        size_t k = id_place(id, t->capacity, t->direct);
        while (!t->direct && t->place[k] != UINT32_MAX &&
               s->id[t->place[k]] != id)
            k = (k + 1) & (t->capacity - 1);
        uint32_t there = t->place[k];
        if (there == UINT32_MAX) {
            t->place[k] = (uint32_t)slot;
        } else {
            t->next_image[slot] = t->next_image[there];
            t->next_image[there] = (uint32_t)slot;
        }
    }
    return 0;
}

/* Particles that are farther apart than copies reach have no pair force, so
 * that one that only changes it may be missing: *there = 0. A mesh has forces
 * at any distance. */
static inline int find_particles(struct ctx *ctx, const struct md_store *s,
                                 const struct md_term *term,
                                 struct slot_term *out, int *there)
{
    uint32_t own = (uint32_t)s->n_clusters * (uint32_t)LANES;
    int size = md_term_size(term->kind);
    *out = (struct slot_term){.type = term->type, .kind = (uint8_t)term->kind};
    *there = 1;
    for (int k = 0; k < size; k++) {
        uint32_t slot = out->slot[k] = md_slot_of(s, term->id[k]);
        if (slot == UINT32_MAX) {
            *there = 0;
            if (term->kind != MD_TERM_SPECIAL ||
                s->terms->field.coulomb.method == MD_COULOMB_EWALD)
                return fail_missing(ctx, term, k);
        }
        out->own |= (uint8_t)((slot < own) << k);
    }
    return 0;
}

static int is_inner(const struct slot_term *term)
{
    return term->own == (1 << md_term_size(term->kind)) - 1;
}

/* ---- who is kept out of the pair list ---- */

static int index_excluded(struct ctx *ctx, struct md_store *s)
{
    struct md_terms *t = s->terms;
    size_t own = (size_t)s->n_clusters * (size_t)LANES, n = 0;
    if (md_grow((void **)&t->first_excluded, &t->cap_first, own + 2,
                sizeof *t->first_excluded) != 0)
        return FAIL(ctx, STATUS_MEMORY, "no memory for bonded pairs");
    memset(t->first_excluded, 0, (own + 2) * sizeof *t->first_excluded);
    for (size_t k = 0; k < t->n_apart; k++)
        for (int e = 0; e < 2; e++)
            if (t->apart[k][e] < own) {
                t->first_excluded[t->apart[k][e] + 2]++;
                n++;
            }
    for (size_t k = 2; k < own + 2; k++)
        t->first_excluded[k] += t->first_excluded[k - 1];
    if (md_grow((void **)&t->excluded, &t->cap_excluded, n + 1,
                sizeof *t->excluded) != 0)
        return FAIL(ctx, STATUS_MEMORY, "no memory for bonded pairs");
    for (size_t k = 0; k < t->n_apart; k++)
        for (int e = 0; e < 2; e++)
            if (t->apart[k][e] < own)
                t->excluded[t->first_excluded[t->apart[k][e] + 1]++] =
                    t->apart[k][1 - e];
    return 0;
}

/* Terms of own particles alone, then those with copies, each in their order:
 * the latter are put at the end of the array, from there on backwards, until
 * it is known where they begin. */
static int find_places(struct ctx *ctx, struct md_store *s)
{
    struct md_terms *t = s->terms;
    size_t inner = 0, n = t->n_known, outer = n;
    t->n_apart = 0;
    for (size_t k = 0; k < n; k++) {
        struct slot_term term;
        int there;
        int kind = t->known[k].kind;
        if (md_term_is_rigid(kind) || (kind == MD_TERM_BOND && t->chain->on) ||
            (kind == MD_TERM_SPECIAL && t->chain->joined))
            continue;
        TRY(find_particles(ctx, s, &t->known[k], &term, &there));
        if (!there)
            continue;
        if (term.kind == MD_TERM_SPECIAL) {
            t->apart[t->n_apart][0] = term.slot[0];
            t->apart[t->n_apart++][1] = term.slot[1];
            if (special_has_no_force(&s->terms->field, s->setup.charged,
                                     &t->known[k]))
                continue;
        }
        t->terms[is_inner(&term) ? inner++ : --outer] = term;
    }
    t->n_inner = inner;
    t->n = inner + n - outer;
    for (size_t a = outer, b = n; a + 1 < b; a++) {
        struct slot_term swapped = t->terms[--b];
        t->terms[b] = t->terms[a];
        t->terms[a] = swapped;
    }
    memmove(t->terms + inner, t->terms + outer, (n - outer) * sizeof *t->terms);
    return 0;
}

static int find_rigid(struct ctx *ctx, struct md_store *s)
{
    const struct md_terms *t = s->terms;
    struct slot_term term;
    int there, clear = 0;
    for (size_t k = 0; k < t->n_known; k++) {
        if (!md_term_is_rigid(t->known[k].kind))
            continue;
        if (!clear++)
            TRY(md_rigid_clear(ctx, s));
        TRY(find_particles(ctx, s, &t->known[k], &term, &there));
        TRY(md_rigid_add(ctx, s, &term));
    }
    /* None here now, though there may be elsewhere. */
    return clear || !s->rigid ? 0 : md_rigid_clear(ctx, s);
}

int md_place_terms(struct ctx *ctx, struct md_store *s)
{
    struct md_terms *t = s->terms;
    if (!t->set)
        return FAIL(ctx, STATUS_INTERNAL, "terms are looked for, but not set");
    TRY(index_slots(ctx, s));
    TRY(md_chain_place(ctx, s, t->fresh));
    t->fresh = 0;
    TRY(find_places(ctx, s));
    for (int k = 0; k < s->n_workers; k++)
        s->workers[k].broken = 0;
    TRY(find_rigid(ctx, s));
    if (t->n_apart > 0)
        TRY(index_excluded(ctx, s));
    s->masked = s->charges || t->n_apart > 0;
    return 0;
}

size_t md_first_of_kind(const struct md_terms *t, int kind)
{
    size_t below = 0, above = t->n_known;
    while (below < above) {
        size_t middle = below + (above - below) / 2;
        if (t->known[middle].kind < kind)
            below = middle + 1;
        else
            above = middle;
    }
    return below;
}

/* The terms but for those that do nothing; n: room enough. */
static size_t without_plain(const struct md_store *s,
                            const struct md_term *terms, size_t n,
                            struct md_term *out)
{
    size_t kept = 0;
    for (size_t k = 0; k < n; k++)
        if (!special_is_plain(&s->terms->field, s->setup.charged, &terms[k]))
            out[kept++] = terms[k];
    return kept;
}

/* Whether there may be terms that do nothing. */
static int has_plain(const struct md_store *s)
{
    for (int type = 0; type < 3; type++)
        if (special_is_plain(
                &s->terms->field, s->setup.charged,
                &(struct md_term){.kind = MD_TERM_SPECIAL, .type = type}))
            return 1;
    return 0;
}

/* The list is long and mostly the one before: it is not even looked through
 * where all of it counts. */
static int keep_terms(struct md_store *s, const struct md_term *terms, size_t n)
{
    struct md_terms *t = s->terms;
    t->known = terms;
    t->n_known = n;
    if (has_plain(s)) {
        if (md_grow((void **)&t->kept, &t->cap_kept, n, sizeof *t->kept) != 0)
            return -1;
        t->n_known = without_plain(s, terms, n, t->kept);
        t->known = t->kept;
    }
    t->n_apart = md_first_of_kind(t, MD_TERM_SPECIAL + 1) -
                 md_first_of_kind(t, MD_TERM_SPECIAL);
    if (md_grow((void **)&t->terms, &t->cap_terms, t->n_known,
                sizeof *t->terms) != 0 ||
        md_grow((void **)&t->apart, &t->cap_apart, t->n_apart,
                sizeof *t->apart) != 0)
        return -1;
    return 0;
}

int md_set_terms(struct ctx *ctx, struct md_store *s,
                 const struct md_term *terms, size_t n)
{
    struct md_terms *t = s->terms;
    if (!t)
        return n == 0
                   ? 0
                   : FAIL(ctx, STATUS_INTERNAL, "terms without a force field");
    if (keep_terms(s, terms, n) != 0)
        return FAIL(ctx, STATUS_MEMORY, "no memory for %zu bonds", n);
    t->set = t->fresh = 1;
    return md_place_terms(ctx, s);
}

/* ---- shares of threads ---- */

void md_worker_terms(const struct md_store *s, const struct md_worker *w,
                     int with_copies, size_t *first, size_t *last)
{
    const struct md_terms *t = s->terms;
    size_t begin = with_copies ? t->n_inner : 0;
    size_t n = (with_copies ? t->n : t->n_inner) - begin;
    size_t k = (size_t)(w - s->workers), workers = (size_t)s->n_workers;
    *first = begin + n * k / workers;
    *last = begin + n * (k + 1) / workers;
}

double md_terms_seconds(struct md_store *s, double seconds)
{
    double sum = 0;
    (void)seconds; /* these are known better */
    for (int k = 0; k < s->n_workers; k++) {
        sum += s->workers[k].terms_seconds;
        s->workers[k].terms_seconds = 0;
    }
    return sum / s->n_workers;
}

void md_mark_terms(const struct md_store *s, struct md_worker *w)
{
    uint32_t own = (uint32_t)s->n_clusters * (uint32_t)LANES;
    for (int with_copies = 0; with_copies < 2; with_copies++) {
        size_t first, last;
        md_worker_terms(s, w, with_copies, &first, &last);
        for (size_t k = first; k < last; k++)
            for (int e = 0; e < md_term_size(s->terms->terms[k].kind); e++)
                if (s->terms->terms[k].slot[e] < own)
                    w->touched[s->terms->terms[k].slot[e] /
                               (uint32_t)(LANES * TOUCH_BLOCK)] = 1;
    }
}
