/* dpd_cuda.cu: dissipative particle dynamics: friction and noise between pairs;
 * the formulas are told in dpd_cpu.c.
 *
 * One thread a particle over its neighbors, own ones and copies. Nothing is
 * kept of a pair: its noise has an address, so both its particles, and both
 * forces of a step, find the same number again.
 */
#include "kernels/md/dynamics_cuda.h"
#include "kernels/md/near_cuda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/noise_cuda.h"

#define dpd_view MD_NAME(dpd_view)

/* Of two species: gamma, and its root. */
struct pair_friction {
    double gamma, root;
};

/* What the kernel needs beside the particles. */
struct dpd_view {
    const uint32_t *neighbor[2], *count[2]; /* own ones, copies; or NULL */
    const struct pair_friction *gamma;
    const double *value; /* [3] velocities of each copy */
    scalar *force;       /* 3 columns */
    double strength;
    uint64_t seed, step;
    struct wide_units unit; /* of sums in any order */
    unsigned long long *beyond;
};

/* ---- forces ---- */

/* The force along e on particle i, from j, r apart. */
static __device__ __forceinline__ scalar force_along(const struct md_view &m,
                                                     const struct dpd_view &p,
                                                     uint32_t i, uint32_t j,
                                                     int species, scalar reach,
                                                     double along)
{
    uint64_t a = (uint64_t)m.id[i], b = (uint64_t)m.id[j];
    double zeta =
        noise_even(p.seed, RNG_DPD, p.step, a < b ? a << 32 | b : b << 32 | a);
    struct pair_friction g = p.gamma[species];
    double w = (double)reach;
    scalar drag = (scalar)(g.gamma * w * w);
    scalar push = (scalar)(p.strength * g.root * w * zeta);
    return push - drag * (scalar)along;
}

/* visit(force along e, e) for each neighbor in range. */
template <class Visit>
static __device__ __forceinline__ void
for_each_pair(const struct md_view &m, const struct dpd_view &p, uint32_t i,
              int copies, Visit visit)
{
    struct pair_position pi = m.pair[i];
    double v[3];
    for (int d = 0; d < 3; d++)
        v[d] = (double)m.v[d * m.stride + i];
    for_each_neighbor(
        m, p.neighbor[copies], p.count[copies], i, pi,
        [&](uint32_t j, const struct pair_position &pj, const scalar way[3],
            scalar r2) {
            int species = pi.species * m.n_species + pj.species;
            if (r2 >= m.terms[species].cut2)
                return;
            scalar r = SCALAR_SQRT(r2), per = r > 0 ? 1 / r : 0, e[3];
            double along = 0;
            for (int d = 0; d < 3; d++) {
                double other = copies ? p.value[3 * (size_t)(j - m.n_own) + d]
                                      : (double)m.v[d * m.stride + j];
                e[d] = way[d] * per;
                along += (double)e[d] * (v[d] - other);
            }
            visit(force_along(m, p, i, j, species, 1 - r / m.terms[species].cut,
                              along),
                  e);
        });
}

static __device__ __forceinline__ void friction(const struct md_view &m,
                                                const struct dpd_view &p)
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    scalar f[3] = {0, 0, 0};
    for (int copies = 0; copies < 2 && p.neighbor[copies]; copies++)
        for_each_pair(m, p, i, copies, [&](scalar along, const scalar e[3]) {
            for (int d = 0; d < 3; d++)
                f[d] += along * e[d];
        });
    for (int d = 0; d < 3; d++)
        p.force[d * m.stride + i] = f[d];
}

/* The same with sums in any order. */
static __device__ __forceinline__ void friction_wide(const struct md_view &m,
                                                     const struct dpd_view &p)
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    struct wide_sum f[3] = {{0, 0}, {0, 0}, {0, 0}};
    unsigned long long reach = 0;
    for (int copies = 0; copies < 2 && p.neighbor[copies]; copies++)
        for_each_pair(m, p, i, copies, [&](scalar along, const scalar e[3]) {
            for (int d = 0; d < 3; d++)
                wide_add(&f[d], &reach, (double)(along * e[d]) * p.unit.force);
        });
    for (int d = 0; d < 3; d++)
        p.force[d * m.stride + i] =
            (scalar)(wide_value(f[d]) * p.unit.per_force);
    if (reach >> WIDE_REACH_BITS != 0)
        atomicMin(p.beyond, (unsigned long long)m.id[i]);
}

static void set_list(struct dpd_view *p, int copies,
                     const struct pair_list *list)
{
    p->neighbor[copies] = (const uint32_t *)list->neighbor.p;
    p->count[copies] = (const uint32_t *)list->count.p;
}

/* A unit of 2^-78 of the noise that a pair may have, or where there is none of
 * the friction at a velocity of 1. */
static void set_unit(struct wide_units *unit, double strength,
                     const struct cuda_dynamics *y)
{
    double greatest = strength * sqrt(3 * y->greatest_gamma);
    if (!(greatest > 0))
        greatest = y->greatest_gamma;
    unit->per_force = ldexp(greatest, -WIDE_UNIT_BITS);
    unit->force = 1 / unit->per_force;
    unit->energy = unit->per_energy = 0;
}

