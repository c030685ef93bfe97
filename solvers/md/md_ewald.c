/* md_ewald.c: Ewald's sum: the deck, what it leaves open, and all that is
 * neither near nor far: self energy, background, slab.
 */
#include "md_ewald.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/format.h"
#include "base/log.h"
#include "base/param.h"
#include "base/timer.h"
#include "domain/block.h"
#include "domain/state.h"
#include "md.h"
#include "md_data.h"

static const double pi = 3.14159265358979323846;

static double constant_of(const struct md *md)
{
    return md->bonded.field.coulomb.constant;
}

/* ---- the deck ---- */

/* A key that the method has no use for. */
static void refuse(struct params *p, const char *key, const char *method)
{
    params_error(p, "md.coulomb", key,
                 "md.coulomb.%s has no meaning for method \"%s\"", key, method);
}

void md_ewald_refuse(struct params *p, const char *method)
{
    int on_mesh = strcmp(method, "pme") == 0;
    int waves = strcmp(method, "ewald") == 0, any = on_mesh || waves;
    if (!any && params_is_set(p, "md.coulomb", "accuracy"))
        refuse(p, "accuracy", method);
    if (!any && params_is_set(p, "md.coulomb", "splitting"))
        refuse(p, "splitting", method);
    if (!on_mesh && params_is_set(p, "md.coulomb", "mesh"))
        refuse(p, "mesh", method);
    if (!on_mesh && params_is_set(p, "md.coulomb", "order"))
        refuse(p, "order", method);
    if (!waves && params_is_set(p, "md.coulomb", "wave_cutoff"))
        refuse(p, "wave_cutoff", method);
    if (!any && params_is_set(p, "md.coulomb", "background"))
        refuse(p, "background", method);
    if (!any && params_is_set(p, "md.coulomb", "slab"))
        refuse(p, "slab", method);
}

int md_ewald_read(struct ctx *ctx, struct params *p, struct md *md)
{
    struct md_ewald *e = md->ewald = calloc(1, sizeof *e);
    if (!e)
        return FAIL(ctx, STATUS_MEMORY, "no memory for Ewald's sum");
    e->on_mesh = strcmp(params_string(p, "md.coulomb", "method"), "pme") == 0;
    md_ewald_refuse(p, params_string(p, "md.coulomb", "method"));
    params_fill_double(p, "md.coulomb", "accuracy", 1e-4);
    e->accuracy = params_double(p, "md.coulomb", "accuracy");
    e->order = (int)params_int(p, "md.coulomb", "order");
    e->background = params_bool(p, "md.coulomb", "background");
    e->slab = params_bool(p, "md.coulomb", "slab");
    for (int d = 0; d < 3; d++)
        e->extent[d] = 1;
    if (params_is_set(p, "md.coulomb", "splitting"))
        e->alpha = params_double(p, "md.coulomb", "splitting");
    if (params_is_set(p, "md.coulomb", "wave_cutoff"))
        e->wave_cutoff = params_double(p, "md.coulomb", "wave_cutoff");
    if (params_is_set(p, "md.coulomb", "mesh")) {
        size_t n = 0;
        const int64_t *cells = params_ints(p, "md.coulomb", "mesh", &n);
        for (int d = 0; d < 3; d++)
            e->cells[d] = cells[d];
    }
    return 0;
}

/* ---- choosing ---- */

/* Sums of q and q^2 of all particles, from where they come. Collective. */
static int sum_charges(struct ctx *ctx, struct md *md)
{
    struct md_ewald *e = md->ewald;
    double sum[2] = {0, 0};
    for (int s = 0; s < md->n_species && md->charge_by_species; s++) {
        double q = md->species[s].charge, n = (double)md->species[s].count;
        sum[0] += n * q;
        sum[1] += n * q * q;
    }
    if (!md->charge_by_species && md->data && md->data->atoms)
        for (int64_t i = 0; i < md->data->n_atoms; i++) {
            double q = md->data->atoms[i].charge;
            sum[0] += q;
            sum[1] += q * q;
        }
    if (md->initial.has_charges > 0)
        memcpy(sum, md->initial.charge_sums, sizeof sum);
    TRY(comm_bcast(ctx, sum, sizeof sum));
    e->squares = sum[1];
    e->charge = fabs(sum[0]) > 1e-9 * sqrt(sum[1]) ? sum[0] : 0;
    return 0;
}

