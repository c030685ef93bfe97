/* lines_cuda.cu: implicit diffusion, one direction after the other, in place on
 * the increments, a thread a line. See lines.h for the method and fluid_cpu.h
 * for the equation.
 */
#include "kernels/fluid/store_cuda.h"

#include <stdlib.h>
#include <string.h>

#define lines_view FLUID_NAME(lines_view)

enum {
    COEFFICIENTS = 5,
    LINE_THREADS = 128,
    /* A step has three substages, each with a matrix of its own; they are the
     * same in the next step as long as the time step is. */
    MATRICES = 3
};

/* One matrix of one direction, for all fields: on the card, coefficients
 * [field][5][n] and weights [field][rank][4]. */
struct matrix {
    double alpha_dt; /* 0: none */
    scalar *coeff;
    double *weight;
    int coupled, n_ranks, me; /* place of this rank among those that matter */
    int *rank;
};

struct lines_axis {
    int64_t edges[2];
    struct lines_cut cut;
    struct lines_rows rows[FLUID_FIELDS_MAX];
    struct lines_plan plan[FLUID_FIELDS_MAX];
    struct matrix matrix[MATRICES], *now;
    int oldest;
    size_t lines; /* of one field */
    /* [2][field][line]: first and last unknowns of this rank's pieces, later
     * xl and xu; and what came of the other ranks that matter. */
    struct twin ends, got;
    scalar *own_ends; /* ends on the card, also where nothing is cut */
    int n_partners;
    int *partner;
    const void **send;
    void **recv;
    size_t *bytes;
};

struct lines_cuda {
    struct lines_axis axis[3];
    scalar *host; /* coefficients on their way */
    double *host_weight;
};

static double diffusivity(const struct fluid_store *s, int f)
{
    return f < FLUID_FIRST_SCALAR
               ? s->setup.viscosity
               : s->setup.scalar[f - FLUID_FIRST_SCALAR].diffusivity;
}

static enum lines_wall wall_of(const struct fluid_store *s, int f, int axis,
                               int side)
{
    if (s->view.periodic[axis])
        return f == axis ? LINES_PERIODIC_FACE : LINES_PERIODIC;
    if (f == axis)
        return LINES_FACE;
    if (f < FLUID_FIRST_SCALAR)
        return s->setup.face[axis][side].type == FLUID_FREE_SLIP ? LINES_EVEN
                                                                 : LINES_ODD;
    return s->setup.scalar[f - FLUID_FIRST_SCALAR].face[axis][side].type ==
                   FLUID_SCALAR_VALUE
               ? LINES_ODD
               : LINES_EVEN;
}

static int is_implicit(const struct fluid_setup *setup, int d)
{
    return setup->diffusion == FLUID_IMPLICIT ||
           (d == FLUID_Z && setup->diffusion == FLUID_IMPLICIT_Z);
}

static size_t lines_of(const struct fluid_setup *setup, int axis)
{
    size_t cells = 1;
    for (int d = 0; d < 3; d++)
        if (d != axis)
            cells *= (size_t)setup->local[d];
    return cells;
}

static size_t ends_bytes(const struct fluid_setup *setup, int axis)
{
    return 2 * (size_t)(3 + setup->n_scalars) * lines_of(setup, axis) *
           sizeof(scalar);
}

double lines_cuda_bytes(const struct fluid_setup *setup)
{
    double total = 0;
    for (int d = 0; d < 3; d++) {
        if (!is_implicit(setup, d))
            continue;
        total += (double)setup->dims[d] * (double)ends_bytes(setup, d);
        total += (double)MATRICES * (double)(3 + setup->n_scalars) *
                 ((double)COEFFICIENTS * (double)setup->local[d] *
                      (double)sizeof(scalar) +
                  4 * (double)setup->dims[d] * (double)sizeof(double));
    }
    return total;
}

/* ---- making ---- */

static int make_rows(struct fluid_store *s, int axis, struct lines_axis *l)
{
    size_t n = (size_t)s->setup.cells[axis];
    double *face = (double *)malloc((n + 1) * sizeof *face);
    if (!face)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for %zu faces", n + 1);
    double even = axis == FLUID_Z ? fluid_h(s, 0) : s->setup.spacing[axis];
    for (size_t i = 0; i <= n; i++)
        face[i] = axis == FLUID_Z && !s->setup.uniform_z ? s->setup.face_z[i]
                                                         : (double)i * even;
    int status = 0;
    for (int f = 0; f < s->view.n_fields && status == 0; f++)
        status =
            lines_rows_create(s->ctx, &l->rows[f], (int64_t)n, face,
                              wall_of(s, f, axis, 0), wall_of(s, f, axis, 1));
    free(face);
    return status;
}

