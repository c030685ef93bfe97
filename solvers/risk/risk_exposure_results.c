/* risk_exposure_results.c: exposures as tables below /risk and on the terminal.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/ctx.h"
#include "base/log.h"
#include "solvers/risk/risk_exposure.h"
#include "solvers/risk/risk_results.h"

/* Lines of netting sets on the terminal. */
enum { SHOWN = 20 };

static const char *name_of(const struct risk_exposure *e, int s)
{
    return s < e->n_sets ? e->sets[s].name : "all";
}

static const struct risk_number *pfe_of(const struct risk_exposure *e, int s,
                                        int d)
{
    return &e->pfe[((ptrdiff_t)s * e->n_dates + d) * e->n_levels];
}

/* "pfe_0.95" and "pfe_0.95_error" of each level. */
static void add_levels(const struct risk_exposure *e, struct risk_tables *t,
                       struct risk_filling *f)
{
    enum { ROOM = 40 };
    for (int l = 0; l < e->n_levels; l++) {
        char *names = risk_table_own(t, 2 * ROOM, 1);
        if (names == NULL)
            return;
        snprintf(names, ROOM, "pfe_%.10g", e->levels[l]);
        snprintf(names + ROOM, ROOM, "pfe_%.10g_error", e->levels[l]);
        double *value = risk_table_numbers(t, f, names),
               *error = risk_table_numbers(t, f, names + ROOM);
        for (int64_t i = 0; !t->failed && i < f->table.n_rows; i++) {
            value[i] = e->pfe[i * e->n_levels + l].value;
            error[i] = e->pfe[i * e->n_levels + l].error;
        }
    }
}

static void add_dates(const struct risk *r, struct risk_tables *t)
{
    const struct risk_exposure *e = r->exposure;
    struct risk_filling *f = risk_table_add(
        t, "exposure", (int64_t)(e->n_sets + 1) * e->n_dates,
        "exposure by netting set and date (years), in the currency of the "
        "spots, under the pricing measure, with standard errors; V: value of "
        "the set, a payment on the date included; epe = E max(V, 0), ene = E "
        "max(-V, 0), value = E V, not discounted; discounted_*: times "
        "discount; pfe_a: the smallest exposure max(V, 0) that a share a of "
        "the paths does not exceed; set 'all': the sum of the sets' "
        "exposures, without netting between sets; revaluation_error: of V, "
        "root mean square, at most");
    const char **set = risk_table_texts(t, f, "set");
    double *date = risk_table_numbers(t, f, "date"),
           *epe = risk_table_numbers(t, f, "epe"),
           *epe_error = risk_table_numbers(t, f, "epe_error"),
           *ene = risk_table_numbers(t, f, "ene"),
           *ene_error = risk_table_numbers(t, f, "ene_error"),
           *value = risk_table_numbers(t, f, "value"),
           *value_error = risk_table_numbers(t, f, "value_error"),
           *discount = risk_table_numbers(t, f, "discount"),
           *d_epe = risk_table_numbers(t, f, "discounted_epe"),
           *d_epe_error = risk_table_numbers(t, f, "discounted_epe_error"),
           *d_ene = risk_table_numbers(t, f, "discounted_ene"),
           *d_ene_error = risk_table_numbers(t, f, "discounted_ene_error"),
           *rest = risk_table_numbers(t, f, "revaluation_error");
    for (int64_t i = 0; !t->failed && i < f->table.n_rows; i++) {
        const int s = (int)(i / e->n_dates), d = (int)(i % e->n_dates);
        const struct risk_exposure_date *x = &e->at[i];
        const double to_today = risk_exposure_discount(r, d);
        set[i] = name_of(e, s);
        date[i] = e->dates[d];
        epe[i] = x->epe.value;
        epe_error[i] = x->epe.error;
        ene[i] = x->ene.value;
        ene_error[i] = x->ene.error;
        value[i] = x->value.value;
        value_error[i] = x->value.error;
        discount[i] = to_today;
        d_epe[i] = to_today * x->epe.value;
        d_epe_error[i] = to_today * x->epe.error;
        d_ene[i] = to_today * x->ene.value;
        d_ene_error[i] = to_today * x->ene.error;
        rest[i] = x->revaluation;
    }
    add_levels(e, t, f);
}

