/* md_barostat.c: constant pressure.
 *
 * Cell rescaling: Bernetti and Bussi (2020), J. Chem. Phys. 153, 114107, with
 * the square root of a group's length, area or volume as the variable, whose
 * noise does not depend on it. MTK: Martyna, Tobias and Klein (1994), J. Chem.
 * Phys. 101, 4177, integrated as by Tuckerman et al. (2006), J. Phys. A 39,
 * 5629. Energies, times and lengths are the deck's; docs/md-conditions.md has
 * the equations.
 */
#include "md.h"

#include <inttypes.h>
#include <math.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/timer.h"
#include "kernels/rng.h"

/* ---- stress ---- */

static double sum3(const double v[3])
{
    return v[0] + v[1] + v[2];
}

/* The mean in each direction, where the box changes in proportion. */
static void even_out(double v[3])
{
    double mean = sum3(v) / 3;
    for (int d = 0; d < 3; d++)
        v[d] = mean;
}

/* All particles, one by one. */
static void sum_particles(const struct md *md, double v[6])
{
    double to_energy = md->constants->mvv_to_energy, kinetic[6];
    if (md->with_tensor) {
        md->k->kinetic_tensor(md->store, kinetic);
        for (int d = 0; d < 3; d++) {
            v[d] = kinetic[d] * to_energy;
            v[3 + d] = md->sums.tensor[d];
        }
        return;
    }
    struct md_moments moments;
    md->k->moments(md->store, &moments);
    for (int d = 0; d < 3; d++) {
        v[d] = 2.0 / 3.0 * moments.kinetic * to_energy;
        v[3 + d] = md->sums.virial / 3;
    }
}

int md_measure_stress(struct ctx *ctx, struct md *md, struct md_stress *out)
{
    struct md_stress inner;
    double v[7];
    TRY(md_rigid_inner(ctx, md, &inner));
    sum_particles(md, v);
    v[6] = sum3(inner.kinetic);
    if (!md->with_tensor) {
        even_out(inner.kinetic);
        even_out(inner.virial);
    }
    for (int d = 0; d < 3; d++) {
        v[d] -= inner.kinetic[d];
        v[3 + d] -= inner.virial[d];
    }
    TRY(comm_sum_double(ctx, v, 7));
    for (int d = 0; d < 3; d++) {
        out->kinetic[d] = v[d];
        out->virial[d] = v[3 + d];
    }
    out->inner = v[6];
    return 0;
}

int md_wants_virial(const struct md *md)
{
    const struct md_barostat *b = &md->barostat;
    if (b->kind == MD_NO_BAROSTAT)
        return md->deform.kind != MD_NO_DEFORM;
    return md->deform.kind || b->acts || (md->step + 1) % b->every == 0;
}

static double kt_of(const struct md *md)
{
    return md->constants->boltzmann * md->temperature;
}

/* Volume times (pressure - that of the deck), averaged over a group. */
static double excess(const struct md *md, const struct md_stress *s, int group)
{
    const struct md_barostat *b = &md->barostat;
    double sum = 0, volume = md_volume(md);
    double tail =
        md->pair.tail_pressure / md->constants->energy_per_volume_to_pressure;
    for (int d = 0; d < 3; d++)
        if (b->group[d] == group)
            sum += s->kinetic[d] + s->virial[d];
    return sum / b->size[group] + volume * (tail - b->pressure);
}

/* Length, area or volume of a group. */
static double content(const struct md *md, int group)
{
    double product = 1;
    for (int d = 0; d < 3; d++)
        if (md->barostat.group[d] == group)
            product *= md->box_length[d];
    return product;
}