/* The force that the accuracy is a part of: of two unit charges one length
 * apart, as LAMMPS has it; in SI units of two elementary charges one angstrom
 * apart. */
static double unit_force(const struct md *md)
{
    const double e = 1.602176634e-19, angstrom = 1e-10;
    double c = constant_of(md);
    return md->units == UNITS_SI ? c * e * e / (angstrom * angstrom) : c;
}

/* To seven digits, so that what the log says is what was used. */
static double rounded(double x)
{
    double unit = pow(10, floor(log10(x)) - 6);
    return nearbyint(x / unit) * unit;
}

/* The splitting whose near part has this error. */
static double choose_alpha(struct md *md, double error)
{
    double rc = md->bonded.field.coulomb.cutoff;
    double ratio = md_ewald_worst(md, MD_EWALD_NEAR) / error; /* alpha: 0 */
    return rounded(sqrt(log(fmax(ratio, 4))) / rc);
}

/* The coarsest mesh, about, of sizes with fast transforms and about equal
 * spacings h whose error is at most that; the error goes with h^order. */
static void choose_cells(struct params *p, struct md *md, double error)
{
    const double most = 3e7; /* points that are worth trying */
    struct md_ewald *e = md->ewald;
    double h = 4 / e->alpha, all = 0;
    while (all < most) {
        all = 1;
        for (int d = 0; d < 3; d++) {
            double n = fmin(ceil(md_ewald_longest(md, d) / h), most);
            e->cells[d] = block_fast_size((int64_t)fmax(n, e->order), 1);
            all *= (double)e->cells[d];
        }
        if (all > most)
            break;
        double now = md_ewald_worst(md, MD_EWALD_FAR);
        if (now <= error)
            return;
        double step = 1.02 * pow(error / now, 1.0 / e->order);
        h *= fmax(fmin(step, 0.97), 0.7);
    }
    params_error(p, "md.coulomb", "method",
                 "no mesh reaches md.coulomb.accuracy = %g with order %d: give "
                 "a higher md.coulomb.order, a longer cutoff, or ask for less",
                 e->accuracy, e->order);
}

static void choose_waves(struct md *md, double error)
{
    struct md_ewald *e = md->ewald;
    double shortest = 1e300;
    for (int d = 0; d < 3; d++)
        shortest = fmin(shortest, md_ewald_longest(md, d));
    e->wave_cutoff = 2 * pi / shortest;
    while (md_ewald_worst(md, MD_EWALD_FAR) > error)
        e->wave_cutoff *= 1.01;
    e->wave_cutoff = rounded(e->wave_cutoff);
}

/* Waves cost each particle; so many are a mistake, or a mesh's business. */
static void check_waves(struct params *p, struct md *md)
{
    const double most = 1e8;
    double all = 1;
    for (int d = 0; d < 3; d++)
        all *= md->ewald->wave_cutoff * md_ewald_longest(md, d) / pi + 1;
    if (!(all < most))
        params_error(p, "md.coulomb", "method",
                     "waves up to md.coulomb.wave_cutoff = %g are %.1g in this "
                     "box: method = \"pme\" is for such systems",
                     md->ewald->wave_cutoff, all);
}

/* Such a run looks as if it hung. */
static void warn_of_work(struct ctx *ctx, const struct md *md)
{
    const double speed = 4e9, long_step = 10; /* s; of a core, at least */
    double work = md_ewald_flops(md) / comm_size(ctx->comm);
    char count[FORMAT_MAX], time[FORMAT_MAX];
    if (work > long_step * speed)
        log_warn(ctx->log,
                 "wave by wave a step takes about %s floating-point operations "
                 "of each rank, up to %s; method = \"pme\" takes far fewer",
                 format_count(work, count), format_seconds(work / speed, time));
}

