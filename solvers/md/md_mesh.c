/* md_mesh.c: forces of charges by way of a mesh: Hockney and Eastwood's
 * particle-particle particle-mesh method with the splitting of Ewald.
 */
#include "md_ewald.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "domain/mesh.h"
#include "kernels/md/cell.h"
#include "md.h"

/* Room for a box that shrinks, as the part of its length that may go before the
 * mesh is made anew. */
#define ROOM 0.08
/* The same for a box that is sheared, as the part of an edge that the tilt may
 * change by. */
#define LEAN_ROOM 0.1

static const double pi = 3.14159265358979323846;

static size_t modes_of(const struct mesh *m)
{
    return mesh_mode_numbers(m) / 2;
}

/* How far the flow of a box that is sheared carries a particle's place along an
 * edge d before the mesh is made anew, as a part of that edge: by the tilts
 * that go along it, and by one of these and another that is at most half an
 * edge. */
static double flow_room(const struct md *md, int d)
{
    const struct md_deform *f = &md->deform;
    if (f->kind != MD_DEFORM_SHEAR || d > f->along)
        return 0;
    return (d == 0 ? 2 : 1) * LEAN_ROOM * 1.1;
}

/* The mesh of the present box. Particles are at most half a skin outside of
 * their block, as the pair list is made anew then; unless nobody looks. */
static int make_mesh(struct ctx *ctx, struct md *md)
{
    struct md_ewald *e = md->ewald;
    double stray[3], width[3];
    double way = md->pair.rebuild_every > 0 ? md->pair.reach + md->pair.skin
                                            : 0.5 * md->pair.skin;
    md_box_widths(md, width);
    for (int d = 0; d < 3; d++) {
        e->mesh_box[d] = md_ewald_edge(md, d);
        e->mesh_tilt[d] = md->tilt[d];
        stray[d] = way / (width[d] * e->extent[d]) / (1 - ROOM) * (1 + 1e-6) +
                   flow_room(md, d);
    }
    mesh_destroy(e->mesh);
    e->mesh = NULL;
    return mesh_create(ctx, &md->grid, e->extent, e->cells, e->order, stray,
                       &e->mesh);
}

/* Tables for the influence function in the present box, as md_aliases_make().
 */
static int make_aliases(struct md *md, struct md_alias a[3])
{
    const struct md_ewald *e = md->ewald;
    md_ewald_keep_box(md);
    return md_aliases_make(md, e->cells, e->order, e->alpha, -1, a);
}

/* The influence function of this rank's modes in the present box. */
static int fill_tables(struct md *md)
{
    struct md_ewald *e = md->ewald;
    const struct mesh *m = e->mesh;
    struct md_alias a[3] = {{0}};
    int failed = make_aliases(md, a);
    const int64_t first[3] = {m->mode_first[0], m->mode_first[1], 0};
    const int64_t n[3] = {m->mode_n[0], m->mode_n[1], e->cells[2]};
    for (int d = 0; d < 3; d++)
        for (int64_t i = 0; i < n[d]; i++)
            e->phase[d][i] = md_wave_number(first[d] + i, e->cells[d], 1, 1);
    double *g = e->influence;
    for (int64_t y = 0; y < n[1] && !failed; y++)
        for (int64_t x = 0; x < n[0]; x++)
            for (int64_t z = 0; z < n[2]; z++) {
                const int64_t k[3] = {first[0] + x, first[1] + y, z};
                *g++ = md_mode_influence(md, e->alpha, a, e->cells, k);
            }
    md_aliases_free(a);
    return failed;
}

static int allocate(struct ctx *ctx, struct md_ewald *e)
{
    size_t modes = modes_of(e->mesh);
    free(e->influence);
    free(e->potential);
    e->influence = malloc((modes + 1) * sizeof *e->influence);
    e->potential = malloc((2 * modes + 1) * sizeof *e->potential);
    int ok = e->influence && e->potential;
    for (int d = 0; d < 3; d++) {
        free(e->phase[d]);
        e->phase[d] = malloc((size_t)(e->cells[d] + 1) * sizeof *e->phase[d]);
        ok = ok && e->phase[d];
    }
    return ok ? 0
              : FAIL(ctx, STATUS_MEMORY, "no memory for %zu modes of the mesh",
                     modes);
}

int md_mesh_open(struct ctx *ctx, struct md *md)
{
    md->ewald->whole = md->grid.size == 1 && md->k->mesh_forces;
    if (md->ewald->whole)
        return 0;
    TRY(make_mesh(ctx, md));
    TRY(comm_agree(ctx, allocate(ctx, md->ewald)));
    int status = fill_tables(md);
    if (status != 0)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for a mesh");
    return comm_agree(ctx, status);
}

