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
static void ends_of(const struct md_term *t, int e, int64_t id[2])
{
    int is_ends = t->kind == MD_TERM_DIHEDRAL && e == 3;
    id[0] = t->id[is_ends ? 0 : e];
    id[1] = t->id[is_ends ? 3 : e + 1];
}

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
                int64_t id[2];
                ends_of(&t[k], e, id);
                int64_t low = id[0] < id[1] ? id[0] : id[1];
                if (low == ids[i] && status == 0)
                    status = add_pair(ctx, m, first, low, id[0] + id[1] - low,
                                      t[k].kind);
            }
    }
    free(ids);
    return status;
}

static int compare_partners(const void *a, const void *b)
{
    const struct md_bound *p = a, *q = b;
    return compare_ids(&p->id[1], &q->id[1]);
}

/* To the ranks in whose slabs their lower ids are; there by their higher ids,
 * so that those of one slab are next to one another. */
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
    qsort(m->pairs, m->n, sizeof *m->pairs, compare_partners);
cleanup:
    free(send);
    free(received);
    return status;
}

/* ---- partners in the slabs of other ranks ---- */

/* Ask for the places of them, once for all times. */
static int ask_places(struct ctx *ctx, struct md *md)
{
    struct md_bond_images *m = &md->bond_images;
    int ranks = md->grid.size, status = 0, r = 0;
    int64_t first, n, *ids = malloc((m->n + 1) * sizeof *ids);
    size_t *bytes = calloc((size_t)ranks, sizeof *bytes), asking = 0;
    void *asked = NULL;
    m->asked_bytes = calloc((size_t)ranks, sizeof *m->asked_bytes);
    if (!ids || !bytes || !m->asked_bytes)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for bonds");
    TRY_CLEANUP(comm_agree(ctx, status));
    for (size_t k = m->n_within; k < m->n; k++) {
        for (;; r++) {
            particles_slab(md->n_particles, r, ranks, &first, &n);
            if (m->pairs[k].id[1] <= first + n)
                break;
        }
        ids[asking++] = m->pairs[k].id[1];
        bytes[r] += sizeof *ids;
    }
    TRY_CLEANUP(comm_alltoall(ctx, ids, bytes, &asked, m->asked_bytes));
    m->asked = asked;
cleanup:
    free(ids);
    free(bytes);
    return status;
}

/* The places of now, in the order of the pairs from n_within on; the caller
 * frees them. NULL on one rank. */
static int bring_places(struct ctx *ctx, struct md *md,
                        const struct md_particle *rows, double (**places)[3])
{
    struct md_bond_images *m = &md->bond_images;
    int ranks = md->grid.size, status = 0;
    size_t n_asked = 0, n = 0;
    int64_t first, own;
    *places = NULL;
    if (ranks == 1)
        return 0;
    particles_slab(md->n_particles, md->grid.rank, ranks, &first, &own);
    for (int r = 0; r < ranks; r++)
        n_asked += m->asked_bytes[r] / sizeof *m->asked;
    double(*mine)[3] = malloc((n_asked + 1) * sizeof *mine);
    size_t *send = calloc((size_t)ranks, sizeof *send);
    size_t *received = calloc((size_t)ranks, sizeof *received);
    void *in = NULL;
    if (!mine || !send || !received)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for bonds");
    TRY_CLEANUP(comm_agree(ctx, status));
    for (int r = 0; r < ranks; r++)
        send[r] = m->asked_bytes[r] / sizeof *m->asked * sizeof *mine;
    for (; n < n_asked; n++)
        md_unwrap(md, &rows[m->asked[n] - 1 - first], mine[n]);
    TRY_CLEANUP(comm_alltoall(ctx, mine, send, &in, received));
    *places = in;
cleanup:
    free(mine);
    free(send);
    free(received);
    return status;
}

/* How many edges of the box lie between both of a pair as if neither had ever
 * been wrapped, and the nearest image of the second: as nearest_difference() of
 * wrap.h finds it. 0: a place is no number (md_guard.c). */
