/* eam_density_cpu.c: the embedded-atom method's first pass: densities.
 *
 * The pairs within the cutoff are packed, so that what needs tables is computed
 * on vectors without idle lanes, for the particles of one cluster together.
 */
#include "kernels/md/eam_cpu.h"

#include <string.h>

#include "kernels/simd_pack.h"

/* Room for n more pairs of one cluster. Returns 0 or -1. */
static int reserve_pairs(struct eam_share *share, struct near_list *near,
                         size_t n, int many)
{
    size_t all = near->n_pairs + n, size = sizeof(scalar);
    if (all > near->cap_pair &&
        md_grow_list((void **)&near->pair, &near->cap_pair, all, size) != 0)
        return -1;
    if (all > near->cap_at_i &&
        md_grow_list((void **)&near->at_i, &near->cap_at_i, all, size) != 0)
        return -1;
    if (many && all > near->cap_at_j &&
        md_grow_list((void **)&near->at_j, &near->cap_at_j, all, size) != 0)
        return -1;
    if (n <= share->cap_energy)
        return 0;
    return md_grow((void **)&share->r2, &share->cap_r2, n, size) ||
           md_grow((void **)&share->kind, &share->cap_kind, n, size) ||
           md_grow((void **)&share->give_i, &share->cap_give_i, n, size) ||
           md_grow((void **)&share->give_j, &share->cap_give_j, n, size) ||
           md_grow((void **)&share->energy, &share->cap_energy, n, size);
}

/* ---- first pass: pairs within the cutoff ---- */

/* The rows [first, last) of one cluster, and where their tiles begin. */
struct group {
    size_t first, last, tile;
    uint32_t cluster;
};

/* Where packed pairs and the tiles that have some go. Pointers stand by
 * themselves: what is written through them could alias their owners. */
struct packer {
    const scalar *x;
    scalar *r2, *kind;
    uint32_t *tiles;
    uint16_t *lanes;
    size_t n, n_tiles;
};

/* One tile of a row against particle i, whose coordinates are x: pack what is
 * near behind the pairs that are there. */
KERNEL_FN void pack_tile(const struct md_store *s, struct packer *to,
                         uint32_t j, const real x[3], simd_mask in, real cut2,
                         const scalar *kind_row, const int many)
{
    const real *xj = (const real *)(to->x + j);
    real dx = x[0] - xj[0], dy = x[1] - xj[1], dz = x[2] - xj[2];
    real r2 = dx * dx + dy * dy + dz * dz;
    uint32_t bits = simd_bits(simd_less_in(in, r2, cut2));
    simd_pack(bits, r2, to->r2 + to->n);
    if (many)
        simd_pack(bits,
                  simd_lookup(kind_row, s->species + j / 3, s->few_species),
                  to->kind + to->n);
    to->tiles[to->n_tiles] = j / 3;
    to->lanes[to->n_tiles] = (uint16_t)bits;
    to->n_tiles += bits != 0;
    to->n += (size_t)__builtin_popcount(bits);
}

