/* fixed_cuda.cu: sums that do not depend on the order of their terms.
 *
 * Forces: each pair's force is rounded to a whole number of units and added as
 * an integer of 64 bits, which is exact, so the sum is the same in whatever
 * order a particle's neighbors stand. The unit is 2^-38 of F0, the greatest 24
 * epsilon / sigma of all pairs of species; a force of up to 2^24 F0 fits, which
 * is that of a pair 0.3 sigma apart. Energies alike, with F0 and the greatest
 * sigma. A force or energy beyond the range, or not a number, is no answer:
 * check() names the particle (STATUS_PHYSICS).
 *
 * Sums over particles: the greatest term is found first, which no order
 * changes; it gives the unit in which all terms together fit into 62 bits.
 */
#include "kernels/md/fixed_cuda.h"
#include "kernels/md/team_cuda.h"

#include <math.h>

#include "kernels/md/lj.h"

/* As pair_force() of lj_cuda.cu, with other sums. Energy and virial of each
 * particle go to the first two columns, the virial by directions to the next.
 * With four blocks on a multiprocessor no register is spilled. */
template <int MANY, int FSHIFT, int WANT, int HALO>
static __device__ __forceinline__ void
fixed_force(const struct md_view &m, const uint32_t *neighbor,
            const uint32_t *count, struct fixed_units unit, fixed_sum *fixed,
            double *column, unsigned long long *beyond)
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    struct pair_position pi = m.pair[i];
    const struct pair_terms *row = m.terms;
    struct pair_terms t = row[0];
    fixed_sum f[3], e = 0, w = 0, by[6] = {0, 0, 0, 0, 0, 0};
    guard reach = 0, reach_e = 0;
    uint32_t n = count[i];
    for (int d = 0; d < 3; d++)
        f[d] = HALO ? fixed[d * m.stride + i] : 0;
    if (MANY)
        row += pi.species * m.n_species;
    for (uint32_t k = 0; k < n; k++) {
        struct pair_position pj = m.pair[neighbor[k * m.stride + i]];
        scalar dx = nearest_image(pi.x - pj.x, m.period[0], m.per_period[0]);
        scalar dy = nearest_image(pi.y - pj.y, m.period[1], m.per_period[1]);
        scalar dz = nearest_image(pi.z - pj.z, m.period[2], m.per_period[2]);
        scalar r2 = dx * dx + dy * dy + dz * dz, inv6, linear = 0;
        if (MANY)
            t = row[pj.species];
        if (r2 >= t.cut2)
            continue;
        scalar g = lj_force_over_r(r2, t.f12, t.f6, &inv6);
        if (FSHIFT)
            linear = lj_force_shift(SCALAR_SQRT(r2), t.slope, t.cut, &g);
        add_fixed(&f[0], &reach, (double)(g * dx) * unit.force);
        add_fixed(&f[1], &reach, (double)(g * dy) * unit.force);
        add_fixed(&f[2], &reach, (double)(g * dz) * unit.force);
        if (WANT) {
            scalar u = lj_energy(inv6, t.f12 / 12, t.f6 / 6) - t.shift + linear;
            add_fixed(&e, &reach_e, (double)u * unit.energy);
            add_fixed(&w, &reach_e, (double)(g * r2) * unit.energy);
        }
        if (WANT > 1) {
            scalar product[6];
            pair_tensor(g, dx, dy, dz, product);
            for (int q = 0; q < 6; q++)
                add_fixed(&by[q], &reach_e, (double)product[q] * unit.energy);
        }
    }
    for (int d = 0; d < 3; d++) {
        fixed[d * m.stride + i] = f[d];
        m.f[d * m.stride + i] = (scalar)(fixed_value(f[d]) * unit.per_force);
    }
    if (WANT) {
        column[PAIR_ENERGY * m.stride + i] = fixed_value(e) * unit.per_energy;
        column[PAIR_VIRIAL * m.stride + i] = fixed_value(w) * unit.per_energy;
    }
    for (int q = 0; q < 6 && WANT > 1; q++)
        column[(2 + q) * m.stride + i] = fixed_value(by[q]) * unit.per_energy;
    if (left_range(reach) || left_range(reach_e))
        atomicMin(beyond, (unsigned long long)m.id[i]);
}

