/* lj_cpu.c: Lennard-Jones forces over the pair list.
 *
 * One row at a time: the particle i in a register of each component, its tiles
 * one vector of partners each. Forces on partners are subtracted where they
 * stand (own tiles only; copies are another rank's); the force on i is summed
 * over the row. What a deck does not need is left out at compile time: several
 * species, the force shift, energies.
 */
#include "kernels/md/eam_cpu.h"
#include "kernels/md/terms_cpu.h"

#include <math.h>
#include <string.h>

#include "base/timer.h"
#include "kernels/md/lj.h"
#include "kernels/md/lj_rows.h"
#include "kernels/md/tensor.h"

/* The coefficients of one row's species against a tile's. */
struct tile_terms {
    real f12, f6, cut2, shift, slope, cut;
};

KERNEL_FN void look_up(const struct md_store *s, const uint8_t *species,
                       int row, int few, int fshift, int want,
                       struct tile_terms *t)
{
    real terms[ROW_TERMS];
    lj_rows(s, row, species, few, terms);
    t->f12 = terms[ROW_F12];
    t->f6 = terms[ROW_F6];
    t->cut2 = terms[ROW_CUT2];
    if (want)
        t->shift = simd_lookup(s->table_shift + row, species, few);
    if (fshift) {
        t->slope = terms[ROW_SLOPE];
        t->cut = simd_lookup(s->table_cut + row, species, few);
    }
}

enum { SPECIES_ONE, SPECIES_FEW, SPECIES_MANY };

/* What one row adds up; a pair with a copy counts half, since the other half is
 * another rank's. */
struct row_sums {
    real f0, f1, f2, energy, virial, tensor[6];
};

/* One particle, at xi, against the tile that begins at element j of x. */
KERNEL_FN void run_tile(const struct md_store *s, const scalar *x, scalar *f,
                        size_t j, const real xi[3], simd_mask in,
                        struct tile_terms *t, int table_row, const int many,
                        const int fshift, const int want, const int halo,
                        struct row_sums *sum)
{
    const real *xj = (const real *)(x + j);
    real dx = xi[0] - xj[0], dy = xi[1] - xj[1], dz = xi[2] - xj[2];
    real r2 = dx * dx + dy * dy + dz * dz, inv6;
    if (many != SPECIES_ONE)
        look_up(s, s->species + j / 3, table_row, many == SPECIES_FEW, fshift,
                want, t);
    simd_mask near = simd_less_in(in, r2, t->cut2);
    real g = lj_force_over_r(r2, t->f12, t->f6, &inv6), linear = {0};
    if (fshift)
        linear = lj_force_shift(simd_sqrt(r2), t->slope, t->cut, &g);
    g = simd_keep(near, g);
    sum->f0 += g * dx;
    sum->f1 += g * dy;
    sum->f2 += g * dz;
    if (!halo) {
        real *fj = (real *)(f + j);
        fj[0] -= g * dx;
        fj[1] -= g * dy;
        fj[2] -= g * dz;
    }
    if (want) {
        scalar weight = halo ? (scalar)0.5 : 1;
        real u = lj_energy(inv6, t->f12 / 12, t->f6 / 6) - t->shift;
        sum->energy += weight * simd_keep(near, u + linear);
        sum->virial += weight * simd_keep(near, g * r2);
        if (s->pair_tensor)
            simd_add_tensor(sum->tensor, weight * g, dx, dy, dz);
    }
}

KERNEL_FN void load_terms(const struct md_store *s, struct tile_terms *t)
{
    t->f12 = simd_set(s->table_f12[0]);
    t->f6 = simd_set(s->table_f6[0]);
    t->cut2 = simd_set(s->table_cut2[0]);
    t->shift = simd_set(s->table_shift[0]);
    t->slope = simd_set(s->table_slope[0]);
    t->cut = simd_set(s->table_cut[0]);
}

