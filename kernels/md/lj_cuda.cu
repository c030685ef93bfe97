/* lj_cuda.cu: Lennard-Jones forces, one thread a particle over its neighbors.
 */
#include "kernels/md/charged_cuda.h"
#include "kernels/md/clock_cuda.h"
#include "kernels/md/eam_cuda.h"
#include "kernels/md/fixed_cuda.h"
#include "kernels/md/forms_cuda.h"
#include "kernels/md/lj.h"
#include "kernels/md/mesh_cuda.h"
#include "kernels/md/outer_cuda.h"
#include "kernels/md/team_cuda.h"
#include "kernels/md/terms_cuda.h"

#include <string.h>

/* MANY: several species. FSHIFT: linear force shift. WANT: energy and virial,
 * with 2 also the virial by directions. HALO: neighbors are copies, and the
 * force is added to that of own ones. */
template <int MANY, int FSHIFT, int WANT, int HALO>
static __device__ __forceinline__ void
pair_force(const struct md_view &m, const uint32_t *neighbor,
           const uint32_t *count, double *partial)
{
    uint32_t i = thread_index();
    double energy = 0, virial = 0;
    scalar sum[6] = {0, 0, 0, 0, 0, 0};
    if (i < m.n_own) {
        struct pair_position pi = m.pair[i];
        const struct pair_terms *row = m.terms;
        struct pair_terms t = row[0];
        scalar fx = 0, fy = 0, fz = 0, e = 0, w = 0;
        uint32_t n = count[i];
        if (MANY)
            row += pi.species * m.n_species;
        for (uint32_t k = 0; k < n; k++) {
            struct pair_position pj = m.pair[neighbor[k * m.stride + i]];
            scalar dx =
                nearest_image(pi.x - pj.x, m.period[0], m.per_period[0]);
            scalar dy =
                nearest_image(pi.y - pj.y, m.period[1], m.per_period[1]);
            scalar dz =
                nearest_image(pi.z - pj.z, m.period[2], m.per_period[2]);
            scalar r2 = dx * dx + dy * dy + dz * dz, inv6, linear = 0;
            if (MANY)
                t = row[pj.species];
            if (r2 >= t.cut2)
                continue;
            scalar g = lj_force_over_r(r2, t.f12, t.f6, &inv6);
            if (FSHIFT)
                linear = lj_force_shift(SCALAR_SQRT(r2), t.slope, t.cut, &g);
            fx += g * dx;
            fy += g * dy;
            fz += g * dz;
            if (WANT) {
                e += lj_energy(inv6, t.f12 / 12, t.f6 / 6) - t.shift + linear;
                if (WANT == 1) /* or the trace of the tensor */
                    w += g * r2;
            }
            if (WANT > 1) {
                scalar product[6];
                pair_tensor(g, dx, dy, dz, product);
                for (int q = 0; q < 6; q++)
                    sum[q] += product[q];
            }
        }
        scalar *f = m.f + i;
        if (HALO) {
            fx += f[0];
            fy += f[m.stride];
            fz += f[2 * m.stride];
        }
        f[0] = fx;
        f[m.stride] = fy;
        f[2 * m.stride] = fz;
        energy = (double)e;
        virial = (double)(WANT > 1 ? sum[0] + sum[1] + sum[2] : w);
    }
    if (WANT) {
        __shared__ double shared[MD_THREADS / 32];
        energy = block_sum(energy, shared);
        virial = block_sum(virial, shared);
        if (threadIdx.x == 0) {
            partial[blockIdx.x] = energy;
            partial[gridDim.x + blockIdx.x] = virial;
        }
        for (int q = 0; q < 6 && WANT > 1; q++) {
            double total = block_sum((double)sum[q], shared);
            if (threadIdx.x == 0)
                partial[(2 + q) * gridDim.x + blockIdx.x] = total;
        }
    }
}

template <int MANY, int FSHIFT, int WANT, int HALO>
static constexpr auto force_kernel(void)
{
    return kernel_of<pair_force<MANY, FSHIFT, WANT, HALO>, 1,
                     (WANT > 1 ? 4 : 0)>();
}

static int launch_plain(struct md_store *s, int want, int halo)
{
    static const decltype(force_kernel<0, 0, 0, 0>()) kernels[2][2][3][2] =
        PAIR_KERNELS(force_kernel);
    struct pair_list *list = halo ? &s->halo : &s->own;
    return cuda_run(
        s, "pair_force",
        kernels[s->setup.n_species > 1][s->setup.force_shift != 0][want][halo],
        cuda_own_blocks(s), s->view, (const uint32_t *)list->neighbor.p,
        (const uint32_t *)list->count.p, ARRAY(s, ARRAY_PARTIAL, double));
}

/* want: energy and virial, and 2: by directions too. */
static int launch(struct md_store *s, int want, int halo)
{
    /* Position, count and force, and the force again where copies add to it;
     * lists are counted apart (counters()). */
    size_t fixed = s->setup.deterministic ? sizeof(fixed_sum) : 0;
    s->tally.forces[halo]++;
    tally_own(s, sizeof(struct pair_position) + sizeof(uint32_t) +
                     (halo ? 6 : 3) * (sizeof(scalar) + fixed));
    if (s->eam)
        return cuda_eam_force(s, want, halo);
    if (cuda_has_charged_pairs(s))
        return s->setup.deterministic ? cuda_launch_charged_wide(s, want, halo)
                                      : cuda_launch_charged(s, want, halo);
    if (s->forms)
        return cuda_forms_launch(s, want, halo);
    return s->setup.deterministic ? cuda_launch_fixed(s, want, halo)
                                  : launch_plain(s, want, halo);
}

