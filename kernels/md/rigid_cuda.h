/* rigid_cuda.h: a group of particles at fixed distances in a thread; see
 * rigid.h and rigid_cuda.cu.
 *
 * Private to the .cu files of kernels/md.
 */
#ifndef WARPDECK_KERNELS_MD_RIGID_CUDA_H
#define WARPDECK_KERNELS_MD_RIGID_CUDA_H

#include "kernels/md/terms_cuda.h"

#define RIGID_FN static __host__ __device__ __forceinline__
#include "kernels/md/rigid.h"

/* What the kernels need beside the particles; pointers are of the card. */
struct rigid_view {
    uint32_t n;          /* groups */
    uint32_t begin, end; /* those of the kernel's kind */
    /* of the launches over all kinds together; this one's first */
    uint32_t n_blocks, first_block;
    const struct card_group *group;
    const struct rigid_shape *shape; /* without masses */
    double *held;                    /* [RIGID_PARTICLES][3] columns: places
                                      * beside the first particle */
    double *speed2; /* [RIGID_BONDS]: of one end of a bond beside the other */
    const double *value;        /* [3] of each copy */
    const double *inverse_mass; /* by species */
    double box_length[3], per_length[3], tilt[3];
};

#define cuda_rigid_view MD_NAME(cuda_rigid_view)
struct rigid_view cuda_rigid_view(const struct md_store *s);

/* Kernels are made for each kind of group, so that its sizes are known and all
 * of it stands in registers: kernel[k] is that of MD_TERM_RIGID_BOND + k. */
enum { RIGID_KINDS = MD_TERM_RIGID_THREE - MD_TERM_RIGID_BOND + 1 };
#define KERNELS_OF_KINDS(kernel)                                         \
    {                                                                    \
        kernel<MD_TERM_RIGID_BOND>(), kernel<MD_TERM_RIGID_PAIR>(),      \
            kernel<MD_TERM_RIGID_WATER>(), kernel<MD_TERM_RIGID_THREE>() \
    }

/* launch(kind, view) for each kind of which there are groups. */
template <class Launch>
static inline int for_each_kind(struct md_store *s, Launch launch)
{
    struct rigid_view r = cuda_rigid_view(s);
    for (int kind = 0; kind < RIGID_KINDS; kind++) {
        r.begin = s->terms->first_group[kind];
        r.end = s->terms->first_group[kind + 1];
        if (r.begin == r.end)
            continue;
        TRY(launch(kind, r, dim3(cuda_blocks(r.end - r.begin, MD_THREADS))));
        r.first_block += cuda_blocks(r.end - r.begin, MD_THREADS);
    }
    return 0;
}

static inline int has_groups(const struct md_store *s)
{
    return s->terms && s->terms->n_groups > 0 && s->failed == 0;
}

/* Only stores of a team wait with it. */
static inline void do_rigid(struct md_store *s, struct step_call call)
{
    if (!s->team)
        cuda_settle(s);
    if (has_groups(s))
        cuda_do(s, call);
    if (!s->team)
        cuda_settle(s);
}

/* ---- values of particles ---- */

static __device__ __forceinline__ double value_of(const struct md_view &m,
                                                  int what, uint32_t i, int d)
{
    size_t k = d * m.stride + i;
    if (what == MD_VALUE_POSITION)
        return (double)m.x[k] + m.state_origin[d];
    if (what == MD_VALUE_VELOCITY)
        return (double)m.v[k];
    return (double)m.f[k] * m.inverse_mass[m.species[i]];
}

/* ---- a group in a thread ---- */

struct group {
    struct rigid_shape shape;
    const uint32_t *slot;
    int own;
};