KERNEL_LOOP void run_rows(const struct md_store *s, struct md_worker *w,
                          const struct md_list *list, scalar *f, const int many,
                          const int fshift, const int want, const int boundary,
                          const int bonded)
{
    const uint32_t *tile = list->tiles;
    const uint16_t *mask = list->masks;
    const scalar *x = s->pair_x;
    const simd_mask all = simd_mask_of_bits(~0u);
    scalar(*i_force)[4] = w->i_force;
    struct tile_terms t;
    double energy = 0, virial = 0;
    uint32_t current = list->n_rows > 0 ? list->rows[0].cluster : 0;

    load_terms(s, &t);
    for (size_t r = 0; r < list->n_rows; r++) {
        const struct md_row *row = &list->rows[r];
        if (row->cluster != current) {
            simd_flush(f + CLUSTER(current), i_force);
            current = row->cluster;
        }
        const scalar *x_i = x + CLUSTER(current) + row->lane;
        const scalar *shift = s->shift[row->shift];
        real xi[3] = {simd_set(x_i[0] + shift[0]),
                      simd_set(x_i[LANES] + shift[1]),
                      simd_set(x_i[2 * LANES] + shift[2])};
        struct row_sums sum = {{0}, {0}, {0}, {0}, {0}, {{0}}};
        const uint32_t *end = tile + row->n;
        simd_mask in = all;
        int table_row = 0;
        if (many != SPECIES_ONE)
            table_row = s->table_stride *
                        s->species[(size_t)current * (size_t)LANES + row->lane];
        if (!bonded && row->with_self) /* only those behind it */
            in = simd_mask_of_bits(~((2u << row->lane) - 1u));
        /* Interior rows are never empty. */
        if (!boundary || tile < end)
            do {
                if (bonded)
                    in = simd_mask_of_bits(*mask++);
                run_tile(s, x, f, *tile++, xi, in, &t, table_row, many, fshift,
                         want, 0, &sum);
                in = all;
            } while (tile < end);
        end = tile + (boundary ? row->n_halo : 0);
        while (tile < end) {
            if (bonded)
                in = simd_mask_of_bits(*mask++);
            run_tile(s, x, f, *tile++, xi, in, &t, table_row, many, fshift,
                     want, 1, &sum);
        }
        simd_end_row(s, w, row, sum.f0, sum.f1, sum.f2);
        if (want) {
            energy += (double)simd_sum(sum.energy);
            virial += (double)simd_sum(sum.virial);
            if (s->pair_tensor)
                simd_sum_tensor(sum.tensor, w->tensor);
        }
    }
    simd_flush(f + CLUSTER(current), i_force);
    w->energy = energy;
    w->virial = virial;
}

/* One loop for each kind of deck; names say what is compiled in. */
#define LOOP(name, many, fshift, want, boundary, bonded)               \
    static __attribute__((noinline)) void name(                        \
        const struct md_store *s, struct md_worker *w,                 \
        const struct md_list *list, scalar *f)                         \
    {                                                                  \
        run_rows(s, w, list, f, many, fshift, want, boundary, bonded); \
    }
