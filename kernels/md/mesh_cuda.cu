/* mesh_cuda.cu: charges of own particles onto a mesh, and its field back.
 *
 * A particle's charges on points are rounded to whole numbers of a unit and
 * added as integers, so that threads may meet at a point in any order and the
 * sum is the same: no atomic operation sees a floating-point number. The unit
 * is the one in which all charges of the rank together fit into 62 bits, so no
 * sum can leave the range.
 */
#include "kernels/md/mesh_cuda.h"
#include "kernels/md/team_cuda.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/fft_cuda.h"

#define restrict __restrict__
#include "kernels/md/bspline.h"
#undef restrict

enum { UNIT_BITS = 62 };

/* ---- memory ---- */

void cuda_mesh_destroy(struct md_store *s)
{
    struct cuda_mesh *m = s->mesh;
    if (!m)
        return;
    cuda_free(m->points.p);
    cuda_free(m->fields.p);
    cuda_free(m->influence.p);
    cuda_free(m->alias.p);
    cuda_free(m->waves.p);
    cuda_free(m->factors.p);
    cuda_fft_destroy(m->fft);
    free(m);
}

size_t cuda_mesh_bytes(const struct md_store *s)
{
    const struct cuda_mesh *m = s->mesh;
    return m ? m->points.bytes + m->fields.bytes + m->influence.bytes +
                   m->alias.bytes + m->waves.bytes + m->factors.bytes
             : 0;
}

struct cuda_mesh *cuda_mesh_of(struct ctx *ctx, struct md_store *s)
{
    if (!s->mesh)
        s->mesh = (struct cuda_mesh *)calloc(1, sizeof *s->mesh);
    if (!s->mesh)
        FAIL(ctx, STATUS_MEMORY, "no memory for a mesh");
    return s->mesh;
}

int cuda_mesh_grow(struct ctx *ctx, struct device_array *a, size_t n)
{
    return cuda_grow(ctx, &a->p, &a->bytes, (n + 1) * sizeof(double), "a mesh");
}

/* ---- where particles stand ---- */

/* A particle's lowest points and weights, of the brick or of the whole mesh. */
template <int ORDER> struct spot {
    int at[3];
    double weight[3][ORDER];
};

template <int ORDER>
static __device__ __forceinline__ void
find_spot(const struct md_view &m, const struct mesh_map &map, uint32_t i,
          struct spot<ORDER> *out)
{
    double x[3];
    for (int d = 0; d < 3; d++)
        x[d] = (double)m.x[d * m.stride + i] - map.origin[d];
    /* as the same parts of edges at right angles */
    x[1] -= map.lean[2] * x[2];
    x[0] -= map.lean[0] * x[1] + map.lean[1] * x[2];
    for (int d = 0; d < 3; d++) {
        double u = x[d] * map.per_length[d] - map.less[d];
        double low = floor(u), w = u - low;
        out->at[d] = (int)fmin(fmax(low, -1e9), 1e9);
        bspline_weights(ORDER, 1, &w, out->weight[d]);
    }
}

/* Point k of a spot along direction d. */
static __device__ __forceinline__ int point(const struct mesh_map &map, int d,
                                            int at)
{
    int n = map.cells[d];
    if (!map.whole)
        return at;
    at %= n;
    return at < 0 ? at + n : at;
}

static __device__ __forceinline__ int is_inside(const struct mesh_map &map,
                                                const int at[3], int order)
{
    int inside = 1;
    for (int d = 0; d < 3 && !map.whole; d++)
        inside &= at[d] >= 0 && at[d] + order <= map.n[d];
    return inside;
}

/* ---- onto the mesh ---- */

/* A thread for a particle and one of the planes it reaches. *lost: the id of
 * one that the brick does not hold. */
template <int ORDER>
static __device__ __forceinline__ void
spread(const struct md_view &m, const struct mesh_map &map, double units,
       unsigned long long *points, unsigned long long *lost)
{
    uint32_t t = thread_index(), i = t / ORDER;
    int k = (int)(t % ORDER);
    if (i >= m.n_own)
        return;
    double q = (double)m.charge[i];
    if (!(fabs(q) > 0))
        return;
    struct spot<ORDER> p;
    find_spot(m, map, i, &p);
    if (!is_inside(map, p.at, ORDER)) {
        atomicMin(lost, (unsigned long long)m.id[i]);
        return;
    }
    double along_z = 0;
#pragma unroll
    for (int n = 0; n < ORDER; n++)
        along_z = n == k ? p.weight[2][n] : along_z;
    unsigned long long *plane = points + point(map, 2, p.at[2] + k) * map.plane;
#pragma unroll
    for (int j = 0; j < ORDER; j++) {
        unsigned long long *row =
            plane + point(map, 1, p.at[1] + j) * map.pitch;
        double w = along_z * p.weight[1][j];
#pragma unroll
        for (int n = 0; n < ORDER; n++) {
            double part = w * (p.weight[0][n] * q) * units;
            atomicAdd(row + point(map, 0, p.at[0] + n),
                      (unsigned long long)__double2ll_rn(part));
        }
    }
}

