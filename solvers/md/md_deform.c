/* md_deform.c: see md_deform.h. */
#include "md.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/param.h"
#include "domain/halo.h"
#include "domain/state.h"
#include "kernels/md/cell.h"
#include "md_ewald.h"

#define SECTION "md.deform"

/* Where a component stands among xx, yy, zz, xy, xz, yz. */
static int component(const struct md_deform *f)
{
    return 2 + f->along + f->across;
}

/* ---- the deck ---- */

static void read_edges(struct params *p, struct md *md)
{
    struct md_deform *f = &md->deform;
    size_t n = 0;
    memcpy(f->rate, params_doubles(p, SECTION, "rate", &n), sizeof f->rate);
    f->kind = MD_DEFORM_EDGES;
    for (int d = 0; d < 3; d++) {
        double last = 1 + f->rate[d] * md->dt * (double)md->steps;
        if (!(last > 0.1))
            params_error(p, SECTION, "rate",
                         "the edge along %c would be %g times as long at the "
                         "end of the run",
                         "xyz"[d], last);
        /* The pair list follows a box that changes little in a step. */
        if (fabs(f->rate[d] * md->dt) > 0.01)
            params_error(p, SECTION, "rate",
                         "the edge along %c would change by %g %% in a step",
                         "xyz"[d], 100 * fabs(f->rate[d] * md->dt));
    }
}

static void read_shear(struct params *p, struct md *md)
{
    static const char *const planes[3] = {"xy", "xz", "yz"};
    struct md_deform *f = &md->deform;
    const char *plane = params_string(p, SECTION, "plane");
    f->shear = params_double(p, SECTION, "shear");
    f->kind = MD_DEFORM_SHEAR;
    for (int t = 0; t < 3; t++)
        if (strcmp(plane, planes[t]) == 0) {
            f->along = t == 2;
            f->across = t == 0 ? 1 : 2;
        }
    md->tilted = 1;
    if (fabs(f->shear * md->dt) > 0.01)
        params_error(p, SECTION, "shear",
                     "the box would be sheared by %g in a step, more than 0.01",
                     fabs(f->shear * md->dt));
}

static void refuse_others(struct params *p, const struct md *md)
{
    static const char *const sections[] = {"md.constraints", "md.group",
                                           "md.field"};
    const int *walled = md->walls.outer.walled;
    if (params_has_section(p, "md.analysis.green_kubo"))
        params_error(p, "md.analysis.green_kubo", NULL,
                     "[md.analysis.green_kubo] is of a fluid at equilibrium, "
                     "without [" SECTION "]; its shear_stress over " SECTION
                     ".shear is the viscosity");
    for (int d = 0; d < 3; d++)
        if (walled[d] && md->deform.strained[d])
            params_error(p, "md.walls", NULL,
                         "[[md.walls]] in %c stand still, while [" SECTION
                         "] strains the box there",
                         "xyz"[d]);
    for (size_t k = 0; k < sizeof sections / sizeof sections[0]; k++)
        if (params_has_section(p, sections[k]))
            params_error(p, sections[k], NULL,
                         "[%s] does not go with [" SECTION "] yet",
                         sections[k]);
    if (md->exchanged)
        params_error(p, SECTION, NULL,
                     "replicas at several temperatures are exchanged at "
                     "equilibrium, without [" SECTION "]");
}

/* A barostat has the directions that are left. */
static void share_box(struct params *p, struct md *md)
{
    struct md_barostat *b = &md->barostat;
    int left = 0;
    for (int d = 0; d < 3; d++)
        left += !md->deform.strained[d] && b->group[d] != MD_FIXED;
    if (!b->kind)
        return;
    if (left > 0)
        md_barostat_fix(md, md->deform.strained);
    else
        params_error(p, "md.ensemble", "type",
                     "type \"npt\" changes edges that [" SECTION
                     "] does not strain and no [[md.walls]] hold, and there is "
                     "none");
}