static int make_matrices(struct fluid_store *s, int axis, struct lines_axis *l)
{
    size_t fields = (size_t)s->view.n_fields, ranks = (size_t)l->cut.ranks;
    for (int k = 0; k < MATRICES; k++) {
        struct matrix *m = &l->matrix[k];
        void *p;
        TRY(fluid_cuda_new(
            s, fields * COEFFICIENTS * (size_t)s->view.n[axis] * sizeof(scalar),
            "implicit diffusion", &p));
        m->coeff = (scalar *)p;
        TRY(fluid_cuda_new(s, fields * ranks * 4 * sizeof(double),
                           "implicit diffusion", &p));
        m->weight = (double *)p;
        m->rank = (int *)malloc(ranks * sizeof *m->rank);
        if (!m->rank)
            return FAIL(s->ctx, STATUS_MEMORY, "no memory for lines");
    }
    return 0;
}

static int make_axis(struct fluid_store *s, int axis, struct lines_axis *l)
{
    const struct fluid_setup *setup = &s->setup;
    size_t ranks = (size_t)setup->dims[axis];
    size_t bytes = ends_bytes(setup, axis);
    l->cut.ranks = setup->dims[axis];
    l->cut.rank = setup->coords[axis];
    l->cut.periodic = s->view.periodic[axis];
    l->cut.cuts = setup->cuts[axis];
    l->lines = lines_of(setup, axis);
    TRY(make_rows(s, axis, l));
    TRY(make_matrices(s, axis, l));
    if (ranks > 1) {
        TRY(fluid_cuda_new_twin(s, bytes, "implicit diffusion", &l->ends));
        TRY(fluid_cuda_new_twin(s, (ranks - 1) * bytes, "implicit diffusion",
                                &l->got));
        l->own_ends = (scalar *)l->ends.device;
    } else {
        void *p;
        TRY(fluid_cuda_new(s, bytes, "implicit diffusion", &p));
        l->own_ends = (scalar *)p;
    }
    l->partner = (int *)malloc(ranks * sizeof *l->partner);
    l->send = (const void **)malloc(ranks * sizeof *l->send);
    l->recv = (void **)malloc(ranks * sizeof *l->recv);
    l->bytes = (size_t *)malloc(ranks * sizeof *l->bytes);
    if (!l->partner || !l->send || !l->recv || !l->bytes)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for lines");
    return 0;
}

int lines_cuda_create(struct fluid_store *s, struct lines_cuda **out)
{
    struct lines_cuda *lines = (struct lines_cuda *)calloc(1, sizeof *lines);
    size_t longest = 0, ranks = 0, fields = (size_t)s->view.n_fields;
    if (!lines)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for lines");
    *out = lines; /* destroyed with the store */
    for (int d = 0; d < 3; d++) {
        if (!s->implicit[d])
            continue;
        TRY(make_axis(s, d, &lines->axis[d]));
        size_t n = (size_t)s->view.n[d], r = (size_t)s->setup.dims[d];
        longest = n > longest ? n : longest;
        ranks = r > ranks ? r : ranks;
    }
    lines->host =
        (scalar *)malloc(fields * COEFFICIENTS * longest * sizeof *lines->host);
    lines->host_weight =
        (double *)malloc(fields * ranks * 4 * sizeof *lines->host_weight);
    if (!lines->host || !lines->host_weight)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for lines");
    return 0;
}

void lines_cuda_destroy(struct lines_cuda *lines)
{
    for (int d = 0; d < 3 && lines; d++) {
        struct lines_axis *l = &lines->axis[d];
        for (int f = 0; f < FLUID_FIELDS_MAX; f++) {
            lines_rows_destroy(&l->rows[f]);
            lines_plan_destroy(&l->plan[f]);
        }
        for (int k = 0; k < MATRICES; k++)
            free(l->matrix[k].rank);
        fluid_cuda_free_twin(&l->ends);
        fluid_cuda_free_twin(&l->got);
        free(l->partner);
        free((void *)l->send);
        free(l->recv);
        free(l->bytes);
    }
    if (lines) {
        free(lines->host);
        free(lines->host_weight);
    }
    free(lines);
}

/* ---- the matrix of a substage ---- */

static void take_plan(const struct lines_plan *p, scalar *c, double *weight)
{
    size_t n = (size_t)p->n;
    for (size_t i = 0; i < n; i++) {
        c[i] = (scalar)p->scale[i];
        c[n + i] = (scalar)p->lower[i];
        c[2 * n + i] = (scalar)p->upper[i];
        c[3 * n + i] = (scalar)p->first[i];
        c[4 * n + i] = (scalar)p->carry[i];
    }
    memcpy(weight, p->weight, 4 * (size_t)p->n_ranks * sizeof *weight);
}

