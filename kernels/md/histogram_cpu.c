/* histogram_cpu.c: bonds by length, angles by size. */
#include "kernels/md/chain_cpu.h"

#include <math.h>

/* Of a bond the length, of an angle its size in radians. */
static double size_of(const struct md_store *s, const struct slot_term *term)
{
    double a[3], b[3], aa = 0, bb = 0, ab = 0;
    md_difference(s, term->slot[0], term->slot[1], a);
    for (int d = 0; d < 3; d++)
        aa += a[d] * a[d];
    if (term->kind == MD_TERM_BOND)
        return sqrt(aa);
    md_difference(s, term->slot[2], term->slot[1], b);
    for (int d = 0; d < 3; d++) {
        bb += b[d] * b[d];
        ab += a[d] * b[d];
    }
    return acos(fmax(-1, fmin(1, ab / sqrt(aa * bb))));
}

struct histogram {
    double low, high;
    int n_bins;
    uint64_t *counts;
};

static void count(const struct histogram *h, int type, double size,
                  uint64_t share)
{
    double at = (size - h->low) / (h->high - h->low) * h->n_bins;
    uint64_t *of = h->counts + (size_t)type * ((size_t)h->n_bins + 1);
    of[at >= 0 && at < h->n_bins ? (int)at : h->n_bins] += share;
}

static void count_bond(const struct md_store *s, uint32_t slot,
                       uint32_t partner, int type, void *user)
{
    const struct slot_term bond = {.slot = {slot, partner},
                                   .kind = MD_TERM_BOND};
    count(user, type, size_of(s, &bond), 1);
}

void md_term_histogram(const struct md_store *s, int kind, double low,
                       double high, int n_bins, uint64_t *counts)
{
    const struct md_terms *t = s->terms;
    struct histogram h = {low, high, n_bins, counts};
    for (size_t k = 0; t && k < t->n; k++) {
        const struct slot_term *term = &t->terms[k];
        if (term->kind != kind)
            continue;
        uint64_t share = 0;
        for (int i = 0; i < md_term_size(kind); i++)
            share += term->own >> i & 1;
        count(&h, term->type, size_of(s, term), share);
    }
    if (t && kind == MD_TERM_BOND)
        md_for_each_bond(s, count_bond, &h);
}
