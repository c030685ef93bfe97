/* md.c: molecular dynamics, step by step. See docs/md.md for the equations. */
#include "md.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/param.h"
#include "base/timer.h"
#include "domain/halo.h"
#include "domain/topology.h"
#include "md_analysis.h"
#include "md_balance.h"
#include "md_data.h"
#include "md_ewald.h"
#include "md_exchange.h"
#include "solvers/solver.h"

static void md_destroy(struct ctx *ctx, void *state)
{
    struct md *md = state;
    (void)ctx;
    if (!md)
        return;
    if (md->k)
        md->k->destroy(md->store);
    halo_destroy(md->halo);
    md_observe_free(md);
    md_analysis_free(md);
    topology_destroy(md->topology);
    md_balance_free(md);
    md_bonds_free(md);
    md_bond_images_free(md);
    md_rigid_free(md);
    md_eam_free(md);
    md_forms_free(md);
    md_walls_free(md);
    md_dpd_free(md);
    md_minimize_free(md);
    md_ewald_free(md);
    md_data_free(md->data);
    free(md->pair.coeff);
    free(md->initial.read);
    free(md);
}

static int md_create(struct ctx *ctx, struct params *p, void **state)
{
    int status = 0;
    *state = NULL;
    struct md *md = calloc(1, sizeof *md);
    if (!md)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for the solver");
    TRY_CLEANUP(comm_agree(ctx, status));
    TRY_CLEANUP(comm_agree(ctx, md_read_params(ctx, p, md)));
    md->phase_pair = timer_phase(ctx->timers, "pair");
    md->phase_bonded = timer_phase(ctx->timers, "bonded");
    if (md->ewald)
        md->phase_mesh = timer_phase(ctx->timers, "mesh");
    md->phase_list = timer_phase(ctx->timers, "list");
    md->phase_integrate = timer_phase(ctx->timers, "integrate");
    md->phase_rigid = timer_phase(ctx->timers, "rigid");
    md->phase_analysis = timer_phase(ctx->timers, "analysis");
    md->msd_step = -1;
    md_observe_init(md);
    *state = md;
    return 0;
cleanup:
    md_destroy(ctx, md);
    return status;
}

double md_list_radius(const struct md *md)
{
    /* Between two redistributions two particles can come nearer by one skin. */
    double range = md->rdf.on ? md->rdf.range : 0;
    return fmax(range, md->pair.reach) + md->pair.skin;
}

double md_halo_radius(const struct md *md)
{
    return fmax(md_list_radius(md), md->bonded.reach);
}

enum md_half md_half(const struct md *md)
{
    if (!md->k || !md->k->pack_forces || md->ensemble == MD_DPD)
        return MD_WHOLE;
    return md->bonded.on || md_analysis_needs_shares(md) ? MD_HALF_PAIRS
                                                         : MD_HALF_COPIES;
}

/* ---- forces ---- */

/* Terms depend on nothing but who is here: while nobody comes or goes they stay
 * the same. */
int md_find_terms(struct ctx *ctx, struct md *md)
{
    if (md->k->find_terms && !topology_changed(md->topology))
        return md->k->find_terms(ctx, md->store);
    const struct md_term *terms = NULL;
    size_t n = 0;
    TRY(topology_terms(ctx, md->topology, &terms, &n));
    return md->k->set_terms(ctx, md->store, terms, n);
}

int md_redistribute_begin(struct ctx *ctx, struct md *md, int *status_here)
{
    TRY(md_fit_halo(ctx, md));
    int status =
        halo_redistribute(ctx, md->halo, md->k, md->store, md->n_particles);
    timer_begin(ctx->timers, md->phase_list);
    if (status == 0 && md->topology)
        status = md_find_terms(ctx, md);
    if (status == 0)
        status = md->k->build_list(ctx, md->store);
    timer_end(ctx->timers, md->phase_list);
    md->list_step = md->step;
    *status_here = status;
    return comm_agree_begin(ctx, status);
}

