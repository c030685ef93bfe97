/* md_state.c: the state of a simulation handed out, and taken back.
 *
 * Particles stand in the order of ranks and slots, and with them where they
 * stood when the pair list was built: on a machine like the one before, the
 * same list arises again, and with it the same order of all sums. Elsewhere
 * particles go to the ranks that now own them, and a new list is built.
 */
#include "md.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "domain/halo.h"
#include "domain/particles.h"
#include "domain/state.h"
#include "md_balance.h"

/* Columns of the particles' table, as they travel. */
struct columns {
    int64_t n; /* rows of this rank */
    int64_t *id;
    int32_t *species, (*image)[3];
    double *charge; /* NULL: there are none */
    double (*position)[3], (*velocity)[3], (*listed)[3];
    float (*moved)[3];
};

static void free_columns(struct columns *c)
{
    free(c->id);
    free(c->species);
    free(c->image);
    free(c->charge);
    free(c->position);
    free(c->velocity);
    free(c->listed);
    free(c->moved);
}

static int make_columns(struct ctx *ctx, int64_t n, int charged,
                        struct columns *c)
{
    size_t rows = (size_t)n + 1;
    *c = (struct columns){.n = n};
    c->id = malloc(rows * sizeof *c->id);
    c->species = malloc(rows * sizeof *c->species);
    c->image = malloc(rows * sizeof *c->image);
    c->position = malloc(rows * sizeof *c->position);
    c->velocity = malloc(rows * sizeof *c->velocity);
    c->listed = malloc(rows * sizeof *c->listed);
    c->moved = malloc(rows * sizeof *c->moved);
    if (charged)
        c->charge = malloc(rows * sizeof *c->charge);
    if (!c->id || !c->species || !c->image || !c->position || !c->velocity ||
        !c->listed || !c->moved || (charged && !c->charge))
        return FAIL(ctx, STATUS_MEMORY,
                    "no memory for the saved state of %" PRId64 " particles",
                    n);
    return 0;
}

static void set_row(struct columns *c, size_t i, const struct md_slot *from)
{
    c->id[i] = from->p.id;
    c->species[i] = from->p.species;
    if (c->charge)
        c->charge[i] = from->p.charge;
    memcpy(c->image[i], from->p.image, sizeof c->image[i]);
    memcpy(c->position[i], from->p.position, sizeof c->position[i]);
    memcpy(c->velocity[i], from->p.velocity, sizeof c->velocity[i]);
    memcpy(c->listed[i], from->listed, sizeof c->listed[i]);
    memcpy(c->moved[i], from->moved, sizeof c->moved[i]);
}

static void get_row(const struct columns *c, size_t i, struct md_slot *to)
{
    to->p.id = c->id[i];
    to->p.species = c->species[i];
    to->p.charge = c->charge ? c->charge[i] : 0;
    memcpy(to->p.image, c->image[i], sizeof c->image[i]);
    memcpy(to->p.position, c->position[i], sizeof c->position[i]);
    memcpy(to->p.velocity, c->velocity[i], sizeof c->velocity[i]);
    memcpy(to->listed, c->listed[i], sizeof c->listed[i]);
    memcpy(to->moved, c->moved[i], sizeof c->moved[i]);
}

typedef int (*transfer)(struct ctx *, struct state_io *,
                        const struct state_array *);

/* Both ways: all columns to the file or from it. */
static int move_columns(struct ctx *ctx, struct state_io *io, transfer move,
                        int64_t total, int64_t first, struct columns *c,
                        int exact)
{
    struct state_array arrays[] = {
        state_rows("particles/id", STATE_INT64, total, first, c->n, 1, c->id),
        state_rows("particles/species", STATE_INT32, total, first, c->n, 1,
                   c->species),
        state_rows("particles/image", STATE_INT32, total, first, c->n, 3,
                   c->image),
        state_rows("particles/position", STATE_DOUBLE, total, first, c->n, 3,
                   c->position),
        state_rows("particles/velocity", STATE_DOUBLE, total, first, c->n, 3,
                   c->velocity),
        state_rows("particles/position_listed", STATE_DOUBLE, total, first,
                   c->n, 3, c->listed),
        state_rows("particles/moved", STATE_FLOAT, total, first, c->n, 3,
                   c->moved),
    };
    size_t n = sizeof arrays / sizeof arrays[0];
    for (size_t a = 0; a < (exact ? n : n - 2); a++)
        TRY(move(ctx, io, &arrays[a]));
    if (!c->charge)
        return 0;
    struct state_array charge = state_rows("particles/charge", STATE_DOUBLE,
                                           total, first, c->n, 1, c->charge);
    return move(ctx, io, &charge);
}

