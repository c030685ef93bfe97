/* md_bond_images.c: see md_bond_images.h. */
#include "md.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "domain/topology.h"
#define KERNEL_FN static inline
#include "kernels/md/wrap.h"

/* What is done with one pair: its place among all, its term, its particles. */
typedef int (*visit)(struct ctx *ctx, struct md *md, size_t place,
                     const struct md_term *term, const struct md_particle *a,
                     const struct md_particle *b);

/* ---- which pairs a term takes to their nearest images ---- */

static int has_force(const struct md_force_field *f, const struct md_term *t)
{
    switch (t->kind) {
    case MD_TERM_BOND:
        return f->bonds[t->type].style != MD_BOND_NONE;
    case MD_TERM_ANGLE:
        return f->angles[t->type].style != MD_ANGLE_NONE;
    case MD_TERM_DIHEDRAL:
        return f->dihedrals[t->type].style != MD_DIHEDRAL_NONE;
    case MD_TERM_IMPROPER:
        return f->impropers[t->type].style != MD_IMPROPER_NONE;
    case MD_TERM_SPECIAL: /* beyond the cutoff it has none, but for a mesh's */
        return f->coulomb.method == MD_COULOMB_EWALD;
    default:
        return !md_term_is_rigid(t->kind); /* those keep their lengths */
    }
}

static int count_pairs(const struct md_force_field *f, const struct md_term *t)
{
    if (!has_force(f, t))
        return 0;
    if (t->kind != MD_TERM_DIHEDRAL)
        return md_term_size(t->kind) - 1;
    const struct md_dihedral_coeff *c = &f->dihedrals[t->type];
    return c->style == MD_DIHEDRAL_CHARMM && c->weight > 0 ? 4 : 3;
}

/* From one to the next, and the ends of a dihedral that are a 1-4 pair. */
static const int ends[4][2] = {{0, 1}, {1, 2}, {2, 3}, {0, 3}};

static int for_each_pair(struct ctx *ctx, struct md *md,
                         const struct md_particle *rows, visit what)
{
    const struct md_force_field *f = &md->bonded.field;
    size_t place = 0, n;
    for (int64_t id = 1; id <= md->n_particles; id++) {
        const struct md_term *t = topology_of(md->topology, id, &n);
        for (size_t k = 0; k < n; k++) {
            int pairs = t[k].id[0] == id ? count_pairs(f, &t[k]) : 0;
            for (int e = 0; e < pairs; e++)
                TRY(what(ctx, md, place++, &t[k],
                         &rows[t[k].id[ends[e][0]] - 1],
                         &rows[t[k].id[ends[e][1]] - 1]));
        }
    }
    return 0;
}

/* Edges of the box between where b is, seen from a, and where its image nearest
 * to a is. 0: there is none, of a place that is no number (md_guard.c). */
static int turns_of(const struct md *md, const struct md_particle *a,
                    const struct md_particle *b, int32_t turns[3])
{
    double x[3], near[3], from[3], to[3];
    md_unwrap(md, a, from);
    md_unwrap(md, b, to);
    for (int d = 0; d < 3; d++)
        x[d] = near[d] = b->position[d] - a->position[d];
    nearest_difference(near, md->box_length, md->tilt);
    for (int d = 0; d < 3; d++)
        x[d] = to[d] - from[d] - near[d];
    for (int d = 2; d >= 0; d--) {
        double n = rint(x[d] / md->box_length[d]);
        if (!(fabs(n) < 2e9))
            return 0;
        turns[d] = (int32_t)n;
        if (d == 2)
            x[1] -= n * md->tilt[2];
        if (d > 0)
            x[0] -= n * md->tilt[d - 1];
    }
    return 1;
}

/* ---- all particles by their ids ---- */

static int rows_of(struct ctx *ctx, const struct md *md,
                   struct md_particle **rows)
{
    struct md_particle *p = NULL;
    size_t n;
    TRY(md_own_particles(ctx, md, &p, &n));
    *rows = calloc((size_t)md->n_particles + 1, sizeof **rows);
    for (size_t i = 0; i < n && *rows; i++)
        (*rows)[p[i].id - 1] = p[i];
    free(p);
    return *rows ? 0
                 : FAIL(ctx, STATUS_MEMORY, "no memory for %zu particles", n);
}