template <int KIND>
static __device__ __forceinline__ void take_group(const struct md_view &m,
                                                  const struct rigid_view &r,
                                                  uint32_t g, struct group *out)
{
    const struct card_group *from = &r.group[g];
    const struct rigid_shape *shape = &r.shape[from->shape];
    out->shape.particles = KIND == MD_TERM_RIGID_BOND    ? 2
                           : KIND == MD_TERM_RIGID_THREE ? 4
                                                         : 3;
    out->shape.n = KIND == MD_TERM_RIGID_BOND   ? 1
                   : KIND == MD_TERM_RIGID_PAIR ? 2
                                                : 3;
    RIGID_UNROLL
    for (int k = 0; k < RIGID_BONDS && k < out->shape.n; k++) {
        int last = KIND == MD_TERM_RIGID_WATER && k == 2;
        out->shape.a[k] = last ? 1 : 0;
        out->shape.b[k] = last ? 2 : k + 1;
        out->shape.square[k] = shape->square[k];
    }
    out->slot = from->slot;
    out->own = from->own;
    RIGID_UNROLL
    for (int k = 0; k < RIGID_PARTICLES && k < out->shape.particles; k++)
        out->shape.inverse_mass[k] =
            r.inverse_mass[m.pair[from->slot[k]].species];
}

static __device__ __forceinline__ void
values_of(const struct md_view &m, const struct rigid_view &r,
          const struct group *g, int what, double out[RIGID_PARTICLES][3])
{
    RIGID_UNROLL
    for (int k = 0; k < RIGID_PARTICLES && k < g->shape.particles; k++)
        for (int d = 0; d < 3; d++)
            out[k][d] = g->own >> k & 1
                            ? value_of(m, what, g->slot[k], d)
                            : r.value[3 * (size_t)(g->slot[k] - m.n_own) + d];
}

static __device__ __forceinline__ void take_held(const struct rigid_view &r,
                                                 uint32_t i, int n,
                                                 double out[RIGID_PARTICLES][3])
{
    RIGID_UNROLL
    for (int k = 0; k < RIGID_PARTICLES && k < n; k++)
        for (int d = 0; d < 3; d++)
            out[k][d] = r.held[(size_t)(3 * k + d) * r.n + i];
}

/* nearest_difference() of wrap.h. */
static __device__ __forceinline__ void nearest_way(const struct rigid_view &r,
                                                   double x[3])
{
    for (int d = 2; d >= 0; d--) {
        double turns = rint(x[d] * r.per_length[d]);
        x[d] -= r.box_length[d] * turns;
        if (d == 2)
            x[1] -= turns * r.tilt[2];
        if (d > 0)
            x[0] -= turns * r.tilt[d - 1];
    }
}

/* Places beside the first particle's, across the box's faces; kept. */
static __device__ __forceinline__ void
keep_held(const struct rigid_view &r, uint32_t i, int n, const double x[][3])
{
    RIGID_UNROLL
    for (int k = 0; k < RIGID_PARTICLES && k < n; k++) {
        double y[3];
        for (int d = 0; d < 3; d++)
            y[d] = x[k][d] - x[0][d];
        nearest_way(r, y);
        for (int d = 0; d < 3; d++)
            r.held[(size_t)(3 * k + d) * r.n + i] = y[d];
    }
}

static __device__ __forceinline__ void bonds_of(const struct group *g,
                                                const double held[][3],
                                                double r[RIGID_BONDS][3])
{
    RIGID_UNROLL
    for (int k = 0; k < RIGID_BONDS && k < g->shape.n; k++)
        rigid_bond(&g->shape, k, held, r[k]);
}

/* Move an own particle, and what follows from its position. Returns the square
 * of its way since the list was built. */
static __device__ __forceinline__ double move_by(const struct md_view &m,
                                                 uint32_t i,
                                                 const double way[3],
                                                 double per_time)
{
    double moved2 = 0;
    for (int d = 0; d < 3; d++) {
        size_t k = d * m.stride + i;
        m.x[k] = (state)((double)m.x[k] + way[d]);
        m.v[k] = (state)((double)m.v[k] + way[d] * per_time);
        float moved = m.moved[k] + (float)way[d];
        m.moved[k] = moved;
        moved2 += (double)moved * (double)moved;
    }
    set_pair(m, i);
    return moved2;
}

#endif