/* ---- saving ---- */

/* What the store has, slot by slot; without the list's part where the backend
 * cannot tell. */
static int take_slots(struct ctx *ctx, const struct md *md, size_t n,
                      struct md_slot *slots)
{
    if (md->k->take_slots)
        return md->k->take_slots(ctx, md->store, slots);
    struct md_particle *p = malloc((n + 1) * sizeof *p);
    if (!p)
        return FAIL(ctx, STATUS_MEMORY, "no memory for %zu particles", n);
    md->k->gather(md->store, p, NULL);
    for (size_t i = 0; i < n; i++)
        slots[i].p = p[i];
    free(p);
    return md->k->check ? md->k->check(ctx, md->store) : 0;
}

static int take_columns(struct ctx *ctx, const struct md *md,
                        struct columns *columns)
{
    size_t n = md->k->count(md->store);
    struct md_slot *slots = calloc(n + 1, sizeof *slots);
    int status =
        slots ? make_columns(ctx, (int64_t)n, md->charged, columns)
              : FAIL(ctx, STATUS_MEMORY,
                     "no memory for the saved state of %zu particles", n);
    if (status == 0)
        status = take_slots(ctx, md, n, slots);
    for (size_t i = 0; i < n && status == 0; i++)
        set_row(columns, i, &slots[i]);
    free(slots);
    return comm_agree(ctx, status);
}

static int save_particles(struct ctx *ctx, const struct md *md,
                          struct state_io *io)
{
    struct columns columns = {0};
    int64_t first = 0, n, total = md->n_particles;
    int status = take_columns(ctx, md, &columns);
    n = columns.n;
    if (status == 0)
        status = comm_exscan_int64(ctx, columns.n, &first);
    struct state_array counts = state_rows(
        "ranks/particles", STATE_INT64, md->grid.size, md->grid.rank, 1, 1, &n);
    if (status == 0)
        status = state_put(ctx, io, &counts);
    if (status == 0)
        status = move_columns(ctx, io, io->put, total, first, &columns,
                              md->k->take_slots != NULL);
    free_columns(&columns);
    return status;
}

static int save_rdf(struct ctx *ctx, const struct md *md, struct state_io *io)
{
    const struct md_rdf *rdf = &md->rdf;
    size_t n = (size_t)rdf->n_pairs * (size_t)rdf->n_bins;
    int64_t *sum = malloc((n + 1) * sizeof *sum), samples = rdf->n_samples;
    int status = 0;
    if (!sum)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for %zu bins", n);
    TRY_CLEANUP(comm_agree(ctx, status));
    for (size_t i = 0; i < n; i++)
        sum[i] = (int64_t)rdf->counts[i];
    TRY_CLEANUP(comm_sum_int64(ctx, sum, (int)n));
    struct state_array counts =
        state_shared("rdf/counts", STATE_INT64, (int64_t)n, sum);
    struct state_array taken =
        state_shared("rdf/samples", STATE_INT64, 1, &samples);
    TRY_CLEANUP(state_put(ctx, io, &counts));
    TRY_CLEANUP(state_put(ctx, io, &taken));
    double density = rdf->per_volume;
    struct state_array per_volume =
        state_shared("rdf/per_volume", STATE_DOUBLE, 1, &density);
    if (md_volume_changes(md))
        TRY_CLEANUP(state_put(ctx, io, &per_volume));
cleanup:
    free(sum);
    return status;
}

static struct state_array msd_reference(const struct md *md)
{
    return state_rows("msd/reference", STATE_DOUBLE, md->n_particles,
                      md->msd.first, md->msd.n, 3, md->msd.reference);
}

