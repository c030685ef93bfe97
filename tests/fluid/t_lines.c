/* t_lines.c: the tridiagonal systems of implicit diffusion, cut into pieces,
 * against elimination of the whole matrix. */
#include "kernels/fluid/lines.h"

#include "base/ctx.h"
#include "tests/tap.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 48 };

/* T x with the whole matrix, neighbors found by wrapping where periodic. */
static void multiply(const struct lines_rows *rows, double a, const double *x,
                     double *out)
{
    int64_t n = rows->n;
    for (int64_t i = 0; i < n; i++)
        out[i] = x[i] - a * (rows->lower[i] * x[(i + n - 1) % n] +
                             rows->diagonal[i] * x[i] +
                             rows->upper[i] * x[(i + 1) % n]);
}

/* Solve the line in pieces as ranks would; returns the greatest error of the
 * known solution, or infinity after a failure. */
static double solve_in_pieces(struct ctx *ctx, const struct lines_rows *rows,
                              struct lines_cut cut, double a)
{
    double x[MOST], rhs[MOST], d[MOST], y[2 * MOST], worst = 0;
    for (int64_t i = 0; i < rows->n; i++) {
        x[i] = sin(1.7 * (double)i + 0.3) + 0.2 * (double)(i % 3);
        if (rows->diagonal[i] == 0 && rows->n > 1)
            x[i] = 0;
    }
    multiply(rows, a, x, rhs);
    int reach = lines_reach(rows, &cut, a);
    struct lines_plan plan[MOST] = {{0}};
    for (int q = 0; q < cut.ranks; q++) {
        cut.rank = q;
        if (lines_plan_set(ctx, &plan[q], rows, &cut, a, reach))
            return INFINITY;
        const struct lines_plan *p = &plan[q];
        double *piece = d + cut.cuts[q], before = 0;
        y[2 * q] = 0;
        for (int64_t i = 0; i < p->n; i++) {
            piece[i] =
                p->scale[i] * rhs[cut.cuts[q] + i] - p->lower[i] * before;
            before = piece[i];
            y[2 * q] += p->first[i] * before;
        }
        y[2 * q + 1] = before;
    }
    for (int q = 0; q < cut.ranks; q++) {
        const struct lines_plan *p = &plan[q];
        double xl = 0, xu = 0, *piece = d + cut.cuts[q];
        for (int r = 0; r < p->n_ranks; r++) {
            const double *weight = p->weight + 4 * r, *o = y + 2 * p->rank[r];
            xl += weight[0] * o[0] + weight[1] * o[1];
            xu += weight[2] * o[0] + weight[3] * o[1];
        }
        for (int64_t i = p->n - 1; i >= 0; i--) {
            piece[i] -= p->carry[i] * xl + p->upper[i] * xu;
            xu = piece[i];
            worst = fmax(worst, fabs(xu - x[cut.cuts[q] + i]));
        }
    }
    for (int q = 0; q < cut.ranks; q++)
        lines_plan_destroy(&plan[q]);
    return worst;
}

static double worst_of_cuts(struct ctx *ctx, int64_t n, enum lines_wall low,
                            enum lines_wall high, int stretched, double a)
{
    double faces[MOST + 1], worst = 0;
    for (int64_t i = 0; i <= n; i++) {
        double s = (double)i / (double)n;
        faces[i] = stretched ? 0.5 * (1 + tanh(2 * (2 * s - 1)) / tanh(2)) : s;
    }
    struct lines_rows rows;
    if (lines_rows_create(ctx, &rows, n, faces, low, high))
        return INFINITY;
    for (int ranks = 1; ranks <= n; ranks = ranks < 8 ? ranks + 1 : 2 * ranks) {
        int64_t cuts[MOST + 1];
        for (int q = 0; q <= ranks; q++)
            cuts[q] = n * q / ranks;
        struct lines_cut cut = {ranks, 0, low <= LINES_PERIODIC_FACE, cuts};
        worst = fmax(worst, solve_in_pieces(ctx, &rows, cut, a));
    }
    lines_rows_destroy(&rows);
    return worst;
}

int main(void)
{
    static const struct {
        enum lines_wall low, high;
        const char *name;
    } kind[] = {{LINES_PERIODIC, LINES_PERIODIC, "periodic"},
                {LINES_PERIODIC_FACE, LINES_PERIODIC_FACE, "periodic, faces"},
                {LINES_FACE, LINES_FACE, "on faces between walls"},
                {LINES_ODD, LINES_ODD, "fixed on both walls"},
                {LINES_EVEN, LINES_EVEN, "mirrored at both walls"},
                {LINES_ODD, LINES_EVEN, "fixed below, mirrored above"}};
    static const int64_t count[] = {1, 2, 3, 7, 33, 48};
    struct ctx ctx = {0};
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        double worst = 0;
        for (size_t c = 0; c < sizeof count / sizeof *count; c++)
            for (int stretched = 0; stretched < 2; stretched++)
                for (double a = 1e-6; a < 2; a *= 30)
                    worst =
                        fmax(worst, worst_of_cuts(&ctx, count[c], kind[k].low,
                                                  kind[k].high, stretched, a));
        /* Condition: up to 4 a / h^2 = 1e5 at the walls, times round-off. */
        tap_near(worst, 0, 1e-10,
                 "lines %s: pieces give the solution of the whole line",
                 kind[k].name);
    }
    return tap_done();
}
