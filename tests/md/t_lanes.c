/* t_lanes.c: each function of simd.h and simd_pack.h against plain loops, with
 * numbers of which no two are the same, for every mask. */
#ifdef LANES_OF_FLOATS
#define KERNEL_SCALAR float
#define KERNEL_SCALAR_BYTES 4
#define KERNEL_MASK_SCALAR int32_t
#else
#define KERNEL_SCALAR double
#define KERNEL_SCALAR_BYTES 8
#define KERNEL_MASK_SCALAR int64_t
#endif
#include "kernels/simd.h"
#include "kernels/simd_pack.h"

#include <math.h>
#include <string.h>

#include "tests/tap.h"

enum { MASKS = 1 << LANES, ROOM = 3 * LANES };

static real numbers(scalar first, scalar step)
{
    real v = {0};
    for (int l = 0; l < LANES; l++)
        v[l] = first + step * (scalar)(l * l);
    return v;
}

static int is_set(uint32_t bits, int l)
{
    return (int)(bits >> l & 1u);
}

/* Bits, as vectors and back, and what hangs on them. */
static void check_masks(void)
{
    int wrong_bits = 0, wrong_keep = 0, wrong_less = 0, wrong_any = 0;
    const real v = numbers(1, (scalar)0.25), limit = simd_set(v[LANES / 2]);
    for (uint32_t bits = 0; bits < MASKS; bits++) {
        simd_mask m = simd_mask_of_bits(bits);
        real kept = simd_keep(m, v);
        uint32_t less = simd_bits(simd_less_in(m, v, limit));
        wrong_bits += simd_bits(m) != bits;
        wrong_any += simd_any(m) != (bits != 0);
        for (int l = 0; l < LANES; l++) {
            wrong_keep += kept[l] < (is_set(bits, l) ? v[l] : 0);
            wrong_keep += kept[l] > (is_set(bits, l) ? v[l] : 0);
            wrong_less +=
                is_set(less, l) != (is_set(bits, l) && v[l] < limit[l]);
        }
    }
    tap_ok(wrong_bits == 0, "bits become masks and masks bits");
    tap_ok(wrong_any == 0, "a mask says whether it has a lane");
    tap_ok(wrong_keep == 0, "lanes of a mask are kept, others are 0");
    tap_ok(wrong_less == 0, "less, within a mask");
}

static void check_packing(void)
{
    int wrong_pack = 0, wrong_unpack = 0;
    const real v = numbers(1, (scalar)0.25);
    scalar packed[ROOM], from[ROOM];
    for (int l = 0; l < ROOM; l++)
        from[l] = (scalar)(100 + l);
    for (uint32_t bits = 0; bits < MASKS; bits++) {
        int n = 0;
        memset(packed, 0, sizeof packed);
        simd_pack(bits, v, packed + 1);
        real back = simd_unpack(bits, from + 1);
        for (int l = 0; l < LANES; l++) {
            scalar expected = is_set(bits, l) ? from[1 + n] : 0;
            wrong_unpack +=
                memcmp(&expected, (scalar *)&back + l, sizeof expected) != 0;
            if (is_set(bits, l))
                wrong_pack += fabs((double)(packed[1 + n++] - v[l])) > 0;
        }
        wrong_pack +=
            fabs((double)packed[0]) > 0 || fabs((double)packed[1 + LANES]) > 0;
    }
    tap_ok(wrong_pack == 0, "lanes are packed in order, within a vector");
    tap_ok(wrong_unpack == 0, "and go back to where they were");
}

