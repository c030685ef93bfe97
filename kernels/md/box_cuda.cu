/* box_cuda.cu: a box that changes in the run, and motion in it. */
#include "kernels/md/box_cuda.h"
#include "kernels/md/team_cuda.h"

#include <math.h>
#include <string.h>

/* How coordinates of the store change with the box: x -> factor x + offset. */
#define box_change MD_NAME(box_change)
struct box_change {
    double factor[3], offset[3];
};

/* ---- what the host keeps ---- */

/* The cells change in proportion, as the particles do. */
static void stretch_cells(struct md_store *s, int d, double factor,
                          double origin_before)
{
    struct cell_grid *g = &s->cells;
    double lo = s->setup.box_lo[d], was = g->lo[d] + origin_before;
    int grows = factor < 1 || factor > 1;
    g->lo[d] = (grows ? lo + factor * (was - lo) : was) - s->view.origin[d];
    g->per_side[d] /= factor;
    /* x of all edges grows with that of the first */
    for (int k = 0; k < 3; k++)
        s->cell_tilt[k] *= d == (k == 2 ? 1 : 0) ? factor : 1;
}

static int send_offsets(struct md_store *s, const struct md_geometry *box)
{
    int n = s->n_channels < box->n_channels ? s->n_channels : box->n_channels;
    for (int k = 0; k < n; k++)
        cuda_channel_offset(s, &box->channels[k], s->channel_offset[k]);
    if (n == 0)
        return 0;
    return cuda_to_device(s->ctx, s->device, s->array[ARRAY_CHANNEL_OFFSET].p,
                          s->channel_offset,
                          (size_t)n * sizeof *s->channel_offset);
}

/* Everything but the particles. */
static int set_geometry(struct md_store *s, const struct md_geometry *box,
                        struct box_change *c)
{
    double state_before[3], pair_before[3];
    int moves = 0;
    for (int d = 0; d < 3; d++) {
        state_before[d] = s->view.state_origin[d];
        pair_before[d] = s->view.origin[d];
        c->factor[d] = box->box_length[d] / s->setup.box_length[d];
        s->setup.box_length[d] = box->box_length[d];
        s->setup.lo[d] = box->lo[d];
        s->setup.hi[d] = box->hi[d];
        moves |= c->factor[d] < 1 || c->factor[d] > 1 ||
                 box->tilt[d] < s->setup.tilt[d] ||
                 box->tilt[d] > s->setup.tilt[d];
        s->setup.tilt[d] = box->tilt[d];
    }
    cuda_set_coordinates(s);
    for (int d = 0; d < 3; d++) {
        double lo = s->setup.box_lo[d];
        double same = state_before[d] - s->view.state_origin[d];
        int grows = c->factor[d] < 1 || c->factor[d] > 1;
        c->offset[d] = grows ? lo + c->factor[d] * (state_before[d] - lo) -
                                   s->view.state_origin[d]
                             : same;
        stretch_cells(s, d, c->factor[d], pair_before[d]);
    }
    /* Kernels get the box by value. */
    s->queue.epoch++;
    if (moves) {
        s->box_moves = 1;
        s->queue.on = s->setup.graphs == MD_GRAPHS_ON || s->team != NULL;
    }
    return send_offsets(s, box);
}

/* ---- particles ---- */

static __global__ void change_box(struct md_view m, struct box_change c)
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    for (int d = 0; d < 3; d++) {
        size_t at = d * m.stride + i;
        m.x[at] = (state)(c.factor[d] * (double)m.x[at] + c.offset[d]);
        m.moved[at] *= (float)c.factor[d];
    }
    set_pair(m, i);
}

static int launch_change(struct md_store *s, const struct md_geometry *box)
{
    struct box_change change;
    TRY(set_geometry(s, box, &change));
    if (s->view.n_own == 0)
        return 0;
    LAUNCH(change_box, cuda_blocks(s->view.n_own, MD_THREADS), MD_THREADS, 0,
           s->device->stream, s->view, change);
    CUDA_TRY_LAUNCH(s->ctx, "change_box");
    tally_own(s, 6 * sizeof(state) + 6 * sizeof(float) +
                     sizeof(struct pair_position));
    return 0;
}

void cuda_set_box(struct md_store *s, const struct md_geometry *box)
{
    cuda_settle(s);
    if (s->failed == 0)
        s->failed = launch_change(s, box);
}

/* md_stretch without pointers. */
#define stretch_terms MD_NAME(stretch_terms)
struct stretch_terms {
    double before[3], dt_kick, after[3], dt_half, middle[3];
};

