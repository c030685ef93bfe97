/* sums_cpu.c: sums of a block's payoffs. */
#include "kernels/risk/risk_cpu.h"

#include <string.h>

#include "kernels/risk/payoff.h"

/* A row in registers. */
enum { VECTORS = RISK_BLOCK / EXACT_LANES };

/* The sum of n vectors by a fixed tree: numbers i and i + h, for h = 32, 16,
 * ... 1 where n is VECTORS. Destroys v. */
EXACT_FN double tree_sum(exact_real *v, int n)
{
    double lane[EXACT_LANES] __attribute__((aligned(64)));
    EXACT_UNROLL for (int h = n / 2; h >= 1; h /= 2)
        EXACT_UNROLL for (int i = 0; i < h; i++) v[i] = v[i] + v[i + h];
    exact_store(lane, v[0]);
    EXACT_UNROLL for (int h = EXACT_LANES / 2; h >= 1; h /= 2)
        EXACT_UNROLL for (int i = 0; i < h; i++) lane[i] =
            lane[i] + lane[i + h];
    return lane[0];
}

EXACT_FN double row_sum(const double *row)
{
    exact_real v[VECTORS];
    for (int i = 0; i < VECTORS; i++)
        v[i] = exact_load(row + i * EXACT_LANES);
    return tree_sum(v, VECTORS);
}

EXACT_FN double row_product(const double *a, const double *b)
{
    exact_real v[VECTORS];
    for (int i = 0; i < VECTORS; i++)
        v[i] =
            exact_load(a + i * EXACT_LANES) * exact_load(b + i * EXACT_LANES);
    return tree_sum(v, VECTORS);
}

static void add_controls(const struct risk_instrument *q, const double *y,
                         const double *c, const double *second,
                         struct risk_sums *out)
{
    out->c += row_sum(c);
    out->cc += row_product(c, c);
    out->yc += row_product(y, c);
    if (!risk_wants_twin(q))
        return;
    out->s += row_sum(second);
    out->ss += row_product(second, second);
    out->ys += row_product(y, second);
    out->cs += row_product(c, second);
}

/* Rows that stand in memory, beside payoffs. */
enum { STORED = -1, CONTROL = -2 };

/* What a position pays that looks once, or its control does, at that spot.
 * kind: a payoff or CONTROL, a constant where this is inlined. */
EXACT_FN exact_real pay_at(int kind, const struct risk_instrument *q,
                           const double *spot)
{
    const exact_real none = exact_set(0);
    exact_real spots[RISK_LEGS_MAX];
    spots[0] = exact_load(spot);
    return kind == CONTROL ? risk_pay_control(q, spots, none, none, none)
                           : risk_pay_as((enum risk_payoff)kind, q, spots, none,
                                         none, exact_set(1));
}

/* Vector i of a position's row, from the spots kept (late_cpu.c): discounted,
 * of mirrored paths the mean. */
EXACT_FN exact_real row_at(int kind, const struct risk_store *s,
                           const struct risk_block *b, int32_t number, int i)
{
    const struct risk_instrument *q = &s->t.plan.instruments[number];
    const int both = s->t.plan.antithetic;
    const double *spot = b->pay[number] + i * EXACT_LANES;
    if (kind == STORED)
        return exact_load(spot);
    const exact_real d =
        exact_set(s->t.base.discount[number] * (both ? 0.5 : 1));
    spot = b->late[s->late.slot[number]] + i * EXACT_LANES;
    exact_real y = exact_fma(d, pay_at(kind, q, spot), exact_set(0));
    if (both)
        y = exact_fma(
            d, pay_at(kind, q, spot + (ptrdiff_t)s->late.n_slots * RISK_BLOCK),
            y);
    return y;
}

/* The sums of a position's row and its part of the portfolio's. Two vectors at
 * a time, which are the tree's first pairs: all of a row and of its squares
 * would not fit the registers. */
EXACT_FN void add_position(int kind, const struct risk_store *s,
                           const struct risk_block *b, int32_t number,
                           exact_real total[VECTORS], struct risk_sums *out)
{
    enum { HALF = VECTORS / 2 };
    const exact_real quantity =
        exact_set(s->t.plan.instruments[number].quantity);
    exact_real sum[HALF], squares[HALF];
    for (int i = 0; i < HALF; i++) {
        const exact_real y0 = row_at(kind, s, b, number, i),
                         y1 = row_at(kind, s, b, number, i + HALF);
        total[i] = exact_fma(quantity, y0, total[i]);
        total[i + HALF] = exact_fma(quantity, y1, total[i + HALF]);
        sum[i] = y0 + y1;
        squares[i] = y0 * y0 + y1 * y1;
    }
    out->y += tree_sum(sum, HALF);
    out->yy += tree_sum(squares, HALF);
}