int md_ewald_choose(struct ctx *ctx, struct params *p, struct md *md)
{
    struct md_ewald *e = md->ewald;
    if (!e)
        return 0;
    TRY(sum_charges(ctx, md));
    if (fabs(e->charge) > 0 && !e->background)
        params_error(p, "md.coulomb", "method",
                     "the charges add up to %g, but waves need a neutral box: "
                     "set md.coulomb.background = true for an even background "
                     "that makes up for it",
                     e->charge);
    md_ewald_check_gap(p, md);
    if (!(e->squares > 0))
        params_error(p, "md.coulomb", "method", "all charges are 0");
    TRY(params_finish(ctx, p));
    double whole = e->accuracy * unit_force(md), half = whole / sqrt(2);
    if (!(e->alpha > 0))
        e->alpha = choose_alpha(md, half);
    e->error_near = md_ewald_worst(md, MD_EWALD_NEAR);
    double left = sqrt(fmax(whole * whole - e->error_near * e->error_near,
                            0.25 * whole * whole));
    if (e->on_mesh && e->cells[0] == 0)
        choose_cells(p, md, left);
    if (!e->on_mesh && !(e->wave_cutoff > 0))
        choose_waves(md, left);
    if (!e->on_mesh)
        check_waves(p, md);
    TRY(params_finish(ctx, p));
    if (!e->on_mesh)
        warn_of_work(ctx, md);
    e->error_near /= unit_force(md);
    e->error_far = md_ewald_worst(md, MD_EWALD_FAR) / unit_force(md);
    md->bonded.field.coulomb.alpha = e->alpha;
    return 0;
}

/* ---- what is neither near nor far ---- */

void md_ewald_add(struct md_sums *sums, double energy, const double k[3],
                  double k2, double alpha2)
{
    double tensor[6];
    sums->energy += energy;
    sums->part[MD_ENERGY_MESH] += energy;
    sums->virial += md_wave_virial(energy, k, k2, alpha2, tensor);
    for (int t = 0; t < 6 && sums->with_tensor; t++)
        sums->tensor[t] += tensor[t];
}

/* An energy that goes with V^-1 by strain[d] along each direction. */
static void add_plain(struct md_sums *sums, double energy,
                      const double strain[3])
{
    sums->energy += energy;
    sums->part[MD_ENERGY_MESH] += energy;
    for (int d = 0; d < 3; d++) {
        sums->virial += energy * strain[d];
        if (sums->with_tensor)
            sums->tensor[d] += energy * strain[d];
    }
}

/* A charge's Gaussian with itself, and the even background of a net charge with
 * all Gaussians. */
static void add_constants(const struct md *md, struct md_sums *sums)
{
    const struct md_ewald *e = md->ewald;
    static const double none[3] = {0, 0, 0}, volume_like[3] = {1, 1, 1};
    double volume = md_ewald_volume(md), c = constant_of(md);
    if (md->grid.rank != 0)
        return;
    add_plain(sums, -c * e->alpha / sqrt(pi) * e->squares, none);
    add_plain(sums,
              -c * pi * e->charge * e->charge /
                  (2 * volume * e->alpha * e->alpha),
              volume_like);
}

/* On the dipole along z of a slab. */
static double slab_factor(const struct md *md)
{
    return 4 * pi * constant_of(md) / md_ewald_volume(md);
}

/* Yeh and Berkowitz (1999), J. Chem. Phys. 111, 3155, eq. 8: what the images
 * along z of a slab do to it, taken off; with a net charge Ballenegger, Arnold
 * and Cerda (2009), J. Chem. Phys. 131, 094107. dipole and second: sums of
 * q z and q z^2. */