static enum clock_part part_of(int halo)
{
    return halo ? CLOCK_FORCE_HALO : CLOCK_FORCE_OWN;
}

static int sums_of(const struct md_store *s, int want)
{
    return s->coulomb            ? CHARGED_SUMS
           : want == WANT_TENSOR ? PAIR_SUMS
                                 : PAIR_TENSOR;
}

int cuda_launch_force(struct md_store *s, int halo, int want)
{
    enum clock_part part = part_of(halo);
    if (halo && s->view.n_halo == 0) /* nobody knew */
        return 0;
    TRY(cuda_clock_mark(s, part, CLOCK_BEGIN));
    TRY(launch(s, want, halo));
    if (want != WANT_NONE)
        TRY(cuda_send_own_sums(s, sums_of(s, want), s->result->pairs[halo]));
    if (s->terms) {
        TRY(cuda_clock_mark(s, part, CLOCK_TERMS));
        TRY(cuda_launch_terms(s, halo, want));
    }
    return cuda_clock_mark(s, part, CLOCK_END);
}

/* A full list has each own pair twice; of a pair with a copy the other half is
 * another rank's. */
static void add_sums(struct md_sums *sums, const double out[CHARGED_SUMS])
{
    sums->energy += 0.5 * (out[PAIR_ENERGY] + out[PAIR_COULOMB]);
    sums->part[MD_ENERGY_PAIR] += 0.5 * out[PAIR_ENERGY];
    sums->part[MD_ENERGY_COULOMB] += 0.5 * out[PAIR_COULOMB];
    sums->virial += 0.5 * out[PAIR_VIRIAL];
    for (int q = 0; q < 6 && sums->with_tensor; q++)
        sums->tensor[q] += 0.5 * out[PAIR_TENSOR + q];
}

static int want_of(const struct md_sums *sums)
{
    return sums->with_tensor ? WANT_TENSOR : WANT_SUMS;
}

static void add_result(const struct md_store *s, struct md_sums *sums, int halo)
{
    add_sums(sums, s->result->pairs[halo]);
    if (s->terms)
        cuda_terms_add(s->result->terms[halo], sums);
}

static int force_and_sums(struct md_store *s, struct md_sums *sums, int halo)
{
    if (halo && s->view.n_halo == 0)
        return 0;
    TRY(cuda_reserve_sums(s));
    TRY(cuda_launch_force(s, halo, want_of(sums)));
    TRY(cuda_wait_for_result(s));
    add_result(s, sums, halo);
    return 0;
}

int cuda_sums_may_wait(const struct md_store *s, const struct md_sums *sums)
{
    return sums->later && s->team && s->queue.on && !cuda_has_messages(s);
}

void cuda_finish_sums(struct md_store *s)
{
    struct md_sums *sums = s->owed;
    double *on_wall = s->owed_to_walls;
    if (!sums)
        return;
    s->owed = NULL;
    s->owed_to_walls = NULL;
    cuda_settle(s);
    if (s->failed == 0)
        s->failed = cuda_wait_for_result(s);
    if (s->failed != 0)
        return;
    if (s->eam)
        cuda_eam_add(s, sums);
    for (int halo = 0; halo < 2; halo++)
        add_result(s, sums, halo);
    if (s->mesh)
        cuda_mesh_add(s, sums);
    if (on_wall)
        cuda_outer_add(s->result->outer, sums, on_wall);
}

static void force(struct md_store *s, struct md_sums *sums, int halo)
{
    struct step_call call = {halo ? STEP_FORCE_HALO : STEP_FORCE_OWN, 0, 0,
                             NULL};
    s->unchecked = s->setup.deterministic;
    if (s->terms)
        s->terms->unchecked = s->terms->may_break;
    if (!halo) {
        cuda_clock_step(s);
        memset(s->result->pairs, 0, sizeof s->result->pairs);
        memset(s->result->terms, 0, sizeof s->result->terms);
        memset(s->result->mesh, 0, sizeof s->result->mesh);
    }
    if (sums && cuda_sums_may_wait(s, sums)) {
        s->owed = sums;
        call.kick = want_of(sums);
        cuda_do(s, call);
    } else if (sums) {
        cuda_settle(s);
        if (s->failed == 0)
            s->failed = force_and_sums(s, sums, halo);
    } else if (!halo && cuda_has_messages(s)) {
        cuda_do_now(s, call); /* while the copies travel */
    } else {
        cuda_do(s, call);
    }
}

void cuda_force_own(struct md_store *s, struct md_sums *sums)
{
    if (s->view.n_own > 0)
        force(s, sums, 0);
}

void cuda_force_halo(struct md_store *s, struct md_sums *sums)
{
    /* Copies that are only going to be chosen may turn out to be none. */
    if (s->view.n_own > 0 && (s->view.n_halo > 0 || s->copies_here))
        force(s, sums, 1);
}
