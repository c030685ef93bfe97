/* risk_select.c: the k-th smallest of numbers that lie on several ranks.
 *
 * By digits of the numbers' bits, the highest first: how many have which digit
 * is counted by all ranks, and those that have not the wanted one are left out.
 * It is exact, and no rank sees another one's numbers, so that it depends
 * neither on how many ranks there are nor on who has what.
 */
#include "solvers/risk/risk_select.h"

#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"

/* Numbers in order, as integers in order. */
static uint64_t key_of(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u >> 63 ? ~u : u | (uint64_t)1 << 63;
}

static double of_key(uint64_t k)
{
    double x;
    k = k >> 63 ? k & ~((uint64_t)1 << 63) : ~k;
    memcpy(&x, &k, sizeof x);
    return x;
}

int risk_select(struct ctx *ctx, double *x, size_t n, int64_t rank,
                int64_t *count, double *out)
{
    uint64_t key = 0;
    for (int shift = 64 - RISK_DIGIT; shift >= 0; shift -= RISK_DIGIT) {
        const uint64_t mask = RISK_DIGITS - 1;
        uint64_t digit = 0;
        size_t kept = 0;
        memset(count, 0, RISK_DIGITS * sizeof *count);
        for (size_t i = 0; i < n; i++)
            count[key_of(x[i]) >> shift & mask]++;
        TRY(comm_sum_int64(ctx, count, RISK_DIGITS));
        while (digit < mask && rank > count[digit])
            rank -= count[digit++];
        for (size_t i = 0; i < n; i++) {
            const double y = x[i];
            x[kept] = y;
            kept += (key_of(y) >> shift & mask) == digit;
        }
        n = kept;
        key = key << RISK_DIGIT | digit;
    }
    *out = of_key(key);
    return 0;
}