static void add_slab_energy(const struct md *md, double dipole, double second,
                            struct md_sums *sums)
{
    static const double slab_like[3] = {1, 1, -1};
    double lz = md_ewald_edge(md, 2), q = md->ewald->charge;
    if (sums && md->grid.rank == 0)
        add_plain(sums,
                  0.5 * slab_factor(md) *
                      (dipole * dipole - q * second - q * q * lz * lz / 12),
                  slab_like);
}

static int add_slab(struct ctx *ctx, struct md *md, struct md_sums *sums)
{
    struct md_charge_moments m;
    double f = slab_factor(md), q = md->ewald->charge;
    if (md->grid.size == 1 && md->k->push_slab) {
        md->k->push_slab(md->store, f, f * q, sums != NULL);
        return 0;
    }
    md->k->charge_moments(md->store, &m);
    double sum[2] = {m.dipole[2], m.second[2]};
    TRY(comm_sum_double(ctx, sum, 2));
    double even[3] = {0, 0, -f * sum[0]}, slope[3] = {0, 0, f * q};
    md->k->push_charges(md->store, even, slope);
    add_slab_energy(md, sum[0], sum[1], sums);
    return 0;
}

void md_ewald_finish(struct md *md, struct md_sums *sums)
{
    struct md_charge_moments m;
    if (!md->ewald)
        return;
    if (md->ewald->slab && md->grid.size == 1 && md->k->push_slab) {
        md->k->charge_moments(md->store, &m);
        add_slab_energy(md, m.dipole[2], m.second[2], sums);
    }
    add_constants(md, sums);
}

/* ---- the whole ---- */

static void tell(struct ctx *ctx, const struct md *md)
{
    const struct md_ewald *e = md->ewald;
    double whole = hypot(e->error_near, e->error_far);
    const char *length = md->unit_text[MD_LENGTH];
    const char *per = length[0] ? " per " : "";
    const char *when = md->deform.kind ? " at most in the strain" : "";
    if (e->on_mesh)
        log_info(ctx->log,
                 "mesh Ewald: splitting %.7g%s%s, mesh %d x %d x %d, order %d, "
                 "estimated error %.2g%s (near %.2g, mesh %.2g)",
                 e->alpha, per, length, (int)e->cells[0], (int)e->cells[1],
                 (int)e->cells[2], e->order, whole, when, e->error_near,
                 e->error_far);
    else
        log_info(ctx->log,
                 "Ewald: splitting %.7g%s%s, %zu waves up to %.7g%s%s, "
                 "estimated error %.2g%s (near %.2g, waves %.2g)",
                 e->alpha, per, length, 2 * e->waves.count, e->wave_cutoff, per,
                 length, whole, when, e->error_near, e->error_far);
    if (whole > 1.05 * e->accuracy)
        log_warn(ctx->log,
                 "forces will be wrong by %.2g of the force between unit "
                 "charges, more than md.coulomb.accuracy = %g: leave splitting "
                 "and %s out to have them chosen, or change them",
                 whole, e->accuracy, e->on_mesh ? "mesh" : "wave_cutoff");
}

void md_ewald_close(struct ctx *ctx, struct md *md)
{
    const struct md_ewald *e = md->ewald;
    /* Under constant pressure volumes swing a little around what was chosen. */
    double most = md->deform.kind ? 1.05 : 1.5;
    if (!e || !(md->deform.kind || md->barostat.kind))
        return;
    double unit = unit_force(md);
    double now = hypot(md_ewald_error(md, MD_EWALD_NEAR),
                       md_ewald_error(md, MD_EWALD_FAR)) /
                 unit;
    if (now > most * fmax(e->accuracy, hypot(e->error_near, e->error_far)))
        log_warn(ctx->log,
                 "in the box as it is at the end forces are wrong by %.2g of "
                 "the force between unit charges, more than "
                 "md.coulomb.accuracy = %g",
                 now, e->accuracy);
}