/* The date of the greatest EPE, or of the greatest PFE at the highest level. */
static int peak(const struct risk_exposure *e, int s, int of_pfe, int level)
{
    int best = 0;
    for (int d = 1; d < e->n_dates; d++) {
        const struct risk_exposure_date *x = &e->at[s * e->n_dates];
        if (of_pfe
                ? pfe_of(e, s, d)[level].value > pfe_of(e, s, best)[level].value
                : x[d].epe.value > x[best].epe.value)
            best = d;
    }
    return best;
}

static int highest_level(const struct risk_exposure *e)
{
    int best = 0;
    for (int l = 1; l < e->n_levels; l++)
        if (e->levels[l] > e->levels[best])
            best = l;
    return best;
}

static void add_costs(const struct risk *r, struct risk_tables *t)
{
    const struct risk_exposure *e = r->exposure;
    const int level = highest_level(e);
    struct risk_filling *f = risk_table_add(
        t, "cva", e->n_sets + 1,
        "what default costs, in the currency of the spots, today: cva: one's "
        "loss by the counterparty's default, dva: the counterparty's loss by "
        "one's own, both positive, each as if the other side could not "
        "default, with standard errors of the paths' own sums; value of the "
        "set with credit risk = value - cva + dva; exposure at the end of "
        "each interval of dates, defaults up to the last date; default: "
        "chance of it by then; peak_pfe: at the highest level");
    const char **set = risk_table_texts(t, f, "set");
    double *cva = risk_table_numbers(t, f, "cva"),
           *cva_error = risk_table_numbers(t, f, "cva_error"),
           *dva = risk_table_numbers(t, f, "dva"),
           *dva_error = risk_table_numbers(t, f, "dva_error"),
           *epe = risk_table_numbers(t, f, "peak_epe"),
           *epe_date = risk_table_numbers(t, f, "peak_epe_date"),
           *pfe = risk_table_numbers(t, f, "peak_pfe"),
           *pfe_date = risk_table_numbers(t, f, "peak_pfe_date"),
           *recovery = risk_table_numbers(t, f, "recovery"),
           *chance = risk_table_numbers(t, f, "default"),
           *paths = risk_table_numbers(t, f, "paths");
    for (int s = 0; !t->failed && s <= e->n_sets; s++) {
        const int p = peak(e, s, 0, level), q = peak(e, s, 1, level);
        set[s] = name_of(e, s);
        cva[s] = e->cost[s].cva.value;
        cva_error[s] = e->cost[s].cva.error;
        dva[s] = e->cost[s].dva.value;
        dva_error[s] = e->cost[s].dva.error;
        epe[s] = e->at[s * e->n_dates + p].epe.value;
        epe_date[s] = e->dates[p];
        pfe[s] = pfe_of(e, s, q)[level].value;
        pfe_date[s] = e->dates[q];
        recovery[s] = s < e->n_sets ? e->sets[s].recovery : NAN;
        chance[s] = s < e->n_sets ? 0 : NAN;
        for (int d = 0; s < e->n_sets && d < e->n_dates; d++)
            chance[s] += risk_exposure_default(e, &e->sets[s].hazard, d);
        paths[s] = (double)e->paths_done;
    }
}