int md_redistribute(struct ctx *ctx, struct md *md)
{
    int status;
    TRY(md_redistribute_begin(ctx, md, &status));
    TRY(comm_agree_end(ctx));
    return md_rigid_hold(ctx, md);
}

/* ---- guards ---- */

int md_check_device(struct ctx *ctx, const struct md *md)
{
    return comm_agree(ctx, md->k->check ? md->k->check(ctx, md->store) : 0);
}

int md_gather(struct ctx *ctx, const struct md *md, struct md_particle *p,
              double (*force)[3])
{
    md->k->gather(md->store, p, force);
    return md_check_device(ctx, md);
}

int md_own_particles(struct ctx *ctx, const struct md *md,
                     struct md_particle **p, size_t *n)
{
    int status = 0;
    *n = md->k->count(md->store);
    *p = malloc((*n + 1) * sizeof **p);
    if (!*p)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for %zu particles", *n);
    TRY_CLEANUP(comm_agree(ctx, status));
    TRY_CLEANUP(md_gather(ctx, md, *p, NULL));
    return 0;
cleanup:
    free(*p);
    *p = NULL;
    return status;
}

/* ---- the start ---- */

static int check_overlap(struct ctx *ctx, struct md *md)
{
    struct md_close_pair pair = {0};
    if (!(md->initial.overlap > 0))
        return 0;
    TRY(md->k->closest_pair(ctx, md->store, md->initial.overlap, &pair));
    if (!pair.found)
        return 0;
    int64_t first = pair.id[0] < pair.id[1] ? pair.id[0] : pair.id[1];
    int status = FAIL(ctx, STATUS_INPUT,
                      "particles %" PRId64 " and %" PRId64
                      " are only %.6g apart at the start, closer than "
                      "md.initial.overlap = %g",
                      first, pair.id[0] + pair.id[1] - first, pair.distance,
                      md->initial.overlap);
    return error_context(ctx, status,
                         md->minimize.on
                             ? "use md.initial.overlap = 0 to minimize from "
                               "there nevertheless"
                             : "use [md.minimize] to bring them apart before "
                               "the run, or md.initial.overlap = 0");
}

struct md_setup md_setup_of(const struct md *md)
{
    struct md_setup setup = {
        .list_radius = md->pair.reach + md->pair.skin,
        .halo_radius = md_halo_radius(md),
        .n_species = md->n_species,
        .coeff = md->pair.coeff,
        .force_shift = md->pair.shift == MD_SHIFT_FORCE,
        .acceleration = md->constants->force_to_acceleration,
        .expected_count = (double)md->n_particles / md->grid.size,
        .seed = md->seed,
        .deterministic = md->deterministic,
        .graphs = md->graphs,
        .timed = md->balance && md->balance->by_time && md->grid.size > 1,
        .charged = md->charged,
        .apart = md->ensemble == MD_DPD,
        .field = md->bonded.has_field ? &md->bonded.field : NULL,
        .eam = md->eam,
        .tables = md_forms_tables(md),
        .whole = md->grid.size == 1,
        .half = md_half(md),
        .tilted = md->tilted,
        .outer = md->walls.outer.n_held > 0 ? &md->walls.outer : NULL,
    };
    for (int d = 0; d < 3; d++) {
        int open = md->grid.open[d];
        setup.box_lo[d] = open ? -0.5 * MD_OPEN_LENGTH : md->box_lo[d];
        setup.box_length[d] = open ? MD_OPEN_LENGTH : md->box_length[d];
        setup.lo[d] = md->grid.lo[d];
        setup.hi[d] = md->grid.hi[d];
        setup.cut[d] = md->grid.dims[d] > 1 || md->grid.walled[d] || md->tilted;
        setup.tilt[d] = md->tilt[d];
    }
    for (int s = 0; s < md->n_species; s++)
        setup.mass[s] = md->species[s].mass;
    return setup;
}

static int open_kernels(struct ctx *ctx, struct md *md)
{
    md->k = ctx->device ? ctx->device->md(md->precision) : NULL;
    if (!md->k)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "device '%s' has no molecular dynamics in this precision",
                    ctx->device ? ctx->device->name : "none");
    struct md_setup setup = md_setup_of(md);
    return md->k->create(ctx, &setup, &md->store);
}

