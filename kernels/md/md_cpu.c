/* md_cpu.c: the CPU's table of molecular-dynamics kernels, one per precision.
 */
#include "kernels/md/dpd_cpu.h"
#include "kernels/md/eam_cpu.h"
#include "kernels/md/lj_rows.h"
#include "kernels/md/mesh_cpu.h"
#include "kernels/md/table_cpu.h"
#include "kernels/md/terms_cpu.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/ctx.h"
#include "kernels/device.h"

static void destroy(struct md_store *s)
{
    if (!s)
        return;
    for (int k = 0; k < s->n_workers && s->workers; k++) {
        struct md_worker *w = &s->workers[k];
        for (int part = 0; part < ROWS_PARTS; part++) {
            free(w->list[part].rows);
            free(w->list[part].tiles);
            free(w->list[part].masks);
        }
        free(w->drafts);
        free(w->force_base);
        free(w->touched);
        free(w->candidates);
        free(w->lane_tiles);
        free(w->links);
        free(w->flags);
        free(w->flag_tiles);
        free(w->i_force);
    }
    void *owned[] = {s->workers,
                     s->coeff,
                     s->x,
                     s->v,
                     s->sorted,
                     s->f,
                     s->listed,
                     s->moved,
                     s->id,
                     s->image,
                     s->species,
                     s->charge,
                     s->inverse_mass,
                     s->inbox,
                     s->leavers,
                     s->key,
                     s->order,
                     s->by_column,
                     s->z,
                     s->z_by_column,
                     s->columns.start,
                     s->halo_columns.start,
                     s->below_columns.start,
                     s->channel_offset,
                     s->channel_n,
                     s->channel_above,
                     s->send_slot,
                     s->halo_slot,
                     s->above_send,
                     s->above_slot,
                     s->table_f12,
                     s->table_f6,
                     s->table_cut2,
                     s->table_shift,
                     s->table_slope,
                     s->table_cut,
                     s->table_rows,
                     s->mix[0],
                     s->mix[1],
                     s->mesh_copies,
                     s->mesh_points};
    for (size_t k = 0; k < sizeof owned / sizeof owned[0]; k++)
        free(owned[k]);
    md_terms_destroy(s->terms);
    md_charges_destroy(s->charges);
    md_tables_destroy(s->tables);
    md_rigid_destroy(s->rigid);
    md_dpd_destroy(s->dpd);
    md_eam_destroy(s->eam);
    for (int b = 0; b < 6; b++)
        free(s->box[b]);
    for (int d = 0; d < 4; d++)
        free(s->search[d]);
    if (s->pair_x != (scalar *)(void *)s->x || MD_PRECISION == 2)
        free(MD_PRECISION == 2 ? s->pair_x : NULL);
    free(s);
}

void md_set_coordinates(struct md_store *s)
{
    const struct md_setup *setup = &s->setup;
    double greatest = 0;
    for (int d = 0; d < 3; d++) {
        double middle = 0.5 * (setup->lo[d] + setup->hi[d]);
        s->origin[d] = MD_PRECISION == 1 ? 0 : middle;
        s->state_origin[d] = MD_PRECISION == 3 ? middle : 0;
        double reach = fabs(setup->lo[d] - s->origin[d]);
        reach = fmax(reach, fabs(setup->hi[d] - s->origin[d]));
        int open = setup->box_length[d] >= MD_OPEN_LENGTH;
        greatest = fmax(greatest, reach + (open ? 0 : setup->box_length[d]));
        for (int k = 0; k < SHIFTS; k++) {
            int turn = (d == 0 ? k % 3 : d == 1 ? k / 3 % 3 : k / 9) - 1;
            s->shift[k][d] = (scalar)(turn * setup->box_length[d]);
        }
    }
    greatest += setup->halo_radius;
    s->far = exp2(ceil(log2(greatest)) + 3);
    s->box_tolerance = 4 * FLT_EPSILON * greatest;
}

