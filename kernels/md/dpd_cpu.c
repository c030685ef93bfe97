/* dpd_cpu.c: dissipative particle dynamics: friction and noise between pairs.
 *
 * Groot and Warren (1997), J. Chem. Phys. 107, 4423: on particle i, from j,
 * with e the unit vector from j to i,
 *     (-gamma w^2 e . (v_i - v_j) + sqrt(2 gamma kT / dt) w zeta_ij) e,
 *     w = 1 - r / rc,
 * zeta even between -sqrt(3) and sqrt(3), the same from both sides. Pairs in
 * range are found once a step and kept, with all of the noise and the strength
 * of the friction, so that forces of other velocities cost little.
 */
#include "kernels/md/dpd_cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "kernels/rng.h"
#include "kernels/simd_pack.h"

/* A pair in range. The second may be a copy. */
struct dpd_pair {
    uint32_t slot[2];
    scalar e[3];
    scalar w;    /* 1 - r / rc, until the noise is drawn; then */
    scalar drag; /* gamma w^2 */
    scalar push; /* the random force along e */
};

struct dpd_share {
    struct dpd_pair *pair;
    size_t n, n_own, capacity; /* first those of own particles alone */
};

struct md_dpd_work {
    struct dpd_share *share; /* [n_workers] */
    scalar *force;           /* [cap_clusters][3][LANES], mass times velocity
                              * over time */
    double (*value)[3];      /* velocities of copies */
    size_t cap_force, cap_value;
    int n_workers;
};

void md_dpd_destroy(struct md_dpd_work *d)
{
    if (!d)
        return;
    for (int k = 0; k < d->n_workers && d->share; k++)
        free(d->share[k].pair);
    free(d->share);
    free(d->force);
    free(d->value);
    free(d);
}

void md_dpd_take_values(struct md_store *s, const double (*in)[3])
{
    size_t own = (size_t)s->n_clusters * (size_t)LANES;
    for (size_t k = 0; k < s->n_halo; k++)
        memcpy(s->dpd->value[s->halo_slot[k] - own], in[k], sizeof in[k]);
}

static int reserve(struct ctx *ctx, struct md_store *s)
{
    if (!s->dpd) {
        s->dpd = calloc(1, sizeof *s->dpd);
        if (s->dpd)
            s->dpd->share = calloc((size_t)s->n_workers, sizeof *s->dpd->share);
        if (!s->dpd || !s->dpd->share)
            return FAIL(ctx, STATUS_MEMORY, "no memory for pairs of DPD");
        s->dpd->n_workers = s->n_workers;
    }
    struct md_dpd_work *d = s->dpd;
    if (md_grow((void **)&d->force, &d->cap_force, CLUSTER(s->n_clusters) + 1,
                sizeof *d->force) != 0 ||
        md_grow((void **)&d->value, &d->cap_value,
                (size_t)s->n_clusters_halo * (size_t)LANES + 1,
                sizeof *d->value) != 0)
        return FAIL(ctx, STATUS_MEMORY, "no memory for pairs of DPD");
    return 0;
}

/* ---- pairs in range ---- */

/* One particle against a tile: those within range to the end of the share. */
static int find_in_tile(const struct md_store *s, struct dpd_share *to,
                        uint32_t slot, const scalar x_i[3], size_t j,
                        simd_mask in)
{
    const real *xj = (const real *)(s->pair_x + j);
    real dx = x_i[0] - xj[0], dy = x_i[1] - xj[1], dz = x_i[2] - xj[2];
    real r2 = dx * dx + dy * dy + dz * dz;
    const scalar *row = s->table_cut2 + s->table_stride * s->species[slot];
    real cut2 = simd_lookup(row, s->species + j / 3, s->few_species);
    uint32_t bits = simd_bits(simd_less_in(in, r2, cut2));
    if (to->n + (size_t)LANES > to->capacity &&
        md_grow_list((void **)&to->pair, &to->capacity,
                     to->n + (size_t)LANES + to->n / 2 + 64,
                     sizeof *to->pair) != 0)
        return -1;
    const scalar *cut = s->table_cut + s->table_stride * s->species[slot];
    for (; bits; bits &= bits - 1) {
        int l = __builtin_ctz(bits);
        size_t other = j / 3 + (size_t)l;
        scalar r = (scalar)sqrt((double)r2[l]);
        scalar per = r > 0 ? 1 / r : 0;
        to->pair[to->n++] =
            (struct dpd_pair){.slot = {slot, (uint32_t)other},
                              .e = {dx[l] * per, dy[l] * per, dz[l] * per},
                              .w = 1 - r / cut[s->species[other]]};
    }
    return 0;
}

/* All pairs of one list: with own particles, or with copies. */
static int find_in_list(const struct md_store *s, const struct md_list *list,
                        struct dpd_share *to, int with_halo, int of_copies)
{
    const uint32_t *tile = list->tiles;
    const uint16_t *mask = list->masks;
    const simd_mask all = simd_mask_of_bits(~0u);
    int status = 0;
    for (size_t r = 0; r < list->n_rows && status == 0; r++) {
        const struct md_row *row = &list->rows[r];
        uint32_t slot = row->cluster * (uint32_t)LANES + row->lane;
        scalar x[3];
        for (int d = 0; d < 3; d++)
            x[d] = s->pair_x[SLOT(slot, d)] + s->shift[row->shift][d];
        int n[2] = {row->n, with_halo ? row->n_halo : 0};
        for (int copies = 0; copies < 2; copies++) {
            for (int k = 0; k < n[copies]; k++, tile++) {
                simd_mask in = all;
                if (s->masked)
                    in = simd_mask_of_bits(*mask++);
                else if (!copies && k == 0 && row->with_self)
                    in = simd_mask_of_bits(~((2u << row->lane) - 1u));
                if (copies == of_copies && status == 0)
                    status = find_in_tile(s, to, slot, x, *tile, in);
            }
        }
    }
    return status;
}

