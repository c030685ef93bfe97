/* mesh_whole_cuda.cu: the whole of a mesh on one card: charges, modes, three
 * fields and forces in stream order, with nothing for the host but energies
 * where they are wanted.
 */
#include "kernels/md/mesh_cuda.h"

#include <math.h>
#include <string.h>

#include "kernels/fft_cuda.h"

#define CELL_FN static __host__ __device__ inline
#define INFLUENCE_FN static __host__ __device__ inline
#include "kernels/md/influence.h"

/* kx runs over one half only, and varies fastest. */
struct mode_map {
    int64_t cells[3], half, size;
    int tilted;
    double box_length[3], tilt[3], alpha, scale;
};

struct mode_index {
    int64_t k[3];
};

static __device__ __forceinline__ struct mode_index
mode_at(const struct mode_map &map, int64_t at)
{
    struct mode_index m;
    m.k[0] = at % map.half;
    at /= map.half;
    m.k[1] = at % map.cells[1];
    m.k[2] = at / map.cells[1];
    return m;
}

static __device__ __forceinline__ int64_t thread_number(void)
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

struct alias_tables {
    struct md_alias of[3];
};

static __global__ void fill_influence(struct mode_map map,
                                      struct alias_tables tables, double *g)
{
    int64_t at = thread_number();
    if (at >= map.size)
        return;
    struct mode_index m = mode_at(map, at);
    g[at] = map.tilted
                ? md_tilted_influence(map.box_length, map.tilt, map.alpha,
                                      tables.of, map.cells, m.k)
                : md_influence(tables.of, m.k);
}

/* Modes of the charge to those of three fields: -i k times the potential's. */
static __global__ void make_fields(struct mode_map map, const double *g,
                                   const double *mode, double *field)
{
    int64_t at = thread_number();
    if (at >= map.size)
        return;
    struct mode_index m = mode_at(map, at);
    double re = map.scale * g[at] * mode[2 * at];
    double im = map.scale * g[at] * mode[2 * at + 1];
    double phase[3], k[3];
    for (int d = 0; d < 3; d++)
        phase[d] = md_wave_number(m.k[d], map.cells[d], 1, 1);
    cell_wave(map.box_length, map.tilt, phase, k);
    for (int d = 0; d < 3; d++) {
        double *to = field + 2 * (d * map.size + at);
        to[0] = k[d] * im;
        to[1] = -k[d] * re;
    }
}

/* Energy, virial, and that by directions. */
enum { MODE_SUMS = 8 };

/* Add those of a mode with this energy. back: the highest of an even number the
 * other way, which in a tilted box is not as long. */
static __device__ __forceinline__ void add_mode(const struct mode_map &map,
                                                const struct mode_index &m,
                                                int back, double energy,
                                                double sum[MODE_SUMS])
{
    double phase[3], k[3], tensor[6];
    for (int d = 0; d < 3; d++) {
        double forth = md_wave_number(m.k[d], map.cells[d], 1, 0);
        phase[d] = back && 2 * m.k[d] == map.cells[d] ? -forth : forth;
    }
    cell_wave(map.box_length, map.tilt, phase, k);
    double k2 = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
    if (!(k2 > 0))
        return;
    sum[0] += energy;
    sum[1] += md_wave_virial(energy, k, k2, map.alpha * map.alpha, tensor);
    for (int t = 0; t < 6; t++)
        sum[2 + t] += tensor[t];
}

static __global__ void sum_modes(struct mode_map map, const double *g,
                                 const double *mode, double *partial)
{
    int64_t at = thread_number();
    double sum[MODE_SUMS] = {0};
    if (at < map.size) {
        struct mode_index m = mode_at(map, at);
        double twice = m.k[0] == 0 || 2 * m.k[0] == map.cells[0] ? 1 : 2;
        double square =
            mode[2 * at] * mode[2 * at] + mode[2 * at + 1] * mode[2 * at + 1];
        double energy = 0.5 * map.scale * twice * g[at] * square;
        for (int back = 0; back <= map.tilted; back++)
            add_mode(map, m, back, map.tilted ? 0.5 * energy : energy, sum);
    }
    leave_sums(sum, partial);
}

/* ---- the host's side ---- */

static struct mode_map modes_of(const struct md_whole_mesh *m)
{
    struct mode_map map;
    for (int d = 0; d < 3; d++) {
        map.cells[d] = m->cells[d];
        map.box_length[d] = m->box_length[d];
        map.tilt[d] = m->tilt[d];
    }
    map.tilted = m->tilted != 0;
    map.half = m->cells[0] / 2 + 1;
    map.size = map.half * m->cells[1] * m->cells[2];
    map.alpha = m->alpha;
    map.scale = m->scale;
    return map;
}

static struct mesh_map points_of(const struct md_store *s,
                                 const struct md_whole_mesh *m)
{
    struct mesh_map map;
    memset(&map, 0, sizeof map);
    map.whole = 1;
    for (int d = 0; d < 3; d++) {
        map.cells[d] = map.n[d] = (int)m->cells[d];
        map.origin[d] = m->box_lo[d] - s->view.state_origin[d];
        map.per_length[d] = (double)m->cells[d] / m->box_length[d];
        map.less[d] = 0.5 * m->order - 1;
    }
    cuda_set_lean(&map, m->box_length, m->tilt);
    map.pitch = cuda_fft_pitch(m->cells[0]);
    map.plane = map.pitch * m->cells[1];
    return map;
}

