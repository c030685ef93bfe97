/* t_exact: functions whose bits are the same on every machine, and near the
 * truth. */
#include "kernels/risk/exact.h"

#include <math.h>
#include <string.h>

#include "kernels/risk/models.h"
#include "kernels/risk/risk_tables.h"
#include "tests/tap.h"

enum { POINTS = 200000, FUNCTIONS = 8 };

static const char *const names[FUNCTIONS] = {"log",
                                             "exp",
                                             "sin 2 pi u",
                                             "cos 2 pi u",
                                             "quantile",
                                             "normal distribution",
                                             "Box-Muller, first",
                                             "Box-Muller, second"};

/* What each function gives for point number i; in: its argument. */
static void evaluate(uint64_t i, double *in, double *out)
{
    struct exact_block w = exact_philox(exact_count_from(i), 0, 7, 0, 11u, 22u);
    exact_real u = exact_uniform52(w.w[0], w.w[1]),
               v = exact_uniform52(w.w[2], w.w[3]), r[FUNCTIONS];
    exact_real a[FUNCTIONS] = {
        u, exact_fma(v, exact_set(80), exact_set(-40)), u, u,
        v, exact_fma(u, exact_set(16), exact_set(-8)),  u, v};
    r[0] = exact_log(a[0]);
    r[1] = exact_exp(a[1]);
    exact_sincos_2pi(u, &r[2], &r[3]);
    r[4] = exact_normal_quantile(a[4]);
    r[5] = exact_normal_cdf(a[5]);
    exact_box_muller(exact_uniform32(w.w[1]), exact_uniform32(w.w[3]), &r[6],
                     &r[7]);
    for (int f = 0; f < FUNCTIONS; f++) {
        exact_store(in + f, a[f]);
        exact_store(out + f, r[f]);
    }
}

/* Distance from the truth in units of the last place. */
static double ulps(double got, long double want)
{
    int e;
    frexp(got, &e);
    return (double)(fabsl((long double)got - want) / ldexpl(1, e - 53));
}

static long double truth(int f, double x)
{
    const long double turn = 6.283185307179586476925286766559005768L;
    switch (f) {
    case 0:
        return logl(x);
    case 1:
        return expl(x);
    case 2:
        return sinl(turn * x);
    case 3:
        return cosl(turn * x);
    default:
        return erfcl(-(long double)x / sqrtl(2)) / 2;
    }
}

static void near_the_truth(void)
{
    /* Measured: 0.84, 1.06, 1.03, 1.03, -, 4.9. Sine and cosine near their
     * zeros are measured against the argument's own reduction, so absolutely.
     */
    static const double bound[FUNCTIONS] = {0.9, 1.2, 0, 0, 0, 5.5, 0, 0};
    double worst[FUNCTIONS] = {0}, absolute[FUNCTIONS] = {0}, round = 0;
    for (uint64_t i = 0; i < POINTS; i++) {
        double in[FUNCTIONS], out[FUNCTIONS];
        evaluate(i, in, out);
        for (int f = 0; f < 6; f++) {
            if (f == 4)
                continue;
            double e = ulps(out[f], truth(f, in[f]));
            double d = (double)fabsl(out[f] - truth(f, in[f]));
            worst[f] = e > worst[f] ? e : worst[f];
            absolute[f] = d > absolute[f] ? d : absolute[f];
        }
        /* The quantile's own distribution, by the slope of the truth. */
        long double slope =
            expl(-(long double)out[4] * out[4] / 2) / 2.506628274631000502L;
        double d =
            (double)fabsl((truth(5, out[4]) - (long double)in[4]) / slope);
        round = d > round ? d : round;
    }
    for (int f = 0; f < 6; f++)
        if (bound[f] > 0)
            tap_ok(worst[f] <= bound[f],
                   "%s is within %g units in the last place (worst %.2f)",
                   names[f], bound[f], worst[f]);
    for (int f = 2; f < 4; f++)
        tap_ok(absolute[f] < 2.5e-16, "%s is within 2.5e-16 (worst %.2g)",
               names[f], absolute[f]);
    tap_ok(round < 3e-15, "the quantile is within 3e-15 (worst %.2g)", round);
}

static void ends(void)
{
    double v;
    exact_store(&v, exact_exp(exact_set(-709)));
    tap_ok(v == 0, "exp(-709) is 0");
    exact_store(&v, exact_exp(exact_set(710)));
    tap_ok(isinf(v), "exp(710) is infinite");
    exact_store(&v, exact_exp(exact_set(0)));
    tap_ok(v == 1, "exp(0) is 1");
    exact_store(&v, exact_log(exact_set(1)));
    tap_ok(v == 0, "log(1) is 0");
    exact_store(&v, exact_normal_quantile(exact_set(0.5)));
    tap_ok(v == 0, "the quantile of 1/2 is 0");
    exact_store(&v, exact_normal_cdf(exact_set(-37)));
    tap_ok(v > 0 && v < 1e-298, "the distribution at -37 is tiny, not 0");
}

/* A number that depends on each bit of each result. The value was found equal
 * for gcc and clang, one lane and 2, 4, 8, with and without hardware fma. */
