/* virial_cuda.cu: what the pairs of each particle add to the pressure where it
 * is, for profiles.
 */
#include "kernels/md/near_cuda.h"

#include "kernels/md/lj.h"

/* Half of sum r_a f_a over the neighbors of one list: xx, yy, zz, added to
 * out[3] of each particle where ADD. */
template <int ADD>
static __global__ void share_virial(struct md_view m, const uint32_t *neighbor,
                                    const uint32_t *count, double (*out)[3])
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    struct pair_position pi = m.pair[i];
    const struct pair_terms *row = m.terms + pi.species * m.n_species;
    double sum[3] = {0, 0, 0};
    for_each_neighbor(m, neighbor, count, i, pi,
                      [&](uint32_t, const struct pair_position &pj,
                          const scalar d[3], scalar r2) {
                          struct pair_terms t = row[pj.species];
                          scalar inv6, g;
                          if (r2 >= t.cut2)
                              return;
                          g = lj_force_over_r(r2, t.f12, t.f6, &inv6);
                          (void)lj_force_shift(SCALAR_SQRT(r2), t.slope, t.cut,
                                               &g);
                          for (int e = 0; e < 3; e++)
                              sum[e] += 0.5 * (double)(g * d[e] * d[e]);
                      });
    for (int e = 0; e < 3; e++)
        out[i][e] = ADD ? out[i][e] + sum[e] : sum[e];
}

int cuda_pair_virial(struct ctx *ctx, const struct md_store *store,
                     double (*out)[3])
{
    /* The records' scratch belongs to the store; its content does not change.
     */
    struct md_store *s = const_cast<struct md_store *>(store);
    size_t n = s->view.n_own;
    cuda_settle(s);
    if (n == 0 || s->failed != 0)
        return s->failed;
    TRY(cuda_reserve(s, ARRAY_RECORDS, n, sizeof *out, "virials"));
    double(*on_card)[3] = (double(*)[3])s->array[ARRAY_RECORDS].p;
    LAUNCH(share_virial<0>, cuda_blocks(n, MD_THREADS), MD_THREADS, 0,
           s->device->stream, s->view, (const uint32_t *)s->own.neighbor.p,
           (const uint32_t *)s->own.count.p, on_card);
    CUDA_TRY_LAUNCH(ctx, "share_virial");
    if (s->view.n_halo > 0) {
        LAUNCH(share_virial<1>, cuda_blocks(n, MD_THREADS), MD_THREADS, 0,
               s->device->stream, s->view, (const uint32_t *)s->halo.neighbor.p,
               (const uint32_t *)s->halo.count.p, on_card);
        CUDA_TRY_LAUNCH(ctx, "share_virial");
    }
    return cuda_to_host(ctx, s->device, out, on_card, n * sizeof *out);
}