/* A box that jumps is a mistake somewhere; the pair list would not follow. */
static int check_jump(struct ctx *ctx, const struct md *md)
{
    const struct md_barostat *b = &md->barostat;
    for (int d = 0; d < 3; d++) {
        double factor = b->length[d] / md->box_length[d];
        if (!(fabs(factor - 1) < 0.1))
            return FAIL(ctx, STATUS_PHYSICS,
                        "step %" PRId64 ": the box would change by a factor of "
                        "%g in one step; md.ensemble.pressure_relaxation = %g "
                        "is too short, or the start is too far from "
                        "equilibrium",
                        md->step, factor, b->relaxation);
    }
    return 0;
}

void md_barostat_fix(struct md *md, const int fixed[3])
{
    struct md_barostat *b = &md->barostat;
    int renamed[3] = {MD_FIXED, MD_FIXED, MD_FIXED}, n = 0;
    for (int d = 0; d < 3; d++) {
        if (fixed[d] || b->group[d] == MD_FIXED) {
            b->group[d] = MD_FIXED;
            continue;
        }
        if (renamed[b->group[d]] == MD_FIXED)
            renamed[b->group[d]] = n++;
        b->group[d] = renamed[b->group[d]];
    }
    for (int g = 0; g < 3; g++)
        b->size[g] =
            (b->group[0] == g) + (b->group[1] == g) + (b->group[2] == g);
    b->n_groups = n;
    b->partly = 1;
    md->with_tensor = 1;
}

/* ---- cell rescaling ---- */

/* The variable of a group is q = sqrt(content), its diffusion coefficient D
 * that of q: mean and variance of its jump from the present state. */
static void jump_of(const struct md *md, const struct md_stress *s, int group,
                    double *mean, double *spread2)
{
    const struct md_barostat *b = &md->barostat;
    double kt = kt_of(md), a = content(md, group), q = sqrt(a);
    double time = (double)b->every * md->dt;
    double d = kt * b->compressibility * b->size[group] * a /
               (12 * b->relaxation * md_volume(md));
    double force = 2 / q * excess(md, s, group) + kt / q;
    *mean = d / kt * force * time;
    *spread2 = 2 * d * time;
}

static int begin_rescaling(struct ctx *ctx, struct md *md)
{
    struct md_barostat *b = &md->barostat;
    struct md_stress stress;
    double q[3];
    /* The thermostat has changed velocities since. */
    TRY(md_measure_stress(ctx, md, &stress));
    for (int d = 0; d < 3; d++)
        stress.virial[d] = md->stress.virial[d];
    for (int g = 0; g < b->n_groups; g++) {
        double noise[2];
        rng_normal2(
            rng_philox(md->seed, RNG_BAROSTAT, (uint64_t)md->step, (uint64_t)g),
            noise);
        jump_of(md, &stress, g, &b->mean[g], &b->spread2[g]);
        b->jump[g] = b->mean[g] + sqrt(b->spread2[g]) * noise[0];
        q[g] = sqrt(content(md, g));
    }
    for (int d = 0; d < 3; d++) {
        int g = b->group[d];
        double factor = g == MD_FIXED ? 1 : 1 + b->jump[g] / q[g];
        b->length[d] =
            md->box_length[d] * (g == MD_FIXED ? 1
                                 : factor > 0  ? pow(factor, 2.0 / b->size[g])
                                               : 0);
    }
    return 0;
}

/* kT ln(P_forth / P_back) of the jump that has been made, which detailed
 * balance asks to be the loss of energy: Bernetti and Bussi, section II D. */
static int finish_rescaling(struct ctx *ctx, struct md *md)
{
    struct md_barostat *b = &md->barostat;
    double ln = 0;
    if (md_wants_virial(md))
        TRY(md_measure_stress(ctx, md, &md->stress));
    if (!b->acts)
        return 0;
    for (int g = 0; g < b->n_groups; g++) {
        double mean, spread2;
        jump_of(md, &md->stress, g, &mean, &spread2);
        double forth = b->jump[g] - b->mean[g], back = b->jump[g] + mean;
        ln += back * back / (2 * spread2) + 0.5 * log(spread2) -
              forth * forth / (2 * b->spread2[g]) - 0.5 * log(b->spread2[g]);
    }
    b->work += kt_of(md) * ln;
    return 0;
}

