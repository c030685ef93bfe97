/* mesh_whole_cuda.cu: the whole of a mesh on one card: charges, modes, three
 * fields and forces in stream order, with nothing for the host but energies
 * where they are wanted.
 */
#include "kernels/md/mesh_cuda.h"
#include "kernels/md/team_cuda.h"

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

/* What of the tables follows from the box. */
static __device__ __forceinline__ void
fill_waves(const struct mode_map &map, const struct alias_tables &tables)
{
    int64_t at = thread_number();
    int d = 0;
    for (; d < 3; d++) {
        int64_t all = map.cells[d] * (2 * tables.of[d].aliases + 1);
        if (at < all)
            break;
        at -= all;
    }
    if (d == 3)
        return;
    struct md_alias a = tables.of[0];
    int64_t n = map.cells[0];
    double length = map.box_length[0];
    /* Arrays stand in registers where indices are known. */
    for (int k = 1; k < 3; k++) {
        a = d == k ? tables.of[k] : a;
        n = d == k ? map.cells[k] : n;
        length = d == k ? map.box_length[k] : length;
    }
    int64_t width = 2 * a.aliases + 1;
    a.wave[at] =
        md_alias_entry(n, map.tilted ? 1 : length, map.alpha, at / width,
                       (int)(at % width) - a.aliases, &a.gauss[at]);
}

static __device__ __forceinline__ void
fill_influence(const struct mode_map &map, const struct alias_tables &tables,
               double *g)
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
static __device__ __forceinline__ void make_fields(const struct mode_map &map,
                                                   const double *g,
                                                   const double *mode,
                                                   double *field)
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

/* Add energy and virial of a mode with this energy. back: the highest of an
 * even number the other way, which in a tilted box is not as long. */
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

static __device__ __forceinline__ void sum_modes(const struct mode_map &map,
                                                 const double *g,
                                                 const double *mode,
                                                 double *partial)
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

static unsigned mode_blocks(const struct mode_map &map)
{
    return cuda_blocks((size_t)map.size, MD_THREADS);
}

/* Plans and memory for a mesh of this size. */
static int open_mesh(struct ctx *ctx, struct md_store *s,
                     const struct md_whole_mesh *m)
{
    struct cuda_mesh *mesh = s->mesh;
    struct mode_map map = modes_of(m);
    size_t numbers = 2 * (size_t)map.size;
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
    TRY(cuda_reserve(s, ARRAY_PARTIAL, (size_t)mode_blocks(map) * MODE_SUMS,
                     sizeof(double), "sums"));
    TRY(cuda_fft_create_box(ctx, m->cells, 3, &mesh->fft));
    memcpy(mesh->cells, m->cells, sizeof mesh->cells);
    return 0;
}

/* Where they stand, and how many numbers there are. */
static struct alias_tables tables_of(const struct md_store *s, size_t *n)
{
    const struct cuda_mesh *mesh = s->mesh;
    struct alias_tables tables;
    double *at = (double *)mesh->alias.p;
    size_t all = 0;
    for (int d = 0; d < 3; d++) {
        md_alias_place(&tables.of[d], mesh->cells[d], mesh->aliases[d],
                       at + all);
        all += md_alias_numbers(mesh->cells[d], mesh->aliases[d]);
    }
    *n = all;
    return tables;
}

/* Tables that the host has made. */
static int send_tables(struct ctx *ctx, struct md_store *s,
                       const struct md_whole_mesh *m)
{
    struct cuda_mesh *mesh = s->mesh;
    size_t all = 0;
    for (int d = 0; d < 3; d++) {
        mesh->aliases[d] = m->alias[d].aliases;
        all += md_alias_numbers(m->cells[d], mesh->aliases[d]);
    }
    TRY(cuda_mesh_grow(ctx, &mesh->alias, all));
    struct alias_tables tables = tables_of(s, &all);
    for (int d = 0; d < 3; d++)
        TRY(cuda_to_device(ctx, s->device, tables.of[d].wave, m->alias[d].wave,
                           md_alias_numbers(m->cells[d], mesh->aliases[d]) *
                               sizeof(double)));
    return 0;
}

/* The influence function of this box. */
static int set_influence(struct md_store *s, const struct mode_map *map)
{
    size_t n;
    struct alias_tables tables = tables_of(s, &n);
    TRY(cuda_run(s, "fill_waves", kernel_of<fill_waves, JOINS_LOOSELY>(),
                 dim3(cuda_blocks(n, MD_THREADS)), *map, tables));
    return cuda_run(
        s, "fill_influence", kernel_of<fill_influence, JOINS_LOOSELY, 4>(),
        dim3(mode_blocks(*map)), *map, tables, (double *)s->mesh->influence.p);
}

