/* md_minimize.c: down to a minimum of the energy, by FIRE.
 *
 * Bitzek, Koskinen, Gaehler, Moseler and Gumbsch (2006), Phys. Rev. Lett. 97,
 * 170201: the particles move by Newton's law as long as that goes downhill,
 * with velocities turned towards the forces and ever longer steps, and stop
 * where it goes uphill. As Guenole et al. (2020), Comput. Mater. Sci. 175,
 * 109584, advise: steps of semi-implicit Euler, and half a step back before a
 * stop. Vectors are weighed by mass: what the forces turn velocities to is the
 * acceleration.
 */
#include "md.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/param.h"
#include "domain/state.h"
#include "md_analysis.h"

#define SECTION "md.minimize"

/* Bitzek's numbers, but for the start of the mixing, Guenole's. */
static const double mixing_start = 0.25, mixing_decay = 0.99, grow = 1.1,
                    shrink = 0.5, longest_time = 10, shortest_time = 0.02;
enum { DELAY = 20 };

void md_minimize_read(struct params *p, struct md *md)
{
    struct md_minimize *m = &md->minimize;
    m->on = params_has_section(p, SECTION);
    if (!m->on)
        return;
    m->tolerance = params_double(p, SECTION, "force");
    m->steps = params_int(p, SECTION, "steps");
    m->every = params_int(p, SECTION, "every");
    if (md->pair.smallest_sigma > 0)
        params_fill_double(p, SECTION, "longest_step",
                           0.1 * md->pair.smallest_sigma);
    else if (!params_is_set(p, SECTION, "longest_step"))
        params_error(p, SECTION, "longest_step",
                     "no pair has a size to take it from: give "
                     "md.minimize.longest_step");
    if (md->pair.smallest_sigma > 0 ||
        params_is_set(p, SECTION, "longest_step"))
        m->longest = params_double(p, SECTION, "longest_step");
}

void md_minimize_free(struct md *md)
{
    free(md->minimize.rows);
}

/* ---- sums ---- */

/* The state of a descent, the same on all ranks but for the buffers. */
struct descent {
    double time, mixing; /* length of a step; weight of the forces */
    double taken;        /* length of the last step, cut by longest_step */
    int64_t downhill;    /* steps in a row */
    /* sums over particles: F v, m v^2, F a; and the greatest F^2, v^2, a^2 */
    double power, speed2, push2, most_force2, most_speed2, most_push2;
    struct md_particle *p;
    struct md_slot *slots; /* with rigid bonds */
    double (*force)[3];
    size_t capacity;
};

static int reserve(struct ctx *ctx, struct descent *f, size_t n)
{
    if (n <= f->capacity)
        return 0;
    f->capacity = n + n / 8 + 64;
    free(f->p);
    free(f->slots);
    free(f->force);
    f->p = malloc(f->capacity * sizeof *f->p);
    f->slots = malloc(f->capacity * sizeof *f->slots);
    f->force = malloc(f->capacity * sizeof *f->force);
    return f->p && f->slots && f->force
               ? 0
               : FAIL(ctx, STATUS_MEMORY, "no memory for md.minimize");
}

static double square(const double v[3])
{
    return v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
}

/* Forces without what rigid bonds take up: as velocities after a unit of time
 * from rest they lose what is along the bonds. Velocities come back. */
static int project_forces(struct ctx *ctx, struct md *md, struct descent *f,
                          size_t n)
{
    if (!md->rigid.on)
        return 0;
    TRY(comm_agree(ctx, md->k->take_slots(ctx, md->store, f->slots)));
    md->k->scale_velocities(md->store, 0);
    md->k->kick(md->store, 1);
    TRY(md_rigid_stop(ctx, md));
    TRY(md_gather(ctx, md, f->p, NULL));
    TRY(comm_agree(ctx, md->k->put_slots(ctx, md->store, f->slots, n)));
    for (size_t i = 0; i < n; i++) {
        double mass = md->species[f->p[i].species].mass;
        for (int d = 0; d < 3; d++) {
            f->force[i][d] = f->p[i].velocity[d] * mass /
                             md->constants->force_to_acceleration;
            f->p[i].velocity[d] = f->slots[i].p.velocity[d];
        }
    }
    return 0;
}