static __device__ __forceinline__ void clear_points(double *points, size_t n)
{
    size_t k = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n)
        points[k] = 0;
}

static __device__ __forceinline__ void to_doubles(double *points, size_t n,
                                                  double per_unit)
{
    size_t k = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n)
        points[k] = (double)__double_as_longlong(points[k]) * per_unit;
}

/* A few more than the number, in 12 bits: sums of a million of such are exact,
 * in any order. */
static __device__ __forceinline__ double few_bits(double x)
{
    enum { BITS = 12 };
    int exponent;
    double part = frexp(x, &exponent);
    return ldexp(ceil(ldexp(part, BITS)), exponent - BITS);
}

static __global__ void sum_absolute(struct md_view m, double *partial)
{
    __shared__ double shared[MD_THREADS / 32];
    uint32_t i = thread_index();
    double q = i < m.n_own ? few_bits(fabs((double)m.charge[i])) : 0;
    q = block_sum(q, shared);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = q;
}

int cuda_choose_unit(struct ctx *ctx, struct md_store *s)
{
    struct cuda_mesh *mesh = s->mesh;
    unsigned blocks = cuda_blocks(s->view.n_own, MD_THREADS);
    double sum = 0;
    int exponent;
    if (mesh->listed_at == s->lists_built + 1 ||
        (mesh->listed_at > 0 && s->setup.whole))
        return 0;
    TRY(cuda_reserve_sums(s));
    LAUNCH(sum_absolute, blocks, MD_THREADS, 0, s->device->stream, s->view,
           ARRAY(s, ARRAY_PARTIAL, double));
    CUDA_TRY_LAUNCH(ctx, "sum_absolute");
    TRY(cuda_reduce(ctx, s, 1, blocks, 0, &sum));
    frexp(sum, &exponent);
    mesh->per_unit = ldexp(1, exponent - UNIT_BITS);
    mesh->listed_at = s->lists_built + 1;
    return 0;
}

void cuda_mesh_forget(struct md_store *s)
{
    if (s->mesh)
        s->mesh->listed_at = 0;
}

/* A kernel of each order. */
#define KERNELS_OF_ORDERS(kernel)                                        \
    {                                                                    \
        kernel<2>(), kernel<3>(), kernel<4>(), kernel<5>(), kernel<6>(), \
            kernel<7>()                                                  \
    }

template <int ORDER> static constexpr auto spread_kernel(void)
{
    return kernel_of<spread<ORDER>, 1>();
}

static int spread_charges(struct md_store *s, const struct mesh_map *map,
                          int order, unsigned long long *lost)
{
    static const decltype(spread_kernel<2>()) kernels[] =
        KERNELS_OF_ORDERS(spread_kernel);
    size_t threads = (size_t)s->view.n_own * (size_t)order;
    return cuda_run(s, "spread", kernels[order - MD_MESH_ORDER_MIN],
                    dim3(cuda_blocks(threads, MD_THREADS)), s->view, *map,
                    1 / s->mesh->per_unit,
                    (unsigned long long *)s->mesh->points.p, lost);
}

/* Of a brick: room for the id of one that it does not hold. */
static int clear_lost(struct md_store *s, const struct mesh_map *map,
                      unsigned long long **lost)
{
    *lost = NULL;
    if (map->whole)
        return 0;
    TRY(cuda_reserve(s, ARRAY_COUNTER, 64, sizeof(unsigned), "counters"));
    *lost = ARRAY(s, ARRAY_COUNTER, unsigned long long);
    return cuda_status(
        s->ctx, cudaMemsetAsync(*lost, 0xff, sizeof **lost, s->device->stream),
        "cudaMemsetAsync");
}

int cuda_spread(struct ctx *ctx, struct md_store *s, const struct mesh_map *map,
                int order, size_t size)
{
    struct cuda_mesh *mesh = s->mesh;
    dim3 blocks(cuda_blocks(size, MD_THREADS));
    unsigned long long *lost;
    TRY(cuda_mesh_grow(ctx, &mesh->points, size));
    TRY(cuda_run(s, "clear_points", kernel_of<clear_points, JOINS_LOOSELY>(),
                 blocks, (double *)mesh->points.p, size));
    if (s->view.n_own == 0)
        return 0;
    TRY(cuda_choose_unit(ctx, s));
    TRY(clear_lost(s, map, &lost));
    TRY(spread_charges(s, map, order, lost));
    tally_own(s, 3 * sizeof(state) + sizeof(scalar));
    return cuda_run(s, "to_doubles", kernel_of<to_doubles, JOINS_LOOSELY>(),
                    blocks, (double *)mesh->points.p, size, mesh->per_unit);
}

/* ---- and back ---- */

template <int ORDER>
static __device__ __forceinline__ void
take_field(const struct md_view &m, const struct mesh_map &map,
           const double *field, size_t size)
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    double q = (double)m.charge[i], sum[3] = {0, 0, 0};
    if (!(fabs(q) > 0))
        return;
    struct spot<ORDER> p;
    find_spot(m, map, i, &p);
    if (!is_inside(map, p.at, ORDER))
        return;