/* All near pairs of one cluster. Returns how many. */
KERNEL_FN size_t pack_group(const struct md_store *s, struct eam_share *share,
                            struct near_list *near, const struct md_list *list,
                            const struct group *g, const int many)
{
    const simd_mask all = simd_mask_of_bits(~0u);
    const real cut2 = simd_set((scalar)s->eam->cutoff2);
    const uint32_t *tile = list->tiles + g->tile;
    struct packer to = {.x = s->pair_x,
                        .r2 = share->r2,
                        .kind = share->kind,
                        .tiles = near->tiles,
                        .lanes = near->lanes,
                        .n_tiles = near->n_tiles};
    for (size_t r = g->first; r < g->last; r++) {
        const struct md_row *row = &list->rows[r];
        const scalar *x_i = to.x + CLUSTER(row->cluster) + row->lane;
        const scalar *shift = s->shift[row->shift];
        const real x[3] = {simd_set(x_i[0] + shift[0]),
                           simd_set(x_i[LANES] + shift[1]),
                           simd_set(x_i[2 * LANES] + shift[2])};
        size_t slot = (size_t)row->cluster * (size_t)LANES + row->lane;
        const scalar *kind_row =
            s->eam->kind + s->table_stride * (many ? s->species[slot] : 0);
        const uint32_t *end = tile + row->n;
        size_t before = to.n_tiles;
        if (row->with_self) /* in its own cluster, only those behind it */
            pack_tile(s, &to, *tile++, x,
                      simd_mask_of_bits(~((2u << row->lane) - 1u)), cut2,
                      kind_row, many);
        while (tile < end)
            pack_tile(s, &to, *tile++, x, all, cut2, kind_row, many);
        near->count[r][0] = (uint16_t)(to.n_tiles - before);
        before = to.n_tiles;
        for (end = tile + row->n_halo; tile < end;)
            pack_tile(s, &to, *tile++, x, all, cut2, kind_row, many);
        near->count[r][1] = (uint16_t)(to.n_tiles - before);
    }
    return to.n;
}

/* ---- first pass: tables ---- */

/* Value and slope (per step of the grid) of a cubic at p. One product only in
 * each sum: which one is fused is the same in every loop. */
KERNEL_FN real cubic(const real c[4], real p)
{
    return ((c[3] * p + c[2]) * p + c[1]) * p + c[0];
}

KERNEL_FN real cubic_slope(const real c[4], real p)
{
    return (3 * c[3] * p + (c[2] + c[2])) * p + c[1];
}

/* Where the tables of the lanes' pairs of species begin. */
KERNEL_FN void find_tables(const struct md_eam_work *e, const scalar *kind,
                           lane_int start[3])
{
    KERNEL_MASK_SCALAR at[3][LANES] __attribute__((aligned(SIMD_BYTES)));
    for (int l = 0; l < LANES; l++)
        for (int k = 0; k < 3; k++)
            at[k][l] = e->start[(size_t)kind[l]][k];
    for (int k = 0; k < 3; k++)
        start[k] = *(const lane_int *)at[k];
}

/* One vector of pairs: densities and energies into the scratch, slopes to
 * stay. */
KERNEL_FN void look_up(const struct md_eam_work *e,
                       const struct eam_share *share, size_t q,
                       struct near_list *near, const int many, const int want)
{
    const real r = simd_sqrt(simd_load(share->r2 + q));
    const real last = simd_set((scalar)(e->n_r - 2));
    const real scale = simd_set((scalar)e->per_r_step);
    real place = r * scale, inverse = 1 / r, c[4];
    lane_int interval =
        __builtin_convertvector(simd_least(place, last), lane_int);
    /* A cutoff up to one step behind the last point has its value. */
    real p = simd_least(place - __builtin_convertvector(interval, real),
                        simd_set(1));
    lane_int start[3] = {{0}};
    size_t to = near->n_pairs + q;
    interval *= 4;
    if (many)
        find_tables(e, share->kind + q, start);

    simd_rows(e->pair, interval + start[0], c);
    /* One product for both uses: slopes are the same bits with energies. */
    real phi = simd_opaque(cubic(c, p) * inverse);
    real slope = cubic_slope(c, p) * scale;
    simd_store(near->pair + to, (phi - slope) * inverse * inverse);
    if (want)
        simd_store(share->energy + q, phi);

    simd_rows(e->density, interval + start[1], c);
    simd_store(share->give_i + q, cubic(c, p));
    simd_store(near->at_i + to, -cubic_slope(c, p) * scale * inverse);
    if (!many)
        return;
    simd_rows(e->density, interval + start[2], c);
    simd_store(share->give_j + q, cubic(c, p));
    simd_store(near->at_j + to, -cubic_slope(c, p) * scale * inverse);
}