static int visit_all(struct ctx *ctx, struct md *md,
                     const struct md_particle *rows, visit what)
{
    struct md_particle *own = NULL;
    if (!rows)
        TRY(rows_of(ctx, md, &own));
    int status = for_each_pair(ctx, md, rows ? rows : own, what);
    free(own);
    return status;
}

/* ---- then and now ---- */

static int remember(struct ctx *ctx, struct md *md, size_t place,
                    const struct md_term *term, const struct md_particle *a,
                    const struct md_particle *b)
{
    struct md_bond_images *m = &md->bond_images;
    struct md_pair_apart apart = {.pair = place};
    (void)term;
    if (!turns_of(md, a, b, apart.turns))
        return 0;
    if (apart.turns[0] == 0 && apart.turns[1] == 0 && apart.turns[2] == 0)
        return 0;
    if (m->n == m->capacity) {
        size_t grown = 2 * m->capacity + 64;
        struct md_pair_apart *fresh = realloc(m->apart, grown * sizeof *fresh);
        if (!fresh)
            return FAIL(ctx, STATUS_MEMORY, "no memory for bonds");
        m->apart = fresh;
        m->capacity = grown;
    }
    m->apart[m->n++] = apart;
    return 0;
}

int md_bond_images_begin(struct ctx *ctx, struct md *md)
{
    struct md_bond_images *m = &md->bond_images;
    m->on = md->topology && md->grid.size == 1;
    m->step = md->step;
    m->n = 0;
    return m->on ? visit_all(ctx, md, NULL, remember) : 0;
}

static int fail_turned(struct ctx *ctx, const struct md *md,
                       const struct md_term *term, const struct md_particle *a,
                       const struct md_particle *b)
{
    static const char *const names[MD_TERM_KINDS] = {
        [MD_TERM_BOND] = "bond",           [MD_TERM_ANGLE] = "angle",
        [MD_TERM_DIHEDRAL] = "dihedral",   [MD_TERM_IMPROPER] = "improper",
        [MD_TERM_SPECIAL] = "bonded pair", [MD_TERM_PAIR14] = "1-4 pair"};
    return FAIL(ctx, STATUS_LOST_PARTICLES,
                "step %" PRId64 ": %s of particles %" PRId64 " and %" PRId64
                ": since step %" PRId64 " it grew beyond half the box, %g x %g "
                "x %g, where another image is nearer; the bond broke, or the "
                "box is too small for it",
                md->step, names[term->kind], a->id, b->id, md->bond_images.step,
                md->box_length[0], md->box_length[1], md->box_length[2]);
}

static int compare(struct ctx *ctx, struct md *md, size_t place,
                   const struct md_term *term, const struct md_particle *a,
                   const struct md_particle *b)
{
    struct md_bond_images *m = &md->bond_images;
    int32_t turns[3], then[3] = {0};
    int known = turns_of(md, a, b, turns);
    if (m->at < m->n && m->apart[m->at].pair == place) {
        memcpy(then, m->apart[m->at++].turns, sizeof then);
        /* A sheared box gets other edges in the run: only 0 of them stay 0. */
        if (md->deform.kind == MD_DEFORM_SHEAR)
            return 0;
    }
    if (!known || memcmp(turns, then, sizeof then) == 0)
        return 0;
    return fail_turned(ctx, md, term, a, b);
}

int md_bond_images_check(struct ctx *ctx, struct md *md,
                         const struct md_particle *rows)
{
    struct md_bond_images *m = &md->bond_images;
    if (!m->on || m->step == md->step)
        return 0;
    m->at = 0;
    TRY(visit_all(ctx, md, rows, compare));
    m->step = md->step;
    return 0;
}

void md_bond_images_free(struct md *md)
{
    free(md->bond_images.apart);
}