static void check_rows(void)
{
    scalar table[64 * 4] __attribute__((aligned(64)));
    uint8_t index[LANES];
    lane_int at = {0};
    real c[4], few, many;
    int wrong = 0, wrong_of = 0, wrong_few = 0;
    for (int k = 0; k < 64 * 4; k++)
        table[k] = (scalar)(1000 + k);
    for (int turn = 0; turn < 7; turn++) {
        for (int l = 0; l < LANES; l++) {
            at[l] = (KERNEL_MASK_SCALAR)((l * 23 + turn * 31) % 200);
            index[l] = (uint8_t)((l * 5 + turn * 11) % 64);
        }
        simd_rows(table, at, c);
        for (int k = 0; k < 4; k++)
            for (int l = 0; l < LANES; l++)
                wrong += fabs((double)(c[k][l] - table[at[l] + k])) > 0;
        simd_rows_of(table, index, c);
        for (int k = 0; k < 4; k++)
            for (int l = 0; l < LANES; l++)
                wrong_of +=
                    fabs((double)(c[k][l] - table[4 * index[l] + k])) > 0;
        many = simd_lookup(table, index, 0);
        for (int l = 0; l < LANES; l++)
            wrong_few += fabs((double)(many[l] - table[index[l]])) > 0;
        for (int l = 0; l < LANES; l++)
            index[l] = (uint8_t)((l * 3 + turn) % LANES);
        few = simd_lookup(table, index, 1);
        for (int l = 0; l < LANES; l++)
            wrong_few += fabs((double)(few[l] - table[index[l]])) > 0;
    }
    tap_ok(wrong == 0, "four numbers of each lane's row");
    tap_ok(wrong_of == 0, "the same by number of the row");
    tap_ok(wrong_few == 0, "one number of a small table and of a large one");
}

static void check_sums(void)
{
    const real x = numbers(1, 1), y = numbers(2, 3), z = numbers(5, 7);
    scalar out[4] __attribute__((aligned(64))) = {10, 20, 30, 40};
    scalar sum[3] = {10, 20, 30};
    for (int l = 0; l < LANES; l++) {
        sum[0] += x[l];
        sum[1] += y[l];
        sum[2] += z[l];
    }
    simd_add_sums(out, x, y, z);
    tap_ok(memcmp(out, sum, sizeof sum) == 0 && out[3] > 39 && out[3] < 41,
           "three sums over lanes");
    tap_ok(fabs((double)(simd_fold(y) - (sum[1] - 20))) == 0 &&
               fabs((double)(simd_sum(y) - (sum[1] - 20))) == 0,
           "one sum over lanes");
    int wrong = 0;
    real least = simd_least(x, y), greatest = simd_greatest(x, y);
    for (int l = 0; l < LANES; l++) {
        wrong += fabs((double)(least[l] - (x[l] < y[l] ? x[l] : y[l]))) > 0;
        wrong += fabs((double)(greatest[l] - (x[l] > y[l] ? x[l] : y[l]))) > 0;
    }
    tap_ok(wrong == 0, "least and greatest");
}

/* Rows of cluster forces are transposed into x, y, z and cleared. */
static void check_flush(void)
{
    scalar i_force[LANES][4] __attribute__((aligned(64)));
    scalar f[3 * LANES] __attribute__((aligned(64)));
    int wrong = 0, left = 0;
    for (int l = 0; l < LANES; l++)
        for (int d = 0; d < 4; d++)
            i_force[l][d] = (scalar)(10 * l + d + 1);
    for (int k = 0; k < 3 * LANES; k++)
        f[k] = (scalar)(1000 * k);
    simd_flush(f, i_force);
    for (int l = 0; l < LANES; l++)
        for (int d = 0; d < 3; d++)
            wrong += fabs((double)f[d * LANES + l] -
                          (1000 * (d * LANES + l) + 10 * l + d + 1)) > 0;
    for (int l = 0; l < LANES; l++)
        for (int d = 0; d < 4; d++)
            left += fabs((double)i_force[l][d]) > 0;
    tap_ok(wrong == 0 && left == 0, "a cluster's forces are added and cleared");
}