static int make_matrix(struct fluid_store *s, struct lines_axis *l,
                       double alpha_dt, struct matrix *m)
{
    struct lines_cuda *lines = s->lines;
    size_t n = 0, ranks = 0;
    int reach = 0, fields = s->view.n_fields;
    for (int f = 0; f < fields; f++) {
        double a = 0.5 * alpha_dt * diffusivity(s, f);
        int r = lines_reach(&l->rows[f], &l->cut, a);
        reach = r > reach ? r : reach;
    }
    m->coupled = 0;
    for (int f = 0; f < fields; f++) {
        double a = 0.5 * alpha_dt * diffusivity(s, f);
        struct lines_plan *p = &l->plan[f];
        TRY(lines_plan_set(s->ctx, p, &l->rows[f], &l->cut, a, reach));
        n = (size_t)p->n;
        ranks = (size_t)p->n_ranks;
        take_plan(p, lines->host + (size_t)f * COEFFICIENTS * n,
                  lines->host_weight + (size_t)f * ranks * 4);
        m->coupled |= !p->alone;
    }
    m->n_ranks = (int)ranks;
    for (int q = 0; q < m->n_ranks; q++) {
        m->rank[q] = l->plan[0].rank[q];
        if (m->rank[q] == l->cut.rank)
            m->me = q;
    }
    TRY(cuda_to_device(s->ctx, s->device, m->coeff, lines->host,
                       (size_t)fields * COEFFICIENTS * n * sizeof(scalar)));
    TRY(cuda_to_device(s->ctx, s->device, m->weight, lines->host_weight,
                       (size_t)fields * ranks * 4 * sizeof(double)));
    m->alpha_dt = alpha_dt;
    return 0;
}

static int set_matrix(struct fluid_store *s, struct lines_axis *l,
                      double alpha_dt)
{
    l->now = NULL;
    for (int k = 0; k < MATRICES; k++)
        if (l->matrix[k].alpha_dt == alpha_dt)
            l->now = &l->matrix[k];
    if (!l->now) {
        struct matrix *m = &l->matrix[l->oldest];
        l->oldest = (l->oldest + 1) % MATRICES;
        m->alpha_dt = 0; /* until it is whole */
        TRY(make_matrix(s, l, alpha_dt, m));
        l->now = m;
    }
    l->n_partners = 0;
    for (int q = 0; q < l->now->n_ranks; q++) {
        int at = l->n_partners;
        if (q == l->now->me)
            continue;
        l->partner[at] = l->now->rank[q];
        l->send[at] = l->ends.host;
        l->recv[at] = l->got.host + (size_t)at * l->ends.bytes;
        l->bytes[at] = l->ends.bytes;
        l->n_partners++;
    }
    return 0;
}

/* ---- lines ---- */

struct lines_view {
    int n, n_fields, n_ranks, me, coupled;
    int width;                     /* lines of a row of lines */
    ptrdiff_t step, across, along; /* unknowns; lines of a row; rows */
    size_t lines;
    const scalar *coeff;
    const double *weight;
    scalar *ends;
    const scalar *got;
    scalar *delta[FLUID_FIELDS_MAX];
};

static struct lines_view view_of(const struct fluid_store *s,
                                 const struct lines_axis *l, int axis)
{
    struct lines_view v;
    const struct fluid_view *m = &s->view;
    const ptrdiff_t step[3] = {1, m->pitch, m->plane};
    int inner = axis == FLUID_X ? FLUID_Y : FLUID_X;
    int outer = axis == FLUID_Z ? FLUID_Y : FLUID_Z;
    v.n = m->n[axis];
    v.n_fields = m->n_fields;
    v.n_ranks = l->now->n_ranks;
    v.me = l->now->me;
    v.coupled = l->now->coupled;
    v.width = m->n[inner];
    v.step = step[axis];
    v.across = step[inner];
    v.along = step[outer];
    v.lines = l->lines;
    v.coeff = l->now->coeff;
    v.weight = l->now->weight;
    v.ends = l->own_ends;
    v.got = (const scalar *)l->got.device;
    for (int f = 0; f < FLUID_FIELDS_MAX; f++)
        v.delta[f] = m->next[f];
    return v;
}

