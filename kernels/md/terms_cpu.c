/* terms_cpu.c: terms along bonds: who stands where, and their forces. */
#include "kernels/md/terms_cpu.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "kernels/md/bonded.h"
#include "kernels/md/pairs.h"

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
    free(t->key);
    free(t->value);
    free(t->next_image);
    free(t->terms);
    free(t->excluded);
    free(t->first_excluded);
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

static size_t home_of(const struct md_terms *t, int64_t id)
{
    uint64_t h = (uint64_t)id * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(h >> 20) & (t->capacity - 1);
}

/* The slot of an id, UINT32_MAX where it is not here. */
static uint32_t slot_of(const struct md_terms *t, int64_t id)
{
    for (size_t k = home_of(t, id);; k = (k + 1) & (t->capacity - 1)) {
        if (t->key[k] == id)
            return t->value[k];
        if (t->key[k] == 0)
            return UINT32_MAX;
    }
}

static int index_slots(struct ctx *ctx, struct md_store *s)
{
    struct md_terms *t = s->terms;
    size_t slots = (size_t)(s->n_clusters + s->n_clusters_halo) * (size_t)LANES;
    size_t capacity = 64;
    while (capacity < 2 * (s->n_own + s->n_halo))
        capacity *= 2;
    if (capacity > t->capacity) {
        free(t->key);
        free(t->value);
        t->key = malloc(capacity * sizeof *t->key);
        t->value = malloc(capacity * sizeof *t->value);
        t->capacity = t->key && t->value ? capacity : 0;
        if (t->capacity == 0)
            return FAIL(ctx, STATUS_MEMORY, "no memory to find bonds");
    }
    memset(t->key, 0, t->capacity * sizeof *t->key);
    if (md_grow((void **)&t->next_image, &t->cap_next_image, slots,
                sizeof *t->next_image) != 0)
        return FAIL(ctx, STATUS_MEMORY, "no memory to find bonds");
    for (size_t slot = 0; slot < slots; slot++) {
        int64_t id = s->id[slot];
        t->next_image[slot] = UINT32_MAX;
        if (id == 0)
            continue;
        size_t k = home_of(t, id);
        while (t->key[k] != 0 && t->key[k] != id)
            k = (k + 1) & (t->capacity - 1);
        if (t->key[k] == id) {
            t->next_image[slot] = t->next_image[t->value[k]];
            t->next_image[t->value[k]] = (uint32_t)slot;
            continue;
        }
        t->key[k] = id;
        t->value[k] = (uint32_t)slot;
    }
    return 0;
}

static const char *const kind_names[MD_TERM_KINDS] = {
    "bond", "angle", "dihedral", "improper", "bonded pair"};

static int fail_missing(struct ctx *ctx, const struct md_term *term, int k)
{
    int64_t other = term->id[k == 0 ? 1 : 0];
    return FAIL(ctx, STATUS_LOST_PARTICLES,
                "%s of particles %" PRId64 " and %" PRId64
                ": they are farther apart than this rank can see; the bond "
                "broke, or the cutoff is too short for it",
                kind_names[term->kind], other, term->id[k]);
}