/* ---- MTK ---- */

/* Degrees of freedom that the box changes. */
static double moved_freedom(const struct md *md)
{
    return md->degrees_of_freedom - md->rigid.inner_freedom;
}

/* Mass of one direction's rate. */
static double rate_mass(const struct md *md)
{
    double tau = md->barostat.relaxation;
    return (md->degrees_of_freedom + 3) / 3 * kt_of(md) * tau * tau;
}

static double twice_rate_energy(const struct md *md)
{
    const struct md_barostat *b = &md->barostat;
    double sum = 0;
    for (int g = 0; g < b->n_groups; g++)
        sum += b->size[g] * rate_mass(md) * b->rate[g] * b->rate[g];
    return sum;
}

static void push_rates(struct md *md)
{
    struct md_barostat *b = &md->barostat;
    const struct md_stress *s = &md->stress;
    double shared = sum3(s->kinetic) / moved_freedom(md);
    for (int g = 0; g < b->n_groups; g++)
        b->rate[g] +=
            0.5 * md->dt * (excess(md, s, g) + shared) / rate_mass(md);
}

static void scale_rates(struct md *md)
{
    struct md_barostat *b = &md->barostat;
    double factor =
        md_chain_half(&b->chain, twice_rate_energy(md), kt_of(md), md->dt);
    for (int g = 0; g < b->n_groups; g++)
        b->rate[g] *= factor;
}

/* d ln(edge) / dt of a direction. */
static double rate_of(const struct md_barostat *b, int d)
{
    return b->group[d] == MD_FIXED ? 0 : b->rate[b->group[d]];
}

/* The factor of velocities from the box over a quarter of a step. */
void md_barostat_drag(const struct md *md, double drag[3])
{
    const struct md_barostat *b = &md->barostat;
    double trace = 0;
    for (int d = 0; d < 3; d++)
        trace += rate_of(b, d);
    for (int d = 0; d < 3; d++)
        drag[d] =
            exp(-0.25 * md->dt * (rate_of(b, d) + trace / moved_freedom(md)));
}

static void begin_mtk(struct md *md)
{
    struct md_barostat *b = &md->barostat;
    scale_rates(md);
    push_rates(md);
    for (int d = 0; d < 3; d++)
        b->length[d] = md->box_length[d] * exp(md->dt * rate_of(b, d));
}

/* ---- a step ---- */

void md_stress_ahead(struct md *md)
{
    if (md->rigid.on && md->grid.size == 1 && md->k->rigid_inner_ahead)
        md->k->rigid_inner_ahead(md->store);
    if (md->with_tensor && md->k->kinetic_tensor_ahead)
        md->k->kinetic_tensor_ahead(md->store);
    else if (!md->with_tensor && md->k->moments_ahead)
        md->k->moments_ahead(md->store);
}

void md_barostat_ask(struct md *md)
{
    struct md_barostat *b = &md->barostat;
    b->acts = b->moves = b->kind && md->step % b->every == 0;
    if (b->acts && b->kind == MD_CELL_RESCALING)
        md_stress_ahead(md);
}

int md_barostat_begin(struct ctx *ctx, struct md *md)
{
    struct md_barostat *b = &md->barostat;
    if (!b->acts)
        return 0;
    timer_begin(ctx->timers, md->phase_integrate);
    int status = 0;
    if (b->kind == MD_MTK)
        begin_mtk(md);
    else
        status = begin_rescaling(ctx, md);
    timer_end(ctx->timers, md->phase_integrate);
    return status != 0 ? status : check_jump(ctx, md);
}

/* Drag stands on both sides of a kick, but of rigid groups only the centers are
 * dragged, which asks for velocities of copies: there it stands on one side, in
 * the second half step on the other one. */
