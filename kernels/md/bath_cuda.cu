/* bath_cuda.cu: particles that are each coupled to a bath: Langevin's friction
 * of all, or by species and group, and Brownian motion; and how groups move.
 *
 * As bath_cpu.c, with the same numbers. What baths do to velocities is added up
 * on the card, so that no step waits for it.
 */
#include "kernels/md/fixed_cuda.h"
#include "kernels/md/box_cuda.h"
#include "kernels/md/dynamics_cuda.h"
#include "kernels/md/outer_cuda.h"
#include "kernels/md/team_cuda.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/noise_cuda.h"

/* ---- what the card keeps ---- */

int cuda_dynamics_of(struct md_store *s, struct cuda_dynamics **out)
{
    *out = s->dynamics;
    if (*out)
        return 0;
    struct cuda_dynamics *y = (struct cuda_dynamics *)calloc(1, sizeof *y);
    if (!y)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for baths");
    *out = s->dynamics = y;
    TRY(cuda_grow(s->ctx, &y->work.p, &y->work.bytes, sizeof(double), "sums"));
    return cuda_status(
        s->ctx,
        cudaMemsetAsync(y->work.p, 0, sizeof(double), s->device->stream),
        "cudaMemsetAsync");
}

void cuda_dynamics_destroy(struct md_store *s)
{
    struct cuda_dynamics *y = s->dynamics;
    if (!y)
        return;
    cuda_free(y->work.p);
    cuda_free(y->friction.p);
    cuda_free(y->gamma.p);
    cuda_free(y->force.p);
    free(y);
}

size_t cuda_dynamics_bytes(const struct md_store *s)
{
    const struct cuda_dynamics *y = s->dynamics;
    return y ? y->work.bytes + y->friction.bytes + y->gamma.bytes +
                   y->force.bytes
             : 0;
}

/* ---- work ---- */

static __device__ __forceinline__ void add_blocks(const double *partial,
                                                  uint32_t n, double *work)
{
    __shared__ double shared[256 / 32];
    double sum = reduce_column(partial, n, 0, shared);
    if (threadIdx.x == 0)
        *work += sum;
}

int cuda_add_work(struct md_store *s, unsigned blocks)
{
    double *work = (double *)s->dynamics->work.p;
    if (s->setup.deterministic)
        return cuda_add_column(s, work);
    return cuda_run(s, "add_blocks", kernel_of<add_blocks, 1, 0, 256>(),
                    dim3(1), ARRAY(s, ARRAY_PARTIAL, double), blocks, work);
}

double cuda_work(const struct md_store *store)
{
    /* Nothing of the store changes but what waits for it. */
    struct md_store *s = const_cast<struct md_store *>(store);
    double work = 0;
    cuda_settle(s);
    if (s->dynamics && s->failed == 0)
        s->failed = cuda_to_host(s->ctx, s->device, &work, s->dynamics->work.p,
                                 sizeof work);
    return work;
}

void cuda_set_work(struct md_store *s, double work)
{
    struct cuda_dynamics *y;
    cuda_settle(s);
    if (s->failed == 0)
        s->failed = cuda_dynamics_of(s, &y);
    if (s->failed == 0)
        s->failed =
            cuda_to_device(s->ctx, s->device, y->work.p, &work, sizeof work);
}

/* ---- Langevin ---- */

/* v = decay v + width noise; returns the growth of the kinetic energy, 0 for
 * those that are held. */
static __device__ __forceinline__ double couple(const struct md_view &m,
                                                uint32_t i, double decay,
                                                double width, uint64_t seed,
                                                uint64_t step)
{
    double noise[3], before = 0, after = 0;
    noise_normal3(seed, RNG_LANGEVIN, step, (uint64_t)m.id[i], noise);
    for (int d = 0; d < 3; d++) {
        size_t at = d * m.stride + i;
        double v = (double)m.v[at];
        state to = (state)(decay * v + width * noise[d]);
        m.v[at] = to;
        before += v * v;
        after += (double)to * (double)to;
    }
    if (md_held_of(m.groups, m.n_groups, m.id[i], m.species[i]))
        return 0;
    return 0.5 * m.mass[m.species[i]] * (after - before);
}