#pragma unroll 1
    for (int k = 0; k < ORDER; k++) {
        const double *plane = field + point(map, 2, p.at[2] + k) * map.plane;
        double along_z = 0;
#pragma unroll
        for (int n = 0; n < ORDER; n++)
            along_z = n == k ? p.weight[2][n] : along_z;
#pragma unroll
        for (int j = 0; j < ORDER; j++) {
            const double *row = plane + point(map, 1, p.at[1] + j) * map.pitch;
            double w = along_z * p.weight[1][j];
#pragma unroll
            for (int n = 0; n < ORDER; n++) {
                const double *at = row + point(map, 0, p.at[0] + n);
                double part = w * (p.weight[0][n] * q);
                for (int d = 0; d < 3; d++)
                    sum[d] += part * at[d * size];
            }
        }
    }
    for (int d = 0; d < 3; d++)
        m.f[d * m.stride + i] += (scalar)sum[d];
}

template <int ORDER> static constexpr auto field_kernel(void)
{
    return kernel_of<take_field<ORDER>, 1>();
}

int cuda_take_field(struct ctx *ctx, struct md_store *s,
                    const struct mesh_map *map, int order, size_t size)
{
    static const decltype(field_kernel<2>()) kernels[] =
        KERNELS_OF_ORDERS(field_kernel);
    (void)ctx; /* the store's */
    if (s->view.n_own == 0)
        return 0;
    tally_own(s, 3 * sizeof(state) + 7 * sizeof(scalar));
    return cuda_run(s, "take_field", kernels[order - MD_MESH_ORDER_MIN],
                    cuda_own_blocks(s), s->view, *map,
                    (const double *)s->mesh->fields.p, size);
}

void cuda_set_lean(struct mesh_map *map, const double length[3],
                   const double tilt[3])
{
    map->lean[0] = tilt[0] / length[1];
    map->lean[1] = tilt[1] / length[2];
    map->lean[2] = tilt[2] / length[2];
}

/* ---- a rank's brick: the rest is the host's ---- */

static struct mesh_map map_of(const struct md_store *s,
                              const struct md_brick *b)
{
    struct mesh_map map;
    memset(&map, 0, sizeof map);
    for (int d = 0; d < 3; d++) {
        map.cells[d] = (int)b->cells[d];
        map.n[d] = (int)b->n[d];
        map.origin[d] = b->box_lo[d] - s->view.state_origin[d];
        map.per_length[d] = (double)b->cells[d] / b->box_length[d];
        /* half the spline's width, and the brick's first point */
        map.less[d] = 0.5 * b->order - 1 + (double)b->first[d];
    }
    cuda_set_lean(&map, b->box_length, b->tilt);
    map.pitch = b->pitch;
    map.plane = b->pitch * b->n[1];
    return map;
}

static int fail_outside(struct ctx *ctx, unsigned long long id)
{
    return FAIL(ctx, STATUS_LOST_PARTICLES,
                "particle %llu has left this rank's part of the mesh; the "
                "timestep is probably too large",
                id);
}

int cuda_spread_charges(struct ctx *ctx, struct md_store *s,
                        const struct md_brick *b, double *mesh)
{
    size_t size = md_brick_size(b);
    unsigned long long lost = ~0ull;
    cuda_settle(s);
    if (s->failed != 0)
        return s->failed;
    if (!cuda_mesh_of(ctx, s))
        return STATUS_MEMORY;
    struct mesh_map map = map_of(s, b);
    TRY(cuda_spread(ctx, s, &map, b->order, size));
    TRY(cuda_to_host(ctx, s->device, mesh, s->mesh->points.p,
                     size * sizeof *mesh));
    if (s->view.n_own > 0)
        TRY(cuda_to_host(ctx, s->device, &lost, s->array[ARRAY_COUNTER].p,
                         sizeof lost));
    return lost == ~0ull ? 0 : fail_outside(ctx, lost);
}

static int gather_field(struct md_store *s, const struct md_brick *b,
                        const double *const field[3])
{
    size_t size = md_brick_size(b);
    struct cuda_mesh *mesh = cuda_mesh_of(s->ctx, s);
    if (!mesh)
        return STATUS_MEMORY;
    TRY(cuda_mesh_grow(s->ctx, &mesh->fields, 3 * size));
    for (int d = 0; d < 3; d++)
        TRY(cuda_to_device(s->ctx, s->device,
                           (double *)mesh->fields.p + (size_t)d * size,
                           field[d], size * sizeof *field[d]));
    struct mesh_map map = map_of(s, b);
    return cuda_take_field(s->ctx, s, &map, b->order, size);
}

void cuda_gather_field(struct md_store *s, const struct md_brick *b,
                       const double *const field[3])
{
    cuda_settle(s);
    if (s->view.n_own > 0 && s->failed == 0)
        s->failed = gather_field(s, b, field);
}
