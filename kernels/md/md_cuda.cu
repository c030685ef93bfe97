/* md_cuda.cu: a card's table of molecular-dynamics kernels, one per precision.
 */
#include "kernels/md/box_cuda.h"
#include "kernels/md/charged_cuda.h"
#include "kernels/md/clock_cuda.h"
#include "kernels/md/dynamics_cuda.h"
#include "kernels/md/eam_cuda.h"
#include "kernels/md/fixed_cuda.h"
#include "kernels/md/forms_cuda.h"
#include "kernels/md/mesh_cuda.h"
#include "kernels/md/outer_cuda.h"
#include "kernels/md/team_cuda.h"
#include "kernels/md/terms_cuda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void destroy(struct md_store *s)
{
    if (!s)
        return;
    cuda_team_leave(s);
    for (int k = 0; k < ARRAY_COUNT; k++)
        cuda_free(s->array[k].p);
    cuda_free(s->own.neighbor.p);
    cuda_free(s->own.count.p);
    cuda_free(s->halo.neighbor.p);
    cuda_free(s->halo.count.p);
    if (s->result)
        cudaFreeHost(s->result);
    cuda_drop_graphs(s);
    cuda_forms_destroy(s);
    cuda_eam_destroy(s);
    cuda_terms_destroy(s->terms);
    cuda_mesh_destroy(s);
    cuda_clock_destroy(s);
    cuda_dynamics_destroy(s);
    free(s->leavers);
    free(s->channel_n);
    free(s->channel_offset);
    free(s->image);
    free((void *)s->setup.coeff);
    free(s);
}

void cuda_set_coordinates(struct md_store *s)
{
    const struct md_setup *setup = &s->setup;
    struct md_view *m = &s->view;
    for (int d = 0; d < 3; d++) {
        double middle = 0.5 * (setup->lo[d] + setup->hi[d]);
        m->box_lo[d] = setup->box_lo[d];
        m->box_length[d] = setup->box_length[d];
        m->tilt[d] = setup->tilt[d];
        m->lo[d] = setup->lo[d];
        m->hi[d] = setup->hi[d];
        m->cut[d] = setup->cut[d];
        m->origin[d] = MD_PRECISION == 1 ? 0 : middle;
        m->state_origin[d] = MD_PRECISION == 3 ? middle : 0;
        m->period[d] = (scalar)(setup->cut[d] ? 0 : setup->box_length[d]);
        m->per_period[d] =
            (scalar)(setup->cut[d] ? 0 : 1 / setup->box_length[d]);
    }
    m->n_species = setup->n_species;
}

static int send_tables(struct md_store *s)
{
    const struct md_setup *setup = &s->setup;
    size_t n = (size_t)setup->n_species;
    double from = setup->field ? setup->field->switch_from : 0;
    double inverse[MD_SPECIES_MAX];
    struct pair_terms *terms =
        (struct pair_terms *)malloc(n * n * sizeof *terms);
    if (!terms)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for coefficients");
    for (size_t k = 0; k < n * n; k++) {
        const struct lj_coeff *c = &setup->coeff[k];
        terms[k].f12 = (scalar)(12 * c->c12);
        terms[k].f6 = (scalar)(6 * c->c6);
        terms[k].cut2 = (scalar)c->cutoff2;
        terms[k].shift = (scalar)c->shift;
        terms[k].slope = (scalar)c->force_shift;
        terms[k].cut = (scalar)c->cutoff;
        if (from > 0) /* see lj_switch() */
            terms[k].slope = (scalar)pow(c->cutoff2 - from * from, -3);
    }
    for (size_t a = 0; a < n; a++)
        inverse[a] = setup->acceleration / setup->mass[a];
    int status =
        cuda_reserve(s, ARRAY_TERMS, n * n, sizeof *terms, "coefficients");
    if (status == 0)
        status = cuda_to_device(s->ctx, s->device, s->array[ARRAY_TERMS].p,
                                terms, n * n * sizeof *terms);
    free(terms);
    TRY(status);
    TRY(cuda_reserve(s, ARRAY_MASS, n, sizeof(double), "masses"));
    TRY(cuda_reserve(s, ARRAY_INVERSE_MASS, n, sizeof(double), "masses"));
    TRY(cuda_to_device(s->ctx, s->device, s->array[ARRAY_MASS].p, setup->mass,
                       n * sizeof(double)));
    return cuda_to_device(s->ctx, s->device, s->array[ARRAY_INVERSE_MASS].p,
                          inverse, n * sizeof(double));
}