static __device__ __forceinline__ void
ornstein_uhlenbeck(const struct md_view &m, double decay, double kt,
                   uint64_t seed, uint64_t step, double *column,
                   double *partial)
{
    uint32_t i = thread_index();
    double growth = 0;
    if (i < m.n_own) {
        double mass = m.mass[m.species[i]];
        double width = sqrt((1 - decay) * (1 + decay) * kt / mass);
        growth = couple(m, i, decay, width, seed, step);
    }
    leave_growth(m, i, growth, column, partial);
}

/* md_bath of the card. */
#define bath_view MD_NAME(bath_view)
struct bath_view {
    const double *friction;
    double kt;
    const struct md_group *groups;
    int n_groups, n_held;
};

/* The friction of a particle, and kT of its bath, as friction_of() of
 * bath_cpu.c. */
static __device__ __forceinline__ double
friction_of(const struct bath_view &b, int64_t id, int species, double *kt)
{
    *kt = b.kt;
    for (int k = 0; k < b.n_groups; k++) {
        const struct md_group *g = &b.groups[k];
        if (g->friction < 0 || !md_group_has(g, id, species))
            continue;
        if (g->thermal >= 0)
            *kt = g->thermal;
        return g->friction;
    }
    return b.friction[species];
}

static __device__ __forceinline__ void
couple_to_baths(const struct md_view &m, const struct bath_view &b, double dt,
                uint64_t seed, uint64_t step, double *column, double *partial)
{
    uint32_t i = thread_index();
    double growth = 0;
    if (i < m.n_own) {
        double kt, rate = friction_of(b, m.id[i], m.species[i], &kt);
        double mass = m.mass[m.species[i]];
        double width = rate > 0 ? sqrt(-expm1(-2 * rate * dt) * kt / mass) : 0;
        growth = couple(m, i, exp(-rate * dt), width, seed, step);
    }
    leave_growth(m, i, growth, column, partial);
}

static int send_friction(struct md_store *s, const struct md_bath *b)
{
    struct cuda_dynamics *y = s->dynamics;
    size_t bytes = (size_t)s->setup.n_species * sizeof *b->friction;
    if (y->friction_sent)
        return 0;
    TRY(cuda_grow(s->ctx, &y->friction.p, &y->friction.bytes, bytes, "baths"));
    TRY(cuda_to_device(s->ctx, s->device, y->friction.p, b->friction, bytes));
    y->friction_sent = 1;
    return 0;
}

/* All that a call with baths needs is on the card. */
static int baths_ready(struct md_store *s, const struct md_bath *b)
{
    struct cuda_dynamics *y;
    TRY(cuda_dynamics_of(s, &y));
    TRY(cuda_outer_ready(s, b->groups));
    return send_friction(s, b);
}

static struct bath_view view_of(const struct md_store *s,
                                const struct step_call *c)
{
    const struct md_outer *groups = (const struct md_outer *)c->buffer;
    struct bath_view b = {(const double *)s->dynamics->friction.p, c->drift,
                          ARRAY(s, ARRAY_GROUPS, struct md_group),
                          groups->n_groups, groups->n_held};
    return b;
}

static const size_t COUPLE_BYTES =
    6 * sizeof(state) + sizeof(int64_t) + sizeof(int32_t);

int cuda_launch_noise(struct md_store *s, double decay, double kt,
                      uint64_t step)
{
    struct cuda_dynamics *y;
    unsigned blocks = cuda_blocks(s->view.n_own, MD_THREADS);
    TRY(cuda_dynamics_of(s, &y));
    TRY(cuda_reserve_sums(s));
    TRY(cuda_run(s, "ornstein_uhlenbeck", kernel_of<ornstein_uhlenbeck, 1>(),
                 cuda_own_blocks(s), s->view, decay, kt, s->setup.seed, step,
                 growth_column(s), ARRAY(s, ARRAY_PARTIAL, double)));
    tally_own(s, COUPLE_BYTES);
    return cuda_add_work(s, blocks);
}