/* See md_kernels.h; each block leaves the greatest square of the way. */
static __device__ __forceinline__ void stretch(const struct md_view &m,
                                               const struct box_change &c,
                                               const struct stretch_terms &t,
                                               double *partial)
{
    __shared__ double shared[MD_THREADS / 32];
    uint32_t i = thread_index();
    double way2 = 0;
    if (i < m.n_own) {
        double factor = t.dt_kick * m.inverse_mass[m.species[i]];
        float sum = 0;
        for (int d = 0; d < 3; d++) {
            size_t at = d * m.stride + i;
            double v = t.before[d] * (double)m.v[at] + factor * (double)m.f[at];
            v *= t.after[d];
            double one = t.dt_half * v;
            v *= t.middle[d];
            double two = t.dt_half * v;
            m.v[at] = (state)v;
            m.x[at] = (state)(c.factor[d] * ((double)m.x[at] + one) +
                              c.offset[d] + two);
            float way =
                (float)(c.factor[d] * ((double)m.moved[at] + one) + two);
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

int cuda_launch_stretch(struct md_store *s)
{
    const struct md_stretch *m = &s->stretch;
    struct box_change change;
    struct stretch_terms t;
    memcpy(t.before, m->before, sizeof t.before);
    memcpy(t.after, m->after, sizeof t.after);
    memcpy(t.middle, m->middle, sizeof t.middle);
    t.dt_kick = m->dt_kick;
    t.dt_half = m->dt_half;
    TRY(set_geometry(s, m->box, &change));
    if (s->view.n_own == 0)
        return 0;
    TRY(cuda_run(s, "stretch", kernel_of<stretch, 1>(), cuda_own_blocks(s),
                 s->view, change, t, ARRAY(s, ARRAY_PARTIAL, double)));
    tally_own(s, 12 * sizeof(state) + 3 * sizeof(scalar) + 6 * sizeof(float) +
                     sizeof(int32_t) + sizeof(struct pair_position));
    return cuda_launch_way(s, cuda_blocks(s->view.n_own, MD_THREADS));
}

static void do_stretch(struct md_store *s, const struct md_stretch *m)
{
    s->stretch = *m;
    s->next_box = *m->box;
    s->stretch.box = &s->next_box;
    cuda_do_in_team(s, {STEP_STRETCH, 0, 0, NULL});
}

double cuda_stretch(struct md_store *s, const struct md_stretch *m)
{
    cuda_ask(s, &s->way_asked, [=] { do_stretch(s, m); });
    return s->view.n_own > 0 ? cuda_wait_for_way(s) : 0;
}

void cuda_stretch_ahead(struct md_store *s, const struct md_stretch *m)
{
    cuda_ask_ahead(s, &s->way_asked, [=] { do_stretch(s, m); });
}

/* md_shear without pointers; height: of the state's origin above the corner. */
struct shear_terms {
    int along, across, third;
    double strain, dt_kick, dt_half, height, grow, offset;
    double before[3], after[3], middle[3];
};

/* See md_kernels.h; each block leaves the greatest square of the way. */
static __device__ __forceinline__ void
shear(const struct md_view &m, const struct shear_terms &t, double *partial)
{
    __shared__ double shared[MD_THREADS / 32];
    uint32_t i = thread_index();
    double way2 = 0;
    if (i < m.n_own) {
        double factor = t.dt_kick * m.inverse_mass[m.species[i]];
        double v[3], x[3], way[3];
        float sum = 0;
        for (int d = 0; d < 3; d++) {
            size_t at = d * m.stride + i;
            v[d] = t.before[d] * (double)m.v[at] + factor * (double)m.f[at];
            v[d] *= t.after[d];
            x[d] = (double)m.x[at] + t.dt_half * v[d];
            way[d] = (double)m.moved[at] + t.dt_half * v[d];
        }
        /* Arrays stand in registers where indices are known. */
        double up = t.across == 1 ? x[1] : x[2];
        double up_way = t.across == 1 ? way[1] : way[2];
        double up_v = t.across == 1 ? v[1] : v[2];
        for (int d = 0; d < 2; d++) {
            double on = t.along == d ? t.strain : 0;
            x[d] += on * (up + t.height);
            way[d] += on * up_way;
            v[d] -= on * up_v;
        }
        for (int d = 0; d < 3; d++) {
            size_t at = d * m.stride + i;
            x[d] = t.third == d ? t.grow * x[d] + t.offset : x[d];
            way[d] *= t.third == d ? t.grow : 1;
            v[d] *= t.middle[d];
            m.v[at] = (state)v[d];
            m.x[at] = (state)(x[d] + t.dt_half * v[d]);
            float moved = (float)(way[d] + t.dt_half * v[d]);
            m.moved[at] = moved;
            sum += moved * moved;
        }
        set_pair(m, i);
        way2 = isfinite(sum) ? (double)sum : HUGE_VAL;
    }
    way2 = block_max(way2, shared);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = way2;
}

int cuda_launch_shear(struct md_store *s)
{
    const struct md_shear *m = &s->shear;
    struct box_change change; /* at most that of the third edge */
    struct shear_terms t;
    memset(&t, 0, sizeof t);
    t.along = m->along;
    t.across = m->across;
    t.third = m->third;
    t.strain = m->strain;
    t.dt_kick = m->dt_kick;
    t.dt_half = m->dt_half;
    memcpy(t.before, m->before, sizeof t.before);
    memcpy(t.after, m->after, sizeof t.after);
    memcpy(t.middle, m->middle, sizeof t.middle);
    TRY(set_geometry(s, m->box, &change));
    t.height = s->view.state_origin[m->across] - s->setup.box_lo[m->across];
    t.grow = change.factor[m->third];
    t.offset = t.grow < 1 || t.grow > 1 ? change.offset[m->third] : 0;
    if (s->view.n_own == 0)
        return 0;
    TRY(cuda_run(s, "shear", kernel_of<shear, 1>(), cuda_own_blocks(s), s->view,
                 t, ARRAY(s, ARRAY_PARTIAL, double)));
    tally_own(s, 12 * sizeof(state) + 3 * sizeof(scalar) + 6 * sizeof(float) +
                     sizeof(int32_t) + sizeof(struct pair_position));
    return cuda_launch_way(s, cuda_blocks(s->view.n_own, MD_THREADS));
}

static void do_shear(struct md_store *s, const struct md_shear *m)
{
    s->shear = *m;
    s->next_box = *m->box;
    s->shear.box = &s->next_box;
    cuda_do_in_team(s, {STEP_SHEAR, 0, 0, NULL});
}

double cuda_shear(struct md_store *s, const struct md_shear *m)
{
    cuda_ask(s, &s->way_asked, [=] { do_shear(s, m); });
    return s->view.n_own > 0 ? cuda_wait_for_way(s) : 0;
}

void cuda_shear_ahead(struct md_store *s, const struct md_shear *m)
{
    cuda_ask_ahead(s, &s->way_asked, [=] { do_shear(s, m); });
}

struct image_turns {
    int32_t n[3];
};

static __global__ void relabel(struct md_view m, struct image_turns turns)
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    int32_t *image = m.image + i;
    int32_t across = image[2 * m.stride];
    int32_t up = image[m.stride] + turns.n[2] * across;
    image[m.stride] = up;
    image[0] += turns.n[0] * up + turns.n[1] * across;
}

void cuda_relabel(struct md_store *s, const int32_t turns[3])
{
    struct image_turns t;
    memcpy(t.n, turns, sizeof t.n);
    cuda_settle(s);
    if (s->view.n_own == 0 || s->failed != 0)
        return;
    LAUNCH(relabel, cuda_blocks(s->view.n_own, MD_THREADS), MD_THREADS, 0,
           s->device->stream, s->view, t);
    tally_own(s, 4 * sizeof(int32_t));
    s->failed = cuda_status(s->ctx, cudaGetLastError(), "relabel");
}

#define kick_factors MD_NAME(kick_factors)
struct kick_factors {
    double before[3], after[3];
};

static __device__ __forceinline__ void kick_scaled(const struct md_view &m,
                                                   const struct kick_factors &k,
                                                   double dt_kick)
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    double factor = dt_kick * m.inverse_mass[m.species[i]];
    for (int d = 0; d < 3; d++) {
        size_t at = d * m.stride + i;
        m.v[at] = (state)(k.after[d] * (k.before[d] * (double)m.v[at] +
                                        factor * (double)m.f[at]));
    }
}

int cuda_launch_kick_scaled(struct md_store *s, const struct step_call *c)
{
    struct kick_factors k;
    memcpy(k.before, c->factor, sizeof k.before);
    memcpy(k.after, c->factor + 3, sizeof k.after);
    tally_own(s, 6 * sizeof(state) + 3 * sizeof(scalar) + sizeof(int32_t));
    return cuda_run(s, "kick_scaled", kernel_of<kick_scaled, 1>(),
                    cuda_own_blocks(s), s->view, k, c->kick);
}

void cuda_kick_scaled(struct md_store *s, const double before[3],
                      double dt_kick, const double after[3])
{
    struct step_call call = {STEP_KICK_SCALED, dt_kick, 0, NULL};
    memcpy(call.factor, before, 3 * sizeof *before);
    memcpy(call.factor + 3, after, 3 * sizeof *after);
    if (s->view.n_own == 0)
        return;
    cuda_do_in_team(s, call);
}
