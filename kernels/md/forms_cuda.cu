/* forms_cuda.cu: pair potentials in place of Lennard-Jones, from rows of
 * polynomials (pair_table.h).
 */
#include "kernels/md/forms_cuda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/md/form_pair_cuda.h"
#include "kernels/md/near_cuda.h"
#include "kernels/md/team_cuda.h"

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

struct form_pair cuda_form_pair(struct md_store *s)
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
    return pair;
}

int cuda_forms_launch(struct md_store *s, int want, int halo)
{
    return launch_near(s, cuda_form_pair(s), want, halo);
}

/* ---- pairs that are too near ---- */

int cuda_forms_send_near(struct md_store *s)
{
    if (!s->forms || !s->forms->has_points)
        return 0;
    return cuda_send(s, &s->result->near, s->array[ARRAY_FORM_NEAR].p,
                     sizeof s->result->near);
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