static void add_positions(const struct risk *r, struct risk_tables *t)
{
    const struct risk_exposure *e = r->exposure;
    struct risk_filling *f = risk_table_add(
        t, "exposure_instruments", (int64_t)r->portfolio.n * e->n_dates,
        "how each position was valued at each date (years), and the error of "
        "its value there, root mean square; 0: exact");
    const char **id = risk_table_texts(t, f, "id"),
               **set = risk_table_texts(t, f, "set"),
               **method = risk_table_texts(t, f, "revaluation");
    double *date = risk_table_numbers(t, f, "date"),
           *error = risk_table_numbers(t, f, "revaluation_error");
    for (int64_t i = 0; !t->failed && i < f->table.n_rows; i++) {
        const struct risk_position *p = &r->portfolio.positions[i / e->n_dates];
        id[i] = p->id;
        set[i] = name_of(e, e->set_of[i / e->n_dates]);
        method[i] = e->methods[i];
        date[i] = e->dates[i % e->n_dates];
        error[i] = fabs(p->quantity) * e->errors[i];
    }
}

void risk_exposure_tables(struct risk *r, struct risk_tables *t)
{
    if (r->exposure == NULL || !r->exposure->done)
        return;
    add_dates(r, t);
    add_costs(r, t);
    add_positions(r, t);
}

/* ---- the terminal ---- */

static void print_set(struct ctx *ctx, const struct risk_exposure *e, int s)
{
    const int level = highest_level(e), p = peak(e, s, 0, level),
              q = peak(e, s, 1, level);
    const struct risk_exposure_cost *c = &e->cost[s];
    char cva[40], dva[40];
    snprintf(cva, sizeof cva, "%.6g +- %.2g", c->cva.value, c->cva.error);
    snprintf(dva, sizeof dva, "%.6g +- %.2g", c->dva.value, c->dva.error);
    log_info(ctx->log, "  %-24.24s %20s %20s %12.6g @ %-6.4g %12.6g @ %.4g",
             name_of(e, s), cva, dva, e->at[s * e->n_dates + p].epe.value,
             e->dates[p], pfe_of(e, s, q)[level].value, e->dates[q]);
}

/* Whether rates differ and the deck does not say which of them discounts. */
static int is_ambiguous(const struct risk *r)
{
    for (int f = 0; !r->exposure->discounting_given && f < r->market.n; f++)
        for (int d = 0; d < r->exposure->n_dates; d++)
            if (risk_curve_integral(&r->market.assets[f].rate,
                                    r->exposure->dates[d]) !=
                risk_curve_integral(&r->market.assets[0].rate,
                                    r->exposure->dates[d]))
                return 1;
    return 0;
}

static double last_maturity(const struct risk *r)
{
    double last = 0;
    for (int32_t q = 0; q < r->portfolio.n; q++)
        if (r->portfolio.positions[q].type != RISK_TYPE_STOCK)
            last = fmax(last, r->portfolio.positions[q].maturity);
    return last;
}

void risk_exposure_print(struct ctx *ctx, const struct risk *r)
{
    const struct risk_exposure *e = r->exposure;
    char pfe[40];
    if (e == NULL || !e->done)
        return;
    const double end = e->dates[e->n_dates - 1];
    snprintf(pfe, sizeof pfe, "peak PFE %.6g %%",
             100 * e->levels[highest_level(e)]);
    log_info(ctx->log, "%s", "");
    log_info(ctx->log, "  %-24s %20s %20s %21s %21s", "netting set",
             "CVA +- std. error", "DVA +- std. error", "peak EPE @ years", pfe);
    for (int s = 0; s < e->n_sets && s < SHOWN; s++)
        print_set(ctx, e, s);
    if (e->n_sets > SHOWN)
        log_info(ctx->log, "  ... and %d more, in the file", e->n_sets - SHOWN);
    print_set(ctx, e, e->n_sets);
    if (last_maturity(r) > end)
        log_info(ctx->log,
                 "  defaults after the last date, %.4g years, are not counted; "
                 "the last position matures at %.4g",
                 end, last_maturity(r));
    if (is_ambiguous(r))
        log_warn(ctx->log,
                 "factors have different rates; exposures are discounted with "
                 "that of %s (risk.exposure.discounting)",
                 r->market.assets[e->discounting].name);
}
