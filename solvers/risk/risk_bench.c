/* risk_bench.c: the standard problems: one instrument on 252 daily steps; one
 * is an American put that may be exercised at 50 dates, without steps between
 * them. And a book of 1,000 options on 10 factors. Beside them, bare loops of
 * the same work (kernels/risk/plain.h). */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "kernels/risk/plain.h"
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
    "50}] "                                                             \
    "risk.factor=[{name=\"A\",spot=100.0,rate=0.05,volatility=0.2}]"

static const struct bench_size sizes[] = {
    {"european", ""},       {"asian", ASIAN}, {"heston", HESTON},
    {"american", AMERICAN}, {"book", ""},     {NULL, NULL}};

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

/* Room for the deck of the book. */
enum { ROW = 192, HEAD = 512 };

/* Options as plain.h says. Errors: STATUS_MEMORY. */
static int deck_of(struct ctx *ctx, const char *size, char **text)
{
    const size_t room =
        HEAD + ROW * (RISK_PLAIN_OPTIONS + 2 * RISK_PLAIN_FACTORS);
    size_t at = 0;
    if (strcmp(size, "book") != 0)
        return 0;
    *text = malloc(room);
    if (*text == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for a deck");
#define ADD(...) at += (size_t)snprintf(*text + at, room - at, __VA_ARGS__)
    ADD("run.solver = \"risk\"\n[risk]\nbatches = 1\n"
        "variance_reduction = [\"none\"]\n");
    for (int f = 0; f < RISK_PLAIN_FACTORS; f++)
        ADD("[[risk.factor]]\nname = \"F%d\"\nspot = 100.0\nrate = 0.05\n"
            "volatility = 0.2\n",
            f);
    ADD("[risk.correlation]\nmatrix = [");
    for (int f = 0; f < RISK_PLAIN_FACTORS; f++)
        for (int g = 0; g < RISK_PLAIN_FACTORS; g++)
            ADD("%s%s%s", g == 0 ? "[" : "", f == g ? "1.0" : "0.5",
                g < RISK_PLAIN_FACTORS - 1 ? "," : "],");
    ADD("]\n");
    for (int o = 0; o < RISK_PLAIN_OPTIONS; o++)
        ADD("[[risk.instrument]]\nid = \"o%d\"\ntype = \"european\"\n"
            "factor = \"F%d\"\nquantity = 1\nside = \"%s\"\nstrike = %.2f\n"
            "maturity = %.17g\n",
            o, o % RISK_PLAIN_FACTORS, risk_plain_side(o) > 0 ? "call" : "put",
            risk_plain_strike(o), (o % 12 + 1) / 12.0);
#undef ADD
    return 0;
}

static double bare(const char *size, double work)
{
    static const char *const names[] = {"european", "asian", "heston", "book",
                                        "american"};
    static const enum risk_plain loops[] = {
        RISK_PLAIN_EUROPEAN, RISK_PLAIN_ASIAN, RISK_PLAIN_HESTON,
        RISK_PLAIN_BOOK, RISK_PLAIN_AMERICAN};
    for (int i = 0; i < 5; i++) {
        if (strcmp(size, names[i]) != 0)
            continue;
        const double block = (double)risk_plain_steps(loops[i]) * RISK_BLOCK;
        const int64_t n = 1 + (int64_t)(work / block),
                      all = n + risk_plain_first(loops[i]);
        return risk_plain_value(loops[i], n) > 0 ? (double)all * block : 0;
    }
    return 0;
}

const struct solver_bench risk_bench = {
    .title = "a European call, an Asian call (252 fixings), a European call "
             "in Heston's model, 252 daily steps; an American put of 50 dates; "
             "1,000 options on 10 factors in 12 steps",
    .deck = deck,
    .sizes = sizes,
    .steps_key = "risk.batches",
    .warm_up = 1,
    .steps = 10,
    .deck_of = deck_of,
    .bare = bare,
};