static int find_particles(struct ctx *ctx, const struct md_store *s,
                          const struct md_term *term, struct slot_term *out)
{
    uint32_t own = (uint32_t)s->n_clusters * (uint32_t)LANES;
    *out = (struct slot_term){.type = term->type, .kind = (uint8_t)term->kind};
    for (int k = 0; k < md_term_size(term->kind); k++) {
        out->slot[k] = slot_of(s->terms, term->id[k]);
        if (out->slot[k] == UINT32_MAX)
            return fail_missing(ctx, term, k);
        if (out->slot[k] < own)
            out->own |= (uint8_t)(1 << k);
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
    for (size_t k = 0; k < t->n; k++)
        for (int e = 0; t->terms[k].kind == MD_TERM_SPECIAL && e < 2; e++)
            if (t->terms[k].slot[e] < own) {
                t->first_excluded[t->terms[k].slot[e] + 2]++;
                n++;
            }
    for (size_t k = 2; k < own + 2; k++)
        t->first_excluded[k] += t->first_excluded[k - 1];
    if (md_grow((void **)&t->excluded, &t->cap_excluded, n + 1,
                sizeof *t->excluded) != 0)
        return FAIL(ctx, STATUS_MEMORY, "no memory for bonded pairs");
    for (size_t k = 0; k < t->n; k++)
        for (int e = 0; t->terms[k].kind == MD_TERM_SPECIAL && e < 2; e++)
            if (t->terms[k].slot[e] < own)
                t->excluded[t->first_excluded[t->terms[k].slot[e] + 1]++] =
                    t->terms[k].slot[1 - e];
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
    TRY(index_slots(ctx, s));
    if (md_grow((void **)&t->terms, &t->cap_terms, n, sizeof *t->terms) != 0)
        return FAIL(ctx, STATUS_MEMORY, "no memory for %zu bonds", n);
    t->n = 0;
    for (int inner = 1; inner >= 0; inner--) {
        for (size_t k = 0; k < n; k++) {
            struct slot_term term;
            TRY(find_particles(ctx, s, &terms[k], &term));
            if (is_inner(&term) == inner)
                t->terms[t->n++] = term;
        }
        if (inner)
            t->n_inner = t->n;
    }
    for (int k = 0; k < s->n_workers; k++)
        s->workers[k].broken = 0;
    TRY(index_excluded(ctx, s));
    s->masked = t->first_excluded[(size_t)s->n_clusters * (size_t)LANES] > 0;
    return 0;
}

/* ---- forces ---- */

/* What the loop over terms carries along. */
struct run {
    const struct md_store *s;
    const struct md_force_field *field;
    scalar *f;
    double energy[MD_ENERGIES], virial;
    int want, broken;
};

/* From b to the nearest image of a. */
static void difference(const struct md_store *s, uint32_t a, uint32_t b,
                       double out[3])
{
    for (int d = 0; d < 3; d++) {
        double length = s->setup.box_length[d];
        double x =
            (double)s->pair_x[SLOT(a, d)] - (double)s->pair_x[SLOT(b, d)];
        out[d] = x - length * rint(x / length);
    }
}

static void add_force(struct run *r, const struct slot_term *term, int k,
                      const double force[3])
{
    if (!(term->own >> k & 1))
        return;
    for (int d = 0; d < 3; d++)
        r->f[SLOT(term->slot[k], d)] += (scalar)force[d];
}

/* The share of a term's energy that is this rank's. */
static double share_of(const struct slot_term *term)
{
    return (double)__builtin_popcount(term->own) / md_term_size(term->kind);
}

static void add_pair(struct run *r, const struct slot_term *term, int i, int j,
                     const double d[3], double f_over_r)
{
    double force[3] = {f_over_r * d[0], f_over_r * d[1], f_over_r * d[2]};
    double back[3] = {-force[0], -force[1], -force[2]};
    add_force(r, term, i, force);
    add_force(r, term, j, back);
    if (r->want)
        r->virial += share_of(term) * dot3(force, d);
}

static void run_bond(struct run *r, const struct slot_term *term)
{
    double d[3], g;
    difference(r->s, term->slot[0], term->slot[1], d);
    double u =
        bond_energy(&r->field->bonds[term->type], dot3(d, d), &g, &r->broken);
    add_pair(r, term, 0, 1, d, g);
    r->energy[MD_ENERGY_BOND] += share_of(term) * u;
}

static void run_angle(struct run *r, const struct slot_term *term)
{
    double a[3], b[3], f_i[3] = {0}, f_k[3] = {0}, f_j[3];
    difference(r->s, term->slot[0], term->slot[1], a);
    difference(r->s, term->slot[2], term->slot[1], b);
    double u = angle_energy(&r->field->angles[term->type], a, b, f_i, f_k);
    for (int d = 0; d < 3; d++)
        f_j[d] = -f_i[d] - f_k[d];
    add_force(r, term, 0, f_i);
    add_force(r, term, 1, f_j);
    add_force(r, term, 2, f_k);
    r->energy[MD_ENERGY_ANGLE] += share_of(term) * u;
    if (r->want)
        r->virial += share_of(term) * (dot3(f_i, a) + dot3(f_k, b));
}

/* Lennard-Jones and plain Coulomb of the ends of a CHARMM dihedral. */
static void run_ends(struct run *r, const struct slot_term *term, double weight)
{
    const struct md_store *s = r->s;
    double d[3], lj = 0, qq = 0;
    difference(s, term->slot[0], term->slot[3], d);
    double inv2 = 1 / dot3(d, d), inv6 = inv2 * inv2 * inv2, f_lj = 0;
    if (r->field->lj14) {
        int a = s->species[term->slot[0]], b = s->species[term->slot[3]];
        const struct md_lj14 *c = &r->field->lj14[a * s->setup.n_species + b];
        lj = weight * inv6 * (c->c12 * inv6 - c->c6);
        f_lj = weight * inv6 * (12 * c->c12 * inv6 - 6 * c->c6);
    }
    if (s->charge)
        qq = weight * r->field->coulomb.constant *
             (double)s->charge[term->slot[0]] *
             (double)s->charge[term->slot[3]] * sqrt(inv2);
    add_pair(r, term, 0, 3, d, (f_lj + qq) * inv2);
    r->energy[MD_ENERGY_PAIR] += share_of(term) * lj;
    r->energy[MD_ENERGY_COULOMB] += share_of(term) * qq;
}

static void run_torsion(struct run *r, const struct slot_term *term)
{
    double f[3], g[3], h[3], force[4][3] = {{0}}, slope = 0, u;
    struct torsion t;
    difference(r->s, term->slot[0], term->slot[1], f);
    difference(r->s, term->slot[1], term->slot[2], g);
    difference(r->s, term->slot[3], term->slot[2], h);
    torsion_of(f, g, h, &t);
    int improper = term->kind == MD_TERM_IMPROPER;
    if (!improper) {
        u = dihedral_energy(&r->field->dihedrals[term->type], &t, &slope);
    } else {
        const struct md_improper_coeff *c = &r->field->impropers[term->type];
        u = c->style == MD_IMPROPER_NONE ? 0
            : c->style == MD_IMPROPER_HARMONIC
                ? improper_harmonic(c, &t, &slope)
                : improper_cvff(c, &t, &slope);
    }
    torsion_forces(&t, slope, force);
    for (int k = 0; k < 4; k++)
        add_force(r, term, k, force[k]);
    r->energy[improper ? MD_ENERGY_IMPROPER : MD_ENERGY_DIHEDRAL] +=
        share_of(term) * u;
    if (r->want) { /* positions relative to particle k */
        double x_i[3];
        for (int d = 0; d < 3; d++)
            x_i[d] = f[d] + g[d];
        r->virial += share_of(term) * (dot3(force[0], x_i) + dot3(force[1], g) +
                                       dot3(force[3], h));
    }
    if (!improper &&
        r->field->dihedrals[term->type].style == MD_DIHEDRAL_CHARMM &&
        r->field->dihedrals[term->type].weight > 0)
        run_ends(r, term, r->field->dihedrals[term->type].weight);
}

/* Lennard-Jones and Coulomb between particles that are few bonds apart: they
 * are not in the pair list, and here by their shares. A mesh has the whole
 * Coulomb sum, so that the part that bonds take away is taken off. */
static void run_special(struct run *r, const struct slot_term *term)
{
    const struct md_store *s = r->s;
    const struct md_coulomb *q = &r->field->coulomb;
    double share_lj = r->field->special_lj[term->type];
    double share_q = r->field->special_coulomb[term->type];
    double d[3], u = 0, uq = 0, g = 0;
    int charged = s->charge && q->method != MD_COULOMB_NONE;
    if (!(share_lj > 0) && !charged)
        return;
    difference(s, term->slot[0], term->slot[1], d);
    double r2 = dot3(d, d), gq = 0;
    int a = s->species[term->slot[0]], b = s->species[term->slot[1]];
    const struct lj_coeff *c = &s->coeff[a * s->setup.n_species + b];
    if (share_lj > 0 && r2 < c->cutoff2)
        u = share_lj * lj_pair(c, r->field->switch_from, r2, &g);
    if (charged)
        uq = coulomb_special(q, share_q, r2, &gq) *
             (double)s->charge[term->slot[0]] *
             (double)s->charge[term->slot[1]];
    gq *= charged ? (double)s->charge[term->slot[0]] *
                        (double)s->charge[term->slot[1]]
                  : 0;
    add_pair(r, term, 0, 1, d, share_lj * g + gq);
    r->energy[MD_ENERGY_PAIR] += share_of(term) * u;
    r->energy[MD_ENERGY_COULOMB] += share_of(term) * uq;
}

/* The terms of a worker: [*first, *last) of those of one kind. */
static void worker_terms(const struct md_store *s, const struct md_worker *w,
                         int with_copies, size_t *first, size_t *last)
{
    const struct md_terms *t = s->terms;
    size_t begin = with_copies ? t->n_inner : 0;
    size_t n = (with_copies ? t->n : t->n_inner) - begin;
    size_t k = (size_t)(w - s->workers), workers = (size_t)s->n_workers;
    *first = begin + n * k / workers;
    *last = begin + n * (k + 1) / workers;
}

static void run_term(struct run *r, const struct slot_term *term)
{
    switch (term->kind) {
    case MD_TERM_BOND:
        run_bond(r, term);
        break;
    case MD_TERM_ANGLE:
        run_angle(r, term);
        break;
    case MD_TERM_SPECIAL:
        run_special(r, term);
        break;
    default:
        run_torsion(r, term);
    }
}

void md_run_terms(const struct md_store *s, struct md_worker *w, scalar *f,
                  int want, int with_copies)
{
    struct run r = {.s = s, .field = &s->terms->field, .f = f, .want = want};
    size_t first, last;
    worker_terms(s, w, with_copies, &first, &last);
    for (size_t k = first; k < last; k++)
        run_term(&r, &s->terms->terms[k]);
    w->terms = (struct md_sums){.virial = r.virial};
    for (int e = 0; e < MD_ENERGIES; e++) {
        w->terms.part[e] = r.energy[e];
        w->terms.energy += r.energy[e];
    }
    if (r.broken)
        w->broken = 1;
}

void md_add_sums(struct md_sums *to, const struct md_sums *from)
{
    to->energy += from->energy;
    to->virial += from->virial;
    for (int e = 0; e < MD_ENERGIES; e++)
        to->part[e] += from->part[e];
}

void md_mark_terms(const struct md_store *s, struct md_worker *w)
{
    uint32_t own = (uint32_t)s->n_clusters * (uint32_t)LANES;
    for (int with_copies = 0; with_copies < 2; with_copies++) {
        size_t first, last;
        worker_terms(s, w, with_copies, &first, &last);
        for (size_t k = first; k < last; k++)
            for (int e = 0; e < 4; e++)
                if (s->terms->terms[k].slot[e] < own)
                    w->touched[s->terms->terms[k].slot[e] /
                               (uint32_t)(LANES * TOUCH_BLOCK)] = 1;
    }
}

const uint32_t *md_excluded(const struct md_store *s, size_t i, size_t *n)
{
    const struct md_terms *t = s->terms;
    *n = t->first_excluded[i + 1] - t->first_excluded[i];
    return t->excluded + t->first_excluded[i];
}

uint32_t md_next_image(const struct md_store *s, uint32_t slot)
{
    return s->terms->next_image[slot];
}

/* ---- broken bonds ---- */

static int64_t longest_bond(const struct md_store *s, double *length)
{
    int64_t which = -1;
    *length = 0;
    for (size_t k = 0; k < s->terms->n; k++) {
        const struct slot_term *term = &s->terms->terms[k];
        double d[3];
        if (term->kind != MD_TERM_BOND)
            continue;
        difference(s, term->slot[0], term->slot[1], d);
        double r = sqrt(dot3(d, d));
        if (which < 0 || !(r <= *length)) {
            *length = r;
            which = (int64_t)k;
        }
    }
    return which;
}

int md_check_terms(struct ctx *ctx, struct md_store *s)
{
    int broken = 0;
    double length;
    for (int k = 0; k < s->n_workers; k++)
        broken |= s->workers[k].broken;
    if (!broken)
        return 0;
    int64_t k = longest_bond(s, &length);
    if (k < 0)
        return FAIL(ctx, STATUS_INTERNAL, "a bond broke that is not there");
    const struct slot_term *term = &s->terms->terms[k];
    return FAIL(ctx, STATUS_PHYSICS,
                "the FENE bond of particles %" PRId64 " and %" PRId64
                " is %g long, longer than its %g; the timestep is probably "
                "too large, or the start is too tight",
                s->id[term->slot[0]], s->id[term->slot[1]], length,
                s->terms->field.bonds[term->type].r0);
}