#define LOOPS_OF(kind, species, many, boundary, bonded)                  \
    LOOP(kind##_##species##_force, many, 0, 0, boundary, bonded)         \
    LOOP(kind##_##species##_energy, many, 0, 1, boundary, bonded)        \
    LOOP(kind##_##species##_shifted_force, many, 1, 0, boundary, bonded) \
    LOOP(kind##_##species##_shifted_energy, many, 1, 1, boundary, bonded)
#define LOOPS(species, many)                       \
    LOOPS_OF(interior, species, many, 0, 0)        \
    LOOPS_OF(boundary, species, many, 1, 0)        \
    LOOPS_OF(bonded_interior, species, many, 0, 1) \
    LOOPS_OF(bonded_boundary, species, many, 1, 1)
LOOPS(one, SPECIES_ONE)
LOOPS(few, SPECIES_FEW)
LOOPS(many, SPECIES_MANY)

typedef void (*loop_fn)(const struct md_store *, struct md_worker *,
                        const struct md_list *, scalar *);
#define LOOP_ROW(kind, species)                                \
    {                                                          \
        {kind##_##species##_force, kind##_##species##_energy}, \
        {                                                      \
            kind##_##species##_shifted_force,                  \
                kind##_##species##_shifted_energy              \
        }                                                      \
    }
#define LOOP_ROWS(kind)                                                \
    {                                                                  \
        LOOP_ROW(kind, one), LOOP_ROW(kind, few), LOOP_ROW(kind, many) \
    }

static loop_fn choose_loop(const struct md_store *s, int want, int boundary)
{
    static const loop_fn loops[2][2][3][2][2] = {
        {LOOP_ROWS(interior), LOOP_ROWS(boundary)},
        {LOOP_ROWS(bonded_interior), LOOP_ROWS(bonded_boundary)}};
    int many = s->setup.n_species == 1 ? SPECIES_ONE
               : s->few_species        ? SPECIES_FEW
                                       : SPECIES_MANY;
    return loops[s->masked][boundary][many][s->setup.force_shift != 0][want];
}

/* Add the threads' forces, block by block, and clear theirs for the next time.
 */
static void sum_over_threads(struct md_store *s)
{
    int32_t clusters = md_clusters_pushed(s);
    int32_t blocks = (clusters + TOUCH_BLOCK - 1) / TOUCH_BLOCK;
#pragma omp parallel for schedule(static) num_threads(s->n_workers)
    for (int32_t b = 0; b < blocks; b++) {
        size_t begin = CLUSTER((size_t)b * TOUCH_BLOCK);
        size_t end = CLUSTER((size_t)b * TOUCH_BLOCK + TOUCH_BLOCK);
        size_t all = CLUSTER(clusters);
        end = end < all ? end : all;
        for (int w = 0; w < s->n_workers; w++) {
            if (!s->workers[w].touched[b])
                continue;
            scalar *from = s->workers[w].force;
            for (size_t k = begin; k < end; k++) {
                s->f[k] += from[k];
                from[k] = 0;
            }
        }
    }
}

/* The pairs of one part. */
static void run_pairs(struct md_store *s, struct md_worker *w, scalar *f,
                      int want, int part)
{
    memset(w->tensor, 0, sizeof w->tensor);
    memset(w->shifted, 0, sizeof w->shifted);
    if (s->from_forces && part != ROWS_INTERIOR) /* which finds none */
        md_add_places(s, w, f, -1);
    if (s->eam)
        md_run_eam(s, w, f, want, part);
    else if (s->charges)
        md_run_charged(s, w, f, want, part);
    else
        choose_loop(s, want, part == ROWS_BOUNDARY)(s, w, &w->list[part], f);
    if (s->from_forces) {
        md_add_places(s, w, f, 1);
        md_add_shifts(s, w);
    }
}

/* One part of the rows, and terms: those with copies go with such rows, the
 * others with the last rows without. */
static void run_threads(struct md_store *s, struct md_sums *sums, int part)
{
    int boundary = part == ROWS_BOUNDARY;
    int terms = s->terms && (boundary || (part == ROWS_LATE) == md_has_late(s));
    int want = sums && !sums->virial_only;
    s->tensor = sums && sums->with_tensor;
    s->from_forces =
        sums && !s->eam && (s->n_halo == 0 || s->setup.half != MD_WHOLE);
    s->pair_tensor = s->tensor && !s->from_forces;
#pragma omp parallel for schedule(static, 1) num_threads(s->n_workers)
    for (int k = 0; k < s->n_workers; k++) {
        struct md_worker *w = &s->workers[k];
        scalar *f = s->n_workers > 1 ? w->force : s->f;
        run_pairs(s, w, f, want || (sums && !s->from_forces), part);
        if (terms) {
            double begun = timer_now();
            md_run_terms(s, w, f, sums, boundary);
            w->terms_seconds += timer_now() - begun;
        }
    }
    if (sums && s->charges && part == ROWS_INTERIOR) {
        double self = md_charges_self(s);
        sums->energy += self;
        sums->part[MD_ENERGY_COULOMB] += self;
    }
    for (int k = 0; k < s->n_workers; k++) {
        const struct md_worker *w = &s->workers[k];
        if (sums && terms)
            md_add_sums(sums, &w->terms);
        if (sums) {
            sums->energy += w->energy;
            sums->part[MD_ENERGY_PAIR] += w->energy;
            sums->virial += w->virial;
        }
        for (int t = 0; s->tensor && t < 6; t++)
            sums->tensor[t] += w->tensor[t];
        if (sums && s->charges) {
            sums->energy += w->coulomb;
            sums->part[MD_ENERGY_COULOMB] += w->coulomb;
        }
    }
}

void md_force_own(struct md_store *s, struct md_sums *sums)
{
    if (s->n_clusters_above > 0)
        memset(s->f + CLUSTER(s->n_clusters), 0,
               CLUSTER(s->n_clusters_above) * sizeof *s->f);
    if (s->n_clusters == 0)
        return;
    if (!s->f_cleared)
        memset(s->f, 0, CLUSTER(s->n_clusters) * sizeof *s->f);
    s->f_cleared = 0;
    run_threads(s, sums, ROWS_INTERIOR);
    if (s->n_workers > 1 && s->n_halo == 0)
        sum_over_threads(s);
}

void md_force_halo(struct md_store *s, struct md_sums *sums)
{
    if (s->n_clusters == 0 || s->n_halo == 0)
        return;
    run_threads(s, sums, ROWS_BOUNDARY);
    if (s->n_workers > 1)
        sum_over_threads(s);
}

void md_force_late(struct md_store *s, struct md_sums *sums)
{
    if (s->n_clusters == 0 || !md_has_late(s))
        return;
    run_threads(s, sums, ROWS_LATE);
    if (s->n_workers > 1)
        sum_over_threads(s);
}