/* Plans and memory for a mesh of this size. */
static int open_mesh(struct ctx *ctx, struct cuda_mesh *mesh,
                     const struct md_whole_mesh *m, size_t numbers)
{
    int same = mesh->fft != NULL;
    for (int d = 0; d < 3; d++)
        same = same && mesh->cells[d] == m->cells[d];
    if (same)
        return 0;
    cuda_fft_destroy(mesh->fft);
    mesh->fft = NULL;
    TRY(cuda_mesh_grow(ctx, &mesh->points, numbers));
    TRY(cuda_mesh_grow(ctx, &mesh->fields, 3 * numbers));
    TRY(cuda_mesh_grow(ctx, &mesh->influence, numbers / 2));
    TRY(cuda_fft_create_box(ctx, m->cells, 3, &mesh->fft));
    memcpy(mesh->cells, m->cells, sizeof mesh->cells);
    return 0;
}

/* The influence function, from tables that the host has made. */
static int set_influence(struct ctx *ctx, struct md_store *s,
                         const struct md_whole_mesh *m,
                         const struct mode_map *map)
{
    struct cuda_mesh *mesh = s->mesh;
    struct alias_tables tables;
    size_t first[4] = {0, 0, 0, 0};
    for (int d = 0; d < 3; d++)
        first[d + 1] =
            first[d] + md_alias_numbers(m->cells[d], m->alias[d].aliases);
    TRY(cuda_mesh_grow(ctx, &mesh->alias, first[3]));
    for (int d = 0; d < 3; d++) {
        double *at = (double *)mesh->alias.p + first[d];
        md_alias_place(&tables.of[d], m->cells[d], m->alias[d].aliases, at);
        TRY(cuda_to_device(ctx, s->device, at, m->alias[d].wave,
                           (first[d + 1] - first[d]) * sizeof *at));
    }
    LAUNCH(fill_influence, cuda_blocks((size_t)map->size, MD_THREADS),
           MD_THREADS, 0, s->device->stream, *map, tables,
           (double *)mesh->influence.p);
    CUDA_TRY_LAUNCH(ctx, "fill_influence");
    return 0;
}

static int add_sums(struct ctx *ctx, struct md_store *s,
                    const struct mode_map *map, struct md_sums *sums)
{
    unsigned blocks = cuda_blocks((size_t)map->size, MD_THREADS);
    double out[MODE_SUMS];
    TRY(cuda_reserve_sums(s));
    TRY(cuda_reserve(s, ARRAY_PARTIAL, (size_t)blocks * MODE_SUMS,
                     sizeof(double), "sums"));
    LAUNCH(sum_modes, blocks, MD_THREADS, 0, s->device->stream, *map,
           (const double *)s->mesh->influence.p,
           (const double *)s->mesh->points.p, ARRAY(s, ARRAY_PARTIAL, double));
    CUDA_TRY_LAUNCH(ctx, "sum_modes");
    TRY(cuda_reduce(ctx, s, MODE_SUMS, blocks, 0, out));
    sums->energy += out[0];
    sums->part[MD_ENERGY_MESH] += out[0];
    sums->virial += out[1];
    for (int t = 0; t < 6 && sums->with_tensor; t++)
        sums->tensor[t] += out[2 + t];
    return 0;
}

static int launch_mesh(struct ctx *ctx, struct md_store *s,
                       const struct md_whole_mesh *m, struct md_sums *sums)
{
    struct cuda_mesh *mesh = s->mesh;
    struct mode_map map = modes_of(m);
    struct mesh_map points = points_of(s, m);
    size_t numbers = 2 * (size_t)map.size;
    TRY(cuda_spread(ctx, s, &points, m->order, numbers));
    TRY(cuda_fft_forward(ctx, mesh->fft, mesh->points.p));
    if (sums)
        TRY(add_sums(ctx, s, &map, sums));
    LAUNCH(make_fields, cuda_blocks((size_t)map.size, MD_THREADS), MD_THREADS,
           0, s->device->stream, map, (const double *)mesh->influence.p,
           (const double *)mesh->points.p, (double *)mesh->fields.p);
    CUDA_TRY_LAUNCH(ctx, "make_fields");
    TRY(cuda_fft_inverse(ctx, mesh->fft, mesh->fields.p));
    s->tally.bytes += 12.0 * (double)numbers * sizeof(double);
    return cuda_take_field(ctx, s, &points, m->order, numbers);
}

int cuda_launch_mesh(struct md_store *s)
{
    return launch_mesh(s->ctx, s, &s->mesh->whole, NULL);
}

int cuda_mesh_forces(struct ctx *ctx, struct md_store *s,
                     const struct md_whole_mesh *m, struct md_sums *sums)
{
    int fresh = m->alias || !s->mesh || !s->mesh->fft;
    if (s->team && !sums && !fresh) {
        s->mesh->whole = *m;
        cuda_do(s, {STEP_MESH, 0, 0, NULL});
        return s->failed;
    }
    cuda_settle(s);
    if (s->failed != 0)
        return s->failed;
    struct cuda_mesh *mesh = cuda_mesh_of(ctx, s);
    if (!mesh)
        return STATUS_MEMORY;
    struct mode_map map = modes_of(m);
    TRY(open_mesh(ctx, mesh, m, 2 * (size_t)map.size));
    if (m->alias)
        TRY(set_influence(ctx, s, m, &map));
    return launch_mesh(ctx, s, m, sums);
}
