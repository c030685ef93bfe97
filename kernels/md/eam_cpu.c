/* eam_cpu.c: the embedded-atom method: tables and memory, and what is done
 * between the two passes over the pair list.
 */
#include "kernels/md/eam_cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "kernels/md/eam.h"

/* ---- memory ---- */

static scalar *make_cubics(const double *f, size_t functions, int n)
{
    size_t intervals = (size_t)n - 1, capacity = 0;
    scalar *out = NULL;
    if (md_grow((void **)&out, &capacity, functions * intervals * 4,
                sizeof *out) != 0)
        return NULL;
    for (size_t t = 0; t < functions; t++)
        for (size_t k = 0; k < intervals; k++) {
            double c[4];
            eam_cubic(f + t * (size_t)n, n, (int)k, c);
            for (size_t d = 0; d < 4; d++)
                out[(t * intervals + k) * 4 + d] = (scalar)c[d];
        }
    return out;
}

static double *make_embedding(const struct md_eam *from)
{
    size_t n = (size_t)from->n_rho, species = (size_t)from->n_species;
    double *out = malloc(species * (n - 1) * 4 * sizeof *out);
    for (size_t a = 0; a < species && out; a++)
        for (size_t k = 0; k + 1 < n; k++)
            eam_cubic(from->embedding + a * n, from->n_rho, (int)k,
                      out + (a * (n - 1) + k) * 4);
    return out;
}

/* Numbers of pairs of species, and where the tables of each begin. */
static int make_kinds(struct md_store *s, struct md_eam_work *e)
{
    int n = e->n_species;
    size_t capacity = 0, size = (size_t)(n * s->table_stride);
    if (md_grow((void **)&e->kind, &capacity, size, sizeof *e->kind) != 0)
        return -1;
    memset(e->kind, 0, size * sizeof *e->kind);
    e->start = malloc((size_t)(n * n) * sizeof *e->start);
    if (!e->start)
        return -1;
    size_t table = 4 * ((size_t)e->n_r - 1);
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            e->kind[a * s->table_stride + b] = (scalar)(a * n + b);
            e->start[a * n + b][0] =
                (KERNEL_MASK_SCALAR)(eam_pair_index(a, b) * table);
            e->start[a * n + b][1] = (KERNEL_MASK_SCALAR)((size_t)b * table);
            e->start[a * n + b][2] = (KERNEL_MASK_SCALAR)((size_t)a * table);
        }
    return 0;
}

int md_eam_create(struct ctx *ctx, struct md_store *s)
{
    const struct md_eam *from = s->setup.eam;
    if (!from)
        return 0;
    struct md_eam_work *e = s->eam = calloc(1, sizeof *e);
    if (!e)
        return FAIL(ctx, STATUS_MEMORY, "no memory for EAM tables");
    size_t pairs = eam_pairs(from->n_species);
    if (pairs * (size_t)from->n_r * 4 > INT32_MAX)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "the EAM tables of %zu pairs of species have more than "
                    "2^31 numbers",
                    pairs);
    e->n_species = from->n_species;
    e->n_rho = from->n_rho;
    e->n_r = from->n_r;
    e->rho_step = from->rho_step;
    e->per_rho_step = 1 / from->rho_step;
    e->per_r_step = 1 / from->r_step;
    e->cutoff2 = from->cutoff * from->cutoff;
    e->embedding = make_embedding(from);
    e->density = make_cubics(from->density, (size_t)from->n_species, from->n_r);
    e->pair = make_cubics(from->pair, pairs, from->n_r);
    e->shares = calloc((size_t)s->n_workers, sizeof *e->shares);
    e->n_shares = e->shares ? s->n_workers : 0;
    if (!e->embedding || !e->density || !e->pair || !e->shares ||
        make_kinds(s, e) != 0)
        return FAIL(ctx, STATUS_MEMORY, "no memory for EAM tables");
    s->setup.eam = NULL; /* the caller's */
    return 0;
}

void md_eam_destroy(struct md_eam_work *e)
{
    if (!e)
        return;
    for (int k = 0; k < e->n_shares; k++) {
        struct eam_share *share = &e->shares[k];
        for (int b = 0; b < 2; b++) {
            struct near_list *near = &share->list[b];
            free(near->tiles);
            free(near->lanes);
            free(near->count);
            free(near->pair);
            free(near->at_i);
            free(near->at_j);
        }
        free(share->r2);
        free(share->kind);
        free(share->give_i);
        free(share->give_j);
        free(share->energy);
    }
    free(e->shares);
    free(e->embedding);
    free(e->density);
    free(e->pair);
    free(e->kind);
    free(e->start);
    free(e->rho);
    free(e->slope);
    free(e);
}