void md_deform_read(struct params *p, struct md *md)
{
    if (!params_has_section(p, SECTION))
        return;
    int edges = params_is_set(p, SECTION, "rate");
    if (edges == params_is_set(p, SECTION, "shear")) {
        params_error(p, SECTION, NULL,
                     "[" SECTION
                     "] needs one of rate, of the edges, and shear");
        return;
    }
    if (edges)
        params_refuse(p, SECTION, "plane",
                      SECTION ".plane is that of " SECTION ".shear");
    if (edges)
        read_edges(p, md);
    else
        read_shear(p, md);
    for (int d = 0; d < 3; d++)
        md->deform.strained[d] =
            edges ? fabs(md->deform.rate[d]) > 0
                  : d == md->deform.along || d == md->deform.across;
    refuse_others(p, md);
    share_box(p, md);
    /* More links do not hold the mean where heat comes all the time. */
    if (!params_is_set(p, "md.ensemble", "chain"))
        md->chain_links = 1;
    md->with_tensor = 1;
}

void md_deform_lengths(const struct md *md, double length[3])
{
    const struct md_deform *f = &md->deform;
    for (int d = 0; d < 3; d++)
        length[d] =
            f->kind == MD_DEFORM_SHEAR && d == f->along ? 0 : md->box_length[d];
}

void md_deform_ranks(struct params *p, const struct md *md, const int dims[3])
{
    const struct md_deform *f = &md->deform;
    /* Before a file has been read nothing is known of its box. */
    if (f->kind == MD_DEFORM_SHEAR && dims[f->along] > 1 &&
        md->box_length[f->along] > 0)
        params_error(p, "domain", "ranks",
                     "a box that is sheared along %c is not cut there: the "
                     "flow carries particles through all of it",
                     "xyz"[f->along]);
}

/* ---- the box ---- */

/* Strain since the start. */
static double strain(const struct md *md, double rate)
{
    return rate * md->dt * (double)md->step;
}

static void sum_kinetic(const struct md *md, double out[6])
{
    md->k->kinetic_tensor(md->store, out);
    for (int t = 0; t < 6; t++)
        out[t] *= md->constants->mvv_to_energy;
}

int md_deform_start(struct ctx *ctx, struct md *md)
{
    if (!md->deform.kind)
        return 0;
    memcpy(md->deform.virial, md->sums.tensor, sizeof md->deform.virial);
    return comm_sum_double(ctx, md->deform.virial, 6);
}

void md_deform_ask(struct md *md)
{
    if (md->deform.kind && md->k->kinetic_tensor_ahead)
        md->k->kinetic_tensor_ahead(md->store);
}

int md_deform_begin(struct ctx *ctx, struct md *md)
{
    struct md_deform *f = &md->deform;
    struct md_barostat *b = &md->barostat;
    (void)ctx;
    if (!f->kind)
        return 0;
    sum_kinetic(md, f->kinetic);
    b->moves = f->kind == MD_DEFORM_EDGES;
    for (int d = 0; d < 3; d++) {
        f->before[d] = md->box_length[d];
        if (!b->acts)
            b->length[d] = md->box_length[d];
        if (f->kind == MD_DEFORM_EDGES && f->strained[d])
            b->length[d] = b->start[d] * (1 + strain(md, f->rate[d]));
    }
    f->tail_before = md->pair.tail_energy;
    f->volume_before = md_volume(md);
    return 0;
}

/* Where a barostat changes the third edge, too: what it does to the motion, and
 * to tilts, of which xy and xz go with x and yz goes with y. */
static void stretch_third(struct md *md, struct md_shear *m)
{
    const struct md_barostat *b = &md->barostat;
    double grow[3];
    for (int d = 0; d < 3; d++) {
        grow[d] = b->length[d] / md->box_length[d];
        m->before[d] = m->after[d] = m->middle[d] = 1;
    }
    m->third = 3 - md->deform.along - md->deform.across;
    if (b->kind == MD_MTK)
        md_barostat_drag(md, m->before);
    else
        m->middle[m->third] = 1 / grow[m->third];
    memcpy(m->after, m->before, sizeof m->after);
    md->tilt[0] *= grow[0];
    md->tilt[1] *= grow[0];
    md->tilt[2] *= grow[1];
}

void md_deform_box(struct md *md)
{
    struct md_deform *f = &md->deform;
    struct md_shear m = {.along = f->along,
                         .across = f->across,
                         .strain = f->shear * md->dt,
                         .dt_kick = 0.5 * md->dt,
                         .dt_half = 0.5 * md->dt};
    /* b takes part where y does; c, whose y is yz, too. */
    if (f->across == 1) {
        md->tilt[0] += m.strain * md->box_length[1];
        md->tilt[1] += m.strain * md->tilt[2];
    } else {
        md->tilt[f->along == 0 ? 1 : 2] += m.strain * md->box_length[2];
    }
    stretch_third(md, &m);
    md_new_box(md, md->barostat.length, &f->box);
    m.box = &f->box;
    f->motion = m;
    if (md->k->shear_ahead)
        md->k->shear_ahead(md->store, &f->motion);
}