/* Densities of one cluster's pairs to both particles. */
KERNEL_FN double give(const struct eam_share *share, scalar *rho,
                      const struct near_list *near, const struct md_list *list,
                      const struct group *g, const int many, const int want)
{
    const uint32_t *tile = near->tiles + near->n_tiles;
    const uint16_t *lanes = near->lanes + near->n_tiles;
    scalar i_rho[LANES] __attribute__((aligned(SIMD_BYTES))) = {0};
    double energy = 0;
    size_t n = 0;
    for (size_t r = g->first; r < g->last; r++) {
        real sum = {0}, u = {0}, of_copies = {0};
        const uint32_t *end = tile + near->count[r][0];
        for (; tile < end; tile++, lanes++) {
            uint32_t bits = *lanes;
            real to_i = simd_unpack(bits, share->give_i + n);
            sum += to_i;
            *(real *)(rho + *tile) +=
                many ? simd_unpack(bits, share->give_j + n) : to_i;
            if (want)
                u += simd_unpack(bits, share->energy + n);
            n += (size_t)__builtin_popcount(bits);
        }
        for (end = tile + near->count[r][1]; tile < end; tile++, lanes++) {
            uint32_t bits = *lanes;
            sum += simd_unpack(bits, share->give_i + n);
            if (want)
                of_copies += simd_unpack(bits, share->energy + n);
            n += (size_t)__builtin_popcount(bits);
        }
        i_rho[list->rows[r].lane] += simd_fold(sum);
        if (want) /* half of a pair with a copy: the rest is another rank's */
            energy += (double)simd_fold(u + (scalar)0.5 * of_copies);
    }
    *(real *)(rho + (size_t)g->cluster * (size_t)LANES) += *(real *)i_rho;
    return energy;
}

/* The first pass over one list, one cluster after the other. */
KERNEL_FN void find_densities(const struct md_store *s, struct md_worker *w,
                              scalar *rho, const int part, const int many,
                              const int want)
{
    struct eam_share *share = &s->eam->shares[w - s->workers];
    const struct md_list *list = &w->list[part];
    struct near_list *near = &share->list[part];
    struct group g = {0};
    near->n_tiles = near->n_pairs = 0;
    w->energy = 0;
    while (g.first < list->n_rows) {
        size_t tiles = 0;
        g.cluster = list->rows[g.first].cluster;
        for (g.last = g.first;
             g.last < list->n_rows && list->rows[g.last].cluster == g.cluster;
             g.last++)
            tiles += (size_t)list->rows[g.last].n + list->rows[g.last].n_halo;
        if (reserve_pairs(share, near, (tiles + 1) * (size_t)LANES, many) !=
            0) {
            share->failed = 1;
            return;
        }
        size_t n = pack_group(s, share, near, list, &g, many);
        /* The last vector is filled up with harmless pairs. */
        simd_store(share->r2 + n, simd_set((scalar)s->eam->cutoff2));
        if (many)
            simd_store(share->kind + n, simd_set(0));
        for (size_t q = 0; q < n; q += (size_t)LANES)
            look_up(s->eam, share, q, near, many, want);
        w->energy += give(share, rho, near, list, &g, many, want);
        for (size_t r = g.first; r < g.last; r++)
            near->n_tiles += (size_t)near->count[r][0] + near->count[r][1];
        near->n_pairs += n;
        g.tile += tiles;
        g.first = g.last;
    }
}

#define LOOP(name, many, want)                                             \
    static __attribute__((noinline)) void name(                            \
        const struct md_store *s, struct md_worker *w, scalar *rho, int p) \
    {                                                                      \
        find_densities(s, w, rho, p, many, want);                          \
    }
LOOP(one_density, 0, 0)
LOOP(one_density_energy, 0, 1)
LOOP(many_density, 1, 0)
LOOP(many_density_energy, 1, 1)

void md_run_densities(const struct md_store *s, struct md_worker *w,
                      scalar *rho, int want, int part)
{
    static void (*const loops[2][2])(const struct md_store *,
                                     struct md_worker *, scalar *, int) = {
        {one_density, one_density_energy}, {many_density, many_density_energy}};
    loops[s->eam->n_species > 1][want](s, w, rho, part);
}
