/* motion_cuda.cu: velocities and positions of own particles. */
#include "kernels/md/box_cuda.h"
#include "kernels/md/fixed_cuda.h"
#include "kernels/md/forms_cuda.h"
#include "kernels/md/team_cuda.h"
#include "kernels/md/terms_cuda.h"

#include <math.h>

/* Half kick and drift in one pass; the pair positions follow. Each block leaves
 * the greatest square of the way since the list was built; a way that is not
 * finite counts as infinite. */
static __device__ __forceinline__ void kick_and_drift(const struct md_view &m,
                                                      double dt_kick,
                                                      double dt_drift,
                                                      double *partial)
{
    __shared__ double shared[MD_THREADS / 32];
    uint32_t i = thread_index();
    double way2 = 0;
    if (i < m.n_own) {
        state factor = (state)(dt_kick * m.inverse_mass[m.species[i]]);
        scalar pair[3];
        float sum = 0;
        for (int d = 0; d < 3; d++) {
            size_t at = d * m.stride + i;
            state v = m.v[at] + factor * (state)m.f[at];
            state dx = (state)dt_drift * v;
            state x = m.x[at] + dx;
            m.v[at] = v;
            m.x[at] = x;
            pair[d] = (scalar)((double)x + m.state_origin[d] - m.origin[d]);
            float way = m.moved[at] + (float)dx;
            m.moved[at] = way;
            sum += way * way;
        }
        struct pair_position p;
        p.x = pair[0];
        p.y = pair[1];
        p.z = pair[2];
        p.species = m.species[i];
        m.pair[i] = p;
        way2 = isfinite(sum) ? (double)sum : HUGE_VAL;
    }
    way2 = block_max(way2, shared);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = way2;
}

/* x, v and the way read and written, f and species read, pair written; and the
 * bytes of a particle in the loops below. */
static const size_t DRIFT_BYTES = 12 * sizeof(state) + 3 * sizeof(scalar) +
                                  6 * sizeof(float) + sizeof(int32_t) +
                                  sizeof(struct pair_position);
static const size_t KICK_BYTES =
    6 * sizeof(state) + 3 * sizeof(scalar) + sizeof(int32_t);
static const size_t SCALE_BYTES = 6 * sizeof(state);

int cuda_launch_drift(struct md_store *s, double dt_kick, double dt_drift)
{
    TRY(cuda_run(s, "kick_and_drift", kernel_of<kick_and_drift, 1>(),
                 cuda_own_blocks(s), s->view, dt_kick, dt_drift,
                 ARRAY(s, ARRAY_PARTIAL, double)));
    tally_own(s, DRIFT_BYTES);
    return cuda_launch_way(s, cuda_blocks(s->view.n_own, MD_THREADS));
}

int cuda_launch_way(struct md_store *s, unsigned blocks)
{
    TRY(cuda_reduce_and_send(s, 1, blocks, 1, &s->result->way2));
    if (s->setup.deterministic)
        TRY(cuda_send(s, &s->result->beyond, s->array[ARRAY_BEYOND].p,
                      sizeof s->result->beyond));
    TRY(cuda_forms_send_near(s));
    return s->terms ? cuda_fetch_broken(s) : 0;
}

static int wait_for_drift(struct md_store *s)
{
    TRY(cuda_wait_for_result(s));
    TRY(cuda_forms_check(s));
    if (s->terms)
        TRY(cuda_fail_broken(s, s->result->broken));
    return s->setup.deterministic ? cuda_fail_beyond(s, s->result->beyond) : 0;
}

double cuda_wait_for_way(struct md_store *s)
{
    if (s->failed == 0)
        s->failed = wait_for_drift(s);
    return s->failed == 0 ? s->result->way2 : 0;
}

double cuda_kick_drift(struct md_store *s, double dt_kick, double dt_drift)
{
    if (s->view.n_own == 0)
        return 0;
    cuda_ask(s, &s->way_asked, [=] {
        cuda_do(s, {STEP_DRIFT, dt_kick, dt_drift, NULL});
    });
    return cuda_wait_for_way(s);
}

void cuda_kick_drift_ahead(struct md_store *s, double dt_kick, double dt_drift)
{
    cuda_ask_ahead(s, &s->way_asked, [=] {
        cuda_do(s, {STEP_DRIFT, dt_kick, dt_drift, NULL});
    });
}

static __device__ __forceinline__ void add_kick(const struct md_view &m,
                                                double dt_kick)
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    state factor = (state)(dt_kick * m.inverse_mass[m.species[i]]);
    for (int d = 0; d < 3; d++) {
        size_t at = d * m.stride + i;
        m.v[at] += factor * (state)m.f[at];
    }
}

int cuda_launch_kick(struct md_store *s, double dt_kick)
{
    tally_own(s, KICK_BYTES);
    return cuda_run(s, "add_kick", kernel_of<add_kick, 1>(), cuda_own_blocks(s),
                    s->view, dt_kick);
}

void cuda_kick(struct md_store *s, double dt_kick)
{
    if (s->view.n_own > 0)
        cuda_do(s, {STEP_KICK, dt_kick, 0, NULL});
}

static __device__ __forceinline__ void scale_velocities(const struct md_view &m,
                                                        double factor)
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    for (int d = 0; d < 3; d++) {
        size_t at = d * m.stride + i;
        m.v[at] = (state)((double)m.v[at] * factor);
    }
}

int cuda_launch_scale(struct md_store *s, double factor)
{
    tally_own(s, SCALE_BYTES);
    return cuda_run(s, "scale_velocities", kernel_of<scale_velocities, 1>(),
                    cuda_own_blocks(s), s->view, factor);
}

void cuda_scale_velocities(struct md_store *s, double factor)
{
    if (s->view.n_own > 0)
        cuda_do_in_team(s, {STEP_SCALE, factor, 0, NULL});
}