static int turns_of(const struct md *md, size_t pair,
                    const struct md_particle *rows, double (*places)[3],
                    int32_t turns[3])
{
    const struct md_bond_images *m = &md->bond_images;
    const struct md_bound *p = &m->pairs[pair];
    int64_t first, own;
    double from[3], x[3];
    particles_slab(md->n_particles, md->grid.rank, md->grid.size, &first, &own);
    md_unwrap(md, &rows[p->id[0] - 1 - first], from);
    if (pair < m->n_within)
        md_unwrap(md, &rows[p->id[1] - 1 - first], x);
    else
        memcpy(x, places[pair - m->n_within], sizeof x);
    for (int d = 0; d < 3; d++)
        x[d] -= from[d];
    for (int d = 2; d >= 0; d--) {
        double length = md->open.on[d] ? HUGE_VAL : md->box_length[d];
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

/* A sheared box gets other edges in the run: only 0 turns stay as many. */
static int remember(struct ctx *ctx, struct md *md,
                    const struct md_particle *rows)
{
    struct md_bond_images *m = &md->bond_images;
    double(*places)[3];
    TRY(bring_places(ctx, md, rows, &places));
    for (size_t k = 0; k < m->n; k++) {
        struct md_bound *p = &m->pairs[k];
        int known = turns_of(md, k, rows, places, p->turns);
        int apart = p->turns[0] || p->turns[1] || p->turns[2];
        p->is_known = known && !(apart && md->deform.kind == MD_DEFORM_SHEAR);
    }
    free(places);
    return 0;
}

static void forget(struct md_bond_images *m)
{
    free(m->asked);
    free(m->asked_bytes);
    m->asked = NULL;
    m->asked_bytes = NULL;
    m->n = m->n_within = 0;
}

int md_bond_images_begin(struct ctx *ctx, struct md *md)
{
    struct md_particle *rows = NULL;
    struct md_bond_images *m = &md->bond_images;
    int64_t first, own;
    m->step = md->step;
    forget(m);
    if (!md->topology)
        return 0;
    TRY(comm_agree(ctx, list_pairs(ctx, md)));
    if (md->grid.size > 1)
        TRY(deal_pairs(ctx, md));
    particles_slab(md->n_particles, md->grid.rank, md->grid.size, &first, &own);
    while (m->n_within < m->n && m->pairs[m->n_within].id[1] <= first + own)
        m->n_within++;
    if (md->grid.size > 1)
        TRY(ask_places(ctx, md));
    TRY(md_rows_by_id(ctx, md, &rows));
    int status = remember(ctx, md, rows);
    free(rows);
    return status;
}

static int fail_turned(struct ctx *ctx, const struct md *md,
                       const struct md_bound *pair)
{
    static const char *const names[MD_TERM_KINDS] = {
        [MD_TERM_BOND] = "bond",           [MD_TERM_ANGLE] = "angle",
        [MD_TERM_DIHEDRAL] = "dihedral",   [MD_TERM_IMPROPER] = "improper",
        [MD_TERM_SPECIAL] = "bonded pair", [MD_TERM_PAIR14] = "1-4 pair",
        [MD_TERM_CMAP] = "correction map"};
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
                   const struct md_particle *rows, double (*places)[3])
{
    const struct md_bond_images *m = &md->bond_images;
    int32_t now[3];
    for (size_t k = 0; k < m->n; k++)
        if (m->pairs[k].is_known && turns_of(md, k, rows, places, now) &&
            memcmp(now, m->pairs[k].turns, sizeof now) != 0)
            return fail_turned(ctx, md, &m->pairs[k]);
    return 0;
}

int md_bond_images_check(struct ctx *ctx, struct md *md,
                         const struct md_particle *rows)
{
    struct md_bond_images *m = &md->bond_images;
    struct md_particle *own = NULL;
    double(*places)[3] = NULL;
    int status = 0;
    if (!md->topology || m->step == md->step)
        return 0;
    if (!rows) {
        TRY(md_rows_by_id(ctx, md, &own));
        rows = own;
    }
    TRY_CLEANUP(bring_places(ctx, md, rows, &places));
    TRY_CLEANUP(comm_agree(ctx, compare(ctx, md, rows, places)));
    m->step = md->step;
cleanup:
    free(places);
    free(own);
    return status;
}

void md_bond_images_free(struct md *md)
{
    forget(&md->bond_images);
    free(md->bond_images.pairs);
}