int cuda_launch_dpd_forces(struct md_store *s, const struct step_call *c)
{
    struct cuda_dynamics *y = s->dynamics;
    struct dpd_view p;
    memset(&p, 0, sizeof p);
    set_list(&p, 0, &s->own);
    if (s->view.n_halo > 0)
        set_list(&p, 1, &s->halo);
    p.gamma = (const struct pair_friction *)y->gamma.p;
    p.value = ARRAY(s, ARRAY_HALO_VALUE, double);
    p.force = (scalar *)y->force.p;
    p.strength = c->kick;
    p.seed = s->setup.seed;
    p.step = c->step;
    p.beyond = ARRAY(s, ARRAY_BEYOND, unsigned long long);
    set_unit(&p.unit, c->kick, y);
    TRY(cuda_run(s, "friction",
                 s->setup.deterministic ? kernel_of<friction_wide, 1>()
                                        : kernel_of<friction, 1>(),
                 cuda_own_blocks(s), s->view, p));
    s->unchecked |= s->setup.deterministic;
    s->tally.forces[0] += 1;
    s->tally.forces[1] += s->view.n_halo > 0;
    tally_own(s, 3 * (sizeof(state) + sizeof(scalar)) + sizeof(int64_t) +
                     sizeof(struct pair_position));
    return 0;
}

void cuda_dpd_forces(struct md_store *s)
{
    const struct cuda_dynamics *y = s->dynamics;
    if (s->view.n_own > 0)
        cuda_do_in_team(s, {STEP_DPD_FORCES, y->strength, 0, NULL, y->step});
}

/* ---- what a step needs ---- */

static int send_gamma(struct ctx *ctx, struct md_store *s, const double *gamma)
{
    struct cuda_dynamics *y = s->dynamics;
    size_t n = (size_t)(s->setup.n_species * s->setup.n_species);
    size_t bytes = n * sizeof(struct pair_friction);
    struct pair_friction *g = (struct pair_friction *)malloc(bytes);
    if (!g)
        return FAIL(ctx, STATUS_MEMORY, "no memory for pairs of DPD");
    for (size_t k = 0; k < n; k++) {
        g[k].gamma = gamma[k];
        g[k].root = sqrt(gamma[k]);
        y->greatest_gamma = fmax(y->greatest_gamma, gamma[k]);
    }
    int status =
        cuda_grow(ctx, &y->gamma.p, &y->gamma.bytes, bytes, "pairs of DPD");
    if (status == 0)
        status = cuda_to_device(ctx, s->device, y->gamma.p, g, bytes);
    free(g);
    y->in_pairs = status == 0;
    return status;
}

int cuda_dpd_pairs(struct ctx *ctx, struct md_store *s, const struct md_dpd *d)
{
    struct cuda_dynamics *y;
    TRY(cuda_dynamics_of(s, &y));
    if (!s->team || !y->in_pairs)
        cuda_settle(s);
    if (!y->in_pairs)
        TRY(send_gamma(ctx, s, d->gamma));
    TRY(cuda_grow(ctx, &y->force.p, &y->force.bytes,
                  3 * s->capacity * sizeof(scalar), "pairs of DPD"));
    y->strength = sqrt(2 * d->kt / d->dt);
    y->step = d->step;
    return cuda_reserve(s, ARRAY_HALO_VALUE, 3 * (size_t)s->view.n_halo + 3,
                        sizeof(double), "velocities of copies");
}

/* ---- kick ---- */

static __device__ __forceinline__ void
kick_by_friction(const struct md_view &m, const scalar *force, double dt,
                 double *column, double *partial)
{
    uint32_t i = thread_index();
    double growth = 0;
    if (i < m.n_own &&
        !md_held_of(m.groups, m.n_groups, m.id[i], m.species[i])) {
        double mass = m.mass[m.species[i]], before = 0, after = 0;
        for (int d = 0; d < 3; d++) {
            size_t at = d * m.stride + i;
            double v = (double)m.v[at];
            double to = v + dt / mass * (double)force[at];
            m.v[at] = (state)to;
            before += v * v;
            after += to * to;
        }
        growth = 0.5 * mass * (after - before);
    }
    leave_growth(m, i, growth, column, partial);
}

int cuda_launch_dpd_kick(struct md_store *s, double dt)
{
    TRY(cuda_reserve_sums(s));
    TRY(cuda_run(s, "kick_by_friction", kernel_of<kick_by_friction, 1>(),
                 cuda_own_blocks(s), s->view,
                 (const scalar *)s->dynamics->force.p, dt, growth_column(s),
                 ARRAY(s, ARRAY_PARTIAL, double)));
    tally_own(s, 6 * sizeof(state) + 3 * sizeof(scalar) + sizeof(int32_t));
    return cuda_add_work(s, cuda_blocks(s->view.n_own, MD_THREADS));
}

double cuda_dpd_kick(struct md_store *s, double dt)
{
    if (s->view.n_own > 0)
        cuda_do_in_team(s, {STEP_DPD_KICK, dt, 0, NULL});
    return 0;
}
