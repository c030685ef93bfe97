/* poisson_create.c: which transform goes first, what is stored where. */
#include "kernels/fluid/poisson_state.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/format.h"
#include "kernels/device.h"
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
    HUGE_PAGE = 2 << 20,
    LINE_BYTES = 64,
    STAGGER = 9 * LINE_BYTES, /* arrays should not begin at the same place of
                               * a page, or they fall on the same cache sets */
    STAGGERS = 13,
    BLOCKS_MAX = 4096
};

/* What a device on this host will have (kernels/device.c), for estimates. */
static int likely_threads(void)
{
#ifdef _OPENMP
    return getenv("OMP_NUM_THREADS") ? omp_get_max_threads() : 1;
#else
    return 1;
#endif
}

struct poisson_work *poisson_scratch(struct poisson *p)
{
#ifdef _OPENMP
    return &p->work[omp_get_thread_num()];
#else
    return &p->work[0];
#endif
}

/* ---- sizes ---- */

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static int periodic(const struct fluid_setup *s, int axis)
{
    return s->face[axis][0].type == FLUID_PERIODIC;
}

/* Groups of a first transform of n samples. */
static size_t groups_of(size_t n, int fourier)
{
    return fourier ? (n / 2 + LANES) / LANES
                   : (n + 2 * LANES - 1) / (2 * LANES);
}

/* Along y its samples are neighbors in x already; along x only where that
 * saves a quarter of the spectrum (few rows) or makes a Fourier transform the
 * first one, so that real and imaginary parts share their eigenvalues. */
static int choose_first(const struct fluid_setup *s)
{
    if (s->dims[1] > 1)
        return FLUID_X;
    if (periodic(s, 0) != periodic(s, 1))
        return periodic(s, 0) ? FLUID_X : FLUID_Y;
    size_t nx = (size_t)s->cells[0], ny = (size_t)s->cells[1];
    size_t with_y = groups_of(ny, periodic(s, 1)) * nx;
    size_t with_x = groups_of(nx, periodic(s, 0)) * ny;
    return 4 * with_x < 3 * with_y ? FLUID_X : FLUID_Y;
}

static void set_sizes(struct poisson *p, const struct fluid_setup *s)
{
    p->first_axis = choose_first(s);
    p->size[0] = (size_t)s->local[0];
    p->size[1] = (size_t)s->local[1];
    p->planes = (size_t)s->local[2];
    p->y_ranks = s->dims[1];
    p->y_rank = s->coords[1];
    p->z_ranks = s->dims[2];
    p->z_rank = s->coords[2];
    p->cut_y = p->y_ranks > 1;
    p->periodic_z = periodic(s, 2);
    p->cells_z = s->cells[2];
    p->first_z = s->first[2];
    p->waves = p->periodic_z && (s->uniform_z || s->cells[2] == 1);
    p->n[0] = (size_t)s->cells[p->first_axis];
    p->n[1] = (size_t)s->cells[1 - p->first_axis];
    p->lines = (size_t)s->local[1 - p->first_axis];
    p->paired = periodic(s, p->first_axis);
    p->groups = groups_of(p->n[0], p->paired);
    /* Back is not forward's inverse: n times too large, twice that where
     * poisson_planes.c takes Fourier's pairs apart without halving. */
    p->scale = (double)p->n[0] * (double)p->n[1] * (p->paired ? 2 : 1);
    p->n_threads = likely_threads();
}

static size_t first_group(const struct poisson *p, int rank)
{
    return p->groups * (size_t)rank / (size_t)p->y_ranks;
}

static size_t own_groups(const struct poisson *p, int rank)
{
    return first_group(p, rank + 1) - first_group(p, rank);
}

static size_t rank_lines(const struct poisson *p, const struct fluid_setup *s,
                         int rank)
{
    return p->cut_y ? (size_t)(s->cuts[1][rank + 1] - s->cuts[1][rank])
                    : p->lines;
}

/* From plane to plane: two vectors more than needed, since powers of two would
 * put all planes of a column into the same cache sets. */
static size_t plane_numbers(size_t vectors)
{
    return vectors > 0 ? (vectors + 2) * LANES : 0;
}

/* Whether the first plane of an upper neighbor is kept, see FLUID_PSI_Z. */
static int keeps_upper(const struct poisson *p)
{
    return !p->cut_y && p->z_ranks > 1 &&
           (p->periodic_z || p->z_rank + 1 < p->z_ranks);
}

/* What the systems along z need beyond the planes, in vectors. */
struct table_sizes {
    size_t columns;      /* with a vector of their own */
    size_t coefficients; /* with coefficients of their own */
    size_t waves, pieces;
    size_t message;  /* in numbers */
    size_t messages; /* of all ranks */
    size_t scratch;  /* of a thread, in vectors */
};

