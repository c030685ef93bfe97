/* eam_tables_cuda.cu: the embedded-atom method: tables and memory. */
#include "kernels/md/eam_cuda.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/md/eam.h"
#include "kernels/md/near_cuda.h"

static int send_cubics(struct md_store *s, enum md_array which, const double *f,
                       size_t functions, int n)
{
    size_t intervals = (size_t)n - 1, all = functions * intervals;
    struct eam_cubic_row *rows =
        (struct eam_cubic_row *)malloc((all + 1) * sizeof *rows);
    if (!rows)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for EAM tables");
    for (size_t k = 0; k < all; k++) {
        double c[4];
        eam_cubic(f + k / intervals * (size_t)n, n, (int)(k % intervals), c);
        for (int d = 0; d < 4; d++)
            rows[k].c[d] = (scalar)c[d];
    }
    int status = cuda_reserve(s, which, all, sizeof *rows, "EAM tables");
    if (status == 0)
        status = cuda_to_device(s->ctx, s->device, s->array[which].p, rows,
                                all * sizeof *rows);
    free(rows);
    return status;
}

static int send_embedding(struct md_store *s, const struct md_eam *from)
{
    size_t intervals = (size_t)from->n_rho - 1;
    size_t all = (size_t)from->n_species * intervals;
    double(*rows)[4] = (double(*)[4])malloc((all + 1) * sizeof *rows);
    if (!rows)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for EAM tables");
    for (size_t k = 0; k < all; k++)
        eam_cubic(from->embedding + k / intervals * (size_t)from->n_rho,
                  from->n_rho, (int)(k % intervals), rows[k]);
    int status =
        cuda_reserve(s, ARRAY_EAM_EMBEDDING, all, sizeof *rows, "EAM tables");
    if (status == 0)
        status =
            cuda_to_device(s->ctx, s->device, s->array[ARRAY_EAM_EMBEDDING].p,
                           rows, all * sizeof *rows);
    free(rows);
    return status;
}

/* The greatest value of a function's table, or slope by `per_step`. */
static double greatest_of(const double *f, size_t n, double per_step)
{
    double most = 0;
    for (size_t k = 0; k + 1 < n; k++)
        most = fmax(most, per_step > 0 ? fabs(f[k + 1] - f[k]) * per_step
                                       : fabs(f[k]));
    return most;
}

/* Units of sums in any order, from the greatest force of a pair: those of phi,
 * beyond the first point, and of the densities. */
static void choose_units(struct md_store *s, const struct md_eam *from)
{
    size_t n_r = (size_t)from->n_r, n_rho = (size_t)from->n_rho;
    double density = 0, slope = 0, embedding = 0, force = 0;
    for (int a = 0; a < from->n_species; a++) {
        const double *f = from->density + (size_t)a * n_r;
        density = fmax(density, greatest_of(f, n_r, 0));
        slope = fmax(slope, greatest_of(f, n_r, 1 / from->r_step));
        embedding =
            fmax(embedding, greatest_of(from->embedding + (size_t)a * n_rho,
                                        n_rho, 1 / from->rho_step));
    }
    for (size_t k = 0; k < eam_pairs(from->n_species); k++)
        for (size_t q = 1; q + 1 < n_r; q++) {
            const double *z = from->pair + k * n_r + q;
            double r = (double)q * from->r_step;
            double rise = (z[1] - z[0]) / from->r_step;
            force = fmax(force, fabs(z[0] / r - rise) / r);
        }
    density = density > 0 ? density : 1;
    s->eam->per_density = ldexp(density, -WIDE_UNIT_BITS);
    s->eam->density = 1 / s->eam->per_density;
    cuda_set_wide(s, force + 2 * slope * embedding, from->cutoff);
}

static int create(struct md_store *s, const struct md_eam *from)
{
    struct cuda_eam *e = s->eam;
    size_t pairs = eam_pairs(from->n_species);
    e->n_species = from->n_species;
    e->n_rho = from->n_rho;
    e->n_r = from->n_r;
    e->rho_step = from->rho_step;
    e->r_step = from->r_step;
    e->cutoff = from->cutoff;
    TRY(send_cubics(s, ARRAY_EAM_DENSITY, from->density,
                    (size_t)from->n_species, from->n_r));
    TRY(send_cubics(s, ARRAY_EAM_PAIR, from->pair, pairs, from->n_r));
    TRY(send_embedding(s, from));
    if (s->setup.deterministic)
        choose_units(s, from);
    return 0;
}

int cuda_eam_create(struct md_store *s)
{
    const struct md_eam *from = s->setup.eam;
    if (!from)
        return 0;
    s->eam = (struct cuda_eam *)calloc(1, sizeof *s->eam);
    if (!s->eam)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for EAM tables");
    return create(s, from);
}

void cuda_eam_destroy(struct md_store *s)
{
    free(s->eam);
    s->eam = NULL;
}

int cuda_eam_reserve(struct md_store *s)
{
    if (!s->eam)
        return 0;
    size_t own = s->capacity, all = own + s->view.n_halo;
    TRY(cuda_reserve(s, ARRAY_EAM_RHO, own, sizeof(scalar), "densities"));
    TRY(cuda_reserve(s, ARRAY_EAM_SLOPE, all, sizeof(scalar), "densities"));
    if (s->setup.deterministic)
        TRY(cuda_reserve(s, ARRAY_EAM_WIDE, own, sizeof(struct wide_sum),
                         "densities"));
    return 0;
}

void cuda_eam_bytes(const struct md_setup *setup, double *own, double *copy)
{
    if (!setup->eam)
        return;
    *copy += sizeof(scalar);
    *own += 2 * sizeof(scalar);
    if (setup->deterministic)
        *own += sizeof(struct wide_sum);
}

struct eam_tables cuda_eam_tables(const struct md_store *s)
{
    const struct cuda_eam *e = s->eam;
    struct eam_tables t;
    t.density = ARRAY(s, ARRAY_EAM_DENSITY, const struct eam_cubic_row);
    t.pair = ARRAY(s, ARRAY_EAM_PAIR, const struct eam_cubic_row);
    t.embedding = ARRAY(s, ARRAY_EAM_EMBEDDING, const double);
    t.intervals = e->n_r - 1;
    t.embedding_intervals = e->n_rho - 1;
    t.per_step = (scalar)(1 / e->r_step);
    t.last = (scalar)(e->n_r - 2);
    t.cut2 = (scalar)(e->cutoff * e->cutoff);
    t.per_rho_step = 1 / e->rho_step;
    return t;
}
