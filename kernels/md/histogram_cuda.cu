/* histogram_cuda.cu: bonds by length, angles by size. */
#include "kernels/md/terms_cuda.h"

#include <math.h>
#include <stdlib.h>

static __device__ __forceinline__ double length2(const double d[3])
{
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

static __global__ void count_sizes(struct md_view m, struct listed_terms b,
                                   int kind, double low, double high,
                                   int n_bins, unsigned long long *counts)
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    struct row_range row = row_of(b.rows, i);
    for (uint32_t q = row.begin; q < row.end; q++) {
        const struct card_term &t = b.term[b.entry[q] / TERM_PLACES];
        double d[3], e[3], size;
        if (t.kind != kind)
            continue;
        difference(m, t.slot[0], t.slot[1], d);
        size = sqrt(length2(d));
        if (kind == MD_TERM_ANGLE) {
            difference(m, t.slot[2], t.slot[1], e);
            double cosine = (d[0] * e[0] + d[1] * e[1] + d[2] * e[2]) /
                            sqrt(length2(d) * length2(e));
            size = acos(fmin(1.0, fmax(-1.0, cosine)));
        }
        double at = (size - low) / (high - low) * n_bins;
        int bin = at >= 0 && at < n_bins ? (int)at : n_bins;
        atomicAdd(&counts[(size_t)t.type * ((size_t)n_bins + 1) + (size_t)bin],
                  1ull);
    }
}

static int count_kind(struct md_store *s, int kind, double low, double high,
                      int n_bins, uint64_t *counts)
{
    const struct md_force_field *f = &s->terms->field;
    size_t types = (size_t)(kind == MD_TERM_BOND ? f->n_bonds : f->n_angles);
    size_t n = types * ((size_t)n_bins + 1);
    if (n == 0)
        return 0;
    TRY(cuda_reserve(s, ARRAY_HISTOGRAM, n, sizeof(uint64_t), "histograms"));
    CUDA_TRY(s->ctx, cudaMemsetAsync(s->array[ARRAY_HISTOGRAM].p, 0,
                                     n * sizeof(uint64_t), s->device->stream));
    for (int side = 0; side < 2; side++) {
        if (s->terms->n_entries[side] == 0)
            continue;
        LAUNCH(count_sizes, cuda_blocks(s->view.n_own, MD_THREADS), MD_THREADS,
               0, s->device->stream, s->view, cuda_listed_terms(s, side), kind,
               low, high, n_bins,
               ARRAY(s, ARRAY_HISTOGRAM, unsigned long long));
        CUDA_TRY_LAUNCH(s->ctx, "count_sizes");
    }
    uint64_t *fresh = (uint64_t *)malloc(n * sizeof *fresh);
    if (!fresh)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for histograms");
    int status = cuda_to_host(s->ctx, s->device, fresh,
                              s->array[ARRAY_HISTOGRAM].p, n * sizeof *fresh);
    for (size_t k = 0; status == 0 && k < n; k++)
        counts[k] += fresh[k];
    free(fresh);
    return status;
}

void cuda_term_histogram(const struct md_store *store, int kind, double low,
                         double high, int n_bins, uint64_t *counts)
{
    /* Only scratch of the store changes. */
    struct md_store *s = const_cast<struct md_store *>(store);
    cuda_settle(s);
    if (s->terms && s->view.n_own > 0 && s->failed == 0)
        s->failed = count_kind(s, kind, low, high, n_bins, counts);
}
