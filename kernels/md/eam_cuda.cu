/* eam_cuda.cu: the embedded-atom method: densities, what is exchanged between
 * the two passes, forces.
 */
#include "kernels/md/clock_cuda.h"
#include "kernels/md/eam_cuda.h"

#include "kernels/md/near_cuda.h"

#include <string.h>

/* ---- one pair ---- */

/* Where a distance lies in the grids. */
static __device__ __forceinline__ int interval_of(const struct eam_tables &t,
                                                  scalar r, scalar *p)
{
    scalar place = r * t.per_step;
    scalar whole = place < t.last ? place : t.last;
    int k = (int)whole;
    scalar within = place - (scalar)k;
    /* A cutoff up to one step behind the last point has its value. */
    *p = within > 1 ? (scalar)1 : within;
    return k;
}

static __device__ __forceinline__ struct eam_cubic_row
cubic_of(const struct eam_cubic_row *rows, int table, int intervals, int k)
{
    const struct eam_cubic_row *from =
        rows + (size_t)table * (size_t)intervals + (size_t)k;
    struct eam_cubic_row c;
#if MD_PRECISION == 1
    const double2 *pieces = (const double2 *)from;
    double2 low = __ldg(pieces), high = __ldg(pieces + 1);
    c.c[0] = low.x;
    c.c[1] = low.y;
    c.c[2] = high.x;
    c.c[3] = high.y;
#else
    float4 all = __ldg((const float4 *)from);
    c.c[0] = all.x;
    c.c[1] = all.y;
    c.c[2] = all.z;
    c.c[3] = all.w;
#endif
    return c;
}

static __device__ __forceinline__ scalar cubic(const struct eam_cubic_row &c,
                                               scalar p)
{
    return ((c.c[3] * p + c.c[2]) * p + c.c[1]) * p + c.c[0];
}

/* Per step of the grid. */
static __device__ __forceinline__ scalar
cubic_slope(const struct eam_cubic_row &c, scalar p)
{
    return (3 * c.c[3] * p + (c.c[2] + c.c[2])) * p + c.c[1];
}

static __device__ __forceinline__ int pair_table(int a, int b)
{
    int high = a > b ? a : b, low = a > b ? b : a;
    return high * (high + 1) / 2 + low;
}

/* The second pass: forces, once the slopes are known. */
struct eam_pair {
    struct eam_tables t;
    const scalar *slope; /* of own particles, then of copies */

    struct own_part {
        scalar slope;
        int species;
    };

    __device__ __forceinline__ own_part
    begin(const struct md_view &, uint32_t i,
          const struct pair_position &pi) const
    {
        own_part own = {slope[i], pi.species};
        return own;
    }

    __device__ __forceinline__ int
    force_of(const struct md_view &, const own_part &own, uint32_t, uint32_t j,
             const struct pair_position &pj, scalar r2, int, scalar *g,
             scalar *) const
    {
        if (r2 >= t.cut2)
            return 0;
        scalar r = SCALAR_SQRT(r2), p, inverse = 1 / r;
        int a = own.species, b = pj.species, k = interval_of(t, r, &p);
        struct eam_cubic_row c =
            cubic_of(t.pair, pair_table(a, b), t.intervals, k);
        scalar phi = cubic(c, p) * inverse;
        scalar sum = (phi - cubic_slope(c, p) * t.per_step) * inverse * inverse;
        c = cubic_of(t.density, b, t.intervals, k);
        scalar at_i = -cubic_slope(c, p) * t.per_step * inverse;
        if (a != b)
            c = cubic_of(t.density, a, t.intervals, k);
        scalar at_j = -cubic_slope(c, p) * t.per_step * inverse;
        sum += own.slope * at_i;
        sum += slope[j] * at_j;
        *g = sum;
        return 1;
    }
};

/* ---- densities ---- */

#define density_out MD_NAME(density_out)
struct density_out {
    scalar *rho;
    struct wide_sum *wide; /* where sums are deterministic */
    double unit, per_unit;
    struct near_out near;
};

