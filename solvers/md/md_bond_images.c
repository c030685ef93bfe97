/* md_bond_images.c: see md_bond_images.h. */
#include "md.h"
#include "md_analysis.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "domain/particles.h"
#include "domain/topology.h"
#include "kernels/md/id_table.h"

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

static int add_pair(struct ctx *ctx, struct md_bond_images *m, size_t first,
                    int64_t id, int64_t other, int kind)
{
    for (size_t k = first; k < m->n; k++)
        if (m->pairs[k].id[1] == other)
            return 0;
    if (m->n == m->capacity) {
        size_t grown = 2 * m->capacity + 64;
        struct md_bound *fresh = realloc(m->pairs, grown * sizeof *fresh);
        if (!fresh)
            return FAIL(ctx, STATUS_MEMORY, "no memory for bonds");
        m->pairs = fresh;
        m->capacity = grown;
    }
    m->pairs[m->n++] = (struct md_bound){.id = {id, other}, .kind = kind};
    return 0;
}

/* Pairs whose lower id is a particle of this rank, by that id: bonds come first
 * among the terms of a particle, which are those of the other one, too. */
static int list_pairs(struct ctx *ctx, struct md *md)
{
    struct md_bond_images *m = &md->bond_images;
    size_t own = md->k->count(md->store), n;
    int64_t *ids = malloc((own + 1) * sizeof *ids);
    int status = 0;
    if (!ids)
        return FAIL(ctx, STATUS_MEMORY, "no memory for bonds");
    md->k->ids(md->store, ids);
    qsort(ids, own, sizeof *ids, compare_ids);
    for (size_t i = 0; i < own; i++) {
        const struct md_term *t = topology_of(md->topology, ids[i], &n);
        size_t first = m->n;
        for (size_t k = 0; k < n; k++)
            for (int e = 0; e < count_pairs(&md->bonded.field, &t[k]); e++) {
                int64_t a = t[k].id[ends[e][0]], b = t[k].id[ends[e][1]];
                if ((a < b ? a : b) == ids[i] && status == 0)
                    status = add_pair(ctx, m, first, ids[i], a < b ? b : a,
                                      t[k].kind);
            }
    }
    free(ids);
    return status;
}

/* To the ranks in whose slabs their lower ids are. */
static int deal_pairs(struct ctx *ctx, struct md *md)
{
    struct md_bond_images *m = &md->bond_images;
    int ranks = md->grid.size, status = 0;
    size_t *send = calloc((size_t)ranks, sizeof *send), came = 0;
    size_t *received = calloc((size_t)ranks, sizeof *received);
    void *in = NULL;
    int64_t first = 0, n = 0;
    if (!send || !received)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for bonds");
    TRY_CLEANUP(comm_agree(ctx, status));
    for (size_t k = 0, r = 0; k < m->n; k++) {
        for (;; r++) {
            particles_slab(md->n_particles, (int)r, ranks, &first, &n);
            if (m->pairs[k].id[0] <= first + n)
                break;
        }
        send[r] += sizeof *m->pairs;
    }
    TRY_CLEANUP(comm_alltoall(ctx, m->pairs, send, &in, received));
    for (int r = 0; r < ranks; r++)
        came += received[r] / sizeof *m->pairs;
    free(m->pairs);
    m->pairs = in;
    m->n = m->capacity = came;
cleanup:
    free(send);
    free(received);
    return status;
}

/* How many edges of the box lie between b, seen from a as if neither had ever
 * been wrapped, and its image nearest to a: as nearest_difference() of wrap.h
 * finds it. 0: a place is no number (md_guard.c). */
static int turns_of(const struct md *md, const struct md_particle *a,
                    const struct md_particle *b, int32_t turns[3])
{
    double from[3], x[3];
    md_unwrap(md, a, from);
    md_unwrap(md, b, x);
    for (int d = 0; d < 3; d++)
        x[d] -= from[d];
    for (int d = 2; d >= 0; d--) {
        double length = md->box_length[d];
        turns[d] = 0;
        if (fabs(x[d]) < 0.5 * length)
            continue;
        double n = rint(x[d] / length);
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

/* ---- then and now ---- */

/* Of pairs within the slab. A sheared box gets other edges in the run: only 0
 * turns stay as many. */
static void remember(struct md *md, const struct md_particle *rows)
{
    struct md_bond_images *m = &md->bond_images;
    size_t all = m->n;
    int64_t first, n;
    particles_slab(md->n_particles, md->grid.rank, md->grid.size, &first, &n);
    m->n = 0;
    for (size_t k = 0; k < all; k++) {
        struct md_bound p = m->pairs[k];
        if (p.id[1] > first + n)
            continue;
        int known = turns_of(md, &rows[p.id[0] - 1 - first],
                             &rows[p.id[1] - 1 - first], p.turns);
        int apart = p.turns[0] || p.turns[1] || p.turns[2];
        if (known && !(apart && md->deform.kind == MD_DEFORM_SHEAR))
            m->pairs[m->n++] = p;
    }
}

int md_bond_images_begin(struct ctx *ctx, struct md *md)
{
    struct md_particle *rows = NULL;
    md->bond_images.step = md->step;
    md->bond_images.n = 0;
    if (!md->topology)
        return 0;
    TRY(comm_agree(ctx, list_pairs(ctx, md)));
    if (md->grid.size > 1)
        TRY(deal_pairs(ctx, md));
    TRY(md_rows_by_id(ctx, md, &rows));
    remember(md, rows);
    free(rows);
    return 0;
}

static int fail_turned(struct ctx *ctx, const struct md *md,
                       const struct md_bound *pair)
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
                md->step, names[pair->kind], pair->id[0], pair->id[1],
                md->bond_images.step, md->box_length[0], md->box_length[1],
                md->box_length[2]);
}

static int compare(struct ctx *ctx, const struct md *md,
                   const struct md_particle *rows)
{
    const struct md_bond_images *m = &md->bond_images;
    int64_t first, n;
    int32_t now[3];
    particles_slab(md->n_particles, md->grid.rank, md->grid.size, &first, &n);
    for (size_t k = 0; k < m->n; k++) {
        const struct md_bound *p = &m->pairs[k];
        if (turns_of(md, &rows[p->id[0] - 1 - first],
                     &rows[p->id[1] - 1 - first], now) &&
            memcmp(now, p->turns, sizeof now) != 0)
            return fail_turned(ctx, md, p);
    }
    return 0;
}

int md_bond_images_check(struct ctx *ctx, struct md *md,
                         const struct md_particle *rows)
{
    struct md_bond_images *m = &md->bond_images;
    struct md_particle *own = NULL;
    if (!md->topology || m->step == md->step)
        return 0;
    if (!rows)
        TRY(md_rows_by_id(ctx, md, &own));
    int status = comm_agree(ctx, compare(ctx, md, rows ? rows : own));
    free(own);
    if (status == 0)
        m->step = md->step;
    return status;
}

void md_bond_images_free(struct md *md)
{
    free(md->bond_images.pairs);
}
