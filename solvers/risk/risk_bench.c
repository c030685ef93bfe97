/* risk_bench.c: the standard problems: one instrument on 252 daily steps; one
 * is an American put that may be exercised at each of them. */
#include <stddef.h>

#include "solvers/risk/risk.h"
#include "solvers/solver.h"

#define HESTON                                                           \
    "risk.factor=[{name=\"A\",model=\"heston\",spot=100.0,rate=0.05,"    \
    "variance=0.04,kappa=1.5,theta=0.04,xi=0.3,rho=-0.7,steps_per_year=" \
    "252}]"
#define ASIAN                                                                \
    "risk.instrument=[{id=\"asian\",type=\"asian-arithmetic\",factor=\"A\"," \
    "quantity=1,side=\"call\",strike=100.0,maturity=1.0,fixings=252}]"
#define AMERICAN                                                        \
    "risk.instrument=[{id=\"put\",type=\"american\",factor=\"A\","      \
    "quantity=1,side=\"put\",strike=105.0,maturity=1.0,exercise_dates=" \
    "252}]"

static const struct bench_size sizes[] = {{"european", ""},
                                          {"asian", ASIAN},
                                          {"heston", HESTON},
                                          {"american", AMERICAN},
                                          {NULL, NULL}};

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
    .title = "a European call, an Asian call (252 fixings), a European call "
             "in Heston's model and an American put; 252 daily steps",
    .deck = deck,
    .sizes = sizes,
    .steps_key = "risk.batches",
    .warm_up = 1,
    .steps = 10,
};