static int measure(struct ctx *ctx, struct md *md, struct descent *f)
{
    size_t n = md->k->count(md->store);
    double sum[3] = {0}, most[3] = {0};
    TRY(comm_agree(ctx, reserve(ctx, f, n)));
    TRY(md_gather(ctx, md, f->p, f->force));
    TRY(project_forces(ctx, md, f, n));
    for (size_t i = 0; i < n; i++) {
        const double *v = f->p[i].velocity, *force = f->force[i];
        double mass = md->species[f->p[i].species].mass;
        double per_mass = md->constants->force_to_acceleration / mass;
        double force2 = square(force);
        sum[0] += force[0] * v[0] + force[1] * v[1] + force[2] * v[2];
        sum[1] += mass * square(v);
        sum[2] += per_mass * per_mass * mass * force2;
        most[0] = fmax(most[0], force2);
        most[1] = fmax(most[1], square(v));
        most[2] = fmax(most[2], per_mass * per_mass * force2);
    }
    TRY(comm_sum_double(ctx, sum, 3));
    TRY(comm_max_double(ctx, most, 3));
    f->power = sum[0];
    f->speed2 = sum[1];
    f->push2 = sum[2];
    f->most_force2 = most[0];
    f->most_speed2 = most[1];
    f->most_push2 = most[2];
    if (isfinite(sum[2]) && isfinite(most[0]))
        return 0;
    TRY(comm_agree(ctx, md_check_finite(ctx, md)));
    return FAIL(ctx, STATUS_PHYSICS,
                "md.minimize: forces are too large to be added up; particles "
                "overlap");
}

/* ---- steps ---- */

/* Uphill: half a step back, and a stop. Velocities are those of the last drift.
 */
static int turn_back(struct ctx *ctx, struct md *md, struct descent *f,
                     double *moved2)
{
    double back = -0.5 * f->taken;
    f->time = fmax(shrink * f->time, shortest_time * md->dt);
    f->mixing = mixing_start;
    f->downhill = 0;
    *moved2 = md->k->kick_drift(md->store, 0, back);
    int status = md_rigid_move(ctx, md, 0, moved2);
    md->k->scale_velocities(md->store, 0);
    return status;
}

/* v = (1 - mixing) v + (mixing |v| / |a| + t) a; x += v t, where no particle
 * goes farther than md.minimize.longest_step. Rigid bonds take up their part of
 * the accelerations, and of the ways. */
static int go_on(struct ctx *ctx, struct md *md, struct descent *f,
                 double *moved2)
{
    double turn = f->push2 > 0 ? f->mixing * sqrt(f->speed2 / f->push2) : 0;
    if (++f->downhill > DELAY) {
        f->time = fmin(grow * f->time, longest_time * md->dt);
        f->mixing *= mixing_decay;
    }
    double push = sqrt(f->most_push2);
    double speed = sqrt(f->most_speed2) + turn * push;
    double longest = md->minimize.longest;
    double most =
        2 * longest / (speed + sqrt(speed * speed + 4 * push * longest));
    double t = f->taken = fmin(f->time, most);
    md->k->scale_velocities(md->store, 1 - f->mixing);
    if (!md->rigid.on) {
        *moved2 = md->k->kick_drift(md->store, turn + t, t);
        return 0;
    }
    md->k->kick(md->store, turn + t);
    TRY(md_rigid_stop(ctx, md));
    *moved2 = md->k->kick_drift(md->store, 0, t);
    return md_rigid_move(ctx, md, 1 / t, moved2);
}

static int note_row(struct ctx *ctx, struct md *md, int64_t step, double force)
{
    struct md_minimize *m = &md->minimize;
    double energy = md->sums.energy;
    int status = 0;
    if (m->n == m->capacity) {
        size_t capacity = 2 * m->capacity + 64;
        void *grown = realloc(m->rows, capacity * sizeof *m->rows);
        if (grown) {
            m->rows = grown;
            m->capacity = capacity;
        } else {
            status = FAIL(ctx, STATUS_MEMORY, "no memory for md.minimize");
        }
    }
    TRY(comm_agree(ctx, status));
    TRY(comm_sum_double(ctx, &energy, 1));
    double *row = m->rows[m->n++];
    row[0] = (double)step;
    row[1] = energy + md->pair.tail_energy;
    row[2] = force;
    return 0;
}

static int descend(struct ctx *ctx, struct md *md, struct descent *f)
{
    const struct md_minimize *m = &md->minimize;
    int stop = 0;
    for (int64_t step = 0;; step++) {
        TRY(measure(ctx, md, f));
        double force = sqrt(f->most_force2);
        int last = force <= m->tolerance || step == m->steps || stop;
        if (last && !md->sums_known)
            TRY(md_compute_sums(ctx, md));
        if (last || step % m->every == 0)
            TRY(note_row(ctx, md, step, force));
        if (last)
            return 0;
        double moved2;
        int torn = f->power < 0 ? turn_back(ctx, md, f, &moved2)
                                : go_on(ctx, md, f, &moved2);
        int status = md_check_motion(ctx, md, &moved2);
        status = status ? status : torn;
        if (status == 0)
            status = md_walls_reflect(ctx, md);
        TRY(comm_step(ctx, status, &stop, &moved2));
        TRY(md_update_forces(ctx, md, moved2,
                             (step + 1) % m->every == 0 ? MD_WANT_ALL
                                                        : MD_WANT_FORCES));
    }
}