static int fill(struct md_store *s, const struct md_setup *setup)
{
    size_t n = (size_t)(setup->n_species * setup->n_species);
    struct lj_coeff *coeff = (struct lj_coeff *)malloc(n * sizeof *coeff);
    if (!coeff)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for coefficients");
    memcpy(coeff, setup->coeff, n * sizeof *coeff);
    s->setup = *setup;
    s->setup.coeff = coeff;
    cuda_set_coordinates(s);
    cuda_choose_fixed(s);
    CUDA_TRY(s->ctx, cudaMallocHost(&s->result, sizeof *s->result));
    TRY(cuda_charges_create(s));
    if (setup->field)
        TRY(cuda_terms_create(s));
    TRY(send_tables(s));
    TRY(cuda_forms_create(s));
    TRY(cuda_eam_create(s));
    TRY(cuda_close_wide(s));
    TRY(cuda_outer_refresh(s));
    TRY(cuda_clock_create(s));
    s->setup.tables = NULL; /* the caller's */
    s->setup.eam = NULL;
    cuda_set_view(s);
    TRY(cuda_reserve_own(s->ctx, s, (size_t)setup->expected_count));
    return cuda_team_join(s);
}

static int create(struct ctx *ctx, const struct md_setup *setup,
                  struct md_store **out)
{
    *out = NULL;
    struct md_store *s = (struct md_store *)calloc(1, sizeof *s);
    if (!s)
        return FAIL(ctx, STATUS_MEMORY, "no memory for particles");
    s->ctx = ctx;
    s->device = cuda_of(ctx);
    int status = fill(s, setup);
    if (status != 0) {
        destroy(s);
        return status;
    }
    *out = s;
    return 0;
}

static size_t count(const struct md_store *s)
{
    return s->n_slots - s->n_leavers;
}

/* Neighbors in a list now; 0 where the card has failed. */
static double list_length(struct md_store *s, const struct pair_list *list)
{
    uint32_t n = s->view.n_own;
    double sum = 0;
    if (n == 0 || !list->count.p || s->failed != 0)
        return 0;
    uint32_t *count = (uint32_t *)malloc(n * sizeof *count);
    if (count && cuda_to_host(s->ctx, s->device, count, list->count.p,
                              n * sizeof *count) == 0)
        for (uint32_t i = 0; i < n; i++)
            sum += count[i];
    free(count);
    return sum;
}

static void counters(const struct md_store *store, struct md_counters *out)
{
    struct md_store *s = const_cast<struct md_store *>(store);
    cuda_settle(s);
    memset(out, 0, sizeof *out);
    out->lists_built = s->lists_built;
    out->graphs = s->queue.launches;
    out->calls = s->calls;
    out->joint = s->joint;
    for (int k = 0; k < ARRAY_COUNT; k++)
        out->bytes += s->array[k].bytes;
    out->bytes += cuda_mesh_bytes(s) + cuda_dynamics_bytes(s);
    out->bytes += s->own.neighbor.bytes + s->own.count.bytes +
                  s->halo.neighbor.bytes + s->halo.count.bytes;
    uint64_t to_host = s->device->bytes_to_host;
    double own = s->tally.forces[0] > 0 ? list_length(s, &s->own) : 0;
    double copies = s->tally.forces[1] > 0 && s->view.n_halo > 0
                        ? list_length(s, &s->halo)
                        : 0;
    s->device->bytes_to_host = to_host; /* looking is no part of the run */
    out->moved = s->tally.bytes +
                 sizeof(uint32_t) *
                     (s->tally.forces[0] * own + s->tally.forces[1] * copies);
}

