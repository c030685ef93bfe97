/* lines_plan.c: elimination of one rank's piece, and the reduced system that
 * couples the pieces. */
#include "kernels/fluid/lines.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Weights below this fraction cannot be seen in double. */
static const double WEIGHT_SEEN = 1e-18;

int lines_rows_create(struct ctx *ctx, struct lines_rows *rows, int64_t n,
                      const double *faces, enum lines_wall low,
                      enum lines_wall high)
{
    size_t m = (size_t)n;
    *rows = (struct lines_rows){.n = n};
    rows->lower = calloc(3 * m, sizeof(double));
    if (!rows->lower)
        return FAIL(ctx, STATUS_MEMORY, "no memory for %zu rows of a line", m);
    rows->diagonal = rows->lower + m;
    rows->upper = rows->diagonal + m;
    for (size_t i = 0; i < m; i++) {
        int first = i == 0, last = i + 1 == m;
        double h = faces[i + 1] - faces[i];
        double below = first ? faces[m] - faces[m - 1] : h;
        double above = last ? faces[1] - faces[0] : faces[i + 2] - faces[i + 1];
        if (!first)
            below = faces[i] - faces[i - 1];
        if (low == LINES_FACE || low == LINES_PERIODIC_FACE) {
            double d = 0.5 * (h + above);
            int wall = low == LINES_FACE && last;
            rows->lower[i] = wall ? 0 : 1 / (d * h);
            rows->upper[i] = wall ? 0 : 1 / (d * above);
            rows->diagonal[i] = -rows->lower[i] - rows->upper[i];
            continue;
        }
        double down = 2 / (h * (h + below)), up = 2 / (h * (h + above));
        rows->lower[i] = down;
        rows->upper[i] = up;
        rows->diagonal[i] = -down - up;
        /* The ghost beyond a wall mirrors the cell: x[-1] = -+ x[0], at a
         * distance of one cell. */
        if (first && low != LINES_PERIODIC) {
            rows->lower[i] = 0;
            rows->diagonal[i] = -up;
            if (low == LINES_ODD)
                rows->diagonal[i] -= 2 / (h * h);
        }
        if (last && high != LINES_PERIODIC) {
            rows->upper[i] = 0;
            rows->diagonal[i] += up;
            if (high == LINES_ODD)
                rows->diagonal[i] -= 2 / (h * h);
        }
    }
    if (low == LINES_FACE) { /* nothing comes from the walls */
        rows->lower[0] = 0;
        if (n > 1)
            rows->upper[n - 2] = 0;
    }
    return 0;
}

void lines_rows_destroy(struct lines_rows *rows)
{
    free(rows->lower);
    *rows = (struct lines_rows){0};
}

/* What a piece answers to its surroundings: first and last unknown for a unit
 * before it (f) and after it (g). */
struct answer {
    double f_first, f_last, g_first, g_last;
};

/* Eliminate rows [from, to); the five arrays of a plan may be NULL all. */
static struct answer eliminate(const struct lines_rows *rows, int64_t from,
                               int64_t to, double a, struct lines_plan *plan)
{
    struct answer r = {0};
    double c = 0, s = 1, p = 0;
    for (int64_t i = from; i < to; i++) {
        double lower = i > from ? -a * rows->lower[i] : 0;
        double w = 1 / (1 - a * rows->diagonal[i] - lower * c);
        if (i > from)
            s *= -c;
        c = -a * rows->upper[i] * w;
        p = i > from ? -lower * w * p : -a * rows->lower[i] * w;
        r.f_first += s * p;
        if (plan) {
            int64_t n = i - from;
            plan->scale[n] = w;
            plan->lower[n] = lower * w;
            plan->upper[n] = c;
            plan->first[n] = s;
            plan->carry[n] = p;
        }
    }
    r.f_last = p;
    r.g_last = c;
    r.g_first = s * c;
    return r;
}

int lines_reach(const struct lines_rows *rows, const struct lines_cut *cut,
                double a)
{
    double through = 0;
    if (cut->ranks == 1)
        return 0;
    for (int q = 0; q < cut->ranks; q++) {
        struct answer r =
            eliminate(rows, cut->cuts[q], cut->cuts[q + 1], a, NULL);
        double up = fabs(r.f_last) / (1 - fabs(r.g_last));
        double down = fabs(r.g_first) / (1 - fabs(r.f_first));
        through = fmax(through, fmax(up, down));
    }
    if (through <= 0)
        return 1;
    if (through >= 1)
        return cut->ranks - 1;
    double reach = 1 + ceil(log(WEIGHT_SEEN) / log(through));
    return reach < cut->ranks - 1 ? (int)reach : cut->ranks - 1;
}

static int plan_room(struct ctx *ctx, struct lines_plan *plan, int64_t n,
                     int ranks)
{
    if (plan->n != n) {
        free(plan->scale);
        plan->scale = malloc(5 * (size_t)n * sizeof(double));
        plan->n = plan->scale ? n : 0;
    }
    if (plan->held < ranks) {
        size_t m = (size_t)ranks;
        free(plan->rank);
        free(plan->weight);
        free(plan->scratch);
        plan->rank = malloc(m * sizeof *plan->rank);
        plan->weight = malloc(4 * m * sizeof(double));
        plan->scratch = malloc(2 * m * (2 * m + 2) * sizeof(double));
        plan->held = ranks;
    }
    if (!plan->scale || !plan->rank || !plan->weight || !plan->scratch) {
        plan->held = 0;
        return FAIL(ctx, STATUS_MEMORY,
                    "no memory for lines of %lld cells among %d ranks",
                    (long long)n, ranks);
    }
    plan->lower = plan->scale + n;
    plan->upper = plan->lower + n;
    plan->first = plan->upper + n;
    plan->carry = plan->first + n;
    return 0;
}