double md_deform_drift(struct md *md)
{
    return md->k->shear(md->store, &md->deform.motion);
}

/* What the strain changes of the tail correction, which goes with 1 / V, and of
 * a barostat's p V, in a direction by this logarithm of a factor. */
static void add_volume_work(struct md *md, double log_factor)
{
    struct md_deform *f = &md->deform;
    f->work -= 0.5 * (md->pair.tail_energy + f->tail_before) * log_factor;
    f->carried += 0.5 * (md_volume(md) + f->volume_before) *
                  md->barostat.pressure * log_factor;
}

/* dE = - V P : dA, A of the flow, by the means of both ends of the step. */
int md_deform_finish(struct ctx *ctx, struct md *md)
{
    struct md_deform *f = &md->deform;
    double v[18], before[6], after[6];
    if (!f->kind)
        return 0;
    memcpy(v, f->kinetic, sizeof f->kinetic);
    sum_kinetic(md, v + 6);
    memcpy(v + 12, md->sums.tensor, sizeof md->sums.tensor);
    TRY(comm_sum_double(ctx, v, 18));
    for (int t = 0; t < 6; t++) {
        before[t] = v[t] + f->virial[t];
        after[t] = v[6 + t] + v[12 + t];
        f->virial[t] = v[12 + t];
    }
    for (int d = 0; d < 3 && f->kind == MD_DEFORM_EDGES; d++) {
        double factor = f->strained[d] ? md->box_length[d] / f->before[d] : 1;
        f->work -= 0.5 * (before[d] + after[d]) * log(factor);
        add_volume_work(md, log(factor));
    }
    if (f->kind == MD_DEFORM_SHEAR)
        f->work -= 0.5 * (before[component(f)] + after[component(f)]) *
                   f->shear * md->dt;
    return 0;
}

void md_deform_flip(struct md *md)
{
    int32_t turns[3];
    if (md->deform.kind != MD_DEFORM_SHEAR || !md_tilt_turn(md, turns))
        return;
    md->k->relabel(md->store, turns);
    md_set_box(md, md->box_length);
}

double md_deform_least(const struct md *md)
{
    const struct md_deform *f = &md->deform;
    if (f->kind != MD_DEFORM_SHEAR)
        return 1;
    /* The smaller singular value of the map (1, s; 0, 1). */
    double s = 0.5 * f->shear * md->dt * (double)(md->step - md->list_step);
    return hypot(1, s) - fabs(s);
}

void md_deform_carry(const struct md *md, double x[3])
{
    const struct md_deform *f = &md->deform;
    if (f->kind == MD_DEFORM_SHEAR)
        x[f->along] +=
            strain(md, f->shear) * (x[f->across] - md->box_lo[f->across]);
}

/* ---- boxes of the run ---- */

void md_shape_of(const struct md *md, struct md_shape *out)
{
    memcpy(out->length, md->box_length, sizeof out->length);
    memcpy(out->tilt, md->tilt, sizeof out->tilt);
}

void md_shape_take(struct md *md, const struct md_shape *shape)
{
    memcpy(md->box_length, shape->length, sizeof shape->length);
    memcpy(md->tilt, shape->tilt, sizeof shape->tilt);
}

/* The tilt that grows with the shear; that of c goes along with it where b
 * leans, too. */
static int main_tilt(const struct md_deform *f)
{
    return f->across == 1 ? 0 : f->along == 0 ? 1 : 2;
}

/* To these lengths of its edges, with what of them leans. */
static void stretch(struct md_shape *s, const double length[3])
{
    for (int t = 0; t < 3; t++)
        s->tilt[t] *= length[t == 2] / s->length[t == 2];
    memcpy(s->length, length, sizeof s->length);
}