/* The underlying, discounted, beside a position that is paid late. */
static void add_late_control(const struct risk_store *s,
                             const struct risk_block *b, int32_t number,
                             struct risk_sums *out)
{
    const struct risk_instrument *q = &s->t.plan.instruments[number];
    risk_row y __attribute__((aligned(64))), c __attribute__((aligned(64)));
    for (int i = 0; i < VECTORS; i++) {
        exact_store(y + i * EXACT_LANES,
                    q->payoff == RISK_FORWARD
                        ? row_at(RISK_FORWARD, s, b, number, i)
                    : q->payoff == RISK_DIGITAL
                        ? row_at(RISK_DIGITAL, s, b, number, i)
                        : row_at(RISK_EUROPEAN, s, b, number, i));
        exact_store(c + i * EXACT_LANES, row_at(CONTROL, s, b, number, i));
    }
    add_controls(q, y, c, NULL, out);
}

/* Sums of payoffs, and the portfolio's row, while each is in registers. */
void risk_add_sums(const struct risk_store *s, const struct risk_block *b,
                   struct risk_sums *out)
{
    const struct risk_plan *p = &s->t.plan;
    double *all = b->pay[p->n_instruments];
    exact_real total[VECTORS];
    for (int i = 0; i < VECTORS; i++)
        total[i] = exact_set(0);
    for (int32_t q = 0; q < p->n_instruments; q++) {
        const struct risk_instrument *in = &p->instruments[q];
        const int late = s->late.slot[q] >= 0,
                  control = in->control != RISK_NO_CONTROL;
        if (!late)
            add_position(STORED, s, b, q, total, &out[q]);
        else if (in->payoff == RISK_FORWARD)
            add_position(RISK_FORWARD, s, b, q, total, &out[q]);
        else if (in->payoff == RISK_DIGITAL)
            add_position(RISK_DIGITAL, s, b, q, total, &out[q]);
        else
            add_position(RISK_EUROPEAN, s, b, q, total, &out[q]);
        if (late && control)
            add_late_control(s, b, q, &out[q]);
        else if (control)
            add_controls(in, b->pay[q], b->control[q], b->second[q], &out[q]);
    }
    for (int i = 0; i < VECTORS; i++)
        exact_store(all + i * EXACT_LANES, total[i]);
    out[p->n_instruments].y += row_sum(all);
    out[p->n_instruments].yy += row_product(all, all);
}

/* The portfolio's row, the last one, from the instruments'. */
static void add_up(const struct risk_plan *p, risk_row *rows)
{
    double *total = rows[p->n_instruments];
    memset(total, 0, sizeof(risk_row));
    for (int32_t q = 0; q < p->n_instruments; q++) {
        const exact_real quantity = exact_set(p->instruments[q].quantity);
        for (int i = 0; i < RISK_BLOCK; i += EXACT_LANES)
            exact_store(total + i, exact_fma(quantity, exact_load(rows[q] + i),
                                             exact_load(total + i)));
    }
}

/* Scenarios 2i and 2i + 1, in b->moved. */
void risk_add_pair(const struct risk_store *s, const struct risk_block *b,
                   struct risk_scenario_sums *low,
                   struct risk_scenario_sums *high)
{
    const int32_t n = s->t.plan.n_instruments + 1;
    add_up(&s->t.plan, b->moved);
    add_up(&s->t.plan, b->moved + n);
    for (int32_t q = 0; q < n; q++) {
        const double *y0 = b->moved[q], *y1 = b->moved[n + q], *y = b->pay[q];
        risk_row d __attribute__((aligned(64))),
            d2 __attribute__((aligned(64)));
        for (int i = 0; i < RISK_BLOCK; i += EXACT_LANES) {
            exact_real a = exact_load(y0 + i), c = exact_load(y1 + i),
                       m = exact_load(y + i);
            exact_store(d + i, c - a);
            exact_store(d2 + i, (c - m) - (m - a));
        }
        low[q].y += row_sum(y0);
        low[q].yy += row_product(y0, y0);
        high[q].y += row_sum(y1);
        high[q].yy += row_product(y1, y1);
        low[q].difference += row_sum(d);
        low[q].difference2 += row_product(d, d);
        low[q].second += row_sum(d2);
        low[q].second2 += row_product(d2, d2);
    }
}