static void bits(void)
{
    uint64_t hash = 0;
    for (uint64_t i = 0; i < POINTS; i++) {
        double in[FUNCTIONS], out[FUNCTIONS];
        evaluate(i, in, out);
        for (uint64_t f = 0; f < FUNCTIONS; f++) {
            uint64_t b;
            memcpy(&b, out + f, sizeof b);
            hash += (b * (2 * f + 1)) ^ (i * 0x9E3779B97F4A7C15ull);
        }
    }
    tap_ok(hash == 0xcbea4d2874548c5bull,
           "the bits are those of every other machine (%016llx)",
           (unsigned long long)hash);
}

/* exact_tree_sum() for any count. */
static void sums(void)
{
    double v[37];
    int right = 1;
    for (int n = 0; n <= 37; n++) {
        for (int i = 0; i < n; i++)
            v[i] = i + 1;
        right &= exact_tree_sum(v, n) == n * (n + 1) / 2.0;
    }
    tap_ok(right, "the tree adds up 0 to 37 numbers");
}

/* ---- a step of Heston's model ---- */

struct moments {
    double mean, square, growth; /* of v, v^2 and exp x */
};

/* One point of an integral: x is normal given v, so two values of z tell its
 * mean and deviation. */
static void add_point(const struct risk_step *s, double v0, double zv, double u,
                      double weight, struct moments *m)
{
    double v = v0, x = risk_heston(s, 0, &v, 0, zv, u), w = v0,
           deviation = risk_heston(s, 0, &w, 1, zv, u) - x;
    m->mean += weight * v;
    m->square += weight * v * v;
    m->growth += weight * exp(x + deviation * deviation / 2);
}

/* By the trapezoidal rule over the normal number or, where the variance is
 * drawn by u, over the exponential part beside the chance p of 0. */
static struct moments integrate(const struct risk_step *s, double v0,
                                double psi)
{
    struct moments m = {0, 0, 0};
    const double p = (psi - 1) / (psi + 1), h = 1.0 / 256;
    for (int i = -9 * 256; i <= 9 * 256 && psi <= 1.5; i++)
        add_point(s, v0, i * h, 0.5,
                  h * exp(-i * h * i * h / 2) / sqrt(2 * acos(-1)), &m);
    for (int i = 0; i <= 34 * 256 && psi > 1.5; i++) { /* Simpson's rule */
        const double weight = (i == 0 ? 1 : i % 2 ? 4 : 2) * h / 3;
        const double rest = (1 - p) * exp(-i * h);
        add_point(s, v0, 0, i == 0 ? p + 1e-15 : 1 - rest, weight * rest, &m);
    }
    if (psi > 1.5)
        add_point(s, v0, 0, p / 2, p, &m);
    return m;
}

/* Mean and variance of v as Cox, Ingersoll and Ross (1985) have them, and the
 * forward: small and large psi, and steps that the series do not reach. */
static void heston(void)
{
    static const struct {
        double v0, xi, rho, dt;
    } cases[] = {{0.04, 0.3, -0.7, 1.0 / 252},  {0.04, 1, -0.9, 1.0 / 64},
                 {0.004, 1, -0.9, 1.0 / 252},   {0.001, 1, -0.5, 1.0 / 64},
                 {0.09, 1, 0.5, 0.25},          {0.6, 1, -0.9, 0.25},
                 {0.6, 1, 0.5, 0.25},           {0.01, 0.9, -0.5, 1},
                 {0.04, 0.001, -0.7, 1.0 / 252}};
    double worst[3] = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double v0 = cases[i].v0, xi = cases[i].xi, dt = cases[i].dt,
                     kappa = 1.5, theta = 0.04, drift = 0.05 * dt,
                     e = exp(-kappa * dt), mean = theta + (v0 - theta) * e,
                     variance =
                         v0 * xi * xi * e / kappa * (1 - e) +
                         theta * xi * xi / (2 * kappa) * (1 - e) * (1 - e);
        const struct risk_factor factor = {.model = RISK_HESTON,
                                           .spot = 1,
                                           .variance = v0,
                                           .kappa = kappa,
                                           .theta = theta,
                                           .xi = xi,
                                           .rho = cases[i].rho};
        const struct risk_plan plan = {.n_factors = 1,
                                       .factors = &factor,
                                       .n_steps = 1,
                                       .step_length = &dt,
                                       .drift = &drift};
        struct risk_tables t;
        memset(&t, 0, sizeof t);
        if (risk_tables_make(&t, &plan)) {
            tap_ok(0, "memory for a step");
            return;
        }
        const struct moments m =
            integrate(&t.base.steps[0], v0, variance / (mean * mean));
        const double off[3] = {m.mean / mean - 1,
                               (m.square - m.mean * m.mean) / variance - 1,
                               m.growth * exp(-drift) - 1};
        for (int k = 0; k < 3; k++)
            worst[k] = fmax(worst[k], fabs(off[k]));
        tap_note("psi %.2g: off by %.1g, %.1g, %.1g", variance / mean / mean,
                 off[0], off[1], off[2]);
        risk_tables_free(&t);
    }
    /* Simpson's rule leaves 1e-11; with xi = 0.001 the variance is the
     * difference of two numbers 1e7 times as large. */
    tap_ok(worst[0] < 1e-9, "a step of Heston's variance has its mean (%.1g)",
           worst[0]);
    tap_ok(worst[1] < 1e-7, "and its variance (%.1g)", worst[1]);
    tap_ok(worst[2] < 1e-9, "and the discounted spot keeps its mean (%.1g)",
           worst[2]);
}

int main(void)
{
    near_the_truth();
    ends();
    bits();
    sums();
    heston();
    return tap_done();
}