/* What a call that returns nothing could not say. */
static int check(struct ctx *ctx, struct md_store *s)
{
    cuda_settle(s);
    if (s->failed == 0 && s->terms)
        s->failed = cuda_check_broken(s);
    if (s->failed == 0)
        s->failed = cuda_check_beyond(s);
    if (s->failed == 0)
        s->failed = cuda_forms_fetch(s);
    if (s->failed != 0)
        return s->failed;
    return cuda_status(ctx, cudaPeekAtLastError(), "a kernel");
}

/* ---- memory ---- */

/* Bytes of one own particle in all columns, of its share of sums and of what
 * sorting needs (CUB's sort of pairs wants a second copy of them). */
static double bytes_of_own(const struct md_setup *setup)
{
    double columns = 3.0 * (4 * sizeof(state) + sizeof(scalar) + sizeof(float) +
                            sizeof(int32_t)) +
                     sizeof(int64_t) + sizeof(int32_t) +
                     sizeof(struct pair_position);
    double sorting = 6.0 * sizeof(uint32_t) + sizeof(uint32_t);
    double sums = (double)MD_REDUCED * sizeof(double) / MD_THREADS;
    double fixed = setup->deterministic
                       ? 3.0 * sizeof(fixed_sum) +
                             (double)cuda_columns(setup) * sizeof(double)
                       : 0;
    if (cuda_sums_are_wide(setup))
        fixed += 3.0 * 2 * sizeof(fixed_sum);
    double charge = setup->charged ? sizeof(scalar) : 0;
    return columns + charge + sorting + sums + fixed +
           (setup->field ? cuda_terms_bytes() : 0);
}

static double expected_neighbors(const struct md_setup *setup, double own)
{
    double volume = 1, r = setup->list_radius;
    for (int d = 0; d < 3; d++)
        volume *= setup->hi[d] - setup->lo[d];
    return 4.18879020478639 * r * r * r * own / volume;
}

double cuda_estimate(const struct md_setup *setup, double own, double copies)
{
    static const double RECORDS = 1 << 18;
    double capacity = own + own / 16 + 256, of_own = bytes_of_own(setup);
    double of_copy = 0;
    cuda_eam_bytes(setup, &of_own, &of_copy);
    /* The list has room for a particle with more neighbors than most, and takes
     * an eighth more where that was not enough. */
    double rows = 1.25 * expected_neighbors(setup, own) + 17;
    double lists = 1.125 * (rows + 1) * capacity * sizeof(uint32_t);
    double records = fmin(own, RECORDS) * sizeof(struct md_slot);
    double of_copies =
        copies *
        (3.0 * sizeof(struct halo_record) + sizeof(struct pair_position) +
         sizeof(int64_t) + 9.0 * sizeof(uint32_t) + of_copy);
    return capacity * of_own + lists * (copies > 0 ? 2 : 1) + records +
           1.125 * of_copies;
}

