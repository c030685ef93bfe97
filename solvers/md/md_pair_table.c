/* md_pair_table.c: splines through the forces of a file, and the polynomials
 * that stand for pair potentials in the loops, with their errors measured.
 */
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "md_pair.h"

/* ---- splines ---- */

/* The slope at x of the cubic through four points (Lagrange). */
static double end_slope(const double *x, const double *y, double at)
{
    double sum = 0;
    for (int i = 0; i < 4; i++)
        for (int m = 0; m < 4; m++) {
            double term = y[i];
            for (int l = 0; l < 4; l++)
                if (l != i)
                    term *= (l == m ? 1 : at - x[l]) / (x[i] - x[l]);
            sum += m == i ? 0 : term;
        }
    return sum;
}

/* Second derivatives of the cubic spline with the slopes at its ends given:
 * Press et al. 2007, section 3.3. Returns -1 without memory. */
static int spline_curve(int n, const double *x, const double *y,
                        const double slope[2], double *curve)
{
    double *upper = malloc((size_t)n * sizeof *upper);
    if (!upper)
        return -1;
    double h = x[1] - x[0];
    upper[0] = 0.5;
    curve[0] = 3 / h * ((y[1] - y[0]) / h - slope[0]);
    for (int k = 1; k < n - 1; k++) {
        double before = x[k] - x[k - 1], behind = x[k + 1] - x[k];
        double part = before / (before + behind);
        double pivot = 2 - part * upper[k - 1];
        double jump = (y[k + 1] - y[k]) / behind - (y[k] - y[k - 1]) / before;
        upper[k] = (1 - part) / pivot;
        curve[k] = (6 * jump / (before + behind) - part * curve[k - 1]) / pivot;
    }
    h = x[n - 1] - x[n - 2];
    double right = 6 / h * (slope[1] - (y[n - 1] - y[n - 2]) / h);
    curve[n - 1] = (right - curve[n - 2]) / (2 - upper[n - 2]);
    for (int k = n - 2; k >= 0; k--)
        curve[k] -= upper[k] * curve[k + 1];
    free(upper);
    return 0;
}

/* Energies from the last point inwards: the integral of the spline. */
static void integrate(const struct md_spline *s, double last, double *energy)
{
    energy[s->n - 1] = last;
    for (int k = s->n - 2; k >= 0; k--) {
        double h = s->r[k + 1] - s->r[k];
        energy[k] = energy[k + 1] + h * 0.5 * (s->force[k] + s->force[k + 1]) -
                    h * h * h / 24 * (s->curve[k] + s->curve[k + 1]);
    }
}

/* Energies that are not the integral of the forces within this part of |u| +
 * |f| r are a mistake: of sign, of units, of a column. */
static const double contradiction = 0.01;

/* The file's energies against the integral. */
static int compare_energies(struct ctx *ctx, const struct md_pair_file *f,
                            const struct md_spline *s, double *worst)
{
    double scale = 0;
    int where = 0;
    *worst = 0;
    for (int k = s->n - 1; k >= 0; k--) {
        double error = fabs(f->energy[k] - s->energy[k]);
        scale = fmax(scale, fabs(f->energy[k]) + fabs(s->force[k]) * s->r[k]);
        if (error > *worst * scale) {
            *worst = error / scale;
            where = k;
        }
    }
    if (*worst <= contradiction)
        return 0;
    return FAIL_AT(
        ctx, STATUS_INPUT,
        "%s:%" PRId64 ": error: section '%s': energies are not the "
        "integral of the forces: at r = %g the energy is %g, but the "
        "forces from there to r = %g add up to %g; force is -du/dr",
        f->path, f->head_line, f->keyword, s->r[where], f->energy[where],
        s->r[s->n - 1], s->energy[where]);
}

int md_pair_spline(struct ctx *ctx, struct md_pair_file *f,
                   struct md_spline *out, double *worst)
{
    int n = f->n;
    double *curve = malloc((size_t)n * sizeof *curve);
    double *energy = malloc((size_t)n * sizeof *energy);
    double slope[2] = {f->slope[0], f->slope[1]};
    if (!f->has_slopes) {
        slope[0] = end_slope(f->r, f->force, f->r[0]);
        slope[1] = end_slope(f->r + n - 4, f->force + n - 4, f->r[n - 1]);
    }
    *out = (struct md_spline){n, f->r, f->force, curve, energy};
    int lacks =
        !curve || !energy || spline_curve(n, f->r, f->force, slope, curve) != 0;
    f->r = f->force = NULL;
    if (lacks)
        return FAIL(ctx, STATUS_MEMORY, "no memory for the table of '%s'",
                    f->path);
    integrate(out, f->energy[n - 1], energy);
    return compare_energies(ctx, f, out, worst);
}