/* Rows are padded so that a row can be loaded as one vector. */
static int make_tables(struct md_store *s)
{
    int n = s->setup.n_species;
    double from = s->setup.field ? s->setup.field->switch_from : 0;
    double from2 = from * from;
    scalar **tables[] = {&s->table_f12,   &s->table_f6,    &s->table_cut2,
                         &s->table_shift, &s->table_slope, &s->table_cut};
    s->few_species = n <= LANES;
    s->table_stride = (n + LANES - 1) / LANES * LANES;
    for (int t = 0; t < 6; t++) {
        size_t capacity = 0, size = (size_t)(n * s->table_stride);
        if (md_grow((void **)tables[t], &capacity, size, sizeof(scalar)) != 0)
            return -1;
        memset(*tables[t], 0, size * sizeof(scalar));
    }
    size_t capacity = 0, size = ROW_TERMS * (size_t)(n * s->table_stride);
    if (md_grow((void **)&s->table_rows, &capacity, size, sizeof(scalar)) != 0)
        return -1;
    memset(s->table_rows, 0, size * sizeof(scalar));
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            const struct lj_coeff *c = &s->coeff[a * n + b];
            int k = a * s->table_stride + b;
            s->table_f12[k] = (scalar)(12 * c->c12);
            s->table_f6[k] = (scalar)(6 * c->c6);
            s->table_cut2[k] = (scalar)c->cutoff2;
            s->table_shift[k] = (scalar)c->shift;
            s->table_slope[k] = (scalar)c->force_shift;
            if (from2 > 0) /* of the switch; there is no shift then */
                s->table_slope[k] = (scalar)pow(c->cutoff2 - from2, -3);
            s->table_cut[k] = (scalar)c->cutoff;
            scalar *row = s->table_rows + ROW_TERMS * k;
            row[ROW_F12] = s->table_f12[k];
            row[ROW_F6] = s->table_f6[k];
            row[ROW_CUT2] = s->table_cut2[k];
            row[ROW_SLOPE] = s->table_slope[k];
        }
    md_find_mixing(s);
    return 0;
}

static int make_workers(struct md_store *s, int threads)
{
    s->n_workers = threads > 1 ? threads : 1;
    s->workers = calloc((size_t)s->n_workers, sizeof *s->workers);
    if (!s->workers) {
        s->n_workers = 0;
        return -1;
    }
    for (int k = 0; k < s->n_workers; k++) {
        size_t capacity = 0;
        if (md_grow((void **)&s->workers[k].i_force, &capacity, (size_t)LANES,
                    sizeof *s->workers[k].i_force) != 0)
            return -1;
        memset(s->workers[k].i_force, 0,
               (size_t)LANES * sizeof *s->workers[k].i_force);
    }
    return 0;
}

static int create(struct ctx *ctx, const struct md_setup *setup,
                  struct md_store **out)
{
    if (setup->deterministic)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "md.deterministic = true needs a card: device 'cpu' adds "
                    "forces in the order of its pair list; use device = "
                    "\"cuda\", or deterministic = false");
    size_t n = (size_t)setup->n_species;
    struct md_store *s = calloc(1, sizeof *s);
    *out = NULL;
    if (!s)
        return FAIL(ctx, STATUS_MEMORY, "no memory for particles");
    s->setup = *setup;
    s->coeff = malloc(n * n * sizeof *s->coeff);
    s->inverse_mass = malloc(n * sizeof *s->inverse_mass);
    if (!s->coeff || !s->inverse_mass)
        goto no_memory;
    memcpy(s->coeff, setup->coeff, n * n * sizeof *s->coeff);
    s->setup.coeff = s->coeff;
    for (size_t a = 0; a < n; a++)
        s->inverse_mass[a] = setup->acceleration / setup->mass[a];
    md_set_coordinates(s);
    if (make_tables(s) != 0 || make_workers(s, ctx->device->threads) != 0)
        goto no_memory;
    if (setup->field && md_terms_create(ctx, s) != 0)
        goto no_memory;
    if (setup->tables && md_tables_create(ctx, s) != 0)
        goto no_memory;
    if ((setup->field || setup->tables) && md_charges_create(ctx, s) != 0)
        goto no_memory;
    int status = md_eam_create(ctx, s);
    if (status != 0) {
        destroy(s);
        return status;
    }
    *out = s;
    return 0;
no_memory:
    destroy(s);
    return FAIL(ctx, STATUS_MEMORY, "no memory for particles");
}

static size_t count(const struct md_store *s)
{
    return s->n_own + s->n_inbox;
}

static int check(struct ctx *ctx, struct md_store *s)
{
    if (s->eam)
        TRY(md_check_eam(ctx, s));
    if (s->tables)
        TRY(md_check_tables(ctx, s));
    return s->terms ? md_check_terms(ctx, s) : 0;
}