int cuda_mesh_charges(struct md_store *s)
{
    const struct md_whole_mesh *m = &s->mesh->whole;
    struct mode_map map = modes_of(m);
    struct mesh_map points = points_of(s, m);
    if (m->changed)
        TRY(set_influence(s, &map));
    return cuda_spread(s->ctx, s, &points, m->order, 2 * (size_t)map.size);
}

int cuda_mesh_transform(struct md_store *s, int back)
{
    struct cuda_mesh *mesh = s->mesh;
    return back ? cuda_fft_inverse(s->ctx, mesh->fft, mesh->fields.p)
                : cuda_fft_forward(s->ctx, mesh->fft, mesh->points.p);
}

int cuda_mesh_fields(struct md_store *s, int want)
{
    struct cuda_mesh *mesh = s->mesh;
    struct mode_map map = modes_of(&mesh->whole);
    dim3 blocks(mode_blocks(map));
    const double *g = (const double *)mesh->influence.p;
    const double *mode = (const double *)mesh->points.p;
    if (want != WANT_NONE) {
        TRY(cuda_run(s, "sum_modes", kernel_of<sum_modes, 1>(), blocks, map, g,
                     mode, ARRAY(s, ARRAY_PARTIAL, double)));
        TRY(cuda_reduce_and_send(s, MODE_SUMS, blocks.x, 0, s->result->mesh));
    }
    s->tally.bytes += 12.0 * 2 * (double)map.size * sizeof(double);
    return cuda_run(s, "make_fields", kernel_of<make_fields, JOINS_LOOSELY>(),
                    blocks, map, g, mode, (double *)mesh->fields.p);
}

int cuda_mesh_pull(struct md_store *s)
{
    const struct md_whole_mesh *m = &s->mesh->whole;
    struct mode_map map = modes_of(m);
    struct mesh_map points = points_of(s, m);
    return cuda_take_field(s->ctx, s, &points, m->order, 2 * (size_t)map.size);
}

int cuda_launch_mesh(struct md_store *s, int want)
{
    TRY(cuda_mesh_charges(s));
    TRY(cuda_mesh_transform(s, 0));
    TRY(cuda_mesh_fields(s, want));
    TRY(cuda_mesh_transform(s, 1));
    return cuda_mesh_pull(s);
}

void cuda_mesh_add(const struct md_store *s, struct md_sums *sums)
{
    const double *out = s->result->mesh;
    sums->energy += out[0];
    sums->part[MD_ENERGY_MESH] += out[0];
    sums->virial += out[1];
    for (int t = 0; t < 6 && sums->with_tensor; t++)
        sums->tensor[t] += out[2 + t];
}

int cuda_mesh_do(struct md_store *s, enum step_kind kind, struct md_sums *sums)
{
    int waits = s->team && (!sums || cuda_sums_may_wait(s, sums));
    if (!waits)
        cuda_settle(s);
    cuda_do(s, {kind, (double)(sums ? WANT_SUMS : WANT_NONE), 0, NULL});
    if (waits)
        return s->failed;
    cuda_settle(s);
    TRY(s->failed);
    if (!sums)
        return 0;
    TRY(cuda_wait_for_result(s));
    cuda_mesh_add(s, sums);
    return 0;
}

/* What has to be there before it may wait for other calls. */
static int prepare(struct ctx *ctx, struct md_store *s,
                   const struct md_whole_mesh *m)
{
    cuda_settle(s);
    TRY(s->failed);
    if (!cuda_mesh_of(ctx, s))
        return STATUS_MEMORY;
    TRY(cuda_reserve_sums(s));
    TRY(open_mesh(ctx, s, m));
    return m->alias ? send_tables(ctx, s, m) : 0;
}

int cuda_mesh_forces(struct ctx *ctx, struct md_store *s,
                     const struct md_whole_mesh *m, struct md_sums *sums)
{
    if (m->alias || !s->mesh || !s->mesh->fft)
        TRY(prepare(ctx, s, m));
    s->mesh->whole = *m;
    s->mesh->whole.alias = NULL; /* the caller's */
    return cuda_mesh_do(s, STEP_MESH, sums);
}
