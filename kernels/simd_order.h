/* simd_order.h: in which order the lanes of a mask are packed and unpacked, for
 * targets without such instructions.
 *
 * One byte for each lane, the first lowest. For eight lanes an entry for every
 * mask; for four lanes of twice the size, eight halves and an entry for each of
 * the 16 masks.
 */
#ifndef WARPDECK_KERNELS_SIMD_ORDER_H
#define WARPDECK_KERNELS_SIMD_ORDER_H

#include <stdint.h>

/* Byte n: the number of the n-th lane that is set; 0 behind the last. */
extern const uint64_t simd_order[256], simd_order_halves[16];
/* Byte l: how many lanes are set below l, where l is set; else 0x80. */
extern const uint64_t simd_place[256], simd_place_halves[16];

#endif