template <int MANY, int FSHIFT, int WANT, int HALO>
static constexpr auto fixed_kernel(void)
{
    return kernel_of<fixed_force<MANY, FSHIFT, WANT, HALO>, 1, 4>();
}

int cuda_launch_fixed(struct md_store *s, int want, int halo)
{
    static const decltype(fixed_kernel<0, 0, 0, 0>()) kernels[2][2][3][2] =
        PAIR_KERNELS(fixed_kernel);
    struct pair_list *list = halo ? &s->halo : &s->own;
    return cuda_run(
        s, "fixed_force",
        kernels[s->setup.n_species > 1][s->setup.force_shift != 0][want][halo],
        cuda_own_blocks(s), s->view, (const uint32_t *)list->neighbor.p,
        (const uint32_t *)list->count.p, s->fixed,
        ARRAY(s, ARRAY_FIXED, fixed_sum), ARRAY(s, ARRAY_COLUMNS, double),
        ARRAY(s, ARRAY_BEYOND, unsigned long long));
}

/* ---- range ---- */

int cuda_sums_are_wide(const struct md_setup *setup)
{
    const struct md_force_field *f = setup->field;
    int charges = f && setup->charged && f->coulomb.method != MD_COULOMB_NONE;
    return setup->deterministic && (setup->tables || setup->eam || charges ||
                                    (f && f->switch_from > 0));
}

/* F0 and the greatest sigma; 0 where no pair has a force. */
static double greatest_lj(const struct md_store *s, double *length)
{
    double force = 0;
    *length = 0;
    for (int k = 0; k < s->setup.n_species * s->setup.n_species; k++) {
        const struct lj_coeff *c = &s->setup.coeff[k];
        if (!(c->c12 > 0) || !(c->c6 > 0))
            continue;
        double sigma = pow(c->c12 / c->c6, 1.0 / 6);
        double epsilon = c->c6 * c->c6 / (4 * c->c12);
        force = fmax(force, 24 * epsilon / sigma);
        *length = fmax(*length, sigma);
    }
    return force;
}

void cuda_choose_fixed(struct md_store *s)
{
    double length, force = greatest_lj(s, &length);
    s->wide_sums = cuda_sums_are_wide(&s->setup);
    if (s->wide_sums && force > 0) /* 2^38 F0 are in the range */
        cuda_set_wide(s, ldexp(force, 16), length);
    if (!(force > 0))
        force = length = 1; /* no pair has a force */
    s->fixed.per_force = ldexp(force, -UNIT_BITS);
    s->fixed.per_energy = ldexp(force * length, -UNIT_BITS);
    s->fixed.force = 1 / s->fixed.per_force;
    s->fixed.energy = 1 / s->fixed.per_energy;
    s->most_force = ldexp(s->fixed.per_force, RANGE_BITS);
}

void cuda_set_wide(struct md_store *s, double greatest, double reach)
{
    double force = fmax(greatest, ldexp(s->wide.per_force, WIDE_UNIT_BITS));
    double length = fmax(reach, s->wide_reach);
    if (!(force > 0) || !(length > 0))
        return;
    s->wide_reach = length;
    s->wide.per_force = ldexp(force, -WIDE_UNIT_BITS);
    s->wide.per_energy = ldexp(force * length, -WIDE_UNIT_BITS);
    s->wide.force = 1 / s->wide.per_force;
    s->wide.energy = 1 / s->wide.per_energy;
    s->most_force = ldexp(s->wide.per_force, WIDE_TERM_BITS);
}

int cuda_close_wide(struct md_store *s)
{
    if (!s->wide_sums || s->wide.per_force > 0)
        return 0;
    if (s->coulomb)
        return FAIL(
            s->ctx, STATUS_UNSUPPORTED,
            "md.deterministic = true with [md.coulomb] takes the unit of "
            "its sums from other pairs, and none has a force");
    cuda_set_wide(s, 1, 1);
    return 0;
}

