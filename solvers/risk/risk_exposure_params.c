/* risk_exposure_params.c: [risk.exposure] and [[risk.netting]]. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "base/param.h"
#include "solvers/risk/risk_exposure.h"
#include "solvers/risk/risk_reval.h"

/* The set of positions that name none. */
static const char *const unnamed = "default";

/* ---- curves ---- */

static void complain(struct params *p, int i, const char *key, const char *text)
{
    if (i < 0)
        params_error(p, "risk.exposure", key, "%s", text);
    else
        params_error_at(p, "risk.netting", i, key, "%s", text);
}

/* Rates and the times between them, of [[risk.netting]] number i, or of
 * [risk.exposure] (i = -1). */
static int take_curve(struct ctx *ctx, struct params *p, int i,
                      const char *times_key, const double *rates, size_t n,
                      const double *times, size_t n_times, struct risk_curve *c)
{
    char text[160];
    if (n_times + 1 != n) {
        snprintf(text, sizeof text,
                 "%zu rates and %zu entries of %s; expected one time less "
                 "than rates",
                 n, n_times, times_key);
        complain(p, i, times_key, text);
        return 0;
    }
    for (size_t k = 1; k < n_times; k++)
        if (times[k] <= times[k - 1]) {
            snprintf(text, sizeof text, "%s must rise: %g comes after %g",
                     times_key, times[k], times[k - 1]);
            complain(p, i, times_key, text);
        }
    return risk_curve_make(ctx, rates, n, times, c);
}

static int copy_curve(struct ctx *ctx, const struct risk_curve *from,
                      struct risk_curve *to)
{
    const size_t n = (size_t)from->n;
    to->times = calloc(2 * n + 1, sizeof *to->times);
    if (to->times == NULL)
        return FAIL(ctx, STATUS_MEMORY, "no memory for a curve");
    to->n = from->n;
    to->rates = to->times + n;
    if (n > 0)
        memcpy(to->times, from->times, 2 * n * sizeof *to->times);
    return 0;
}

/* ---- [[risk.netting]] ---- */

static void check_name(struct params *p, int i, const struct risk_exposure *e,
                       char *out)
{
    const char *name = params_string_at(p, "risk.netting", i, "name");
    if (name[0] == '\0' || strlen(name) >= RISK_NAME_MAX ||
        text_has_control(name)) {
        params_error_at(p, "risk.netting", i, "name",
                        "expected 1 to %d bytes without control characters",
                        RISK_NAME_MAX - 1);
        return;
    }
    for (int j = 0; j < i; j++)
        if (strcmp(e->sets[j].name, name) == 0)
            params_error_at(p, "risk.netting", i, "name",
                            "there is a netting set \"%s\" already", name);
    snprintf(out, RISK_NAME_MAX, "%s", name);
}

static int read_set(struct ctx *ctx, struct params *p, int i,
                    struct risk_exposure *e)
{
    struct risk_netting *s = &e->sets[i];
    check_name(p, i, e, s->name);
    s->recovery = e->usual.recovery;
    if (params_is_set_at(p, "risk.netting", i, "recovery"))
        s->recovery = params_double_at(p, "risk.netting", i, "recovery");
    if (!params_is_set_at(p, "risk.netting", i, "hazard")) {
        if (params_is_set_at(p, "risk.netting", i, "hazard_times"))
            params_error_at(p, "risk.netting", i, "hazard_times",
                            "hazard_times without hazard");
        return copy_curve(ctx, &e->usual.hazard, &s->hazard);
    }
    size_t n = 0, n_times = 0;
    const double *rates = params_doubles_at(p, "risk.netting", i, "hazard", &n);
    const double *times =
        params_doubles_at(p, "risk.netting", i, "hazard_times", &n_times);
    return take_curve(ctx, p, i, "hazard_times", rates, n, times, n_times,
                      &s->hazard);
}

/* ---- [risk.exposure] ---- */

static int read_hazards(struct ctx *ctx, struct params *p,
                        struct risk_exposure *e)
{
    size_t n = 0, n_times = 0;
    const double *rates = params_doubles(p, "risk.exposure", "hazard", &n),
                 *times = params_doubles(p, "risk.exposure", "hazard_times",
                                         &n_times);
    TRY(take_curve(ctx, p, -1, "hazard_times", rates, n, times, n_times,
                   &e->usual.hazard));
    rates = params_doubles(p, "risk.exposure", "own_hazard", &n);
    times = params_doubles(p, "risk.exposure", "own_hazard_times", &n_times);
    return take_curve(ctx, p, -1, "own_hazard_times", rates, n, times, n_times,
                      &e->own_hazard);
}

