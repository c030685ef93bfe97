/* form_pair_cuda.h: one pair of another potential than Lennard-Jones on a card,
 * from rows of polynomials (pair_table.h); as near_cuda.h wants a kind of pair.
 *
 * Private to the .cu files of kernels/md.
 */
#ifndef WARPDECK_KERNELS_MD_FORM_PAIR_CUDA_H
#define WARPDECK_KERNELS_MD_FORM_PAIR_CUDA_H

#include <math.h>
#include <string.h>

#include "kernels/md/forms_cuda.h"

#define PAIR_FN static __host__ __device__ __attribute__((unused))
#include "kernels/md/pair_table.h"

#if MD_PRECISION == 1
enum { ROW = PAIR_DEGREE_DOUBLE + 1, MANTISSA_BITS = 52, BIAS = 1023 };
typedef unsigned long long row_bits;
typedef double2 row_piece;
static const row_bits ONE_BITS = 0x3ff0000000000000u;
#else
enum { ROW = PAIR_DEGREE_FLOAT + 1, MANTISSA_BITS = 23, BIAS = 127 };
typedef uint32_t row_bits;
typedef float4 row_piece;
static const row_bits ONE_BITS = 0x3f800000u;
#endif

#define form_start MD_NAME(form_start)
#define form_pair MD_NAME(form_pair)

/* Of two species: where pairs end, where rows begin, and which. */
struct form_start {
    scalar cut2, least2;
    uint32_t row;
};

/* ---- one pair ---- */

/* Row k at `place`, by Horner's rule. */
static __device__ __forceinline__ scalar row_value(const scalar *rows,
                                                   uint32_t k, scalar place)
{
    const row_piece *from = (const row_piece *)(rows + (size_t)k * ROW);
#if MD_PRECISION == 1
    double2 d = __ldg(from + 3), c = __ldg(from + 2);
    double2 b = __ldg(from + 1), a = __ldg(from);
    double sum = ((d.y * place + d.x) * place + c.y) * place + c.x;
    return (((sum * place + b.y) * place + b.x) * place + a.y) * place + a.x;
#else
    float4 c = __ldg(from);
    return ((c.w * place + c.z) * place + c.y) * place + c.x;
#endif
}

/* Pairs nearer than rows reach are rare. */
static __device__ __forceinline__ double
exact_pair(const struct md_pair_form *form, struct near_pair *near,
           const int64_t *id, uint32_t i, uint32_t j, double r2, double *g)
{
    double inner = md_pair_inner(form);
    if (r2 < inner * inner && atomicExch(&near->claimed, 1u) == 0) {
        near->id[0] = id[i];
        near->id[1] = id[j];
        near->distance = sqrt(r2);
        near->inner = inner;
    }
    return md_pair_shifted(form, r2, g);
}

struct form_pair {
    const scalar *force, *energy;
    const struct form_start *start;   /* [n_species][n_species] */
    const struct md_pair_form *exact; /* the same; splines of the card */
    struct near_pair *near;
    row_bits first; /* the leading bits of the least r^2 */
    int drop;       /* bits that tell the place in a row */
    scalar middle;

    struct own_part {
        int row;
    };

    __device__ __forceinline__ own_part begin(
        const struct md_view &m, uint32_t, const struct pair_position &pi) const
    {
        own_part own = {pi.species * m.n_species};
        return own;
    }

    __device__ __forceinline__ int
    force_of(const struct md_view &m, const own_part &own, uint32_t i,
             uint32_t j, const struct pair_position &pj, scalar r2, int want,
             scalar *g, scalar *u) const
    {
        const struct form_start t = start[own.row + pj.species];
        if (r2 >= t.cut2)
            return 0;
        if (!(r2 >= t.least2)) {
            double exact_g;
            *u = (scalar)exact_pair(exact + own.row + pj.species, near, m.id, i,
                                    j, (double)r2, &exact_g);
            *g = (scalar)exact_g;
            return 1;
        }
        row_bits bits, within;
        scalar place;
        memcpy(&bits, &r2, sizeof bits);
        within = (bits & (((row_bits)1 << drop) - 1)) | ONE_BITS;
        memcpy(&place, &within, sizeof place);
        place -= middle;
        uint32_t k = (uint32_t)((bits >> drop) - first) + t.row;
        *g = row_value(force, k, place);
        if (want)
            *u = row_value(energy, k, place);
        return 1;
    }
};

/* ---- forms_cuda.cu ---- */
#define cuda_form_pair MD_NAME(cuda_form_pair)

/* That of the store, whose s->forms is not NULL. Pairs that come too near are
 * to be looked for after it has been used. */
struct form_pair cuda_form_pair(struct md_store *s);

#endif
