#include "driver/exchange.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/param.h"
#include "base/units.h"
#include "domain/state.h"
#include "kernels/rng.h"
#include "solvers/solver.h"

#define SECTION "ensemble"

/* ---- the deck ---- */

/* The rungs as the deck lists them. */
static void take_list(struct params *p, const double *list, size_t n,
                      struct exchange *out)
{
    int64_t replicas = params_int(p, SECTION, "replicas");
    /* A run of one of the replicas is a deck with one. */
    if (replicas != 1 && replicas != (int64_t)n)
        params_error(p, SECTION, "replicas",
                     "ensemble.replicas = %" PRId64
                     ", but there are %zu temperatures: leave replicas out, or "
                     "make them as many",
                     replicas, n);
    for (size_t i = 0; i < n; i++)
        out->temperature[i] = list[i];
}

/* Equal ratios, so that energies of neighbors overlap about as much everywhere
 * where the heat capacity is the same. */
static void take_range(struct params *p, struct exchange *out)
{
    size_t two;
    const double *range = params_doubles(p, SECTION, "temperature_range", &two);
    for (int i = 0; i < out->n; i++)
        out->temperature[i] =
            i == out->n - 1
                ? range[1]
                : range[0] * pow(range[1] / range[0], i / (out->n - 1.0));
}

static void check_ladder(struct params *p, const char *key,
                         const struct exchange *x)
{
    for (int i = 1; i < x->n; i++)
        if (!(x->temperature[i] > x->temperature[i - 1])) {
            params_error(p, SECTION, key,
                         "ensemble.%s must ascend, but %g follows %g", key,
                         x->temperature[i], x->temperature[i - 1]);
            return;
        }
}