int md_deform_shapes(const struct md *md, struct md_shape out[MD_SHAPES])
{
    const struct md_deform *f = &md->deform;
    double strained = md->dt * (double)md->steps;
    int t = main_tilt(f);
    for (int i = 0; i < MD_SHAPES; i++)
        md_shape_of(md, &out[i]);
    if (f->kind == MD_NO_DEFORM)
        return 1;
    if (f->kind == MD_DEFORM_EDGES) {
        double last[3];
        for (int d = 0; d < 3; d++)
            last[d] = md->box_length[d] * (1 + f->rate[d] * strained);
        stretch(&out[1], last);
        return 2;
    }
    double half = 0.5 * md->box_length[f->along];
    double last = md->tilt[t] + f->shear * strained * md->box_length[f->across];
    int over = fabs(last) > half;
    out[1].tilt[t] = over ? half : last;
    out[2].tilt[t] = -half;
    /* With no other tilt both sides are one another's mirror image. */
    int leans = 0;
    for (int k = 0; k < 3; k++)
        leans |= k != t && fabs(md->tilt[k]) > 0;
    return over && leans ? 3 : 2;
}

/* The edge in the row that is no shorter than this one. */
static double rounded_up(double length, double start)
{
    const double step = 0.05;
    return start *
           pow(1 + step, ceil(log(length / start) / log1p(step) - 1e-9));
}

double md_deform_near(const struct md *md, struct md_shape *out)
{
    /* steps of a tilt that the flow moves, as parts of the edge along it, and
     * of another one, which keeps its part but for rounding */
    const double lean = 0.1, none = 1e-9;
    const struct md_deform *f = &md->deform;
    const double *start = md->barostat.start;
    double most[3] = {0, 0, 0}, y[3], z[3], square = 0;
    int edges = f->kind == MD_DEFORM_EDGES;
    md_shape_of(md, out);
    if (f->kind == MD_NO_DEFORM)
        return 1;
    for (int d = 0; d < 3; d++)
        out->length[d] = edges && f->strained[d]
                             ? rounded_up(md->box_length[d], start[d])
                             : start[d];
    for (int t = 0; t < 3; t++) {
        int d = t == 2, moved = !edges && d == f->along;
        double unit = moved ? lean : none;
        double part = md->tilt[t] / md->box_length[d];
        most[t] = moved ? 0.5 * unit * out->length[d] : 0;
        out->tilt[t] = unit * rint(part / unit) * out->length[d];
    }
    /* k = (1 + h^-1 D) k', with the edges as rows of h, and of D what they lack
     * to those of k': by two columns of the product. */
    const double of_x[3] = {0, most[0], most[1]}, of_y[3] = {0, 0, most[2]};
    cell_wave(out->length, out->tilt, of_x, y);
    cell_wave(out->length, out->tilt, of_y, z);
    for (int d = 0; d < 3; d++)
        square += y[d] * y[d] + z[d] * z[d];
    return 1 + sqrt(square);
}

/* ---- files ---- */

int md_deform_state(struct ctx *ctx, struct state_io *io, struct md *md,
                    int out)
{
    struct md_deform *f = &md->deform;
    struct state_array arrays[] = {
        state_shared("box/tilt", STATE_DOUBLE, 3, md->tilt),
        state_shared("box/listed_tilt", STATE_DOUBLE, 3, f->listed),
        state_shared("deform/virial", STATE_DOUBLE, 6, f->virial),
        state_shared("deform/work", STATE_DOUBLE, 1, &f->work),
        state_shared("deform/carried", STATE_DOUBLE, 1, &f->carried)};
    if (!f->kind)
        return 0;
    for (size_t a = 0; a < sizeof arrays / sizeof arrays[0]; a++)
        TRY((out ? io->put : io->get)(ctx, io, &arrays[a]));
    return md_ewald_state(ctx, io, md, out);
}

void md_deform_observe_init(struct md *md)
{
    const struct md_deform *f = &md->deform;
    if (!f->kind)
        return;
    md_add_observable(md, "deform_work", MD_ENERGY,
                      "energy that the deformation has put in", NULL, 0, 6);
    if (f->kind != MD_DEFORM_SHEAR)
        return;
    md_add_observable(md, "strain", MD_NO_UNIT,
                      "shear of the box since the start", NULL, 0, 6);
    md_add_observable(md, "shear_stress", MD_PRESSURE,
                      "less the component of the pressure tensor in the plane "
                      "of shear; over the rate it is the viscosity",
                      NULL, 0, 6);
}

void md_deform_observe(struct md *md, const double pressure[6], double *values,
                       int *n)
{
    const struct md_deform *f = &md->deform;
    if (!f->kind)
        return;
    values[(*n)++] = f->work;
    if (f->kind != MD_DEFORM_SHEAR)
        return;
    values[(*n)++] = strain(md, f->shear);
    values[(*n)++] = -pressure[component(f)];
}
