/* simd_order.c: the tables of simd_order.h, written by the preprocessor. */
#include "kernels/simd_order.h"

#define IS_SET_(mask, lane) (((mask) >> (lane)) & 1)
#define COUNT_(mask)                                          \
    (IS_SET_(mask, 0) + IS_SET_(mask, 1) + IS_SET_(mask, 2) + \
     IS_SET_(mask, 3) + IS_SET_(mask, 4) + IS_SET_(mask, 5) + \
     IS_SET_(mask, 6))
#define BELOW_(mask, lane) COUNT_((mask) & ((1 << (lane)) - 1))

#define ORDER_LANE_(mask, lane) \
    (IS_SET_(mask, lane) ? (uint64_t)(lane) << 8 * BELOW_(mask, lane) : 0)
#define PLACE_LANE_(mask, lane) \
    ((uint64_t)(IS_SET_(mask, lane) ? BELOW_(mask, lane) : 0x80) << 8 * (lane))
#define ALL_LANES_(of, mask)                                               \
    (of(mask, 0) | of(mask, 1) | of(mask, 2) | of(mask, 3) | of(mask, 4) | \
     of(mask, 5) | of(mask, 6) | of(mask, 7))
#define ORDER_(mask) ALL_LANES_(ORDER_LANE_, mask)
#define PLACE_(mask) ALL_LANES_(PLACE_LANE_, mask)

#define FOUR_(of, m) of(m), of((m) + 1), of((m) + 2), of((m) + 3)
#define SIXTEEN_(of, m) \
    FOUR_(of, m), FOUR_(of, (m) + 4), FOUR_(of, (m) + 8), FOUR_(of, (m) + 12)
#define SIXTY_FOUR_(of, m)                                           \
    SIXTEEN_(of, m), SIXTEEN_(of, (m) + 16), SIXTEEN_(of, (m) + 32), \
        SIXTEEN_(of, (m) + 48)
#define EVERY_(of)                                                 \
    SIXTY_FOUR_(of, 0), SIXTY_FOUR_(of, 64), SIXTY_FOUR_(of, 128), \
        SIXTY_FOUR_(of, 192)
/* Masks whose bits come in pairs: 3 for each bit of 0 .. 15. */
#define PAIRED_(of)                                                           \
    of(0x00), of(0x03), of(0x0c), of(0x0f), of(0x30), of(0x33), of(0x3c),     \
        of(0x3f), of(0xc0), of(0xc3), of(0xcc), of(0xcf), of(0xf0), of(0xf3), \
        of(0xfc), of(0xff)

const uint64_t simd_order[256] = {EVERY_(ORDER_)};
const uint64_t simd_place[256] = {EVERY_(PLACE_)};
const uint64_t simd_order_halves[16] = {PAIRED_(ORDER_)};
const uint64_t simd_place_halves[16] = {PAIRED_(PLACE_)};
