/* pair_forms.h: smooth pair potentials beside Lennard-Jones alone, in plain
 * doubles: what the tables of the loops are made from (pair_table.h), what
 * pairs nearer than those reach get, and pairs that bonds scale.
 *
 * Formulas and names of parameters are LAMMPS's pair styles of these names.
 */
#ifndef WARPDECK_KERNELS_MD_PAIR_FORMS_H
#define WARPDECK_KERNELS_MD_PAIR_FORMS_H

#include <math.h>

/* A card's loops want these as functions of a card. */
#ifndef PAIR_FN
#define PAIR_FN static inline __attribute__((unused))
#endif

enum md_pair_style {
    MD_PAIR_NONE,       /* no force */
    MD_PAIR_LJ,         /* u = 4 a ((b/r)^12 - (b/r)^6) */
    MD_PAIR_MORSE,      /* u = a (e^2 - 2 e), e = exp(-b (r - c)) */
    MD_PAIR_BUCKINGHAM, /* u = a exp(-r / b) - c / r^6 */
    MD_PAIR_YUKAWA,     /* u = a exp(-b r) / r */
    MD_PAIR_SOFT,       /* u = a (1 + cos(pi r / rc)) */
    MD_PAIR_DPD,        /* u = a rc / 2 (1 - r / rc)^2 */
    MD_PAIR_TABLE,      /* a force in points */
    MD_PAIR_STYLES
};

/* A force through points by a cubic spline; its energy is the spline's
 * integral, so that the two belong together exactly. */
struct md_spline {
    int n;                /* points, at least 2 */
    const double *r;      /* [n], ascending */
    const double *force;  /* [n]: -du/dr */
    const double *curve;  /* [n]: second derivatives of the force */
    const double *energy; /* [n]: integral of the spline, from the last point on
                           */
};

/* One pair of species. Below the cutoff its energy is
 *     u(r) - shift + force_shift (r - rc). */
struct md_pair_form {
    enum md_pair_style style;
    double a, b, c;
    double cutoff, shift, force_shift;
    const struct md_spline *spline; /* borrowed; of MD_PAIR_TABLE */
};

/* The force at r, and the energy: within an interval of h with A = (r1 - r)/h
 * and B = 1 - A the spline is F = A F0 + B F1 + h^2/6 ((A^3 - A) C0 + (B^3 - B)
 * C1) (Press et al. 2007, eq. 3.3.3); outside of all points, that of the first
 * or last interval goes on. */
PAIR_FN double md_spline_at(const struct md_spline *s, double r, double *force)
{
    int lo = 0, hi = s->n - 1;
    while (hi - lo > 1) {
        int middle = (lo + hi) / 2;
        if (s->r[middle] <= r)
            lo = middle;
        else
            hi = middle;
    }
    double h = s->r[hi] - s->r[lo], b = (r - s->r[lo]) / h, a = 1 - b;
    double a2 = a * a, b2 = b * b, sixth = h * h / 6;
    double c0 = s->curve[lo], c1 = s->curve[hi];
    *force = a * s->force[lo] + b * s->force[hi] +
             sixth * (a * (a2 - 1) * c0 + b * (b2 - 1) * c1);
    return s->energy[hi] +
           h * 0.5 * (a2 * s->force[lo] + (1 - b2) * s->force[hi]) +
           h * sixth *
               (a2 * (a2 / 4 - 0.5) * c0 +
                ((1 - b2 * b2) / 4 - (1 - b2) / 2) * c1);
}

/* Energy without shifts at a squared distance; *g: the force over r. */
PAIR_FN double md_pair_plain(const struct md_pair_form *p, double r2, double *g)
{
    const double pi = 3.14159265358979323846;
    double r = sqrt(r2), u = 0, e, x;
    *g = 0;
    switch (p->style) {
    case MD_PAIR_LJ:
        x = p->b * p->b / r2;
        x *= x * x;
        u = 4 * p->a * x * (x - 1);
        *g = 24 * p->a * x * (2 * x - 1) / r2;
        break;
    case MD_PAIR_MORSE:
        e = exp(-p->b * (r - p->c));
        u = p->a * e * (e - 2);
        *g = 2 * p->a * p->b * e * (e - 1) / r;
        break;
    case MD_PAIR_BUCKINGHAM:
        e = p->a * exp(-r / p->b);
        x = p->c / (r2 * r2 * r2);
        u = e - x;
        *g = e / (p->b * r) - 6 * x / r2;
        break;
    case MD_PAIR_YUKAWA:
        u = p->a * exp(-p->b * r) / r;
        *g = u * (p->b + 1 / r) / r;
        break;
    case MD_PAIR_SOFT:
        x = pi * r / p->cutoff;
        e = p->a * pi / p->cutoff * pi / p->cutoff;
        u = p->a * (1 + cos(x));
        *g = x > 1e-9 ? e * sin(x) / x : e;
        break;
    case MD_PAIR_DPD:
        x = 1 - r / p->cutoff;
        u = 0.5 * p->a * p->cutoff * x * x;
        *g = r > 1e-9 * p->cutoff ? p->a * x / r : 0;
        break;
    case MD_PAIR_TABLE:
        u = md_spline_at(p->spline, r, g);
        *g /= r;
        break;
    case MD_PAIR_NONE:
    case MD_PAIR_STYLES:
        break;
    }
    return u;
}

/* The same as it acts below the cutoff. */
PAIR_FN double md_pair_shifted(const struct md_pair_form *p, double r2,
                               double *g)
{
    double u = md_pair_plain(p, r2, g) - p->shift;
    if (p->force_shift < 0 || p->force_shift > 0) {
        double r = sqrt(r2);
        u += p->force_shift * (r - p->cutoff);
        *g -= p->force_shift / r;
    }
    return u;
}

/* Nearer pairs have no place in a table; 0 of closed forms. */
PAIR_FN double md_pair_inner(const struct md_pair_form *p)
{
    return p->style == MD_PAIR_TABLE ? p->spline->r[0] : 0;
}

#endif