static void check_roots(void)
{
    const double step = sizeof(scalar) == 8 ? 2.3e-16 : 1.3e-7;
    double worst = 0, worst_inverse = 0;
    for (int k = -60; k < 60; k++)
        for (int part = 0; part < 100; part++) {
            real a = numbers((scalar)ldexp(1 + part / 100.0, k),
                             (scalar)ldexp(0.01, k));
            real root = simd_sqrt(a), inverse = simd_inverse_root(a);
            for (int l = 0; l < LANES; l++) {
                double r = sqrt((double)a[l]);
                worst = fmax(worst, fabs((double)root[l] / r - 1));
                worst_inverse =
                    fmax(worst_inverse, fabs((double)inverse[l] * r - 1));
            }
        }
    tap_ok(worst <= step, "roots are good to %.1e", worst);
    tap_ok(worst_inverse <= 2 * step, "inverse roots are good to %.1e",
           worst_inverse);
}

/* Floats and integers as the list's search uses them. */
static void check_boxes(void)
{
    float a[BOX_LANES], b[BOX_LANES];
    int32_t flags[BOX_LANES], order[2 * BOX_LANES];
    uint32_t from[BOX_LANES], to[2 * BOX_LANES];
    int wrong = 0, wrong_choice = 0, wrong_equal = 0, wrong_less = 0;
    for (uint32_t bits = 0;
         bits<1u << BOX_LANES; bits += BOX_LANES> 8 ? 7 : 1) {
        int n = 0, m = 0;
        box_real va, vb;
        for (int l = 0; l < BOX_LANES; l++) {
            a[l] = (float)(is_set(bits, l) ? l : l + 2);
            b[l] = (float)(l + 1);
            flags[l] = (is_set(bits, l) ? 4 : 0) | 1;
            from[l] = (uint32_t)(100 + l);
        }
        memcpy(&va, a, sizeof va);
        memcpy(&vb, b, sizeof vb);
        wrong_less += simd_box_less_bits(va, vb) != bits;
        va = simd_box_max(va, vb);
        memcpy(b, &va, sizeof b);
        n = simd_box_compress(bits, 40, order);
        int chosen = simd_box_choose(flags, 4, from, to);
        for (int l = 0; l < BOX_LANES; l++) {
            wrong_less +=
                fabsf(b[l] - (float)(is_set(bits, l) ? l + 1 : l + 2)) > 0;
            if (!is_set(bits, l))
                continue;
            wrong += order[m] != 40 + l;
            wrong_choice += to[m++] != from[l];
        }
        wrong += n != m;
        wrong_choice += chosen != m;
    }
    for (int l = 0; l < BOX_LANES; l++)
        wrong_equal +=
            simd_box_equal_bits(from, (uint32_t)(100 + l)) != 1u << l;
    wrong_equal += simd_box_equal_bits(from, 7) != 0;
    tap_ok(wrong_less == 0, "boxes: less and greatest");
    tap_ok(wrong == 0, "boxes: numbers of the lanes that are set");
    tap_ok(wrong_choice == 0, "boxes: entries whose flags have a bit");
    tap_ok(wrong_equal == 0, "boxes: entries of one value");
    lane_float x, y;
    float px[LANES], py[LANES];
    for (int l = 0; l < LANES; l++) {
        px[l] = (float)(l % 3);
        py[l] = (float)((l + 1) % 3);
    }
    memcpy(&x, px, sizeof px);
    memcpy(&y, py, sizeof py);
    uint32_t less = simd_lane_less_bits(x, y);
    lane_float least = simd_lane_min(x, y);
    wrong = 0;
    for (int l = 0; l < LANES; l++) {
        wrong += is_set(less, l) != (px[l] < py[l]);
        wrong += fabsf(least[l] - fminf(px[l], py[l])) > 0;
    }
    tap_ok(wrong == 0, "floats of a lane each: less and least");
}

int main(void)
{
    check_masks();
    check_packing();
    check_rows();
    check_sums();
    check_flush();
    check_roots();
    check_boxes();
    return tap_done();
}