/* xl and xu of a line from the first and last unknowns of all ranks. */
static __device__ __forceinline__ void
couple(const struct lines_view *v, int f, size_t own, scalar *xl, scalar *xu)
{
    size_t apart = (size_t)v->n_fields * v->lines;
    const double *weight = v->weight + (size_t)f * 4 * (size_t)v->n_ranks;
    const scalar *got = v->got;
    scalar l = 0, u = 0;
    for (int q = 0; q < v->n_ranks; q++, weight += 4) {
        const scalar *e = v->ends;
        if (q != v->me) {
            e = got;
            got += 2 * apart;
        }
        scalar first = e[own], last = e[own + apart];
        l += (scalar)weight[0] * first + (scalar)weight[1] * last;
        u += (scalar)weight[2] * first + (scalar)weight[3] * last;
    }
    *xl = l;
    *xu = u;
}

/* One sweep of each line, or both where the line is whole. */
template <bool eliminate, bool substitute>
static __global__ void __launch_bounds__(LINE_THREADS)
    solve_lines(struct lines_view v)
{
    size_t t = linear_thread();
    int f = (int)blockIdx.y;
    if (t >= v.lines)
        return;
    size_t own = (size_t)f * v.lines + t, n = (size_t)v.n;
    const scalar *c = v.coeff + (size_t)f * COEFFICIENTS * n;
    scalar *d = v.delta[f] + (ptrdiff_t)(t / (size_t)v.width) * v.along +
                (ptrdiff_t)(t % (size_t)v.width) * v.across;
    if (eliminate) {
        scalar before = 0, first = 0;
        for (int i = 0; i < v.n; i++) {
            scalar x = c[i] * d[i * v.step] - c[n + (size_t)i] * before;
            d[i * v.step] = x;
            first += c[3 * n + (size_t)i] * x;
            before = x;
        }
        v.ends[own] = first;
        v.ends[own + (size_t)v.n_fields * v.lines] = before;
    }
    if (substitute) {
        scalar xl = 0, after = 0;
        if (v.coupled)
            couple(&v, f, own, &xl, &after);
        for (int i = v.n - 1; i >= 0; i--) {
            after = d[i * v.step] - c[4 * n + (size_t)i] * xl -
                    c[2 * n + (size_t)i] * after;
            d[i * v.step] = after;
        }
    }
}

static dim3 line_blocks(const struct fluid_store *s, const struct lines_axis *l)
{
    return dim3(cuda_blocks(l->lines, LINE_THREADS), (unsigned)s->view.n_fields,
                1);
}

/* A direction of one periodic cell has no neighbors but itself: no slope. */
static int is_flat(const struct fluid_store *s, int axis)
{
    return s->setup.cells[axis] == 1 && s->view.periodic[axis];
}

int lines_cuda_begin(struct ctx *ctx, struct fluid_store *s, int axis,
                     const struct fluid_substage *sub)
{
    struct lines_axis *l = &s->lines->axis[axis];
    l->n_partners = 0;
    if (is_flat(s, axis))
        return 0;
    TRY(set_matrix(s, l, sub->alpha * sub->dt));
    struct lines_view v = view_of(s, l, axis);
    if (s->cut[axis])
        LAUNCH((solve_lines<true, false>), line_blocks(s, l), LINE_THREADS, 0,
               s->device->stream, v);
    else
        LAUNCH((solve_lines<true, true>), line_blocks(s, l), LINE_THREADS, 0,
               s->device->stream, v);
    CUDA_TRY_LAUNCH(ctx, "solve_lines");
    return 0;
}

int lines_cuda_end(struct ctx *ctx, struct fluid_store *s, int axis,
                   const struct fluid_substage *sub)
{
    struct lines_axis *l = &s->lines->axis[axis];
    (void)sub;
    if (!s->cut[axis])
        return 0;
    LAUNCH((solve_lines<false, true>), line_blocks(s, l), LINE_THREADS, 0,
           s->device->stream, view_of(s, l, axis));
    CUDA_TRY_LAUNCH(ctx, "solve_lines");
    return 0;
}

int lines_cuda_send_begin(struct fluid_store *s, enum fluid_exchange what,
                          struct fluid_transfer *out)
{
    struct lines_axis *l = &s->lines->axis[fluid_exchange_axis(what)];
    if (l->n_partners > 0) {
        TRY(fluid_cuda_to_twin(s, &l->ends, 0, l->ends.bytes));
        CUDA_TRY(s->ctx, cudaStreamSynchronize(s->device->stream));
    }
    out->n = l->n_partners;
    out->partner = l->partner;
    out->send = l->send;
    out->send_bytes = l->bytes;
    out->recv = l->recv;
    out->recv_bytes = l->bytes;
    return 0;
}

int lines_cuda_send_end(struct fluid_store *s, enum fluid_exchange what)
{
    struct lines_axis *l = &s->lines->axis[fluid_exchange_axis(what)];
    size_t bytes = (size_t)l->n_partners * l->ends.bytes;
    return fluid_cuda_from_twin(s, &l->got, 0, bytes);
}