void md_pair_spline_free(struct md_spline *s)
{
    const double *owned[] = {s->r, s->force, s->curve, s->energy};
    for (int k = 0; k < 4; k++)
        free((double *)(uintptr_t)owned[k]);
    *s = (struct md_spline){0, NULL, NULL, NULL, NULL};
}

/* ---- who shares a table ---- */

static int compare_potentials(const struct md_pair_form *a,
                              const struct md_pair_form *b)
{
    const double x[] = {a->style,  a->a,     a->b,          a->c,
                        a->cutoff, a->shift, a->force_shift};
    const double y[] = {b->style,  b->a,     b->b,          b->c,
                        b->cutoff, b->shift, b->force_shift};
    for (size_t k = 0; k < sizeof x / sizeof x[0]; k++)
        if (x[k] < y[k] || x[k] > y[k])
            return x[k] < y[k] ? -1 : 1;
    uintptr_t s = (uintptr_t)a->spline, t = (uintptr_t)b->spline;
    return (s > t) - (s < t);
}

/* Like potentials side by side, in the order of their places. */
static int compare_forms(const void *left, const void *right)
{
    const struct md_pair_form *a = *(const struct md_pair_form *const *)left;
    const struct md_pair_form *b = *(const struct md_pair_form *const *)right;
    int order = compare_potentials(a, b);
    return order != 0 ? order : (a > b) - (a < b);
}

/* One table for all pairs with the same potential, numbered as they come first
 * in forms->form: where species are many, most pairs are like others. */
static int number_tables(struct ctx *ctx, struct md_forms *f, int n_species)
{
    int n = n_species * n_species, first = 0, count = 0;
    const struct md_pair_form **order = malloc((size_t)n * sizeof *order);
    if (!order)
        return FAIL(ctx, STATUS_MEMORY, "no memory for pair tables");
    for (int k = 0; k < n; k++)
        order[k] = &f->form[k];
    qsort(order, (size_t)n, sizeof *order, compare_forms);
    for (int q = 0; q < n; q++) {
        if (q == 0 || compare_potentials(order[q - 1], order[q]) != 0)
            first = (int)(order[q] - f->form);
        f->table[order[q] - f->form] = first;
    }
    free(order);
    for (int k = 0; k < n; k++)
        f->table[k] = f->table[k] == k ? count++ : f->table[f->table[k]];
    f->tables.n_tables = count;
    return 0;
}

/* ---- polynomials ---- */

/* The rows of one form: of the force over r, and of the energy. */
static void fill_rows(const struct md_pair_tables *t,
                      const struct segment_basis *basis,
                      const struct md_pair_form *form, double *force,
                      double *energy)
{
    const int n = t->degree + 1;
    for (int k = 0; k < t->n_rows; k++) {
        double lo, hi, scale = 1;
        double u[SEGMENT_TERMS_MAX] = {0}, g[SEGMENT_TERMS_MAX] = {0};
        pair_table_part(t, k, &lo, &hi);
        for (int q = 0; q < n; q++)
            u[q] = md_pair_shifted(form, segment_node(basis, q, lo, hi), &g[q]);
        segment_through(basis, g, force + (ptrdiff_t)k * n);
        segment_through(basis, u, energy + (ptrdiff_t)k * n);
        for (int d = 0; d < n; d++) {
            force[k * n + d] *= scale;
            energy[k * n + d] *= scale;
            scale *= 2.0 * (1 << t->bits);
        }
    }
}

enum { SAMPLES = 12 };

/* The greatest error of a form's rows between its inner end and its cutoff,
 * relative to |u|/r^2 + |f|/r in the row and those beside it. */