int cuda_reserve_wide(struct md_store *s)
{
    if (!s->wide_sums)
        return 0;
    return cuda_reserve(s, ARRAY_WIDE, 3 * s->capacity, sizeof(struct wide_sum),
                        "forces");
}

size_t cuda_columns(const struct md_setup *setup)
{
    return setup->field ? TERM_SUMS : PAIR_SUMS;
}

int cuda_reserve_fixed(struct md_store *s, size_t n)
{
    size_t had = s->array[ARRAY_BEYOND].bytes;
    TRY(cuda_reserve(s, ARRAY_FIXED, 3 * n, sizeof(fixed_sum), "forces"));
    TRY(cuda_reserve(s, ARRAY_COLUMNS, cuda_columns(&s->setup) * n,
                     sizeof(double), "sums"));
    TRY(cuda_reserve(s, ARRAY_BEYOND, 1, sizeof(unsigned long long), "sums"));
    if (had == 0)
        CUDA_TRY(s->ctx, cudaMemsetAsync(s->array[ARRAY_BEYOND].p, 0xff,
                                         sizeof(unsigned long long),
                                         s->device->stream));
    return 0;
}

int cuda_fail_beyond(struct md_store *s, unsigned long long id)
{
    s->unchecked = 0;
    if (id == ~0ull)
        return 0;
    return FAIL(s->ctx, STATUS_PHYSICS,
                "the forces on particle %llu add up to more than %.3g, the "
                "most that md.deterministic = true can sum; the timestep is "
                "probably too large, or particles overlapped",
                id, s->most_force);
}

int cuda_check_beyond(struct md_store *s)
{
    unsigned long long id = 0;
    if (!s->unchecked)
        return 0;
    TRY(cuda_to_host(s->ctx, s->device, &id, s->array[ARRAY_BEYOND].p,
                     sizeof id));
    return cuda_fail_beyond(s, id);
}

/* ---- sums over particles; column blockIdx.y ---- */

static __device__ __forceinline__ void
find_greatest(const double *column, size_t stride, uint32_t n, double *partial)
{
    __shared__ double shared[MD_THREADS / 32];
    uint32_t i = thread_index();
    double value = 0;
    if (i < n) {
        value = fabs(column[blockIdx.y * stride + i]);
        if (!isfinite(value))
            value = HUGE_VAL;
    }
    value = block_max(value, shared);
    if (threadIdx.x == 0)
        partial[blockIdx.y * gridDim.x + blockIdx.x] = value;
}

/* The power of two by which terms of up to `greatest` become integers, 2^most
 * of which fit into RANGE_BITS. */
KERNEL_FN int fixed_shift(double greatest, int most)
{
    int exponent;
    frexp(greatest, &exponent);
    return RANGE_BITS - most - (exponent > -900 ? exponent : -900);
}

static __device__ __forceinline__ void sum_terms(const double *column,
                                                 size_t stride, uint32_t n,
                                                 const double *greatest,
                                                 int most, fixed_sum *partial)
{
    __shared__ fixed_sum shared[MD_THREADS / 32];
    uint32_t i = thread_index();
    double top = greatest[blockIdx.y];
    fixed_sum sum = 0;
    if (i < n && top > 0 && isfinite(top))
        sum = (fixed_sum)__double2ll_rn(
            ldexp(column[blockIdx.y * stride + i], fixed_shift(top, most)));
    sum = block_sum(sum, shared);
    if (threadIdx.x == 0)
        partial[blockIdx.y * gridDim.x + blockIdx.x] = sum;
}

static __device__ __forceinline__ void sum_blocks(const fixed_sum *partial,
                                                  uint32_t n, fixed_sum *result)
{
    __shared__ fixed_sum shared[32];
    fixed_sum sum = 0;
    for (uint32_t k = threadIdx.x; k < n; k += blockDim.x)
        sum += partial[(size_t)blockIdx.x * n + k];
    sum = block_sum(sum, shared);
    if (threadIdx.x == 0)
        result[blockIdx.x] = sum;
}

/* Leaves the greatest terms at ARRAY_RESULT and the sums as integers behind;
 * their unit depends on *most, too. */
