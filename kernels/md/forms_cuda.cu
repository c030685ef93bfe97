/* forms_cuda.cu: pair potentials in place of Lennard-Jones, from rows of
 * polynomials (pair_table.h).
 */
#include "kernels/md/forms_cuda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PAIR_FN static __host__ __device__ __attribute__((unused))
#include "kernels/md/near_cuda.h"
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

/* ---- tables ---- */

struct cuda_forms {
    int n_tables, n_rows, bits, first_octave;
    int has_points; /* pairs may come nearer than a table reaches */
    int unchecked;  /* forces that nobody has looked at for such pairs */
};

static int send(struct md_store *s, enum md_array which, const void *from,
                size_t n, size_t size)
{
    TRY(cuda_reserve(s, which, n, size, "pair tables"));
    return cuda_to_device(s->ctx, s->device, s->array[which].p, from, n * size);
}

static int send_rows(struct md_store *s, const struct md_pair_tables *t)
{
    size_t n = (size_t)t->n_tables * (size_t)t->n_rows * ROW;
    scalar *rows = (scalar *)malloc((2 * n + 1) * sizeof *rows);
    if (!rows)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for pair tables");
    for (size_t k = 0; k < n; k++) {
        rows[k] = (scalar)t->force[k];
        rows[n + k] = (scalar)t->energy[k];
    }
    int status = send(s, ARRAY_FORM_ROWS, rows, 2 * n, sizeof *rows);
    free(rows);
    return status;
}

static int send_starts(struct md_store *s, const struct md_pair_tables *t)
{
    size_t n = (size_t)(t->n_species * t->n_species);
    double begin = ldexp(1, t->first_octave);
    struct form_start *start = (struct form_start *)malloc(n * sizeof *start);
    if (!start)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for pair tables");
    for (size_t k = 0; k < n; k++) {
        double inner = md_pair_inner(&t->form[k]);
        start[k].cut2 = (scalar)s->setup.coeff[k].cutoff2;
        start[k].least2 = (scalar)fmax(inner * inner, begin);
        start[k].row = (uint32_t)(t->table[k] * t->n_rows);
    }
    int status = send(s, ARRAY_FORM_STARTS, start, n, sizeof *start);
    free(start);
    return status;
}

/* Whether a form has a spline that no form before has. */
static int is_first_spline(const struct md_pair_tables *t, size_t k)
{
    size_t n = (size_t)t->n_species;
    return t->form[k].style == MD_PAIR_TABLE && k / n <= k % n;
}

/* The points of all splines, four columns each, and where they stand on the
 * card; `spline` receives one for each form. */
static int send_points(struct md_store *s, const struct md_pair_tables *t,
                       struct md_spline *spline)
{
    size_t n = (size_t)t->n_species, points = 0, at = 0;
    for (size_t k = 0; k < n * n; k++)
        points += is_first_spline(t, k) ? (size_t)t->form[k].spline->n : 0;
    if (points == 0)
        return 0;
    TRY(cuda_reserve(s, ARRAY_FORM_POINTS, 4 * points, sizeof(double),
                     "pair tables"));
    double *card = ARRAY(s, ARRAY_FORM_POINTS, double);
    for (size_t k = 0; k < n * n; k++) {
        if (!is_first_spline(t, k))
            continue;
        const struct md_spline *from = t->form[k].spline;
        const double *columns[4] = {from->r, from->force, from->curve,
                                    from->energy};
        size_t length = (size_t)from->n;
        for (int c = 0; c < 4; c++)
            TRY(cuda_to_device(s->ctx, s->device, card + at + c * length,
                               columns[c], length * sizeof *card));
        struct md_spline to = {from->n, card + at, card + at + length,
                               card + at + 2 * length, card + at + 3 * length};
        spline[k] = spline[k % n * n + k / n] = to;
        at += 4 * length;
    }
    s->forms->has_points = 1;
    return 0;
}

/* The forms themselves, and behind them their splines. */
static int send_exact(struct md_store *s, const struct md_pair_tables *t)
{
    size_t n = (size_t)(t->n_species * t->n_species);
    size_t size = sizeof(struct md_pair_form) + sizeof(struct md_spline);
    struct md_pair_form *form = (struct md_pair_form *)calloc(n, size);
    if (!form)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for pair tables");
    struct md_spline *spline = (struct md_spline *)(form + n);
    int status = cuda_reserve(s, ARRAY_FORM_EXACT, n, size, "pair tables");
    if (status == 0)
        status = send_points(s, t, spline);
    struct md_pair_form *card = ARRAY(s, ARRAY_FORM_EXACT, struct md_pair_form);
    for (size_t k = 0; k < n && status == 0; k++) {
        form[k] = t->form[k];
        form[k].spline = (const struct md_spline *)(card + n) + k;
    }
    if (status == 0)
        status = cuda_to_device(s->ctx, s->device, card, form, n * size);
    free(form);
    return status;
}

