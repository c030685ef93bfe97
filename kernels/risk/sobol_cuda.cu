/* sobol_cuda.cu: the normals of paths from Sobol's points; the card's twin of
 * sobol_cpu.c. */
#include "kernels/risk/normals.h"
#include "kernels/risk/risk_cuda.h"

/* Direction numbers: all threads look at the same coordinate and bit at once.
 */
static __constant__ uint32_t directions[RISK_SOBOL_DIMENSIONS * 32];

static __device__ __forceinline__ double *
point_row(const struct risk_view &m, int k, int driver, size_t at)
{
    return m.points +
           ((size_t)k * (size_t)m.n_sobol + (size_t)driver) * m.stride + at;
}

/* The normal of position j of the bridge, of coordinate c of point n; beyond
 * the table as if j were a step. */
static __device__ __forceinline__ double
normal_of(const struct risk_view &m, uint64_t path, uint32_t replicate,
          uint32_t n, int j, int driver)
{
    const int64_t c = (int64_t)j * m.n_sobol + driver;
    if (c >= m.dimensions) {
        double four[4];
        risk_four_normals(m.seed, path, (uint32_t)j / 4, driver, four);
        double low = j & 1 ? four[1] : four[0],
               high = j & 1 ? four[3] : four[2];
        return j & 2 ? high : low;
    }
    const uint32_t word =
        risk_scrambled(risk_sobol_word(n, directions + 32 * (int)c),
                       (uint32_t)risk_scramble_seed(m.seed, replicate, (int)c));
    return exact_normal_quantile(exact_uniform32(word));
}

/* A driver's normals, at their points' steps, are reflected (sobol.h). */
static __device__ __forceinline__ void turn(const struct risk_view &m,
                                            int driver, size_t at)
{
    double sum = 0;
    for (int j = 0; j < m.n_steps; j++)
        sum =
            exact_fma(m.turn[j], *point_row(m, m.order[j].at, driver, at), sum);
    sum = -2 * sum;
    for (int j = 0; j < m.n_steps; j++) {
        double *z = point_row(m, m.order[j].at, driver, at);
        *z = exact_fma(m.turn[j], sum, *z);
    }
}

/* The normal of point p, at its step, becomes the Brownian motion there. */
static __device__ __forceinline__ void place(const struct risk_view &m,
                                             const struct risk_bridge_point *p,
                                             int driver, size_t at)
{
    double w = p->deviation * *point_row(m, p->at, driver, at);
    if (p->right >= 0)
        w = exact_fma(p->right_weight, *point_row(m, p->right, driver, at), w);
    if (p->left >= 0)
        w = exact_fma(p->left_weight, *point_row(m, p->left, driver, at), w);
    *point_row(m, p->at, driver, at) = w;
}

/* From Brownian motion back to a normal for each step. */
static __device__ __forceinline__ void difference(const struct risk_view &m,
                                                  int driver, size_t at)
{
    for (int k = m.n_steps - 1; k >= 0; k--) {
        double *to = point_row(m, k, driver, at);
        double w = *to;
        if (k > 0)
            w = w - *point_row(m, k - 1, driver, at);
        *to = w * m.per_root[k];
    }
}

/* The factors' normals of step k times the root, from the last one up. */
static __device__ __forceinline__ void correlate(const struct risk_view &m,
                                                 int k, size_t at)
{
    for (int f = m.n_factors - 1; f >= 0; f--) {
        const double *root = m.root + (ptrdiff_t)f * m.n_factors;
        double sum = root[f] * *point_row(m, k, f, at);
        for (int g = f - 1; g >= 0; g--)
            sum = exact_fma(root[g], *point_row(m, k, g, at), sum);
        *point_row(m, k, f, at) = sum;
    }
}

static __global__ void __launch_bounds__(RISK_THREADS)
    make_points(struct risk_view m, uint64_t first)
{
    const size_t at = risk_path_of_thread();
    const uint64_t path = first + at;
    uint64_t replicate = m.replicate_paths > 0 ? path / m.replicate_paths : 0;
    uint32_t n = (uint32_t)(path - replicate * m.replicate_paths);
    if (path >= RISK_REGRESSION_PATH) {
        /* A scramble that no price uses. */
        replicate = UINT32_MAX - m.replicate;
        n = (uint32_t)path;
    }
    for (int j = 0; j < m.n_steps; j++)
        for (int d = 0; d < m.n_sobol; d++)
            *point_row(m, m.order[j].at, d, at) =
                normal_of(m, path, m.replicate + (uint32_t)replicate, n, j, d);
    for (int d = 0; d < m.n_sobol; d++) {
        if (m.turn != NULL)
            turn(m, d, at);
        for (int j = 0; j < m.n_steps; j++)
            place(m, &m.order[j], d, at);
        difference(m, d, at);
    }
    for (int k = 0; k < m.n_steps && m.root != NULL; k++)
        correlate(m, k, at);
}

int risk_cuda_directions(struct risk_store *s)
{
    const size_t n = (size_t)s->t.sobol.dimensions * 32 * sizeof(uint32_t);
    CUDA_TRY(s->ctx, cudaMemcpyToSymbolAsync(directions, s->t.sobol.direction,
                                             n, 0, cudaMemcpyHostToDevice,
                                             s->device->stream));
    CUDA_TRY(s->ctx, cudaStreamSynchronize(s->device->stream));
    s->device->bytes_to_device += n;
    return 0;
}

int risk_cuda_points(struct risk_store *s, uint64_t path, int64_t chunks)
{
    if (!s->view.sobol)
        return 0;
    const unsigned grid = (unsigned)(chunks * (RISK_CHUNK / RISK_THREADS));
    LAUNCH(make_points, grid, RISK_THREADS, 0, s->device->stream, s->view,
           path);
    CUDA_TRY_LAUNCH(s->ctx, "make_points");
    return 0;
}