static int launch_columns(struct md_store *s, int n_values, int *most)
{
    uint32_t n = s->view.n_own;
    unsigned blocks = cuda_blocks(n, MD_THREADS), values = (unsigned)n_values;
    const double *column = ARRAY(s, ARRAY_COLUMNS, double);
    *most = 1;
    while (*most < 32 && n >> *most != 0)
        ++*most;
    TRY(cuda_reserve_sums(s));
    TRY(cuda_run(s, "find_greatest", kernel_of<find_greatest, 1>(),
                 dim3(blocks, values), column, s->view.stride, n,
                 ARRAY(s, ARRAY_PARTIAL, double)));
    TRY(cuda_launch_reduce(s, n_values, blocks, 1));
    TRY(cuda_run(s, "sum_terms", kernel_of<sum_terms, 1>(),
                 dim3(blocks, values), column, s->view.stride, n,
                 ARRAY(s, ARRAY_RESULT, const double), *most,
                 ARRAY(s, ARRAY_PARTIAL, fixed_sum)));
    return cuda_run(s, "sum_blocks", kernel_of<sum_blocks, 1, 0, 256>(),
                    dim3(values), ARRAY(s, ARRAY_PARTIAL, const fixed_sum),
                    blocks, ARRAY(s, ARRAY_RESULT, fixed_sum) + MD_REDUCED);
}

KERNEL_FN double column_sum(double greatest, fixed_sum sum, int most)
{
    return isfinite(greatest)
               ? ldexp((double)(long long)sum, -fixed_shift(greatest, most))
               : NAN;
}

/* Instead of the greatest terms the sums. */
static __device__ __forceinline__ void
finish_columns(double *value, const fixed_sum *sum, int most, uint32_t n)
{
    uint32_t k = thread_index();
    if (k < n)
        value[k] = column_sum(value[k], sum[k], most);
}

static int launch_column_sums(struct md_store *s, int n_values)
{
    int most;
    TRY(launch_columns(s, n_values, &most));
    return cuda_run(s, "finish_columns", kernel_of<finish_columns, 1, 0, 32>(),
                    dim3(1), ARRAY(s, ARRAY_RESULT, double),
                    ARRAY(s, ARRAY_RESULT, const fixed_sum) + MD_REDUCED, most,
                    (uint32_t)n_values);
}

int cuda_sum_columns(struct md_store *s, int n_values, double *out)
{
    TRY(launch_column_sums(s, n_values));
    return cuda_to_host(s->ctx, s->device, out, s->array[ARRAY_RESULT].p,
                        (size_t)n_values * sizeof *out);
}

static unsigned blocks_of(const struct md_store *s)
{
    return cuda_blocks(s->view.n_own, MD_THREADS);
}

int cuda_launch_own_sums(struct md_store *s, int n_values)
{
    return s->setup.deterministic
               ? launch_column_sums(s, n_values)
               : cuda_launch_reduce(s, n_values, blocks_of(s), 0);
}

int cuda_own_sums(struct md_store *s, int n_values, double *out)
{
    return s->setup.deterministic
               ? cuda_sum_columns(s, n_values, out)
               : cuda_reduce(s->ctx, s, n_values, blocks_of(s), 0, out);
}

int cuda_send_own_sums(struct md_store *s, int n_values, double *to)
{
    if (!s->setup.deterministic)
        return cuda_reduce_and_send(s, n_values, blocks_of(s), 0, to);
    TRY(launch_column_sums(s, n_values));
    return cuda_send(s, to, s->array[ARRAY_RESULT].p,
                     (size_t)n_values * sizeof *to);
}

static __device__ __forceinline__ void
add_column(const double *greatest, const fixed_sum *sum, int most, double *to)
{
    if (thread_index() == 0)
        *to += column_sum(greatest[0], sum[0], most);
}

int cuda_add_column(struct md_store *s, double *to)
{
    int most;
    TRY(launch_columns(s, 1, &most));
    return cuda_run(s, "add_column", kernel_of<add_column, 1, 0, 32>(), dim3(1),
                    ARRAY(s, ARRAY_RESULT, const double),
                    ARRAY(s, ARRAY_RESULT, const fixed_sum) + MD_REDUCED, most,
                    to);
}