void cuda_ornstein_uhlenbeck(struct md_store *s, double decay, double kt,
                             uint64_t step)
{
    struct cuda_dynamics *y;
    if (s->view.n_own == 0 || s->failed != 0)
        return;
    s->failed = cuda_dynamics_of(s, &y);
    cuda_do_in_team(s, {STEP_NOISE, decay, kt, NULL, step});
}

int cuda_launch_baths(struct md_store *s, const struct step_call *c)
{
    TRY(cuda_reserve_sums(s));
    TRY(cuda_run(s, "couple_to_baths", kernel_of<couple_to_baths, 1>(),
                 cuda_own_blocks(s), s->view, view_of(s, c), c->kick,
                 s->setup.seed, c->step, growth_column(s),
                 ARRAY(s, ARRAY_PARTIAL, double)));
    tally_own(s, COUPLE_BYTES);
    return cuda_add_work(s, cuda_blocks(s->view.n_own, MD_THREADS));
}

void cuda_bath_step(struct md_store *s, const struct md_bath *b, double dt,
                    uint64_t step)
{
    if (s->view.n_own == 0 || s->failed != 0)
        return;
    s->failed = baths_ready(s, b);
    cuda_do_in_team(s, {STEP_BATHS, dt, b->kt, b->groups, step});
}

/* ---- Brownian motion ---- */

/* A step's noise, of the numbers of now and of before; see brownian_step(). */
#define brownian_noise MD_NAME(brownian_noise)
struct brownian_noise {
    uint64_t seed, step;
    double before, now; /* weights */
};

static __device__ __forceinline__ void draw(const struct brownian_noise &n,
                                            int64_t id, double out[3])
{
    double before[3];
    noise_normal3(n.seed, RNG_BROWNIAN, n.step, (uint64_t)id, out);
    if (!(n.before > 0))
        return;
    noise_normal3(n.seed, RNG_BROWNIAN, n.step - 1, (uint64_t)id, before);
    for (int d = 0; d < 3; d++)
        out[d] = n.now * out[d] + n.before * before[d];
}

/* Each block leaves the greatest square of the way since the list was built, as
 * kick_and_drift() does. */
static __device__ __forceinline__ void
brownian_motion(const struct md_view &m, const struct bath_view &b,
                const struct brownian_noise &n, double dt, double *partial)
{
    __shared__ double shared[MD_THREADS / 32];
    uint32_t i = thread_index();
    double way2 = 0;
    if (i < m.n_own) {
        int64_t id = m.id[i];
        int species = m.species[i];
        double noise[3], drift = 0, width = 0;
        float sum = 0;
        draw(n, id, noise);
        if (!md_held_of(b.groups, b.n_held > 0 ? b.n_groups : 0, id, species)) {
            double kt, rate = friction_of(b, id, species, &kt);
            drift = dt * m.inverse_mass[species] / rate;
            width = sqrt(2 * kt * dt / (m.mass[species] * rate));
        }
        for (int d = 0; d < 3; d++) { /* only held ones have a velocity */
            size_t at = d * m.stride + i;
            double dx = drift * (double)m.f[at] + width * noise[d] +
                        dt * (double)m.v[at];
            m.x[at] += (state)dx;
            float way = m.moved[at] + (float)dx;
            m.moved[at] = way;
            sum += way * way;
        }
        set_pair(m, i);
        way2 = isfinite(sum) ? (double)sum : HUGE_VAL;
    }
    way2 = block_max(way2, shared);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = way2;
}