/* The unit of sums in any order: of the greatest force at the distances that
 * rows reach. */
static void choose_unit(struct md_store *s, const struct md_pair_tables *t)
{
    enum { SAMPLES = 100 };
    int n = t->n_species;
    double greatest = 0, begin = ldexp(1, t->first_octave), reach = 0;
    for (int k = 0; k < n * n; k++) {
        const struct md_pair_form *form = &t->form[k];
        double inner = md_pair_inner(form), end = form->cutoff * form->cutoff;
        double from = fmax(inner * inner, begin), g;
        if (k / n > k % n || form->style == MD_PAIR_NONE || !(end > from))
            continue;
        for (int q = 0; q < SAMPLES; q++) {
            double r2 = from * pow(end / from, q / (double)SAMPLES);
            (void)md_pair_shifted(form, r2, &g);
            greatest = fmax(greatest, fabs(g) * sqrt(r2));
        }
        reach = fmax(reach, form->cutoff);
    }
    cuda_set_wide(s, greatest, reach);
}

static int create(struct md_store *s, const struct md_pair_tables *t)
{
    struct cuda_forms *f = s->forms;
    if (t->degree != ROW - 1)
        return FAIL(s->ctx, STATUS_INTERNAL,
                    "pair tables of degree %d for loops of degree %d",
                    t->degree, ROW - 1);
    f->n_tables = t->n_tables;
    f->n_rows = t->n_rows;
    f->bits = t->bits;
    f->first_octave = t->first_octave;
    TRY(send_rows(s, t));
    TRY(send_starts(s, t));
    TRY(send_exact(s, t));
    TRY(cuda_reserve(s, ARRAY_FORM_NEAR, 1, sizeof(struct near_pair),
                     "pair tables"));
    CUDA_TRY(s->ctx,
             cudaMemsetAsync(s->array[ARRAY_FORM_NEAR].p, 0,
                             sizeof(struct near_pair), s->device->stream));
    if (s->setup.deterministic)
        choose_unit(s, t);
    return 0;
}

int cuda_forms_create(struct md_store *s)
{
    const struct md_pair_tables *t = s->setup.tables;
    if (!t)
        return 0;
    s->forms = (struct cuda_forms *)calloc(1, sizeof *s->forms);
    if (!s->forms)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for pair tables");
    return create(s, t);
}

void cuda_forms_destroy(struct md_store *s)
{
    free(s->forms);
    s->forms = NULL;
}

/* ---- forces ---- */

int cuda_forms_launch(struct md_store *s, int want, int halo)
{
    const struct cuda_forms *f = s->forms;
    struct form_pair pair;
    pair.force = ARRAY(s, ARRAY_FORM_ROWS, scalar);
    pair.energy = pair.force + (size_t)f->n_tables * (size_t)f->n_rows * ROW;
    pair.start = ARRAY(s, ARRAY_FORM_STARTS, struct form_start);
    pair.exact = ARRAY(s, ARRAY_FORM_EXACT, struct md_pair_form);
    pair.near = ARRAY(s, ARRAY_FORM_NEAR, struct near_pair);
    pair.first = (row_bits)(BIAS + f->first_octave) << f->bits;
    pair.drop = MANTISSA_BITS - f->bits;
    pair.middle = 1 + (scalar)0.5 / (scalar)(1 << f->bits);
    s->forms->unchecked = s->forms->has_points;
    return launch_near(s, pair, want, halo);
}

/* ---- pairs that are too near ---- */

int cuda_forms_send_near(struct md_store *s)
{
    if (!s->forms || !s->forms->has_points)
        return 0;
    CUDA_TRY(s->ctx,
             cudaMemcpyAsync(&s->result->near, s->array[ARRAY_FORM_NEAR].p,
                             sizeof s->result->near, cudaMemcpyDeviceToHost,
                             s->device->stream));
    s->device->bytes_to_host += sizeof s->result->near;
    return 0;
}

int cuda_forms_check(struct md_store *s)
{
    const struct near_pair *near = &s->result->near;
    if (!s->forms || !s->forms->has_points)
        return 0;
    s->forms->unchecked = 0;
    if (!near->claimed)
        return 0;
    return FAIL(s->ctx, STATUS_PHYSICS,
                "particles %lld and %lld came as near as %g to one another: "
                "the table of their pair begins at %g only",
                (long long)near->id[0], (long long)near->id[1], near->distance,
                near->inner);
}

int cuda_forms_fetch(struct md_store *s)
{
    if (!s->forms || !s->forms->unchecked)
        return 0;
    TRY(cuda_to_host(s->ctx, s->device, &s->result->near,
                     s->array[ARRAY_FORM_NEAR].p, sizeof s->result->near));
    return cuda_forms_check(s);
}