static int read_lists(struct ctx *ctx, struct params *p,
                      struct risk_exposure *e)
{
    size_t n = 0, n_levels = 0;
    const double *dates = params_doubles(p, "risk.exposure", "dates", &n),
                 *levels =
                     params_doubles(p, "risk.exposure", "levels", &n_levels);
    if (n_levels > RISK_EXPOSURE_LEVELS_MAX) {
        params_error(p, "risk.exposure", "levels", "at most %d levels",
                     RISK_EXPOSURE_LEVELS_MAX);
        n_levels = RISK_EXPOSURE_LEVELS_MAX;
    }
    e->dates = calloc(n + n_levels + 1, sizeof *e->dates);
    if (e->dates == NULL)
        return FAIL(ctx, STATUS_MEMORY, "no memory for dates");
    e->levels = e->dates + n;
    e->n_dates = (int)n;
    e->n_levels = (int)n_levels;
    for (size_t k = 0; k < n; k++)
        e->dates[k] = dates[k];
    for (size_t k = 0; k < n_levels; k++)
        e->levels[k] = levels[k];
    for (size_t k = 1; k < n; k++)
        if (!(dates[k] - dates[k - 1] > RISK_SAME_DATE))
            params_error(p, "risk.exposure", "dates",
                         "dates must rise: %g comes after %g", dates[k],
                         dates[k - 1]);
    return 0;
}

static void read_discounting(struct params *p, const struct risk_market *m,
                             struct risk_exposure *e)
{
    if (!params_is_set(p, "risk.exposure", "discounting"))
        return;
    const char *name = params_string(p, "risk.exposure", "discounting");
    e->discounting_given = 1;
    for (int f = 0; f < m->n; f++)
        if (strcmp(m->assets[f].name, name) == 0) {
            e->discounting = f;
            return;
        }
    params_error(p, "risk.exposure", "discounting",
                 "there is no factor \"%.60s\"", name);
}

int risk_exposure_read(struct ctx *ctx, struct params *p, struct risk *r)
{
    const int given = params_has_section(p, "risk.exposure"),
              sets = params_count(p, "risk.netting");
    if (!(r->engines & RISK_ENGINE_EXPOSURE) || !given) {
        if (given)
            params_error(p, "risk.exposure", NULL,
                         "risk.engines does not name \"exposure\"");
        else if (r->engines & RISK_ENGINE_EXPOSURE)
            params_error(p, "risk", "engines",
                         "\"exposure\" needs a section [risk.exposure]");
        else if (sets > 0)
            params_error_at(p, "risk.netting", 0, NULL,
                            "risk.engines does not name \"exposure\"");
        return 0;
    }
    struct risk_exposure *e = r->exposure = calloc(1, sizeof *e);
    if (e != NULL)
        e->sets = calloc((size_t)sets + 1, sizeof *e->sets);
    if (e == NULL || e->sets == NULL)
        return FAIL(ctx, STATUS_MEMORY, "no memory for exposures");
    TRY(read_lists(ctx, p, e));
    TRY(read_hazards(ctx, p, e));
    e->usual.recovery = params_double(p, "risk.exposure", "recovery");
    e->own_recovery = params_double(p, "risk.exposure", "own_recovery");
    e->paths = params_int(p, "risk.exposure", "paths");
    e->regression_paths = params_int(p, "risk.exposure", "regression_paths");
    read_discounting(p, &r->market, e);
    for (int i = 0; i < sets; i++, e->n_sets++)
        TRY(read_set(ctx, p, i, e));
    e->n_declared = sets;
    return 0;
}

/* ---- sets of positions ---- */

static int find_set(const struct risk_exposure *e, const char *name)
{
    for (int s = 0; s < e->n_sets; s++)
        if (strcmp(e->sets[s].name, name) == 0)
            return s;
    return -1;
}

static int add_set(struct ctx *ctx, struct risk_exposure *e, const char *name)
{
    struct risk_netting *more =
        realloc(e->sets, ((size_t)e->n_sets + 1) * sizeof *more);
    if (more == NULL)
        return FAIL(ctx, STATUS_MEMORY, "no memory for netting sets");
    e->sets = more;
    struct risk_netting *s = &more[e->n_sets];
    *s = (struct risk_netting){.recovery = e->usual.recovery};
    snprintf(s->name, sizeof s->name, "%s", name);
    e->n_sets++;
    return copy_curve(ctx, &e->usual.hazard, &s->hazard);
}

int risk_exposure_assign(struct ctx *ctx, struct risk *risk)
{
    struct risk_exposure *e = risk->exposure;
    if (e == NULL)
        return 0;
    e->set_of = calloc((size_t)risk->portfolio.n + 1, sizeof *e->set_of);
    if (e->set_of == NULL)
        return FAIL(ctx, STATUS_MEMORY, "no memory for netting sets");
    for (int32_t q = 0; q < risk->portfolio.n; q++) {
        const struct risk_position *p = &risk->portfolio.positions[q];
        const int named = p->netting[0] != '\0';
        const char *name = named ? p->netting : unnamed;
        int s = find_set(e, name);
        if (s < 0 && named && e->n_declared > 0)
            return FAIL(ctx, STATUS_DECK,
                        "%s: position '%s' is in netting set '%s', which no "
                        "[[risk.netting]] has; add one with this name",
                        p->where, p->id, name);
        if (s < 0) {
            TRY(add_set(ctx, e, name));
            s = e->n_sets - 1;
        }
        e->set_of[q] = s;
    }
    return 0;
}