int cuda_launch_brownian(struct md_store *s, const struct step_call *c)
{
    const double *weight = s->dynamics->weight;
    struct brownian_noise noise = {s->setup.seed, c->step, weight[0],
                                   weight[1]};
    TRY(cuda_run(s, "brownian_motion", kernel_of<brownian_motion, 1>(),
                 cuda_own_blocks(s), s->view, view_of(s, c), noise, c->kick,
                 ARRAY(s, ARRAY_PARTIAL, double)));
    /* x and the way read and written, v, f, id and species read, pair written.
     */
    tally_own(s, 9 * sizeof(state) + 3 * sizeof(scalar) + 6 * sizeof(float) +
                     sizeof(int64_t) + sizeof(int32_t) +
                     sizeof(struct pair_position));
    return cuda_launch_way(s, cuda_blocks(s->view.n_own, MD_THREADS));
}

static void do_brownian(struct md_store *s, const struct md_bath *b, double dt,
                        uint64_t step, const double weight[2])
{
    s->failed = baths_ready(s, b);
    if (s->failed != 0)
        return;
    for (int k = 0; k < 2; k++)
        s->dynamics->weight[k] = weight[k];
    cuda_do_in_team(s, {STEP_BROWNIAN, dt, b->kt, b->groups, step});
}

double cuda_brownian_step(struct md_store *s, const struct md_bath *b,
                          double dt, uint64_t step, const double weight[2])
{
    if (s->view.n_own == 0)
        return 0;
    cuda_ask(s, &s->way_asked, [=] { do_brownian(s, b, dt, step, weight); });
    return cuda_wait_for_way(s);
}

void cuda_brownian_step_ahead(struct md_store *s, const struct md_bath *b,
                              double dt, uint64_t step, const double weight[2])
{
    cuda_ask_ahead(s, &s->way_asked,
                   [=] { do_brownian(s, b, dt, step, weight); });
}

/* ---- groups ---- */

/* Kinetic energy, momentum and mass of a group's particles: to columns, for
 * sums in any order, or each block's sums to `partial`. */
static __global__ void sum_group(struct md_view m, const struct md_group *g,
                                 double *column, double *partial)
{
    uint32_t i = thread_index();
    double value[5] = {0, 0, 0, 0, 0};
    if (i < m.n_own && md_group_has(g, m.id[i], m.species[i])) {
        double mass = m.mass[m.species[i]], v2 = 0;
        for (int d = 0; d < 3; d++) {
            double v = (double)m.v[d * m.stride + i];
            v2 += v * v;
            value[1 + d] = mass * v;
        }
        value[0] = 0.5 * mass * v2;
        value[4] = mass;
    }
    leave_values(m, i, value, column, partial);
}

static int launch_group(struct md_store *s, const struct md_outer *o, int group,
                        double out[5])
{
    unsigned blocks = cuda_blocks(s->view.n_own, MD_THREADS);
    TRY(cuda_outer_send(s, o));
    TRY(cuda_reserve_sums(s));
    LAUNCH(sum_group, blocks, MD_THREADS, 0, s->device->stream, s->view,
           ARRAY(s, ARRAY_GROUPS, struct md_group) + group, growth_column(s),
           ARRAY(s, ARRAY_PARTIAL, double));
    CUDA_TRY_LAUNCH(s->ctx, "sum_group");
    tally_own(s, 3 * sizeof(state) + sizeof(int64_t) + sizeof(int32_t));
    return cuda_own_sums(s, 5, out);
}

void cuda_group_moments(const struct md_store *store, const struct md_outer *o,
                        int group, struct md_moments *out)
{
    /* Only scratch of the store changes. */
    struct md_store *s = const_cast<struct md_store *>(store);
    double sum[5] = {0, 0, 0, 0, 0};
    cuda_settle(s);
    if (s->view.n_own > 0 && s->failed == 0)
        s->failed = launch_group(s, o, group, sum);
    out->kinetic = sum[0];
    for (int d = 0; d < 3; d++)
        out->momentum[d] = sum[1 + d];
    out->mass = sum[4];
}