void md_barostat_box(struct md *md)
{
    struct md_barostat *b = &md->barostat;
    struct md_stretch *m = &b->stretch;
    double drag[3] = {1, 1, 1};
    if (b->kind == MD_MTK)
        md_barostat_drag(md, drag);
    m->dt_kick = m->dt_half = 0.5 * md->dt;
    for (int d = 0; d < 3; d++) {
        m->before[d] = md->rigid.on ? 1 : drag[d];
        m->after[d] = md->rigid.on ? drag[d] * drag[d] : drag[d];
        b->grow[d] = b->length[d] / md->box_length[d];
        /* Momenta go with 1 / length where MTK's drag does not see to it. */
        m->middle[d] = b->kind == MD_MTK && !md->deform.strained[d]
                           ? 1
                           : md->box_length[d] / b->length[d];
    }
    md_new_box(md, b->length, &b->box);
    m->box = &b->box;
    int whole = md->grid.size == 1 && md->k->rigid_unstretch_ahead;
    if (md->k->stretch_ahead && (whole || !md->rigid.on))
        md->k->stretch_ahead(md->store, m);
    if (md->k->stretch_ahead && whole && md->rigid.on)
        md->k->rigid_unstretch_ahead(md->store, m, b->grow);
}

int md_barostat_drift(struct ctx *ctx, struct md *md, double *moved2)
{
    struct md_barostat *b = &md->barostat;
    *moved2 = md->k->stretch(md->store, &b->stretch);
    return md->rigid.on ? md_rigid_unstretch(ctx, md, &b->stretch, b->grow) : 0;
}

int md_barostat_kick(struct ctx *ctx, struct md *md)
{
    const double one[3] = {1, 1, 1};
    struct md_stretch m = {.middle = {1, 1, 1}};
    double drag[3];
    md_barostat_drag(md, drag);
    if (!md->rigid.on) {
        md->k->kick_scaled(md->store, drag, 0.5 * md->dt, drag);
        return 0;
    }
    for (int d = 0; d < 3; d++)
        m.after[d] = drag[d] * drag[d];
    md->k->kick_scaled(md->store, m.after, 0, one);
    TRY(md_rigid_unstretch(ctx, md, &m, one));
    md->k->kick(md->store, 0.5 * md->dt);
    return 0;
}

int md_barostat_finish(struct ctx *ctx, struct md *md)
{
    if (md->barostat.kind == MD_CELL_RESCALING)
        return finish_rescaling(ctx, md);
    TRY(md_measure_stress(ctx, md, &md->stress));
    push_rates(md);
    scale_rates(md);
    return 0;
}

/* Of the conserved energy of cell rescaling: - kT / 2 times this. */
static double sum_of_logs(const struct md *md)
{
    double sum = 0;
    for (int g = 0; g < md->barostat.n_groups; g++)
        sum += log(content(md, g));
    return sum;
}

void md_ramp_temperature(struct md *md)
{
    const struct md_ramp *r = &md->ramp;
    double before = kt_of(md);
    if (r->steps == 0)
        return;
    double done = fmin((double)md->step / (double)r->steps, 1);
    md->temperature = r->from * (1 - done) + r->to * done;
    if (md->barostat.kind == MD_CELL_RESCALING)
        md->barostat.work += 0.5 * (kt_of(md) - before) * sum_of_logs(md);
}

double md_barostat_energy(const struct md *md)
{
    const struct md_barostat *b = &md->barostat;
    double kt = kt_of(md);
    double sum = b->pressure * md_volume(md) - md->deform.carried;
    if (b->kind == MD_NO_BAROSTAT)
        return 0;
    if (b->kind == MD_MTK)
        return sum + 0.5 * twice_rate_energy(md) +
               md_chain_energy(&b->chain, kt);
    return sum - 0.5 * kt * sum_of_logs(md) + b->work;
}
