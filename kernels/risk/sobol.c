/* sobol.c: see sobol.h. */
#include "kernels/risk/sobol.h"

#include <stdlib.h>

#include "kernels/risk/sobol_numbers.h"

/* Direction numbers of one coordinate by the recurrence of its polynomial
 * (Bratley and Fox 1988); m: its initial numbers. */
static void directions(uint32_t polynomial, const uint16_t *m, uint32_t *v)
{
    int degree = 0;
    uint32_t u[32];
    while (polynomial >> (degree + 1) != 0)
        degree++;
    for (int k = 0; k < 32; k++) {
        if (k < degree) {
            u[k] = (uint32_t)m[k] << (31 - k);
            continue;
        }
        u[k] = u[k - degree] ^ u[k - degree] >> degree;
        for (int j = 1; j < degree; j++)
            if (polynomial >> (degree - j) & 1u)
                u[k] ^= u[k - j];
    }
    for (int k = 0; k < 32; k++)
        v[k] = risk_reversed_bits(u[k]);
}

static void fill_directions(struct risk_sobol *t)
{
    const uint16_t *at = risk_sobol_numbers;
    for (int b = 0; b < 32 && t->dimensions > 0; b++)
        t->direction[b] = 1u << b;
    for (int d = 1; d < t->dimensions; d++) {
        uint32_t polynomial = at[0], degree = 0;
        directions(polynomial, at + 1, t->direction + (ptrdiff_t)32 * d);
        while (polynomial >> (degree + 1) != 0)
            degree++;
        at += 1 + degree;
    }
}

/* The middle (in steps) of left ... right, both fixed; left may be -1. */
static void bridge_point(struct risk_bridge_point *p, const double *date,
                         int32_t left, int32_t right)
{
    const int32_t at = left + (right - left) / 2;
    const double from = left < 0 ? 0 : date[left];
    const double whole = date[right] - from, part = date[at] - from;
    *p = (struct risk_bridge_point){
        .at = at,
        .left = left,
        .right = right,
        .left_weight = (date[right] - date[at]) / whole,
        .right_weight = part / whole,
        .deviation = __builtin_sqrt(part * (date[right] - date[at]) / whole)};
}

/* Breadth first: the points themselves are the queue. Point i halves the
 * interval that stands in place i of `todo`. */
static void fill_order(struct risk_sobol *t, const double *date, int32_t *todo)
{
    const int32_t n = t->n_steps;
    int32_t first = 0, last = 0;
    t->order[0] =
        (struct risk_bridge_point){.at = n - 1,
                                   .left = -1,
                                   .right = -1,
                                   .deviation = __builtin_sqrt(date[n - 1])};
    todo[last++] = -1;
    todo[last++] = n - 1;
    for (int32_t i = 1; first < last;) {
        int32_t left = todo[first], right = todo[first + 1];
        first += 2;
        if (right - left < 2)
            continue;
        bridge_point(&t->order[i], date, left, right);
        todo[last++] = left;
        todo[last++] = t->order[i].at;
        todo[last++] = t->order[i].at;
        todo[last++] = right;
        i++;
    }
}

int risk_sobol_make(struct risk_sobol *t, int32_t n_steps, const double *length,
                    int drivers)
{
    const size_t n = (size_t)n_steps;
    const int64_t all = (int64_t)n_steps * drivers;
    double *date = calloc(n + 1, sizeof *date);
    int32_t *todo = calloc(4 * n + 4, sizeof *todo);
    t->turn = NULL;
    t->drivers = drivers;
    t->n_steps = n_steps;
    t->dimensions =
        all < RISK_SOBOL_DIMENSIONS ? (int)all : RISK_SOBOL_DIMENSIONS;
    t->direction = calloc(32 * (size_t)t->dimensions + 1, sizeof *t->direction);
    t->order = calloc(n + 1, sizeof *t->order);
    t->per_root = calloc(n + 1, sizeof *t->per_root);
    int failed = date == NULL || todo == NULL || t->direction == NULL ||
                 t->order == NULL || t->per_root == NULL;
    if (!failed && n_steps > 0) {
        double sum = 0;
        for (int32_t k = 0; k < n_steps; k++) {
            date[k] = sum += length[k];
            t->per_root[k] = 1 / __builtin_sqrt(length[k]);
        }
        fill_directions(t);
        fill_order(t, date, todo);
    }
    free(date);
    free(todo);
    return failed;
}

/* How much each date counts: for a position the sum of 1, in the value of its
 * first factor. */
static void weigh(const struct risk_plan *p, int32_t *last, double *weight)
{
    for (int32_t q = 0; q < p->n_instruments; q++)
        last[q] = -1;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t e = 0; e < p->n_events; e++) {
            const struct risk_event *v = &p->events[e];
            const struct risk_instrument *q = &p->instruments[v->instrument];
            const double value =
                __builtin_fabs(q->quantity) * p->factors[q->factor[0]].spot;
            int averages = q->payoff == RISK_ASIAN_ARITHMETIC ||
                           q->payoff == RISK_ASIAN_GEOMETRIC;
            enum risk_action sum = q->payoff == RISK_ASIAN_ARITHMETIC
                                       ? RISK_SUM_SPOT
                                       : RISK_SUM_LOG;
            if (averages) {
                if (pass == 1 && v->action == sum)
                    weight[v->step] += value / (double)q->n_fixings;
            } else if (pass == 0) {
                last[v->instrument] = v->step;
            } else if (last[v->instrument] == v->step) {
                weight[v->step] += value;
                last[v->instrument] = -1;
            }
        }
}

/* u of the reflection that takes the first coordinate to the direction of the
 * weighted sum of the motion: its derivatives by the bridge's normals, from the
 * last one back. weight is used up. 0: there is nothing to turn. */
static int direction(const struct risk_sobol *t, double *weight, double *u)
{
    double square = 0;
    for (int32_t j = t->n_steps - 1; j >= 0; j--) {
        const struct risk_bridge_point *p = &t->order[j];
        const double w = weight[p->at];
        u[j] = p->deviation * w;
        square += u[j] * u[j];
        if (p->right >= 0)
            weight[p->right] += p->right_weight * w;
        if (p->left >= 0)
            weight[p->left] += p->left_weight * w;
    }
    if (!(square > 0))
        return 0;
    const double length = __builtin_sqrt(square);
    square = 0;
    for (int32_t j = 0; j < t->n_steps; j++) {
        u[j] = (j == 0) - u[j] / length;
        square += u[j] * u[j];
    }
    if (!(square > 1e-20))
        return 0;
    for (int32_t j = 0; j < t->n_steps; j++)
        u[j] /= __builtin_sqrt(square);
    return 1;
}

int risk_sobol_aim(struct risk_sobol *t, const struct risk_plan *p)
{
    const size_t n = (size_t)t->n_steps;
    double *weight = calloc(n + 1, sizeof *weight);
    int32_t *last = calloc((size_t)p->n_instruments + 1, sizeof *last);
    t->turn = calloc(n + 1, sizeof *t->turn);
    int failed = weight == NULL || last == NULL || t->turn == NULL;
    if (!failed) {
        weigh(p, last, weight);
        if (!direction(t, weight, t->turn)) {
            free(t->turn);
            t->turn = NULL;
        }
    }
    free(weight);
    free(last);
    return failed;
}

void risk_sobol_free(struct risk_sobol *t)
{
    free(t->turn);
    free(t->direction);
    free(t->order);
    free(t->per_root);
    *t = (struct risk_sobol){0};
}