static struct table_sizes tables_of(const struct poisson *p)
{
    struct table_sizes t = {0};
    const int whole = p->z_ranks == 1 && (p->waves || !p->periodic_z);
    const size_t ranks = (size_t)p->z_ranks;
    t.columns = 2 * own_groups(p, p->y_rank) * p->n[1];
    t.coefficients = p->paired ? t.columns / 2 : t.columns;
    t.waves = p->waves ? t.coefficients : 0;
    t.pieces = p->waves || whole ? 0 : t.coefficients * ranks;
    t.message = (whole ? 0 : 2 * t.columns * LANES);
    t.messages = ranks * t.message + (size_t)p->cells_z;
    size_t longest = p->n[0] > p->n[1] ? p->n[0] : p->n[1];
    size_t columns = 2 * COLUMN_VECTORS * p->planes + 4 * ranks + 1;
    t.scratch = 2 * 2 * round_up(longest, LANES) + columns;
    if (!p->cut_y)
        t.scratch += 2 * p->groups * p->lines;
    return t;
}

size_t poisson_bytes(const struct fluid_setup *setup)
{
    struct poisson p;
    memset(&p, 0, sizeof p);
    set_sizes(&p, setup);
    struct table_sizes t = tables_of(&p);
    size_t own = own_groups(&p, p.y_rank), numbers = 0;
    for (int r = 0; r < p.y_ranks; r++) {
        numbers += plane_numbers(2 * own * rank_lines(&p, setup, r));
        if (r != p.y_rank)
            numbers += plane_numbers(2 * own_groups(&p, r) * p.lines);
    }
    numbers *= p.planes + (size_t)keeps_upper(&p);
    numbers += t.messages;
    size_t vectors = t.columns +
                     t.waves * (sizeof(struct wave) / sizeof(real)) +
                     t.pieces * (sizeof(struct piece) / sizeof(real)) +
                     t.scratch * (size_t)p.n_threads;
    return numbers * sizeof(scalar) + vectors * sizeof(real) +
           3 * sizeof(double) * (size_t)p.cells_z;
}

/* ---- memory ---- */

/* Zeroed, on a cache line. NULL where there is none; n bytes may be 0. */
static void *allocate(struct poisson *p, size_t n)
{
    if (p->n_blocks == BLOCKS_MAX)
        return NULL;
    int large = n >= 2 * HUGE_PAGE;
    size_t shift = large ? (size_t)(p->n_blocks % STAGGERS) * STAGGER : 0;
    size_t align = large ? HUGE_PAGE : LINE_BYTES;
    size_t bytes = round_up(n + shift + LINE_BYTES, align);
    if (bytes < n)
        return NULL;
    char *block = aligned_alloc(align, bytes);
    if (!block)
        return NULL;
    p->blocks[p->n_blocks++] = block;
#ifdef MADV_HUGEPAGE
    if (large)
        (void)madvise(block, bytes, MADV_HUGEPAGE);
#endif
    memset(block, 0, bytes);
    return block + shift;
}

static int allocate_all(struct poisson *p, const struct table_sizes *t)
{
    const size_t planes = p->planes + (size_t)keeps_upper(p);
    for (int r = 0; r < p->y_ranks; r++) {
        struct segment *s = &p->column[r];
        if (!(s->base = allocate(p, planes * s->plane * sizeof(scalar))))
            return STATUS_MEMORY;
        s = &p->stage[r];
        if (r == p->y_rank)
            s->base = p->column[r].base;
        else if (!(s->base = allocate(p, planes * s->plane * sizeof(scalar))))
            return STATUS_MEMORY;
    }
    const size_t cells = (size_t)p->cells_z;
    p->height = allocate(p, cells * sizeof(double));
    p->center = allocate(p, cells * sizeof(double));
    p->mean = allocate(p, cells * sizeof(double));
    p->low = allocate(p, p->planes * sizeof(scalar));
    p->high = allocate(p, p->planes * sizeof(scalar));
    p->lambda = allocate(p, t->columns * sizeof(real));
    if (t->waves > 0)
        p->wave = allocate(p, t->waves * sizeof(struct wave));
    if (t->pieces > 0)
        p->pieces = allocate(p, t->pieces * sizeof(struct piece));
    if (!p->height || !p->center || !p->mean || !p->low || !p->high ||
        !p->lambda || (t->waves > 0 && !p->wave) ||
        (t->pieces > 0 && !p->pieces))
        return STATUS_MEMORY;
    p->mean_at = t->message;
    for (int r = 0; r < p->z_ranks; r++) {
        size_t n = t->message + poisson_rank_planes(p, r);
        if (!(p->recv[r] = allocate(p, n * sizeof(scalar))))
            return STATUS_MEMORY;
    }
    p->send = p->recv[p->z_rank];
    size_t longest = p->n[0] > p->n[1] ? p->n[0] : p->n[1];
    for (int i = 0; i < p->n_threads; i++) {
        struct poisson_work *w = &p->work[i];
        if (!(w->line = allocate(p, t->scratch * sizeof(real))))
            return STATUS_MEMORY;
        w->z = w->line + 2 * round_up(longest, LANES);
        w->columns = w->z + 2 * round_up(longest, LANES);
        w->plane = w->columns + 2 * COLUMN_VECTORS * p->planes +
                   4 * (size_t)p->z_ranks + 1;
    }
    return 0;
}