/* Bricks: of the charge, of three fields, three to send and to receive, and
 * four numbers of each point for the way back.
 * Lines and modes: three of lines, three arrays of modes, what two
 * transpositions send and receive, and this file's. */
double md_mesh_estimate(const struct md *md)
{
    const struct md_ewald *e = md->ewald;
    double brick = 1, all = 1;
    for (int d = 0; d < 3; d++) {
        double n = (double)e->cells[d];
        double lean = md_ewald_reach(md, d) - md_ewald_edge(md, d);
        all *= n;
        brick *= n / md->grid.dims[d] + e->order +
                 (md->pair.skin + lean) * n / md_ewald_edge(md, d);
    }
    /* messages to others */
    double sent = md->grid.size > 1 ? 6 * brick + 4 * all / md->grid.size : 0;
    return (8 * brick + 7.5 * all / md->grid.size + sent) * sizeof(double);
}

double md_mesh_bytes(const struct md_ewald *e)
{
    return mesh_bytes(e->mesh) + 3 * sizeof(double) * (double)modes_of(e->mesh);
}

void md_mesh_close(struct md_ewald *e)
{
    mesh_destroy(e->mesh);
    free(e->influence);
    free(e->potential);
    for (int d = 0; d < 3; d++)
        free(e->phase[d]);
}

void md_ewald_keep_box(struct md *md)
{
    struct md_ewald *e = md->ewald;
    for (int d = 0; d < 3; d++)
        e->table_box[d] = md_ewald_edge(md, d);
    memcpy(e->table_tilt, md->tilt, sizeof e->table_tilt);
}

int md_ewald_box_changed(const struct md *md)
{
    const struct md_ewald *e = md->ewald;
    int changed = 0;
    for (int d = 0; d < 3; d++) {
        double grown = md_ewald_edge(md, d) - e->table_box[d];
        double leant = md->tilt[d] - e->table_tilt[d];
        changed |= fabs(grown) > 0 || fabs(leant) > 0;
    }
    return changed;
}

/* All that follows the box. */
static int follow_box(struct ctx *ctx, struct md *md)
{
    struct md_ewald *e = md->ewald;
    int changed = md_ewald_box_changed(md), too_small = 0;
    for (int d = 0; d < 3; d++) {
        double edge = md->box_length[d == 2 ? 1 : 0]; /* of xy, xz, yz */
        too_small |= md_ewald_edge(md, d) < (1 - ROOM) * e->mesh_box[d];
        too_small |= md->deform.kind == MD_DEFORM_SHEAR &&
                     fabs(md->tilt[d] - e->mesh_tilt[d]) > LEAN_ROOM * edge;
    }
    if (too_small)
        return md_mesh_open(ctx, md);
    for (int d = 0; d < 3; d++) {
        e->mesh->brick.box_lo[d] = md->box_lo[d];
        e->mesh->brick.box_length[d] = md_ewald_edge(md, d);
        e->mesh->brick.tilt[d] = md->tilt[d];
    }
    if (changed && fill_tables(md) != 0)
        return FAIL(ctx, STATUS_MEMORY, "no memory for a mesh");
    return 0;
}

/* ---- forces ---- */

/* A mode's energy and virial; of the row of modes along z with these phases in
 * x and y. back: the highest of an even number the other way. */
static void add_mode(const struct md *md, const double row[2], double phase_z,
                     int back, double energy, struct md_sums *sums)
{
    const double half = pi * (1 - 1e-9), all[3] = {row[0], row[1], phase_z};
    const struct md_ewald *e = md->ewald;
    const struct md_brick *b = &e->mesh->brick;
    double phase[3], k[3];
    for (int d = 0; d < 3; d++)
        phase[d] = back && fabs(all[d]) > half * (double)e->cells[d] ? -all[d]
                                                                     : all[d];
    cell_wave(b->box_length, b->tilt, phase, k);
    double k2 = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
    if (k2 > 0)
        md_ewald_add(sums, energy, k, k2, e->alpha * e->alpha);
}

/* Energy and virial of this rank's modes. kx runs over one half only. The
 * highest of an even number stands for both of its directions, which in a
 * tilted box are not the same. */