int md_ewald_open(struct ctx *ctx, struct md *md)
{
    struct md_ewald *e = md->ewald;
    int status = 0;
    if (!e)
        return 0;
    if (!md->k->spread_charges)
        status = FAIL(ctx, STATUS_UNSUPPORTED,
                      "md.coulomb.method = \"%s\" is not computed on this "
                      "device; use device = \"cpu\"",
                      e->on_mesh ? "pme" : "ewald");
    else if (!e->on_mesh && md_waves_list(md) != 0)
        status =
            FAIL(ctx, STATUS_MEMORY, "no memory for %zu waves", e->waves.count);
    TRY(comm_agree(ctx, status));
    if (e->on_mesh)
        TRY(md_mesh_open(ctx, md));
    tell(ctx, md);
    return 0;
}

int md_ewald_forces(struct ctx *ctx, struct md *md, struct md_sums *sums)
{
    if (!md->ewald)
        return 0;
    timer_begin(ctx->timers, md->phase_mesh);
    int status = md->ewald->on_mesh ? md_mesh_forces(ctx, md, sums)
                                    : md_waves_forces(ctx, md, sums);
    if (status == 0 && md->ewald->slab)
        status = add_slab(ctx, md, sums);
    if (sums && !sums->later)
        md_ewald_finish(md, sums);
    timer_end(ctx->timers, md->phase_mesh);
    return status;
}

double md_ewald_bytes(const struct md *md)
{
    const struct md_ewald *e = md->ewald;
    double waves = 1;
    if (!e)
        return 0;
    if (e->on_mesh && e->whole) /* the store has it */
        return 0;
    if (e->on_mesh)
        return e->mesh ? md_mesh_bytes(e) : md_mesh_estimate(md);
    for (int d = 0; d < 3; d++)
        waves *= e->wave_cutoff * md_ewald_reach(md, d) / pi + 1;
    return waves * (sizeof *e->wave + 0.5 * sizeof *e->sums);
}

/* A particle and a point of the mesh near it: weights 2, the charge 2, three
 * fields 6; one transform there and three back, of reals: 2.5 N log2 N each; a
 * mode: three fields and the energy, 12. A particle and a wave: its phase, for
 * the sums and for the forces, 14 each, and 12 to add. */
double md_ewald_flops(const struct md *md)
{
    const struct md_ewald *e = md->ewald;
    double n = (double)md->n_particles, points, waves = 0.5;
    if (!e)
        return 0;
    if (e->on_mesh) {
        points =
            (double)e->cells[0] * (double)e->cells[1] * (double)e->cells[2];
        return 10 * n * pow(e->order, 3) +
               points * (10 * log2(fmax(points, 2)) + 12);
    }
    for (int d = 0; d < 3; d++)
        waves *= e->wave_cutoff * md_ewald_edge(md, d) / pi;
    return 40 * n * waves * pi / 6; /* half a sphere of the numbers */
}

int md_ewald_state(struct ctx *ctx, struct state_io *io, struct md *md, int out)
{
    struct md_ewald *e = md->ewald;
    if (!e)
        return 0;
    double chosen[] = {e->alpha, e->wave_cutoff, e->error_near, e->error_far};
    struct state_array numbers =
        state_shared("ewald/chosen", STATE_DOUBLE, 4, chosen);
    struct state_array cells =
        state_shared("ewald/mesh", STATE_INT64, 3, e->cells);
    TRY((out ? io->put : io->get)(ctx, io, &numbers));
    TRY((out ? io->put : io->get)(ctx, io, &cells));
    e->alpha = md->bonded.field.coulomb.alpha = chosen[0];
    e->wave_cutoff = chosen[1];
    e->error_near = chosen[2];
    e->error_far = chosen[3];
    return 0;
}

void md_ewald_free(struct md *md)
{
    struct md_ewald *e = md->ewald;
    if (!e)
        return;
    md_mesh_close(e);
    free(e->wave);
    free(e->sums);
    free(e);
    md->ewald = NULL;
}