/* Density and the energy of pairs at one particle. */
template <class Give>
static __device__ __forceinline__ void
for_each_density(const struct md_view &m, const uint32_t *neighbor,
                 const uint32_t *count, const struct eam_tables &t, uint32_t i,
                 int want, Give give)
{
    struct pair_position pi = m.pair[i];
    for_each_neighbor(m, neighbor, count, i, pi,
                      [&](uint32_t, const struct pair_position &pj,
                          const scalar *, scalar r2) {
                          if (r2 >= t.cut2)
                              return;
                          scalar r = SCALAR_SQRT(r2), p, phi = 0;
                          int k = interval_of(t, r, &p);
                          struct eam_cubic_row c =
                              cubic_of(t.density, pj.species, t.intervals, k);
                          scalar density = cubic(c, p);
                          if (want) {
                              c = cubic_of(t.pair,
                                           pair_table(pi.species, pj.species),
                                           t.intervals, k);
                              phi = cubic(c, p) * (1 / r);
                          }
                          give(density, phi);
                      });
}

template <int WANT, int HALO>
static __device__ __forceinline__ void
add_densities(const struct md_view &m, const uint32_t *neighbor,
              const uint32_t *count, const struct eam_tables &t,
              const struct density_out &out)
{
    uint32_t i = thread_index();
    scalar energy = 0;
    if (i < m.n_own) {
        scalar rho = 0;
        for_each_density(m, neighbor, count, t, i, WANT,
                         [&](scalar density, scalar phi) {
                             rho += density;
                             energy += phi;
                         });
        out.rho[i] = HALO ? out.rho[i] + rho : rho;
    }
    if (WANT) {
        __shared__ double shared[MD_THREADS / 32];
        double total = block_sum((double)energy, shared);
        if (threadIdx.x == 0)
            out.near.partial[blockIdx.x] = total;
    }
}

template <int WANT, int HALO>
static __device__ __forceinline__ void
add_densities_wide(const struct md_view &m, const uint32_t *neighbor,
                   const uint32_t *count, const struct eam_tables &t,
                   const struct density_out &out)
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    struct wide_sum rho = {0, 0}, energy = {0, 0};
    unsigned long long reach = 0;
    if (HALO)
        rho = out.wide[i];
    for_each_density(
        m, neighbor, count, t, i, WANT, [&](scalar density, scalar phi) {
            wide_add(&rho, &reach, (double)density * out.unit);
            if (WANT)
                wide_add(&energy, &reach, (double)phi * out.near.unit.energy);
        });
    out.wide[i] = rho;
    out.rho[i] = (scalar)(wide_value(rho) * out.per_unit);
    if (WANT)
        out.near.column[i] = wide_value(energy) * out.near.unit.per_energy;
    if (wide_left_range(reach))
        atomicMin(out.near.beyond, (unsigned long long)m.id[i]);
}

/* F and its slope. Beyond the table F goes on as a straight line. */
static __device__ __forceinline__ double
embed_one(const struct eam_tables &t, int species, double rho, double *slope)
{
    double place = rho * t.per_rho_step;
    double greatest = (double)t.embedding_intervals;
    double inside = place < greatest ? place : greatest;
    int k = t.embedding_intervals - 1;
    if (inside < greatest)
        k = inside > 0 ? (int)inside : 0;
    const double *c =
        t.embedding +
        4 * ((size_t)species * (size_t)t.embedding_intervals + (size_t)k);
    double p = inside - k;
    double per_step = (3 * c[3] * p + (c[2] + c[2])) * p + c[1];
    *slope = per_step * t.per_rho_step;
    return ((c[3] * p + c[2]) * p + c[1]) * p + c[0] +
           per_step * (place - inside);
}

/* column: each particle's energy, or NULL; else their sums by block. */
template <int WANT>
static __device__ __forceinline__ void
embed(const struct md_view &m, const struct eam_tables &t, const scalar *rho,
      scalar *slope, double *partial, double *column)
{
    uint32_t i = thread_index();
    double energy = 0;
    if (i < m.n_own) {
        double d;
        energy = embed_one(t, m.pair[i].species, (double)rho[i], &d);
        slope[i] = (scalar)d;
        if (WANT && column)
            column[i] = energy;
    }
    if (WANT) {
        __shared__ double shared[MD_THREADS / 32];
        energy = block_sum(energy, shared);
        if (threadIdx.x == 0)
            partial[blockIdx.x] = energy;
    }
}