static int save_msd(struct ctx *ctx, const struct md *md, struct state_io *io)
{
    int64_t n = (int64_t)md->msd.n_samples * (2 + md->n_species);
    struct state_array reference = msd_reference(md);
    struct state_array samples =
        state_shared("msd/samples", STATE_DOUBLE, n, md->msd.samples);
    TRY(state_put(ctx, io, &reference));
    return state_put(ctx, io, &samples);
}

enum { STEP, LIST_STEP, UNSAFE_STEPS, COUNTERS };

int md_save(struct ctx *ctx, void *state, struct state_io *io)
{
    struct md *md = state;
    TRY(md_bond_images_check(ctx, md, NULL));
    md_work_fetch(md);
    int64_t counters[COUNTERS] = {md->step, md->list_step, md->unsafe_steps};
    struct state_array numbers =
        state_shared("counters", STATE_INT64, COUNTERS, counters);
    struct state_array work =
        state_rows("ranks/thermostat_work", STATE_DOUBLE, md->grid.size,
                   md->grid.rank, 1, 1, &md->thermostat_work);
    TRY(state_put(ctx, io, &numbers));
    TRY(state_put(ctx, io, &work));
    TRY(save_particles(ctx, md, io));
    TRY(md_save_box(ctx, md, io));
    TRY(md_balance_save(ctx, md, io));
    if (md->eam)
        TRY(md_eam_save(ctx, md, io));
    if (md->pair.forms)
        TRY(md_forms_save(ctx, md, io));
    if (md->topology)
        TRY(md_save_terms(ctx, md, io));
    if (md->rdf.on)
        TRY(save_rdf(ctx, md, io));
    if (md->msd.on)
        TRY(save_msd(ctx, md, io));
    TRY(md_minimize_save(ctx, md, io));
    TRY(md_regions_save(ctx, md, io));
    return md_analysis_save(ctx, md, io);
}

/* ---- restoring ---- */

/* As many ranks as wrote: each takes its own number; else the first takes the
 * sum of a quantity that is shared out, and all take one that they share. */
static int restore_work(struct ctx *ctx, struct md *md, struct state_io *io)
{
    int64_t shape[STATE_RANK_MAX];
    if (!io->find(io, "ranks/thermostat_work", shape))
        shape[0] = 1; /* state_get() says what is missing */
    int64_t n = shape[0];
    double *all = malloc(((size_t)n + 1) * sizeof *all);
    int status = 0;
    if (!all)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory");
    TRY_CLEANUP(comm_agree(ctx, status));
    struct state_array work =
        state_rows("ranks/thermostat_work", STATE_DOUBLE, n, 0, n, 1, all);
    TRY_CLEANUP(state_get(ctx, io, &work));
    if (!md_work_is_shared(md))
        md->thermostat_work = all[0];
    else if (io->same_machine)
        md->thermostat_work = all[md->grid.rank];
    else if (md->grid.rank == 0)
        for (int64_t r = 0; r < n; r++)
            md->thermostat_work += all[r];
cleanup:
    free(all);
    return status;
}

/* Which rows this rank takes: its own again, or an equal share. */
static int find_share(struct ctx *ctx, const struct md *md, struct state_io *io,
                      int exact, int64_t *first, int64_t *n)
{
    particles_slab(md->n_particles, md->grid.rank, md->grid.size, first, n);
    if (!exact)
        return 0;
    struct state_array counts = state_rows(
        "ranks/particles", STATE_INT64, md->grid.size, md->grid.rank, 1, 1, n);
    TRY(state_get(ctx, io, &counts));
    return comm_exscan_int64(ctx, *n, first);
}