static struct md_kernels make_table(void)
{
    struct md_kernels k;
    memset(&k, 0, sizeof k);
    k.name = MD_PRECISION_NAME;
    k.create = create;
    k.destroy = destroy;
    k.count = count;
    k.counters = counters;
    k.insert = cuda_insert;
    k.gather = cuda_gather;
    k.take_slots = cuda_take_slots;
    k.put_slots = cuda_put_slots;
    k.extract_leavers = cuda_extract_leavers;
    k.sort = cuda_sort;
    k.select_halo = cuda_select_halo;
    k.halo_record_bytes = cuda_halo_record_bytes;
    k.pack_halo = cuda_pack_halo;
    k.accept_halo = cuda_accept_halo;
    k.unpack_halo = cuda_unpack_halo;
    k.copy_own = cuda_copy_own;
    k.move_copies = cuda_move_copies;
    k.copy_extra = cuda_copy_extra;
    k.copy_values = cuda_copy_values;
    k.ids = cuda_ids;
    k.set_terms = cuda_set_terms;
    k.find_terms = cuda_find_terms;
    k.build_list = cuda_build_list;
    k.force_own = cuda_force_own;
    k.force_halo = cuda_force_halo;
    k.finish_sums = cuda_finish_sums;
    k.density_own = cuda_density_own;
    k.density_halo = cuda_density_halo;
    k.extra_bytes = cuda_extra_bytes;
    k.pack_extra = cuda_pack_extra;
    k.unpack_extra = cuda_unpack_extra;
    k.outer_forces = cuda_outer_forces;
    k.reflect = cuda_reflect;
    k.reflect_ahead = cuda_reflect_ahead;
    k.hold = cuda_hold;
    k.spread_charges = cuda_spread_charges;
    k.gather_field = cuda_gather_field;
    k.mesh_forces = cuda_mesh_forces;
    k.charge_moments = cuda_charge_moments;
    k.push_charges = cuda_push_charges;
    k.wave_sums = cuda_wave_sums;
    k.wave_forces = cuda_wave_forces;
    k.wave_field = cuda_wave_field;
    k.push_slab = cuda_push_slab;
    k.set_box = cuda_set_box;
    k.stretch = cuda_stretch;
    k.stretch_ahead = cuda_stretch_ahead;
    k.shear = cuda_shear;
    k.shear_ahead = cuda_shear_ahead;
    k.relabel = cuda_relabel;
    k.kick_scaled = cuda_kick_scaled;
    k.kick_drift = cuda_kick_drift;
    k.kick_drift_ahead = cuda_kick_drift_ahead;
    k.moments_ahead = cuda_moments_ahead;
    k.kinetic_tensor_ahead = cuda_kinetic_tensor_ahead;
    k.kick = cuda_kick;
    k.moments = cuda_sum_moments;
    k.kinetic_tensor = cuda_kinetic_tensor;
    k.scale_velocities = cuda_scale_velocities;
    k.ornstein_uhlenbeck = cuda_ornstein_uhlenbeck;
    k.bath_step = cuda_bath_step;
    k.brownian_step = cuda_brownian_step;
    k.brownian_step_ahead = cuda_brownian_step_ahead;
    k.group_moments = cuda_group_moments;
    k.dpd_pairs = cuda_dpd_pairs;
    k.dpd_forces = cuda_dpd_forces;
    k.dpd_kick = cuda_dpd_kick;
    k.work = cuda_work;
    k.set_work = cuda_set_work;
    k.pack_values = cuda_pack_values;
    k.unpack_values = cuda_unpack_values;
    k.rigid_count = cuda_rigid_count;
    k.rigid_hold = cuda_rigid_hold;
    k.rigid_place = cuda_rigid_place;
    k.rigid_place_ahead = cuda_rigid_place_ahead;
    k.rigid_stop = cuda_rigid_stop;
    k.rigid_unstretch = cuda_rigid_unstretch;
    k.rigid_inner = cuda_rigid_inner;
    k.rigid_sums = cuda_rigid_sums;
    k.rigid_unstretch_ahead = cuda_rigid_unstretch_ahead;
    k.rigid_inner_ahead = cuda_rigid_inner_ahead;
    k.rigid_sums_ahead = cuda_rigid_sums_ahead;
    k.pair_histogram = cuda_pair_histogram;
    k.closest_pair = cuda_closest_pair;
    k.pair_virial = cuda_pair_virial;
    k.term_histogram = cuda_term_histogram;
    k.find_not_finite = cuda_find_not_finite;
    k.check = check;
    k.pair_seconds = cuda_pair_seconds;
    k.terms_seconds = cuda_terms_seconds;
    k.estimate = cuda_estimate;
    return k;
}

extern "C" const struct md_kernels *MD_NAME(md_kernels_cuda)(void)
{
    static const struct md_kernels table = make_table();
    return &table;
}