/* ---- launches ---- */

int cuda_eam_force(struct md_store *s, int want, int halo)
{
    struct eam_pair pair;
    pair.t = cuda_eam_tables(s);
    pair.slope = ARRAY(s, ARRAY_EAM_SLOPE, scalar);
    tally_own(s, sizeof(scalar));
    return launch_near(s, pair, want, halo);
}

template <int WIDE, int WANT, int HALO>
static constexpr auto density_kernel(void)
{
    if constexpr (WIDE)
        return kernel_of<add_densities_wide<WANT, HALO>, 1>();
    else
        return kernel_of<add_densities<WANT, HALO>, 1>();
}

static int launch_densities(struct md_store *s, int want, int halo)
{
    static const decltype(density_kernel<0, 0, 0>()) kernels[2][2][2] = {
        {{density_kernel<0, 0, 0>(), density_kernel<0, 0, 1>()},
         {density_kernel<0, 1, 0>(), density_kernel<0, 1, 1>()}},
        {{density_kernel<1, 0, 0>(), density_kernel<1, 0, 1>()},
         {density_kernel<1, 1, 0>(), density_kernel<1, 1, 1>()}}};
    struct pair_list *list = halo ? &s->halo : &s->own;
    struct density_out out;
    out.rho = ARRAY(s, ARRAY_EAM_RHO, scalar);
    out.wide = ARRAY(s, ARRAY_EAM_WIDE, struct wide_sum);
    out.unit = s->eam->density;
    out.per_unit = s->eam->per_density;
    out.near = near_out_of(s);
    TRY(cuda_run(
        s, "add_densities", kernels[s->setup.deterministic != 0][want][halo],
        cuda_own_blocks(s), s->view, (const uint32_t *)list->neighbor.p,
        (const uint32_t *)list->count.p, cuda_eam_tables(s), out));
    s->unchecked |= s->setup.deterministic;
    s->tally.forces[halo]++;
    tally_own(s, sizeof(struct pair_position) + sizeof(uint32_t) +
                     (halo ? 2 : 1) * sizeof(scalar));
    return 0;
}

static int launch_embed(struct md_store *s, int want)
{
    double *column =
        s->setup.deterministic ? ARRAY(s, ARRAY_COLUMNS, double) : NULL;
    auto kernel = want ? kernel_of<embed<1>, 1>() : kernel_of<embed<0>, 1>();
    TRY(cuda_run(s, "embed", kernel, cuda_own_blocks(s), s->view,
                 cuda_eam_tables(s), ARRAY(s, ARRAY_EAM_RHO, scalar),
                 ARRAY(s, ARRAY_EAM_SLOPE, scalar),
                 ARRAY(s, ARRAY_PARTIAL, double), column));
    tally_own(s, 2 * sizeof(scalar) + sizeof(struct pair_position));
    return 0;
}

int cuda_eam_density(struct md_store *s, int want, int halo)
{
    enum clock_part part = halo ? CLOCK_DENSITY_HALO : CLOCK_DENSITY_OWN;
    double *to = s->result->metal;
    int some = !halo || s->view.n_halo > 0;
    TRY(cuda_clock_mark(s, part, CLOCK_BEGIN));
    if (some)
        TRY(launch_densities(s, want, halo));
    TRY(cuda_clock_mark(s, part, CLOCK_END));
    if (some && want)
        TRY(cuda_send_own_sums(s, 1, to + halo));
    if (halo)
        TRY(launch_embed(s, want));
    return halo && want ? cuda_send_own_sums(s, 1, to + 2) : 0;
}

/* ---- the verbs ---- */

/* A full list has each own pair twice; of a pair with a copy the other half is
 * another rank's. */
void cuda_eam_add(const struct md_store *s, struct md_sums *sums)
{
    const double *energy = s->result->metal;
    for (int halo = 0; halo < 2; halo++) {
        sums->energy += 0.5 * energy[halo];
        sums->part[MD_ENERGY_PAIR] += 0.5 * energy[halo];
    }
    sums->energy += energy[2];
    sums->part[MD_ENERGY_EMBEDDING] += energy[2];
}