/* The same list as then, and the particles where they have gone since. */
static int rebuild_list(struct ctx *ctx, struct md *md, struct state_io *io,
                        const struct columns *columns)
{
    size_t n = (size_t)columns->n;
    double now[3], listed[3], tilt[3];
    struct md_slot *slots = malloc((n + 1) * sizeof *slots);
    struct md_particle *p = malloc((n + 1) * sizeof *p);
    int status = 0;
    if (!slots || !p)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for %zu particles", n);
    for (size_t i = 0; i < n && status == 0; i++) {
        get_row(columns, i, &slots[i]);
        p[i] = slots[i].p;
        memcpy(p[i].position, slots[i].listed, sizeof p[i].position);
    }
    for (int d = 0; d < 3; d++) {
        now[d] = md->box_length[d];
        listed[d] = md->barostat.listed[d];
        tilt[d] = md->tilt[d];
        if (md->deform.kind)
            md->tilt[d] = md->deform.listed[d];
    }
    if (md_box_changes(md))
        md_set_box(md, listed);
    if (status == 0)
        status = md->k->insert(ctx, md->store, p, n);
    TRY_CLEANUP(comm_agree(ctx, status));
    if (md->topology)
        TRY_CLEANUP(md_restore_terms(ctx, md, io, p, n));
    md->open.held = 1; /* the bounds are those of then */
    status = md_redistribute(ctx, md);
    md->open.held = 0;
    TRY_CLEANUP(status);
    for (int d = 0; d < 3; d++)
        md->tilt[d] = tilt[d];
    if (md_box_changes(md))
        md_set_box(md, now);
    TRY_CLEANUP(comm_agree(ctx, md->k->put_slots(ctx, md->store, slots, n)));
    TRY_CLEANUP(md_rigid_hold(ctx, md));
cleanup:
    free(slots);
    free(p);
    return status;
}

/* Particles by the rank that owns them, rank by rank, as comm_alltoall() wants
 * them; bytes[ranks] is 0 before. */
static int sort_by_owner(struct ctx *ctx, const struct md *md,
                         const struct columns *columns, struct md_particle *out,
                         size_t *bytes)
{
    size_t n = (size_t)columns->n, ranks = (size_t)md->grid.size, below = 0;
    struct md_slot *slots = malloc((n + 1) * sizeof *slots);
    size_t *at = malloc((ranks + 1) * sizeof *at);
    int status = slots && at ? 0
                             : FAIL(ctx, STATUS_MEMORY,
                                    "no memory for %zu particles", n);
    for (size_t i = 0; i < n && status == 0; i++) {
        get_row(columns, i, &slots[i]);
        md_wrap(md, &slots[i].p);
        bytes[grid_owner(&md->grid, slots[i].p.position)] += sizeof *out;
    }
    for (size_t r = 0; r < ranks && status == 0; r++) {
        at[r] = below;
        below += bytes[r] / sizeof *out;
    }
    for (size_t i = 0; i < n && status == 0; i++)
        out[at[grid_owner(&md->grid, slots[i].p.position)]++] = slots[i].p;
    free(slots);
    free(at);
    return status;
}

static int send_to_owners(struct ctx *ctx, struct md *md, struct state_io *io,
                          const struct columns *columns)
{
    size_t ranks = (size_t)md->grid.size, came = 0;
    struct md_particle *p = malloc(((size_t)columns->n + 1) * sizeof *p);
    size_t *send = calloc(ranks, sizeof *send);
    size_t *received = calloc(ranks, sizeof *received);
    void *in = NULL;
    int status = p && send && received
                     ? sort_by_owner(ctx, md, columns, p, send)
                     : FAIL(ctx, STATUS_MEMORY, "no memory for particles");
    TRY_CLEANUP(comm_agree(ctx, status));
    TRY_CLEANUP(comm_alltoall(ctx, p, send, &in, received));
    for (size_t r = 0; r < ranks; r++)
        came += received[r];
    TRY_CLEANUP(
        comm_agree(ctx, md->k->insert(ctx, md->store, in, came / sizeof *p)));
    if (md->topology)
        TRY_CLEANUP(md_restore_terms(ctx, md, io, in, came / sizeof *p));
    TRY_CLEANUP(md_redistribute(ctx, md));
cleanup:
    free(p);
    free(send);
    free(received);
    free(in);
    return status;
}

static int restore_particles(struct ctx *ctx, struct md *md,
                             struct state_io *io, int64_t list_step)
{
    struct columns columns = {0};
    int64_t shape[STATE_RANK_MAX], first, n;
    int exact = io->same_machine && md->k->put_slots &&
                io->find(io, "particles/position_listed", shape);
    TRY(find_share(ctx, md, io, exact, &first, &n));
    int status = comm_agree(ctx, make_columns(ctx, n, md->charged, &columns));
    if (status == 0)
        status = move_columns(ctx, io, io->get, md->n_particles, first,
                              &columns, exact);
    if (status == 0)
        status = exact ? rebuild_list(ctx, md, io, &columns)
                       : send_to_owners(ctx, md, io, &columns);
    if (exact)
        md->list_step = list_step;
    free_columns(&columns);
    return status;
}