static double worst_error(const struct md_pair_tables *t,
                          const struct md_pair_form *form, const double *force,
                          const double *energy)
{
    double inner = md_pair_inner(form), end = form->cutoff * form->cutoff;
    double scale[3] = {0, 0, 0}, error[3] = {0, 0, 0}, worst = 0;
    for (int k = 0; k <= t->n_rows; k++) {
        double lo, hi;
        pair_table_part(t, k, &lo, &hi);
        scale[2] = error[2] = 0;
        for (int q = 0; q < SAMPLES && k < t->n_rows; q++) {
            double r2 = lo + (hi - lo) * (q + 0.5) / SAMPLES, g;
            if (r2 < inner * inner || r2 > end)
                continue;
            if (t->degree == PAIR_DEGREE_FLOAT)
                r2 = (double)(float)r2;
            double u = md_pair_shifted(form, r2, &g);
            scale[2] = fmax(scale[2], fabs(g) + fabs(u) / r2);
            error[2] = fmax(error[2], fabs(pair_table_at(t, force, k, r2) - g));
            error[2] =
                fmax(error[2], fabs(pair_table_at(t, energy, k, r2) - u) / r2);
        }
        double most = fmax(scale[0], fmax(scale[1], scale[2]));
        if (error[1] > 0)
            worst = fmax(worst, error[1] / most);
        for (int e = 0; e < 2; e++) {
            scale[e] = scale[e + 1];
            error[e] = error[e + 1];
        }
    }
    return worst;
}

static int allocate(struct ctx *ctx, struct md_forms *f)
{
    struct md_pair_tables *t = &f->tables;
    t->n_rows = pair_table_rows(t->end, t->bits);
    size_t n = (size_t)t->n_rows * (size_t)(t->degree + 1);
    n *= (size_t)t->n_tables;
    if ((double)t->n_rows * t->n_tables > PAIR_ROWS_MOST)
        return FAIL(ctx, STATUS_INPUT,
                    "%d potentials with tables of %d pieces each are more than "
                    "the pair loops can hold",
                    t->n_tables, t->n_rows);
    free(f->force);
    free(f->energy);
    f->force = malloc(n * sizeof *f->force);
    f->energy = malloc(n * sizeof *f->energy);
    t->force = f->force;
    t->energy = f->energy;
    return f->force && f->energy
               ? 0
               : FAIL(ctx, STATUS_MEMORY, "no memory for pair tables");
}

/* Fill the tables; *worst: the greatest error, of species pair *who. */
static void fill(struct md_forms *f, double *worst, int *who)
{
    struct md_pair_tables *t = &f->tables;
    size_t size = (size_t)t->n_rows * (size_t)(t->degree + 1);
    struct segment_basis basis;
    segment_basis_make(&basis, t->degree);
    *worst = 0;
    for (int k = 0, filled = 0; filled < t->n_tables; k++) {
        if (f->table[k] != filled) /* that of a pair before */
            continue;
        const struct md_pair_form *form = &f->form[k];
        double *force = f->force + size * (size_t)filled;
        double *energy = f->energy + size * (size_t)filled;
        fill_rows(t, &basis, form, force, energy);
        double error = worst_error(t, form, force, energy);
        if (!(error <= *worst)) {
            *worst = error;
            *who = k;
        }
        filled++;
    }
}

/* Errors that are good enough to go no finer, and those that are refused. */
static const double wanted[2] = {1e-12, 3e-7}, allowed[2] = {1e-6, 1e-5};

int md_pair_tables_make(struct ctx *ctx, const struct md *md,
                        struct md_forms *forms)
{
    struct md_pair_tables *t = &forms->tables;
    int is_float = md->precision != PRECISION_DOUBLE, who = 0;
    double worst = 1, before = HUGE_VAL;
    TRY(number_tables(ctx, forms, md->n_species));
    t->n_species = md->n_species;
    t->form = forms->form;
    t->table = forms->table;
    t->end = md->pair.cutoff * md->pair.cutoff;
    t->first_octave = segment_first_octave(t->end);
    t->degree = is_float ? PAIR_DEGREE_FLOAT : PAIR_DEGREE_DOUBLE;
    for (t->bits = PAIR_BITS_LEAST;; t->bits++) {
        TRY(allocate(ctx, forms));
        fill(forms, &worst, &who);
        int is_rounding = worst <= allowed[is_float] && worst > 0.5 * before;
        if (worst <= wanted[is_float] || is_rounding ||
            t->bits == PAIR_BITS_MOST)
            break;
        before = worst;
    }
    int n = t->n_species;
    const char *a = md->species[who / n].name, *b = md->species[who % n].name;
    if (!(worst <= allowed[is_float]))
        return FAIL(ctx, STATUS_INPUT,
                    "the potential of the pair %s-%s is not smooth enough: its "
                    "finest table is off by %.1e of the force, more than %.0e",
                    a, b, worst, allowed[is_float]);
    log_info(ctx->log,
             "pair tables: %d of %d pieces, polynomials of degree %d in r^2; "
             "off by at most %.1e of energy and force (%s-%s)",
             t->n_tables, t->n_rows, t->degree, worst, a, b);
    return 0;
}