/* Solve m x = b for two right-hand sides in columns n, n + 1 (Gauss with the
 * greatest pivot); row-major, n + 2 numbers a row. */
static void solve_two(double *m, int n)
{
    size_t pitch = (size_t)n + 2;
    for (int c = 0; c < n; c++) {
        int best = c;
        for (int r = c + 1; r < n; r++)
            if (fabs(m[(size_t)r * pitch + (size_t)c]) >
                fabs(m[(size_t)best * pitch + (size_t)c]))
                best = r;
        double *top = m + (size_t)c * pitch, *row = m + (size_t)best * pitch;
        for (size_t k = 0; best != c && k < pitch; k++) {
            double keep = top[k];
            top[k] = row[k];
            row[k] = keep;
        }
        for (int r = 0; r < n; r++) {
            row = m + (size_t)r * pitch;
            double by = r == c ? 0 : row[c] / top[c];
            for (size_t k = (size_t)c; by != 0 && k < pitch; k++)
                row[k] -= by * top[k];
        }
    }
    for (int r = 0; r < n; r++) {
        m[(size_t)r * pitch + (size_t)n] /= m[(size_t)r * pitch + (size_t)r];
        m[(size_t)r * pitch + (size_t)n + 1] /=
            m[(size_t)r * pitch + (size_t)r];
    }
}

/* Index in plan->rank of the rank `step` further, or -1. */
static int neighbor(const struct lines_plan *plan, const struct lines_cut *cut,
                    int rank, int step)
{
    int q = rank + step;
    if (cut->periodic)
        q = (q + cut->ranks) % cut->ranks;
    for (int i = 0; i < plan->n_ranks; i++)
        if (plan->rank[i] == q)
            return i;
    return -1;
}

static void choose_ranks(struct lines_plan *plan, const struct lines_cut *cut,
                         int reach)
{
    plan->n_ranks = 0;
    for (int q = 0; q < cut->ranks; q++) {
        int far = abs(q - cut->rank);
        if (cut->periodic && cut->ranks - far < far)
            far = cut->ranks - far;
        if (far <= reach)
            plan->rank[plan->n_ranks++] = q;
    }
}

int lines_plan_set(struct ctx *ctx, struct lines_plan *plan,
                   const struct lines_rows *rows, const struct lines_cut *cut,
                   double a, int reach)
{
    int64_t from = cut->cuts[cut->rank], to = cut->cuts[cut->rank + 1];
    int room = reach < cut->ranks ? 2 * reach + 1 : cut->ranks;
    TRY(plan_room(ctx, plan, to - from, room < cut->ranks ? room : cut->ranks));
    struct answer own = eliminate(rows, from, to, a, plan);
    choose_ranks(plan, cut, reach);
    plan->alone = own.f_last == 0 && own.f_first == 0 && own.g_first == 0 &&
                  own.g_last == 0 && cut->ranks == 1;

    /* The reduced matrix, transposed, and the two unit vectors: its solution is
     * the two rows of the inverse that this rank needs. */
    int n = 2 * plan->n_ranks;
    size_t pitch = (size_t)n + 2;
    double *m = plan->scratch;
    memset(m, 0, (size_t)n * pitch * sizeof(double));
    for (int i = 0; i < plan->n_ranks; i++) {
        int q = plan->rank[i];
        struct answer r =
            eliminate(rows, cut->cuts[q], cut->cuts[q + 1], a, NULL);
        size_t first = 2 * (size_t)i, last = first + 1;
        m[first * pitch + first] += 1;
        m[last * pitch + last] += 1;
        int below = neighbor(plan, cut, q, -1);
        int above = neighbor(plan, cut, q, 1);
        if (below >= 0) {
            size_t l = 2 * (size_t)below + 1;
            m[l * pitch + first] += r.f_first;
            m[l * pitch + last] += r.f_last;
        }
        if (above >= 0) {
            size_t f = 2 * (size_t)above;
            m[f * pitch + first] += r.g_first;
            m[f * pitch + last] += r.g_last;
        }
    }
    int below = neighbor(plan, cut, cut->rank, -1);
    int above = neighbor(plan, cut, cut->rank, 1);
    if (below >= 0)
        m[(2 * (size_t)below + 1) * pitch + (size_t)n] = 1;
    if (above >= 0)
        m[2 * (size_t)above * pitch + (size_t)n + 1] = 1;
    solve_two(m, n);
    for (int i = 0; i < plan->n_ranks; i++) {
        const double *first = m + 2 * (size_t)i * pitch, *last = first + pitch;
        plan->weight[4 * i] = first[n];
        plan->weight[4 * i + 1] = last[n];
        plan->weight[4 * i + 2] = first[n + 1];
        plan->weight[4 * i + 3] = last[n + 1];
    }
    return 0;
}

void lines_plan_destroy(struct lines_plan *plan)
{
    free(plan->scale);
    free(plan->rank);
    free(plan->weight);
    free(plan->scratch);
    *plan = (struct lines_plan){0};
}