static size_t store_bytes(const struct md_store *s)
{
    size_t per_slot = 3 * 3 * sizeof(state) + 3 * sizeof(scalar) +
                      3 * sizeof(float) + sizeof(int64_t) + 13 +
                      (s->charge ? sizeof(scalar) : 0);
    if (MD_PRECISION == 2)
        per_slot += 3 * sizeof(state) + 3 * sizeof(scalar);
    size_t bytes = s->cap_clusters * ((size_t)LANES * per_slot + 24);
    bytes += s->cap_key * 4 + s->cap_order * 4 + s->cap_by_column * 4 +
             s->cap_z * 8 + s->cap_z_by_column * 8;
    bytes += (s->cap_inbox + s->cap_leavers) * sizeof(struct md_particle);
    bytes += s->cap_search * 16;
    bytes += s->cap_send * 4 + s->cap_halo_slot * 4;
    bytes += (s->columns.capacity + s->halo_columns.capacity) * 4;
    for (int k = 0; k < s->n_workers; k++) {
        const struct md_worker *w = &s->workers[k];
        for (int part = 0; part < ROWS_PARTS; part++)
            bytes += w->list[part].cap_rows * sizeof(struct md_row) +
                     w->list[part].cap_tiles * 4;
        bytes += BUCKETS * w->cap_candidates * 4 + w->cap_lane_tiles * 4;
        if (s->n_workers > 1) /* the touched part, about */
            bytes += (size_t)(w->last - w->first) * 3 * (size_t)LANES *
                     sizeof(scalar) * 3 / 2;
    }
    return bytes + (s->eam ? md_eam_bytes(s) : 0);
}

static void counters(const struct md_store *s, struct md_counters *out)
{
    *out = (struct md_counters){.lists_built = s->lists_built,
                                .bytes = store_bytes(s)};
}

/* What the store holds, about: a particle with its share of the pair list, and
 * a halo copy. */
enum { BYTES_PARTICLE = 240, BYTES_COPY = 160 };

static double estimate(const struct md_setup *setup, double own, double copies)
{
    return BYTES_PARTICLE * own + BYTES_COPY * copies +
           (setup->eam ? md_eam_estimate(setup, own) : 0);
}

const struct md_kernels MD_NAME(md_kernels_cpu) = {
    .name = MD_PRECISION_NAME,
    .create = create,
    .estimate = estimate,
    .destroy = destroy,
    .count = count,
    .counters = counters,
    .insert = md_insert,
    .gather = md_gather,
    .take_slots = md_take_slots,
    .put_slots = md_put_slots,
    .extract_leavers = md_extract_leavers,
    .sort = md_sort,
    .select_halo = md_select_halo,
    .halo_record_bytes = md_halo_record_bytes,
    .pack_halo = md_pack_halo,
    .accept_halo = md_accept_halo,
    .unpack_halo = md_unpack_halo,
    .ids = md_own_ids,
    .set_terms = md_set_terms,
    .find_terms = md_place_terms,
    .build_list = md_build_list,
    .force_own = md_force_own,
    .force_halo = md_force_halo,
    .force_late = md_force_late,
    .count_above = md_count_above,
    .pack_forces = md_pack_forces,
    .add_forces = md_add_forces,
    .terms_seconds = md_terms_seconds,
    .density_own = md_density_own,
    .density_halo = md_density_halo,
    .extra_bytes = md_extra_bytes,
    .pack_extra = md_pack_extra,
    .unpack_extra = md_unpack_extra,
    .pack_densities = md_pack_densities,
    .add_densities = md_add_densities,
    .density_finish = md_density_finish,
    .spread_charges = md_spread_charges,
    .gather_field = md_gather_field,
    .charge_moments = md_sum_charges,
    .push_charges = md_push_charges,
    .wave_sums = md_wave_sums,
    .wave_forces = md_wave_forces,
    .outer_forces = md_outer_forces,
    .reflect = md_reflect,
    .hold = md_hold,
    .kick_drift = md_kick_drift,
    .kick = md_kick,
    .moments = md_sum_moments,
    .scale_velocities = md_scale_velocities,
    .ornstein_uhlenbeck = md_ornstein_uhlenbeck,
    .kick_and_noise = md_kick_and_noise,
    .bath_step = md_bath_step,
    .brownian_step = md_brownian_step,
    .group_moments = md_group_moments,
    .dpd_pairs = md_dpd_pairs,
    .dpd_forces = md_dpd_forces,
    .dpd_kick = md_dpd_kick,
    .set_box = md_set_box,
    .stretch = md_stretch_step,
    .shear = md_shear_step,
    .relabel = md_relabel,
    .kick_scaled = md_kick_scaled,
    .kinetic_tensor = md_kinetic_tensor,
    .pack_values = md_pack_values,
    .unpack_values = md_unpack_values,
    .rigid_count = md_rigid_count,
    .rigid_hold = md_rigid_hold,
    .rigid_place = md_rigid_place,
    .rigid_stop = md_rigid_stop,
    .rigid_unstretch = md_rigid_unstretch,
    .rigid_inner = md_rigid_inner,
    .rigid_sums = md_rigid_sums,
    .pair_histogram = md_pair_histogram,
    .closest_pair = md_closest_pair,
    .pair_virial = md_pair_virial,
    .term_histogram = md_term_histogram,
    .find_not_finite = md_find_not_finite,
    .check = check,
};