/* Small arrays, one entry for each rank of a direction or each thread. */
static int allocate_lists(struct poisson *p)
{
    size_t y = (size_t)p->y_ranks, z = (size_t)p->z_ranks;
    size_t n = y > z ? y : z;
    if (n < 2)
        n = 2;
    p->blocks = calloc(BLOCKS_MAX, sizeof *p->blocks);
    p->stage = calloc(y, sizeof *p->stage);
    p->column = calloc(y, sizeof *p->column);
    p->cuts_z = calloc(z + 1, sizeof *p->cuts_z);
    p->recv = calloc(z, sizeof *p->recv);
    p->partner = calloc(n, sizeof *p->partner);
    p->send_list = calloc(n, sizeof *p->send_list);
    p->recv_list = calloc(n, sizeof *p->recv_list);
    p->send_bytes = calloc(n, sizeof *p->send_bytes);
    p->recv_bytes = calloc(n, sizeof *p->recv_bytes);
    p->work = calloc((size_t)p->n_threads, sizeof *p->work);
    return p->blocks && p->stage && p->column && p->cuts_z && p->recv &&
                   p->partner && p->send_list && p->recv_list &&
                   p->send_bytes && p->recv_bytes && p->work
               ? 0
               : STATUS_MEMORY;
}

void poisson_destroy(struct poisson *p)
{
    if (!p)
        return;
    for (int i = 0; i < p->n_blocks; i++)
        free(p->blocks[i]);
    fft_destroy(p->fft[0]);
    fft_destroy(p->fft[1]);
    free(p->blocks);
    free(p->stage);
    free(p->column);
    free(p->cuts_z);
    free(p->recv);
    free(p->partner);
    free(p->send_list);
    free(p->recv_list);
    free(p->send_bytes);
    free(p->recv_bytes);
    free(p->work);
    free(p);
}

/* ---- creation ---- */

static void set_segments(struct poisson *p, const struct fluid_setup *s)
{
    const size_t own = own_groups(p, p->y_rank);
    size_t line = 0, table = 0;
    for (int r = 0; r < p->y_ranks; r++) {
        struct segment *g = &p->stage[r], *c = &p->column[r];
        g->first = first_group(p, r);
        g->count = own_groups(p, r);
        g->vectors = 2 * g->count * p->lines;
        g->plane = plane_numbers(g->vectors);
        c->first = line;
        c->count = rank_lines(p, s, r);
        c->vectors = 2 * own * c->count;
        c->plane = plane_numbers(c->vectors);
        c->table = table;
        line += c->count;
        table += c->vectors;
    }
    p->table_vectors = table;
    p->has_mean = p->stage[p->y_rank].first == 0 && own > 0;
}

static void set_heights(struct poisson *p, const struct fluid_setup *s)
{
    const int64_t n = p->cells_z;
    const double uniform = (s->face_z[n] - s->face_z[0]) / (double)n;
    for (int64_t k = 0; k < n; k++)
        p->height[k] = s->uniform_z ? uniform : s->face_z[k + 1] - s->face_z[k];
    for (int64_t k = 0; k < n; k++)
        p->center[k] = 0.5 * (p->height[k] + p->height[(k + 1) % n]);
    p->wave_rhs = -p->height[0] * p->height[0] / p->scale;
}

int poisson_create(struct ctx *ctx, const struct fluid_setup *setup,
                   struct poisson **out)
{
    int status = 0;
    struct poisson *p = calloc(1, sizeof *p);
    if (!p)
        return FAIL(ctx, STATUS_MEMORY, "no memory for the pressure");
    set_sizes(p, setup);
    if (ctx->device && ctx->device->threads > 0)
        p->n_threads = ctx->device->threads;
    struct table_sizes t = tables_of(p);
    TRY_CLEANUP(allocate_lists(p));
    for (int r = 0; r <= p->z_ranks; r++)
        p->cuts_z[r] = setup->cuts[2][r];
    set_segments(p, setup);
    TRY_CLEANUP(allocate_all(p, &t));
    set_heights(p, setup);
    TRY_CLEANUP(fft_create(ctx, p->n[0], p->paired ? FFT_COMPLEX : FFT_COSINE,
                           &p->fft[0]));
    enum fft_kind second = !periodic(setup, 1 - p->first_axis) ? FFT_COSINE
                           : p->paired                         ? FFT_COMPLEX
                                                               : FFT_REAL;
    TRY_CLEANUP(fft_create(ctx, p->n[1], second, &p->fft[1]));
    poisson_fill_tables(p, setup);
    *out = p;
    return 0;
cleanup:
    poisson_destroy(p);
    char size[FORMAT_MAX];
    return FAIL(ctx, status,
                "no memory for the pressure: %s for the planes and systems of "
                "its equation on one rank",
                format_bytes((double)poisson_bytes(setup), size));
}