static int allocate(struct ctx *ctx, struct exchange *x)
{
    size_t n = (size_t)x->n;
    x->temperature = calloc(n, sizeof *x->temperature);
    x->rung = calloc(n, sizeof *x->rung);
    if (x->temperature == NULL || x->rung == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory");
    for (int i = 0; i < x->n; i++)
        x->rung[i] = i;
    return 0;
}

static void check_others(struct params *p, const char *key,
                         const struct solver *solver)
{
    if (solver->exchange == NULL)
        params_error(p, SECTION, key,
                     "solver %s has no temperature to exchange", solver->name);
    if (params_is_set(p, "output", "staging") &&
        strcmp(params_string(p, "output", "staging"), "on") == 0)
        params_error(p, "output", "staging",
                     "output.staging = \"on\" does not go with ensemble.%s: "
                     "several runs share a process, and HDF5 bears one caller "
                     "at a time",
                     key);
}

int exchange_read(struct ctx *ctx, struct params *p,
                  const struct solver *solver, struct exchange *out)
{
    int has_range = params_is_set(p, SECTION, "temperature_range");
    int has_list = params_is_set(p, SECTION, "temperatures");
    const char *key = has_list ? "temperatures" : "temperature_range";
    const double *list = NULL;
    size_t n = 0;
    *out = (struct exchange){0};
    if (!has_list && !has_range) {
        params_refuse(p, SECTION, "exchange_every",
                      "ensemble.exchange_every has no meaning without "
                      "ensemble.temperatures or ensemble.temperature_range");
        return 0;
    }
    if (has_list && has_range)
        params_error(p, SECTION, "temperature_range",
                     "ensemble.temperatures and ensemble.temperature_range are "
                     "two ways to say the same: leave one out");
    if (has_list)
        list = params_doubles(p, SECTION, "temperatures", &n);
    else
        n = (size_t)params_int(p, SECTION, "replicas");
    if (n < 2 || n > EXCHANGE_MOST) {
        params_error(p, SECTION, key, "ensemble.%s needs two to %d %s", key,
                     EXCHANGE_MOST,
                     has_list ? "temperatures" : "ensemble.replicas");
        return 0;
    }
    out->n = (int)n;
    out->every = params_int(p, SECTION, "exchange_every");
    out->seed = (uint64_t)params_int(p, "run", "seed");
    unit_name(params_units(p), (struct dimension){0, 0, 0, 1, 0, 0}, out->unit,
              sizeof out->unit);
    TRY(allocate(ctx, out));
    if (has_list)
        take_list(p, list, n, out);
    else
        take_range(p, out);
    check_ladder(p, key, out);
    check_others(p, key, solver);
    return 0;
}

void exchange_free(struct exchange *x)
{
    free(x->temperature);
    free(x->rung);
    free(x->history);
    free(x->columns);
    free(x->tables);
    *x = (struct exchange){0};
}

/* ---- attempts ---- */

double exchange_temperature(const struct exchange *x, int replica)
{
    return x->temperature[x->rung[replica]];
}

int exchange_due(const struct exchange *x, int64_t step)
{
    return step % x->every == 0 && step / x->every > x->attempts;
}

static int reserve(struct ctx *ctx, struct exchange *x, int64_t attempts)
{
    if (attempts <= x->capacity)
        return 0;
    int64_t capacity = attempts + attempts / 2 + 64;
    uint16_t *grown = realloc(x->history, (size_t)capacity * (size_t)x->n *
                                              sizeof *x->history);
    if (grown == NULL)
        return FAIL(ctx, STATUS_MEMORY,
                    "no memory for the walks of %d replicas", x->n);
    x->history = grown;
    x->capacity = capacity;
    return 0;
}

static int replica_at(const struct exchange *x, int rung)
{
    int i = 0;
    while (x->rung[i] != rung)
        i++;
    return i;
}

static int accepts(const struct exchange *x, int rung, double exponent)
{
    struct rng_words r = rng_philox(x->seed, RNG_EXCHANGE,
                                    (uint64_t)x->attempts, (uint64_t)rung);
    return exponent >= 0 || rng_uniform(r.w[0], r.w[1]) < exp(exponent);
}

int exchange_attempt(struct ctx *ctx, struct exchange *x, const double *energy,
                     const double *beta, int *changed)
{
    TRY(reserve(ctx, x, x->attempts + 1));
    memset(changed, 0, (size_t)x->n * sizeof *changed);
    for (int r = (int)(x->attempts % 2); r + 1 < x->n; r += 2) {
        int i = replica_at(x, r), j = replica_at(x, r + 1);
        double exponent = (beta[r] - beta[r + 1]) * (energy[i] - energy[j]);
        if (!accepts(x, r, exponent))
            continue;
        x->rung[i] = r + 1;
        x->rung[j] = r;
        changed[i] = changed[j] = 1;
    }
    uint16_t *row = x->history + x->attempts * x->n;
    for (int i = 0; i < x->n; i++)
        row[i] = (uint16_t)x->rung[i];
    x->attempts++;
    return 0;
}

/* ---- checkpoints ---- */

int exchange_save(struct ctx *ctx, const struct exchange *x,
                  struct state_io *io)
{
    struct state_array array = state_shared(
        "exchange/rungs", STATE_BYTE,
        x->attempts * x->n * (int64_t)sizeof *x->history, x->history);
    return state_put(ctx, io, &array);
}

static int fail_other(struct ctx *ctx, const struct exchange *x)
{
    return FAIL(ctx, STATUS_INPUT,
                "the checkpoint's exchanges are not those of %d replicas that "
                "try every %" PRId64 " steps",
                x->n, x->every);
}

/* The attempt that belongs to `step` may not have been made: none follows a
 * run's last step. */
static int64_t count_attempts(const struct exchange *x, struct state_io *io,
                              int64_t step)
{
    int64_t shape[STATE_RANK_MAX] = {0};
    int64_t row = x->n * (int64_t)sizeof *x->history;
    int64_t most = step / x->every, least = most - (step % x->every == 0);
    if (!io->find(io, "exchange/rungs", shape) || shape[0] % row != 0 ||
        shape[0] / row < least || shape[0] / row > most)
        return -1;
    return shape[0] / row;
}

int exchange_restore(struct ctx *ctx, struct exchange *x, struct state_io *io,
                     int64_t step)
{
    int64_t attempts = count_attempts(x, io, step);
    if (attempts < 0)
        return fail_other(ctx, x);
    TRY(comm_agree(ctx, reserve(ctx, x, attempts + 1)));
    struct state_array array =
        state_shared("exchange/rungs", STATE_BYTE,
                     attempts * x->n * (int64_t)sizeof *x->history, x->history);
    TRY(state_get(ctx, io, &array));
    x->attempts = attempts;
    for (int i = 0; i < x->n; i++) {
        int rung = attempts > 0 ? x->history[(attempts - 1) * x->n + i] : i;
        if (rung >= x->n)
            return fail_other(ctx, x);
        x->rung[i] = rung;
    }
    return 0;
}