static int densities_and_sums(struct md_store *s, struct md_sums *sums,
                              int halo)
{
    TRY(cuda_reserve_sums(s));
    TRY(cuda_eam_density(s, 1, halo));
    if (!halo)
        return 0;
    TRY(cuda_wait_for_result(s));
    cuda_eam_add(s, sums);
    return 0;
}

static void density(struct md_store *s, struct md_sums *sums, int halo)
{
    struct step_call call = {halo ? STEP_DENSITY_HALO : STEP_DENSITY_OWN, 0, 0,
                             NULL};
    if (s->view.n_own == 0)
        return;
    if (!halo)
        memset(s->result->metal, 0, sizeof s->result->metal);
    if (sums && cuda_sums_may_wait(s, sums)) {
        s->owed = sums;
        call.kick = 1;
        cuda_do(s, call);
    } else if (sums) {
        cuda_settle(s);
        if (s->failed == 0)
            s->failed = densities_and_sums(s, sums, halo);
    } else if (!halo && cuda_has_messages(s)) {
        cuda_do_now(s, call); /* while the copies travel */
    } else {
        cuda_do(s, call);
    }
}

void cuda_density_own(struct md_store *s, struct md_sums *sums)
{
    density(s, sums, 0);
}

void cuda_density_halo(struct md_store *s, struct md_sums *sums)
{
    density(s, sums, 1);
}

size_t cuda_extra_bytes(void)
{
    return sizeof(scalar);
}

static __global__ void pack_slopes(const scalar *slope, const uint32_t *slot,
                                   uint32_t n, scalar *out)
{
    uint32_t k = thread_index();
    if (k < n)
        out[k] = slope[slot[k]];
}

static __global__ void unpack_slopes(scalar *slope, const uint32_t *slot,
                                     uint32_t n, const scalar *from)
{
    uint32_t k = thread_index();
    if (k < n)
        slope[slot[k]] = from[k];
}

/* As pack_and_copy() of halo_cuda.cu. */
static int pack_and_copy(struct md_store *s, void *buffer)
{
    int direct = s->ctx->device->direct;
    size_t bytes = s->n_send * sizeof(scalar);
    scalar *packed = (scalar *)(direct ? buffer : s->array[ARRAY_PACKED].p);
    LAUNCH(pack_slopes, cuda_blocks(s->n_send, MD_THREADS), MD_THREADS, 0,
           s->device->stream, ARRAY(s, ARRAY_EAM_SLOPE, scalar),
           ARRAY(s, ARRAY_SEND_SLOT, uint32_t), s->n_send, packed);
    CUDA_TRY_LAUNCH(s->ctx, "pack_slopes");
    if (!direct) {
        CUDA_TRY(s->ctx,
                 cudaMemcpyAsync(buffer, packed, bytes, cudaMemcpyDeviceToHost,
                                 s->device->stream));
        s->device->bytes_to_host += bytes;
    }
    return 0;
}

void cuda_pack_extra(const struct md_store *store, void *buffer)
{
    /* Only the queue of the store changes. */
    struct md_store *s = const_cast<struct md_store *>(store);
    cuda_settle(s);
    if (s->n_send > 0 && s->failed == 0)
        s->failed = pack_and_copy(s, buffer);
    /* Also where nothing is sent: the messages that come next overwrite those
     * that may still be unpacked. */
    if (s->failed == 0)
        s->failed =
            cuda_status(s->ctx, cudaStreamSynchronize(s->device->stream),
                        "cudaStreamSynchronize");
}

int cuda_eam_unpack(struct md_store *s, const void *buffer)
{
    const scalar *from = NULL;
    TRY(cuda_message_on_card(s, buffer, s->view.n_halo * sizeof *from,
                             (const void **)&from));
    LAUNCH(unpack_slopes, cuda_blocks(s->view.n_halo, MD_THREADS), MD_THREADS,
           0, s->device->stream, ARRAY(s, ARRAY_EAM_SLOPE, scalar),
           ARRAY(s, ARRAY_HALO_SLOT, uint32_t), s->view.n_halo, from);
    CUDA_TRY_LAUNCH(s->ctx, "unpack_slopes");
    return 0;
}

void cuda_unpack_extra(struct md_store *s, const void *buffer)
{
    if (s->view.n_halo > 0)
        cuda_do(s, {STEP_UNPACK_EXTRA, 0, 0, buffer});
}