size_t md_eam_bytes(const struct md_store *s)
{
    const struct md_eam_work *e = s->eam;
    size_t bytes = (e->cap_rho + e->cap_slope) * sizeof(scalar);
    for (int k = 0; k < e->n_shares; k++)
        for (int b = 0; b < 2; b++) {
            const struct near_list *near = &e->shares[k].list[b];
            bytes +=
                near->cap_tiles * 4 + near->cap_lanes * 2 + near->cap_count * 4;
            bytes += (near->cap_pair + near->cap_at_i + near->cap_at_j) *
                     sizeof(scalar);
        }
    return bytes;
}

double md_eam_estimate(const struct md_setup *setup, double own)
{
    const double pi = 3.14159265358979323846;
    double volume = 1, rc = setup->eam->cutoff;
    for (int d = 0; d < 3; d++)
        volume *= setup->hi[d] - setup->lo[d];
    double pairs = 0.5 * own * own / volume * 4 / 3 * pi * rc * rc * rc;
    double slopes = setup->n_species > 1 ? 3 : 2;
    return pairs * (slopes * sizeof(scalar) + 3) + 2 * own * sizeof(scalar);
}

static int reserve_list(struct near_list *near, const struct md_list *list)
{
    if (md_grow_list((void **)&near->tiles, &near->cap_tiles, list->n_tiles + 1,
                     sizeof *near->tiles) != 0 ||
        md_grow_list((void **)&near->lanes, &near->cap_lanes, list->n_tiles + 1,
                     sizeof *near->lanes) != 0)
        return -1;
    return md_grow_list((void **)&near->count, &near->cap_count,
                        list->n_rows + 1, sizeof *near->count);
}

int md_eam_reserve(struct ctx *ctx, struct md_store *s)
{
    struct md_eam_work *e = s->eam;
    size_t slots = (size_t)(s->n_clusters + s->n_clusters_halo) * (size_t)LANES;
    int failed = md_grow((void **)&e->rho, &e->cap_rho, slots + 1,
                         sizeof *e->rho) != 0 ||
                 md_grow((void **)&e->slope, &e->cap_slope, slots + 1,
                         sizeof *e->slope) != 0;
    for (int k = 0; k < e->n_shares && !failed; k++)
        for (int part = 0; part < ROWS_PARTS; part++)
            failed |= reserve_list(&e->shares[k].list[part],
                                   &s->workers[k].list[part]) != 0;
    if (failed)
        return FAIL(ctx, STATUS_MEMORY,
                    "no memory for the pair list; use more ranks");
    /* Slopes of padding are multiplied by 0, and must be numbers. */
    memset(e->slope, 0, slots * sizeof *e->slope);
    return 0;
}

int md_check_eam(struct ctx *ctx, const struct md_store *s)
{
    for (int k = 0; k < s->eam->n_shares; k++)
        if (s->eam->shares[k].failed)
            return FAIL(ctx, STATUS_MEMORY,
                        "no memory for the densities of pairs; use more ranks");
    return 0;
}

/* ---- densities ---- */

/* Add the threads' densities and clear them: they stand in the arrays for
 * forces, which must be zero in between. */
static void sum_over_threads(struct md_store *s)
{
    size_t block = (size_t)TOUCH_BLOCK * (size_t)LANES;
    int32_t clusters = md_clusters_pushed(s);
    size_t all = (size_t)clusters * (size_t)LANES;
    int32_t blocks = (clusters + TOUCH_BLOCK - 1) / TOUCH_BLOCK;
#pragma omp parallel for schedule(static) num_threads(s->n_workers)
    for (int32_t b = 0; b < blocks; b++) {
        size_t begin = (size_t)b * block, end = begin + block;
        for (int w = 0; w < s->n_workers; w++) {
            scalar *from = s->workers[w].force;
            if (!s->workers[w].touched[b])
                continue;
            for (size_t k = begin; k < (end < all ? end : all); k++) {
                s->eam->rho[k] += from[k];
                from[k] = 0;
            }
        }
    }
}