static void sum_modes(const struct md *md, double scale, struct md_sums *sums)
{
    const struct md_ewald *e = md->ewald;
    const struct mesh *m = e->mesh;
    const double *mode = m->modes, *g = e->influence;
    const int64_t *n = e->cells;
    for (int64_t y = 0; y < m->mode_n[1]; y++)
        for (int64_t x = 0; x < m->mode_n[0]; x++) {
            int64_t at[2] = {m->mode_first[0] + x, m->mode_first[1] + y};
            double twice = at[0] == 0 || 2 * at[0] == n[0] ? 1 : 2;
            double row[2] = {md_wave_number(at[0], n[0], 1, 0),
                             md_wave_number(at[1], n[1], 1, 0)};
            for (int64_t z = 0; z < n[2]; z++, mode += 2, g++) {
                double phase = md_wave_number(z, n[2], 1, 0);
                double square = mode[0] * mode[0] + mode[1] * mode[1];
                double energy = 0.5 * scale * twice * *g * square;
                for (int back = 0; back <= md->tilted; back++)
                    add_mode(md, row, phase, back,
                             md->tilted ? 0.5 * energy : energy, sums);
            }
        }
}

/* Modes of the field along direction d: -i k times those of the potential. */
static void differentiate(const struct md_ewald *e, int d)
{
    const struct mesh *m = e->mesh;
    const struct md_brick *b = &m->brick;
    const double *from = e->potential;
    const double per_phase = d == 2 ? 1 / b->box_length[2] : 0;
    double *to = m->modes;
    for (int64_t y = 0; y < m->mode_n[1]; y++)
        for (int64_t x = 0; x < m->mode_n[0]; x++) {
            const double phase[3] = {e->phase[0][x], e->phase[1][y], 0};
            double row[3];
            cell_wave(b->box_length, b->tilt, phase, row);
            for (int64_t z = 0; z < e->cells[2]; z++, from += 2, to += 2) {
                double k = row[d] + per_phase * e->phase[2][z];
                to[0] = k * from[1];
                to[1] = -k * from[0];
            }
        }
}

/* Whether the backend has tables of as many aliases; it will. */
static int has_tables(struct md *md)
{
    struct md_ewald *e = md->ewald;
    int all = 1;
    for (int d = 0; d < 3; d++) {
        int n = 1 + md_aliases_count(md, d, e->cells[d], e->alpha);
        all = all && e->aliases_sent[d] == n;
        e->aliases_sent[d] = n;
    }
    return all;
}

/* All of it by the backend. */
static int whole_forces(struct ctx *ctx, struct md *md, double scale,
                        struct md_sums *sums)
{
    struct md_ewald *e = md->ewald;
    struct md_alias a[3] = {{0}};
    struct md_whole_mesh m = {
        .order = e->order, .alpha = e->alpha, .scale = scale};
    int status = 0;
    m.changed = md_ewald_box_changed(md);
    m.tilted = md->tilted;
    for (int d = 0; d < 3; d++) {
        m.cells[d] = e->cells[d];
        m.box_lo[d] = md->box_lo[d];
        m.box_length[d] = md_ewald_edge(md, d);
        m.tilt[d] = md->tilt[d];
    }
    if (m.changed && !has_tables(md)) {
        if (make_aliases(md, a) != 0)
            status = FAIL(ctx, STATUS_MEMORY, "no memory for a mesh");
        m.alias = a;
    }
    md_ewald_keep_box(md);
    if (status == 0)
        status = md->k->mesh_forces(ctx, md->store, &m, sums);
    md_aliases_free(a);
    return status;
}

int md_mesh_forces(struct ctx *ctx, struct md *md, struct md_sums *sums)
{
    struct md_ewald *e = md->ewald;
    double scale = md->bonded.field.coulomb.constant / md_ewald_volume(md);
    if (e->whole)
        return whole_forces(ctx, md, scale, sums);
    TRY(follow_box(ctx, md));
    /* a particle out of reach ends the run, but not before the others know */
    struct mesh *m = e->mesh;
    int lost = md->k->spread_charges(ctx, md->store, &m->brick, m->charge);
    TRY(mesh_forward(ctx, m));
    if (sums)
        sum_modes(md, scale, sums);
    size_t modes = modes_of(m);
    for (size_t i = 0; i < modes; i++) {
        e->potential[2 * i] = scale * e->influence[i] * m->modes[2 * i];
        e->potential[2 * i + 1] = scale * e->influence[i] * m->modes[2 * i + 1];
    }
    for (int d = 0; d < 3; d++) {
        differentiate(e, d);
        TRY(mesh_back(ctx, m, d));
    }
    TRY(mesh_return(ctx, m, 3));
    md->k->gather_field(md->store, &m->brick, (const double *const *)m->field);
    return lost;
}