/* ---- noise ---- */

enum { BATCH = 64 };

static void draw(const struct md_store *s, const struct md_dpd *d,
                 struct dpd_share *to)
{
    double strength = sqrt(2 * d->kt / d->dt), zeta[BATCH];
    uint64_t address[BATCH];
    for (size_t first = 0; first < to->n; first += BATCH) {
        size_t n = to->n - first < BATCH ? to->n - first : BATCH;
        struct dpd_pair *p = to->pair + first;
        for (size_t k = 0; k < n; k++) {
            uint64_t a = (uint64_t)s->id[p[k].slot[0]];
            uint64_t b = (uint64_t)s->id[p[k].slot[1]];
            address[k] = a < b ? a << 32 | b : b << 32 | a;
        }
        rng_even(s->setup.seed, RNG_DPD, d->step, address, (int)n, zeta);
        for (size_t k = 0; k < n; k++) {
            double gamma =
                d->gamma[s->species[p[k].slot[0]] * s->setup.n_species +
                         s->species[p[k].slot[1]]];
            double w = (double)p[k].w;
            p[k].drag = (scalar)(gamma * w * w);
            p[k].push = (scalar)(strength * sqrt(gamma) * w * zeta[k]);
        }
    }
}

int md_dpd_pairs(struct ctx *ctx, struct md_store *s, const struct md_dpd *d)
{
    TRY(reserve(ctx, s));
    int with_halo = s->n_halo > 0, failed = 0;
#pragma omp parallel for schedule(static, 1) num_threads(s->n_workers) \
    reduction(|                                                        \
              : failed)
    for (int k = 0; k < s->n_workers; k++) {
        const struct md_worker *w = &s->workers[k];
        struct dpd_share *to = &s->dpd->share[k];
        to->n = 0;
        failed |= s->n_clusters > 0 &&
                  (find_in_list(s, &w->list[ROWS_INTERIOR], to, 0, 0) != 0 ||
                   find_in_list(s, &w->list[ROWS_BOUNDARY], to, 1, 0) != 0);
        to->n_own = to->n;
        failed |= with_halo && s->n_clusters > 0 && !failed &&
                  find_in_list(s, &w->list[ROWS_BOUNDARY], to, 1, 1) != 0;
        if (!failed)
            draw(s, d, to);
    }
    return failed ? FAIL(ctx, STATUS_MEMORY, "no memory for pairs of DPD") : 0;
}

/* ---- forces ---- */

/* This share's pairs, added to f. */
static void add_forces(const struct md_store *s, const struct dpd_share *from,
                       scalar *f)
{
    size_t own = (size_t)s->n_clusters * (size_t)LANES;
    for (size_t k = 0; k < from->n; k++) {
        const struct dpd_pair *p = &from->pair[k];
        size_t i = SLOT(p->slot[0], 0), j = SLOT(p->slot[1], 0);
        const double *copy =
            k < from->n_own ? NULL : s->dpd->value[p->slot[1] - own];
        double along = 0;
        for (size_t d = 0; d < 3; d++) {
            size_t at = d * (size_t)LANES;
            double other = copy ? copy[d] : (double)s->v[j + at];
            along += (double)p->e[d] * ((double)s->v[i + at] - other);
        }
        scalar force = p->push - p->drag * (scalar)along;
        for (size_t d = 0; d < 3; d++)
            f[i + d * (size_t)LANES] += force * p->e[d];
        for (size_t d = 0; d < 3 && !copy; d++)
            f[j + d * (size_t)LANES] -= force * p->e[d];
    }
}

void md_dpd_forces(struct md_store *s)
{
    size_t n = CLUSTER(s->n_clusters);
    scalar *force = s->dpd->force;
    memset(force, 0, n * sizeof *force);
    if (s->n_workers == 1) {
        add_forces(s, &s->dpd->share[0], force);
        return;
    }
#pragma omp parallel for schedule(static, 1) num_threads(s->n_workers)
    for (int k = 0; k < s->n_workers; k++)
        add_forces(s, &s->dpd->share[k], s->workers[k].force);
    for (int k = 0; k < s->n_workers; k++)
        for (size_t c = 0; c < (size_t)s->n_clusters; c++) {
            scalar *from = s->workers[k].force + CLUSTER(c);
            if (!s->workers[k].touched[c / TOUCH_BLOCK])
                continue;
            for (size_t e = 0; e < 3 * (size_t)LANES; e++) {
                force[CLUSTER(c) + e] += from[e];
                from[e] = 0;
            }
        }
}

double md_dpd_kick(struct md_store *s, double dt)
{
    size_t slots = (size_t)s->n_clusters * (size_t)LANES;
    double work = 0;
    for (size_t slot = 0; slot < slots; slot++) {
        double mass = s->setup.mass[s->species[slot]], before = 0, after = 0;
        if (s->id[slot] == 0 ||
            (s->setup.outer &&
             md_held_at(s->setup.outer, s->id[slot], s->species[slot])))
            continue;
        for (int d = 0; d < 3; d++) {
            size_t k = SLOT(slot, d);
            double v = (double)s->v[k];
            double to = v + dt / mass * (double)s->dpd->force[k];
            s->v[k] = (state)to;
            before += v * v;
            after += to * to;
        }
        work += 0.5 * mass * (after - before);
    }
    return work;
}
