/* md_cuda.cu: a card's table of molecular-dynamics kernels, one per precision.
 */
#include "kernels/md/store_cuda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void destroy(struct md_store *s)
{
    if (!s)
        return;
    for (int k = 0; k < ARRAY_COUNT; k++)
        cuda_free(s->array[k].p);
    cuda_free(s->own.neighbor.p);
    cuda_free(s->own.count.p);
    cuda_free(s->halo.neighbor.p);
    cuda_free(s->halo.count.p);
    free(s->leavers);
    free(s->channel_n);
    free(s->channel_offset);
    free((void *)s->setup.coeff);
    free(s);
}

static void set_coordinates(struct md_store *s)
{
    const struct md_setup *setup = &s->setup;
    struct md_view *m = &s->view;
    for (int d = 0; d < 3; d++) {
        double middle = 0.5 * (setup->lo[d] + setup->hi[d]);
        m->box_lo[d] = setup->box_lo[d];
        m->box_length[d] = setup->box_length[d];
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
    set_coordinates(s);
    TRY(send_tables(s));
    cuda_set_view(s);
    return cuda_reserve_own(s->ctx, s, (size_t)setup->expected_count);
}

static int create(struct ctx *ctx, const struct md_setup *setup,
                  struct md_store **out)
{
    struct md_store *s = (struct md_store *)calloc(1, sizeof *s);
    *out = NULL;
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

static void counters(const struct md_store *s, struct md_counters *out)
{
    memset(out, 0, sizeof *out);
    out->lists_built = s->lists_built;
    for (int k = 0; k < ARRAY_COUNT; k++)
        out->bytes += s->array[k].bytes;
    out->bytes += s->own.neighbor.bytes + s->own.count.bytes +
                  s->halo.neighbor.bytes + s->halo.count.bytes;
}

/* What a call that returns nothing could not say. */
static int check(struct ctx *ctx, struct md_store *s)
{
    if (s->failed != 0)
        return s->failed;
    return cuda_status(ctx, cudaPeekAtLastError(), "a kernel");
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
    k.extract_leavers = cuda_extract_leavers;
    k.sort = cuda_sort;
    k.select_halo = cuda_select_halo;
    k.halo_record_bytes = cuda_halo_record_bytes;
    k.pack_halo = cuda_pack_halo;
    k.accept_halo = cuda_accept_halo;
    k.unpack_halo = cuda_unpack_halo;
    k.build_list = cuda_build_list;
    k.force_own = cuda_force_own;
    k.force_halo = cuda_force_halo;
    k.kick_drift = cuda_kick_drift;
    k.kick = cuda_kick;
    k.moments = cuda_sum_moments;
    k.scale_velocities = cuda_scale_velocities;
    k.ornstein_uhlenbeck = cuda_ornstein_uhlenbeck;
    k.pair_histogram = cuda_pair_histogram;
    k.closest_pair = cuda_closest_pair;
    k.find_not_finite = cuda_find_not_finite;
    k.check = check;
    return k;
}

extern "C" const struct md_kernels *MD_NAME(md_kernels_cuda)(void)
{
    static const struct md_kernels table = make_table();
    return &table;
}