/* ---- before and after ---- */

/* The velocities with which the run begins. */
static int draw_velocities(struct ctx *ctx, struct md *md)
{
    size_t n = md->k->count(md->store);
    struct md_slot *slots = malloc((n + 1) * sizeof *slots);
    struct md_particle *p = malloc((n + 1) * sizeof *p);
    int status =
        slots && p ? md->k->take_slots(ctx, md->store, slots)
                   : FAIL(ctx, STATUS_MEMORY, "no memory for %zu particles", n);
    TRY_CLEANUP(comm_agree(ctx, status));
    for (size_t i = 0; i < n; i++)
        p[i] = slots[i].p;
    TRY_CLEANUP(md_draw_velocities(ctx, md, p, n, md->initial.temperature));
    for (size_t i = 0; i < n; i++)
        slots[i].p = p[i];
    TRY_CLEANUP(comm_agree(ctx, md->k->put_slots(ctx, md->store, slots, n)));
cleanup:
    free(slots);
    free(p);
    return status;
}

static void tell(struct ctx *ctx, const struct md *md)
{
    const struct md_minimize *m = &md->minimize;
    const double *first = m->rows[0], *last = m->rows[m->n - 1];
    log_info(ctx->log,
             "minimization: %.0f steps; energy from %.10g to %.10g, greatest "
             "force from %.3g to %.3g",
             last[0], first[1], last[1], first[2], last[2]);
    if (last[2] > m->tolerance)
        log_warn(ctx->log,
                 "minimization: the greatest force is %g after %.0f steps, "
                 "more than md.minimize.force = %g",
                 last[2], last[0], m->tolerance);
}

int md_minimize(struct ctx *ctx, struct md *md)
{
    struct descent f = {.time = md->dt, .mixing = mixing_start};
    int64_t rebuild_every = md->pair.rebuild_every;
    if (!md->minimize.on)
        return 0;
    if (!md->k->take_slots)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "md.minimize is not there on device '%s'; use device = "
                    "\"cpu\"",
                    ctx->device->name);
    md->k->scale_velocities(md->store, 0);
    md->pair.rebuild_every = 0;
    int status = descend(ctx, md, &f);
    md->pair.rebuild_every = rebuild_every;
    free(f.p);
    free(f.slots);
    free(f.force);
    TRY_WHILE(ctx, status, "in the descent of [md.minimize], before the run");
    tell(ctx, md);
    md->k->scale_velocities(md->store, 0);
    if (md->initial.has_temperature)
        TRY(draw_velocities(ctx, md));
    return md_rigid_scale(ctx, md);
}

/* ---- what is left of it ---- */

int md_minimize_table(struct ctx *ctx, struct md *md)
{
    const struct md_minimize *m = &md->minimize;
    static const char *const names[] = {"step", "energy", "greatest_force"};
    const struct dimension units[] = {DIM_NONE, DIM_ENERGY, DIM_FORCE};
    if (m->n == 0)
        return 0;
    struct md_table *t = md_add_table(
        ctx, md, 3, (int64_t)m->n,
        "energy and the greatest force on a particle before the run",
        "minimization/descent");
    TRY(comm_agree(ctx, t ? 0 : STATUS_MEMORY));
    for (int c = 0; c < 3; c++) {
        double *out = md_add_column(md, t, names[c], units[c]);
        for (size_t i = 0; i < m->n; i++)
            out[i] = m->rows[i][c];
    }
    return 0;
}

static struct state_array rows_of(const struct md_minimize *m)
{
    return state_shared("minimize/rows", STATE_DOUBLE, 3 * (int64_t)m->n,
                        m->rows);
}

int md_minimize_save(struct ctx *ctx, const struct md *md, struct state_io *io)
{
    struct state_array rows = rows_of(&md->minimize);
    return md->minimize.on ? state_put(ctx, io, &rows) : 0;
}

int md_minimize_restore(struct ctx *ctx, struct md *md, struct state_io *io)
{
    struct md_minimize *m = &md->minimize;
    int64_t shape[STATE_RANK_MAX];
    if (!m->on || !io->find(io, "minimize/rows", shape))
        return 0;
    m->n = m->capacity = (size_t)shape[0] / 3;
    m->rows = malloc((m->n + 1) * sizeof *m->rows);
    TRY(comm_agree(
        ctx,
        m->rows ? 0 : FAIL(ctx, STATUS_MEMORY, "no memory for md.minimize")));
    struct state_array rows = rows_of(m);
    return state_get(ctx, io, &rows);
}
