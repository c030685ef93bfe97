/* lj_rows.h: coefficients of one particle's species with those of a tile. */
#ifndef WARPDECK_KERNELS_MD_LJ_ROWS_H
#define WARPDECK_KERNELS_MD_LJ_ROWS_H

#include "kernels/md/store_cpu.h"
#include "kernels/simd_pack.h"

enum { ROW_F12, ROW_F6, ROW_CUT2, ROW_SLOPE, ROW_TERMS };
_Static_assert((int)ROW_TERMS == 4, "simd_rows_of() loads four");

/* out[k] of each lane, from the row of the tables at table_row and the species
 * of LANES particles. Where there are so many species that a table is no vector
 * (few = 0), the four of a pair are loaded together and transposed. */
KERNEL_FN void lj_rows(const struct md_store *s, int table_row,
                       const uint8_t *species, int few, real out[ROW_TERMS])
{
    if (few) {
        out[ROW_F12] = simd_lookup(s->table_f12 + table_row, species, 1);
        out[ROW_F6] = simd_lookup(s->table_f6 + table_row, species, 1);
        out[ROW_CUT2] = simd_lookup(s->table_cut2 + table_row, species, 1);
        out[ROW_SLOPE] = simd_lookup(s->table_slope + table_row, species, 1);
        return;
    }
    simd_rows_of(s->table_rows + ROW_TERMS * table_row, species, out);
}

#endif