static void run_densities(struct md_store *s, struct md_sums *sums, int part)
{
#pragma omp parallel for schedule(static, 1) num_threads(s->n_workers)
    for (int k = 0; k < s->n_workers; k++) {
        struct md_worker *w = &s->workers[k];
        md_run_densities(s, w, s->n_workers > 1 ? w->force : s->eam->rho,
                         sums != NULL, part);
    }
    for (int k = 0; k < s->n_workers && sums; k++) {
        sums->energy += s->workers[k].energy;
        sums->part[MD_ENERGY_PAIR] += s->workers[k].energy;
    }
}

/* ---- between the passes ---- */

/* F' of the own particles of a worker, and its sum of F where wanted. Beyond
 * the table F goes on as a straight line, as in LAMMPS. */
static void embed(const struct md_store *s, const struct md_worker *w,
                  struct eam_share *share, int want)
{
    const struct md_eam_work *e = s->eam;
    size_t end = (size_t)w->last * (size_t)LANES;
    double sum = 0, greatest = (double)(e->n_rho - 1);
    for (size_t slot = (size_t)w->first * (size_t)LANES; slot < end; slot++) {
        double place = (double)e->rho[slot] * e->per_rho_step;
        double inside = place < greatest ? place : greatest;
        int k =
            inside < greatest ? (inside > 0 ? (int)inside : 0) : e->n_rho - 2;
        const double *c =
            e->embedding +
            4 * ((size_t)s->species[slot] * (size_t)(e->n_rho - 1) + (size_t)k);
        double p = inside - k;
        double slope = (3 * c[3] * p + (c[2] + c[2])) * p + c[1];
        e->slope[slot] = (scalar)(slope * e->per_rho_step);
        if (want && s->id[slot] != 0)
            sum += ((c[3] * p + c[2]) * p + c[1]) * p + c[0] +
                   slope * (place - inside);
    }
    share->embedding = sum;
}

void md_density_own(struct md_store *s, struct md_sums *sums)
{
    size_t pushed = (size_t)md_clusters_pushed(s) * (size_t)LANES;
    if (pushed > 0)
        memset(s->eam->rho, 0, pushed * sizeof *s->eam->rho);
    if (s->n_clusters > 0)
        run_densities(s, sums, ROWS_INTERIOR);
}

void md_density_finish(struct md_store *s, struct md_sums *sums)
{
    struct md_eam_work *e = s->eam;
    if (s->n_clusters == 0)
        return;
#pragma omp parallel for schedule(static, 1) num_threads(s->n_workers)
    for (int k = 0; k < s->n_workers; k++)
        embed(s, &s->workers[k], &e->shares[k], sums != NULL);
    for (int k = 0; k < s->n_workers && sums; k++) {
        sums->energy += e->shares[k].embedding;
        sums->part[MD_ENERGY_EMBEDDING] += e->shares[k].embedding;
    }
}

void md_density_halo(struct md_store *s, struct md_sums *sums)
{
    if (s->n_clusters == 0)
        return;
    if (s->n_halo > 0)
        run_densities(s, sums, ROWS_BOUNDARY);
    if (s->n_workers > 1)
        sum_over_threads(s);
    if (!s->setup.half)
        md_density_finish(s, sums);
}

void md_pack_densities(const struct md_store *s, void *buffer)
{
    scalar *out = buffer;
    for (size_t k = 0; k < s->n_above; k++)
        out[k] = s->eam->rho[s->above_slot[k]];
}

void md_add_densities(struct md_store *s, const void *buffer)
{
    const scalar *from = buffer;
    for (size_t k = 0; k < s->n_above_send; k++)
        s->eam->rho[s->above_send[k]] += from[k];
}

size_t md_extra_bytes(void)
{
    return sizeof(scalar);
}

void md_pack_extra(const struct md_store *s, void *buffer)
{
    const uint32_t *slot = s->setup.half ? s->above_send : s->send_slot;
    size_t n = s->setup.half ? s->n_above_send : s->n_send;
    scalar *out = buffer;
    for (size_t k = 0; k < n; k++)
        out[k] = s->eam->slope[slot[k]];
}

void md_unpack_extra(struct md_store *s, const void *buffer)
{
    const uint32_t *slot = s->setup.half ? s->above_slot : s->halo_slot;
    size_t n = s->setup.half ? s->n_above : s->n_halo;
    const scalar *from = buffer;
    for (size_t k = 0; k < n; k++)
        s->eam->slope[slot[k]] = from[k];
}
