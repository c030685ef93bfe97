/* md_chain.c: Nose-Hoover chains. */
#include "md.h"

#include <math.h>

void md_chain_init(struct md_chain *c, int links, double freedom, double kt,
                   double relaxation)
{
    *c = (struct md_chain){.links = links};
    md_chain_fit(c, freedom, kt, relaxation);
}

void md_chain_fit(struct md_chain *c, double freedom, double kt,
                  double relaxation)
{
    c->freedom = freedom;
    for (int k = 0; k < c->links; k++)
        c->mass[k] = (k == 0 ? freedom : 1) * kt * relaxation * relaxation;
}

/* The force on link k over its mass. */
static double pull(const struct md_chain *c, int k, double twice, double kt)
{
    if (k == 0)
        return (twice - c->freedom * kt) / c->mass[0];
    double below = c->speed[k - 1];
    return (c->mass[k - 1] * below * below - kt) / c->mass[k];
}

/* The speed of link k over `time`, dragged by the link above it. */
static void push(struct md_chain *c, int k, double twice, double kt,
                 double time)
{
    double drag = k + 1 < c->links ? exp(-0.5 * time * c->speed[k + 1]) : 1;
    c->speed[k] = (c->speed[k] * drag + time * pull(c, k, twice, kt)) * drag;
}

double md_chain_half(struct md_chain *c, double twice, double kt, double dt)
{
    const double outer = 1 / (2 - cbrt(2.0)), inner = 1 - 2 * outer;
    const double weight[3] = {outer, inner, outer};
    double scale = 1;
    for (int w = 0; w < 3; w++) {
        double time = 0.5 * dt * weight[w];
        for (int k = c->links - 1; k >= 0; k--)
            push(c, k, twice, kt, 0.5 * time);
        double factor = exp(-time * c->speed[0]);
        scale *= factor;
        twice *= factor * factor;
        for (int k = 0; k < c->links; k++)
            c->place[k] += time * c->speed[k];
        for (int k = 0; k < c->links; k++)
            push(c, k, twice, kt, 0.5 * time);
    }
    return scale;
}

double md_chain_energy(const struct md_chain *c, double kt)
{
    double sum = 0;
    for (int k = 0; k < c->links; k++)
        sum += 0.5 * c->mass[k] * c->speed[k] * c->speed[k] +
               (k == 0 ? c->freedom : 1) * kt * c->place[k];
    return sum;
}