int md_open_store(struct ctx *ctx, struct md *md)
{
    if (md->pair.rebuild_every > 0)
        log_warn(ctx->log,
                 "md.pair.rebuild_every = %" PRId64
                 ": the pair list is rebuilt "
                 "without looking how far particles moved; it may miss pairs",
                 md->pair.rebuild_every);
    TRY(comm_agree(ctx, open_kernels(ctx, md)));
    TRY(md_check_ensemble(ctx, md));
    TRY(md_balance_check(ctx, md));
    TRY(md_walls_open(ctx, md));
    TRY(halo_create(ctx, &md->grid, md_halo_radius(md), &md->halo));
    halo_halve(md->halo, md_half(md));
    TRY(md_ewald_open(ctx, md));
    if (!md->bonded.on)
        return 0;
    TRY(comm_agree(ctx, topology_create(ctx, &md->topology)));
    halo_carry(md->halo, md->topology);
    return 0;
}

static int md_start(struct ctx *ctx, void *state)
{
    struct md *md = state;
    TRY(md_open_box_start(ctx, md));
    TRY(md_open_store(ctx, md));
    TRY(md_place_particles(ctx, md));
    TRY(md_walls_start(ctx, md));
    TRY(md_regions_start(ctx, md));
    TRY(md_redistribute(ctx, md));
    TRY(md_rigid_start(ctx, md, 0));
    TRY(md_bond_images_begin(ctx, md));
    TRY(comm_agree(ctx, check_overlap(ctx, md)));
    TRY(md_first_forces(ctx, md));
    TRY(md_minimize(ctx, md));
    TRY(md_groups_start(ctx, md));
    md_brownian_start(ctx, md);
    TRY(md_ensemble_start(ctx, md));
    TRY(md_deform_start(ctx, md));
    TRY(md_rigid_sums(ctx, md, &md->sums));
    return md_analysis_start(ctx, md);
}

/* ---- where the run stands ---- */

static int64_t md_step_number(const void *state)
{
    return ((const struct md *)state)->step;
}

static double md_time(const void *state)
{
    const struct md *md = state;
    return (double)md->step * md->dt;
}

static double md_timestep(const void *state)
{
    return ((const struct md *)state)->dt;
}

static int64_t md_steps_total(const void *state)
{
    return ((const struct md *)state)->steps;
}

static int md_done(const void *state)
{
    const struct md *md = state;
    return md->step >= md->steps;
}

static const struct observable *md_observables(const void *state, int *n)
{
    const struct md *md = state;
    *n = md->n_observables;
    return md->observables;
}

static const char *md_time_unit(const void *state)
{
    return ((const struct md *)state)->unit_text[MD_TIME];
}

static const char *md_precision(const void *state)
{
    static const char *const names[] = {"double", "mixed", "single"};
    return names[((const struct md *)state)->precision];
}

static const char *const later_keys[] = {"md.steps", NULL};

const struct solver solver_md = {
    .name = "md",
    .title = "molecular dynamics",
    .params = &md_param_table,
    .starter =
        "# A Lennard-Jones melt: an fcc crystal of 32000 particles melts\n"
        "# within a few hundred steps. Reduced units.\n",
    .create = md_create,
    .estimate = md_estimate,
    .initial = md_start,
    .save = md_save,
    .restore = md_restore,
    .guard = md_guard,
    .later_keys = later_keys,
    .step = md_step,
    .ahead = md_ahead,
    .blocked = md_blocked,
    .step_number = md_step_number,
    .time = md_time,
    .timestep = md_timestep,
    .steps_total = md_steps_total,
    .done = md_done,
    .observables = md_observables,
    .observe = md_observe,
    .frame = md_frame,
    .results = md_results,
    .totals = md_totals,
    .time_unit = md_time_unit,
    .precision = md_precision,
    .destroy = md_destroy,
    .bench = &md_bench,
    .exchange = &md_exchange,
};