/* Counts of all ranks go to the first: only their sum is ever used. */
static int restore_rdf(struct ctx *ctx, struct md *md, struct state_io *io)
{
    struct md_rdf *rdf = &md->rdf;
    int64_t n = (int64_t)rdf->n_pairs * rdf->n_bins, shape[STATE_RANK_MAX];
    if (!io->find(io, "rdf/counts", shape))
        return 0; /* it begins now */
    struct state_array counts =
        state_shared("rdf/counts", STATE_INT64, n, rdf->counts);
    struct state_array samples =
        state_shared("rdf/samples", STATE_INT64, 1, &rdf->n_samples);
    TRY(state_get(ctx, io, &counts));
    TRY(state_get(ctx, io, &samples));
    struct state_array per_volume =
        state_shared("rdf/per_volume", STATE_DOUBLE, 1, &rdf->per_volume);
    if (md_volume_changes(md))
        TRY(state_get(ctx, io, &per_volume));
    if (md->grid.rank != 0)
        memset(rdf->counts, 0, (size_t)n * sizeof *rdf->counts);
    return 0;
}

static int restore_msd(struct ctx *ctx, struct md *md, struct state_io *io)
{
    struct md_msd *msd = &md->msd;
    int64_t shape[STATE_RANK_MAX];
    size_t width = 2 + (size_t)md->n_species;
    int status = 0;
    if (!io->find(io, "msd/samples", shape))
        return FAIL(ctx, STATUS_INPUT,
                    "the checkpoint has no md.analysis.msd: displacements are "
                    "counted from the start of a run");
    msd->n_samples = msd->capacity = (size_t)shape[0] / width;
    msd->samples = malloc(((size_t)shape[0] + 1) * sizeof *msd->samples);
    if (!msd->samples)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for displacements");
    TRY(comm_agree(ctx, status));
    struct state_array reference = msd_reference(md);
    struct state_array samples =
        state_shared("msd/samples", STATE_DOUBLE,
                     (int64_t)(msd->n_samples * width), msd->samples);
    TRY(state_get(ctx, io, &reference));
    return state_get(ctx, io, &samples);
}

int md_restore(struct ctx *ctx, void *state, struct state_io *io)
{
    struct md *md = state;
    int64_t counters[COUNTERS];
    struct state_array numbers =
        state_shared("counters", STATE_INT64, COUNTERS, counters);
    TRY(state_get(ctx, io, &numbers));
    md->step = md->first_step = counters[STEP];
    md->unsafe_steps = counters[UNSAFE_STEPS];
    TRY(restore_work(ctx, md, io));
    TRY(md_restore_box(ctx, md, io));
    TRY(md_balance_restore(ctx, md, io));
    if (md->eam)
        TRY(md_eam_restore(ctx, md, io));
    if (md->pair.forms)
        TRY(md_forms_restore(ctx, md, io));
    TRY(md_open_store(ctx, md));
    md_work_send(md);
    TRY(md_regions_restore(ctx, md, io));
    TRY(restore_particles(ctx, md, io, counters[LIST_STEP]));
    TRY(md_rigid_start(ctx, md, 1));
    TRY(md_bond_images_begin(ctx, md));
    TRY(md_groups_start(ctx, md));
    md_chain_fit(&md->chain, md->degrees_of_freedom,
                 md->constants->boltzmann * md->temperature, md->relaxation);
    TRY(md_compute_sums(ctx, md));
    TRY(md_dpd_pairs(ctx, md));
    TRY(md_analysis_allocate(ctx, md));
    TRY(md_minimize_restore(ctx, md, io));
    if (md->rdf.on)
        TRY(restore_rdf(ctx, md, io));
    if (md->msd.on)
        TRY(restore_msd(ctx, md, io));
    return md_analysis_restore(ctx, md, io);
}
