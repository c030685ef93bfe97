/* risk_bench.c: the standard problems: one instrument on 252 daily steps. */
#include <stddef.h>

#include "solvers/risk/risk.h"
#include "solvers/solver.h"

static const struct bench_size sizes[] = {{"european", ""}, {NULL, NULL}};

static const char deck[] = "[run]\n"
                           "solver = \"risk\"\n"
                           "[risk]\n"
                           "batches = 1\n"
                           "variance_reduction = [\"none\"]\n"
                           "[[risk.factor]]\n"
                           "name = \"A\"\n"
                           "spot = 100.0\n"
                           "rate = 0.05\n"
                           "volatility = 0.2\n"
                           "steps_per_year = 252\n"
                           "[[risk.instrument]]\n"
                           "id = \"call\"\n"
                           "type = \"european\"\n"
                           "factor = \"A\"\n"
                           "quantity = 1\n"
                           "side = \"call\"\n"
                           "strike = 100.0\n"
                           "maturity = 1.0\n";

const struct solver_bench risk_bench = {
    .title = "a European call on 252 daily steps",
    .deck = deck,
    .sizes = sizes,
    .steps_key = "risk.batches",
    .warm_up = 1,
    .steps = 10,
};
