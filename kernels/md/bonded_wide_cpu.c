/* bonded_wide_cpu.c: angles and dihedrals, many at a time.
 *
 * As in bonded_lanes_cpu.c: particles are loaded and stored one by one, and
 * what is between is done for WIDE terms at once, in doubles. The formulas are
 * those of bonded.h; energies, which are wanted now and then, come from there.
 */
#include "kernels/md/bonded_cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/md/bonded.h"
#include "kernels/md/segments.h"
#include "kernels/md/tensor.h"
#include "kernels/md/wrap.h"

enum { WIDE = 16 };

/* Each lane, as a loop that vectorises. */
#define EACH(l) for (int l = 0; l < WIDE; l++)

/* asin(x) = x p(x^2) for x^2 up to 1/4, to rounding: the series' radius of
 * convergence is 1, which is 7 half widths from the middle of that range. */
enum { ARC_DEGREE = 13 };
static const double arc_end = 0.25;

/* What a dihedral's energy changes by: CHARMM's k n cos(delta) and k n
 * sin(delta), of others the derivative of a polynomial of the cosine. */
struct torque {
    double even, odd, weight, power[DIHEDRAL_POWERS];
    int n, powers;
};

struct md_wide {
    int angles; /* all their types can be done so */
    double arc[ARC_DEGREE + 1];
    struct torque torque[];
};

/* ---- what can be done so ---- */

static double arc_of(const void *user, double x2)
{
    double x = sqrt(x2);
    (void)user;
    return asin(x) / x;
}

static void find_torque(const struct md_dihedral_coeff *c, struct torque *to)
{
    *to = (struct torque){.n = 0};
    to->powers = dihedral_powers(c, to->power);
    if (c->style == MD_DIHEDRAL_CHARMM) {
        to->even = c->k * c->n * cos(c->delta);
        to->odd = c->k * c->n * sin(c->delta);
        to->weight = c->weight;
        to->n = c->n;
    }
}

int md_wide_create(struct md_store *s)
{
    const struct md_force_field *f = s->setup.field;
    size_t types = (size_t)f->n_dihedrals;
    struct md_wide *w = calloc(1, sizeof *w + types * sizeof *w->torque);
    if (!w)
        return -1;
    s->terms->wide = w;
    w->angles = 1;
    for (int k = 0; k < f->n_angles; k++)
        w->angles &= f->angles[k].style != MD_ANGLE_COSINE;
    for (int k = 0; k < f->n_dihedrals; k++)
        find_torque(&f->dihedrals[k], &w->torque[k]);
    struct segment_basis basis;
    segment_basis_make(&basis, ARC_DEGREE);
    segment_fit(&basis, arc_of, NULL, 0, arc_end, w->arc);
    return 0;
}

int md_has_wide(const struct md_store *s, int kind)
{
    const struct md_wide *w = s->terms->wide;
    return (kind == MD_TERM_ANGLE && w->angles) || kind == MD_TERM_DIHEDRAL;
}

/* ---- particles in, forces out ---- */

/* n terms; what lies behind them is the first one again. */
struct block {
    const struct slot_term *term;
    int n;
    size_t at[4][WIDE]; /* elements of x */
    double force[4][3][WIDE];
};

KERNEL_FN void find_block(struct block *b, const int particles)
{
    for (int l = 0; l < WIDE; l++)
        for (int e = 0; e < particles; e++)
            b->at[e][l] = SLOT(b->term[l < b->n ? l : 0].slot[e], 0);
}

/* Positions of particle i less those of j, of the nearest images. */
KERNEL_FN void subtract(const struct md_store *s, const struct block *b, int i,
                        int j, double out[3][WIDE])
{
    for (int d = 0; d < 3; d++) {
        const scalar *x = s->pair_x + d * LANES;
        for (int l = 0; l < WIDE; l++)
            out[d][l] = (double)x[b->at[i][l]] - (double)x[b->at[j][l]];
    }
    nearest_differences(WIDE, (double *const[3]){out[0], out[1], out[2]},
                        s->setup.box_length, s->setup.tilt);
}

KERNEL_FN void store_block(struct bonded_run *r, const struct block *b,
                           const int particles)
{
    for (int l = 0; l < b->n; l++) {
        int own = b->term[l].own;
        for (int e = 0; e < particles; e++)
            for (int d = 0; d < 3 && own >> e & 1; d++)
                r->f[b->at[e][l] + (size_t)(d * LANES)] +=
                    (scalar)b->force[e][d][l];
    }
}

/* Of one lane's force on particle e at a place relative to the others. */
static void add_virial(struct bonded_run *r, const struct block *b, int l,
                       int e, const double x[3])
{
    double force[3], share = share_of(&b->term[l]);
    for (int d = 0; d < 3; d++)
        force[d] = b->force[e][d][l];
    r->virial += share * dot3(force, x);
    if (r->s->tensor)
        add_tensor(r->tensor, share, force, x);
}

static void lane_of(const double from[3][WIDE], int l, double out[3])
{
    for (int d = 0; d < 3; d++)
        out[d] = from[d][l];
}

/* ---- angles ---- */

/* The angle whose cosine is c: of c and -c that in 60 to 90 degrees is by asin
 * of the cosine, others by asin of half the angle's sine. */
KERNEL_FN void arc_cosine(const struct md_wide *w, const double c[WIDE],
                          double out[WIDE])
{
    const double half_turn = 3.14159265358979323846;
    const double scale = 2 / arc_end;
    double z[WIDE], root[WIDE], t[WIDE], sum[WIDE];
    EACH(l)
    {
        double size = fabs(c[l]), from_end = 0.5 - 0.5 * size;
        double square = size * size;
        z[l] = size > 0.5 ? from_end : square;
        root[l] = size > 0.5 ? sqrt(from_end) : size;
        t[l] = z[l] * scale - 1;
        sum[l] = w->arc[ARC_DEGREE];
    }
    for (int k = ARC_DEGREE - 1; k >= 0; k--)
        EACH(l) sum[l] = sum[l] * t[l] + w->arc[k];
    EACH(l)
    {
        double size = fabs(c[l]), arc = root[l] * sum[l];
        double angle = size > 0.5 ? 2 * arc : 0.5 * half_turn - arc;
        out[l] = c[l] < 0 ? half_turn - angle : angle;
    }
}

static __attribute__((noinline)) void add_angle_sums(struct bonded_run *r,
                                                     const struct block *b,
                                                     const double a[3][WIDE],
                                                     const double c[3][WIDE])
{
    for (int l = 0; l < b->n; l++) {
        double x_i[3], x_k[3], unused[2][3] = {{0}};
        lane_of(a, l, x_i);
        lane_of(c, l, x_k);
        if (r->want == BONDED_ALL)
            r->energy[MD_ENERGY_ANGLE] +=
                share_of(&b->term[l]) *
                angle_energy(&r->field->angles[b->term[l].type], x_i, x_k,
                             unused[0], unused[1]);
        add_virial(r, b, l, 0, x_i);
        add_virial(r, b, l, 2, x_k);
    }
}

/* angle_energy() and angle_forces(), with b for what is the second arm there.
 */
static void run_angles(struct bonded_run *r, struct block *b)
{
    double arm[3][WIDE], other[3][WIDE], cosine[WIDE], theta[WIDE];
    double k[WIDE], theta0[WIDE], k_ub[WIDE], r_ub[WIDE];
    find_block(b, 3);
    subtract(r->s, b, 0, 1, arm);
    subtract(r->s, b, 2, 1, other);
    for (int l = 0; l < WIDE; l++) {
        const struct md_angle_coeff *c =
            &r->field->angles[b->term[l < b->n ? l : 0].type];
        int charmm = c->style == MD_ANGLE_CHARMM;
        k[l] = c->style == MD_ANGLE_NONE ? 0 : c->k;
        theta0[l] = c->theta0;
        k_ub[l] = charmm ? c->k_ub : 0;
        r_ub[l] = charmm ? c->r_ub : 0;
    }
    EACH(l)
    {
        double a2 = arm[0][l] * arm[0][l] + arm[1][l] * arm[1][l] +
                    arm[2][l] * arm[2][l];
        double b2 = other[0][l] * other[0][l] + other[1][l] * other[1][l] +
                    other[2][l] * other[2][l];
        double ab = arm[0][l] * other[0][l] + arm[1][l] * other[1][l] +
                    arm[2][l] * other[2][l];
        double c = ab / sqrt(a2 * b2);
        c = c > -1 ? c : -1;
        cosine[l] = c < 1 ? c : 1;
    }
    arc_cosine(r->s->terms->wide, cosine, theta);
    EACH(l)
    {
        double e[3], c = cosine[l], left = 1 - c * c, e2 = 0;
        double sine = sqrt(left > 1e-12 ? left : 1e-12);
        double slope = -2 * k[l] * (theta[l] - theta0[l]) / sine;
        double a2 = arm[0][l] * arm[0][l] + arm[1][l] * arm[1][l] +
                    arm[2][l] * arm[2][l];
        double b2 = other[0][l] * other[0][l] + other[1][l] * other[1][l] +
                    other[2][l] * other[2][l];
        double both = slope / sqrt(a2 * b2);
        double at_i = slope * c / a2, at_k = slope * c / b2;
        for (int d = 0; d < 3; d++) {
            e[d] = arm[d][l] - other[d][l];
            e2 += e[d] * e[d];
        }
        /* without Urey-Bradley the ends may stand anywhere */
        double length = sqrt(e2 > 1e-200 ? e2 : 1e-200);
        double spring = -2 * k_ub[l] * (length - r_ub[l]) / length;
        for (int d = 0; d < 3; d++) {
            double i = at_i * arm[d][l] - both * other[d][l] + spring * e[d];
            double m = at_k * other[d][l] - both * arm[d][l] - spring * e[d];
            b->force[0][d][l] = i;
            b->force[1][d][l] = -i - m;
            b->force[2][d][l] = m;
        }
    }
    store_block(r, b, 3);
    if (r->want)
        add_angle_sums(r, b, (const double(*)[WIDE])arm,
                       (const double(*)[WIDE])other);
}

/* ---- dihedrals ---- */

/* Names as in struct torsion. */
struct torsions {
    double f[3][WIDE], g[3][WIDE], h[3][WIDE];
    double cosine[WIDE], sine[WIDE];
};

/* Lennard-Jones and plain Coulomb of the ends. */
struct ends {
    int any;
    double d[3][WIDE], c12[WIDE], c6[WIDE], qq[WIDE];
    double weight[WIDE], over_r[WIDE]; /* force over the distance */
};

/* cos(n phi) and sin(n phi), for each lane's n: turn(). */
KERNEL_FN void turn_all(const struct torsions *t, const int n[WIDE], int most,
                        double c[WIDE], double s[WIDE])
{
    EACH(l) c[l] = 1;
    EACH(l) s[l] = 0;
    for (int k = 0; k < most; k++)
        EACH(l)
        {
            double next = c[l] * t->cosine[l] - s[l] * t->sine[l];
            double up = s[l] * t->cosine[l] + c[l] * t->sine[l];
            c[l] = k < n[l] ? next : c[l];
            s[l] = k < n[l] ? up : s[l];
        }
}

/* torsion_of(), then torsion_forces() for the slopes: they share what is
 * between. */
KERNEL_FN void torsion_angles(struct torsions *t)
{
    EACH(l)
    {
        double f0 = t->f[0][l], f1 = t->f[1][l], f2 = t->f[2][l];
        double g0 = t->g[0][l], g1 = t->g[1][l], g2 = t->g[2][l];
        double h0 = t->h[0][l], h1 = t->h[1][l], h2 = t->h[2][l];
        double a0 = f1 * g2 - f2 * g1, a1 = f2 * g0 - f0 * g2;
        double a2 = f0 * g1 - f1 * g0;
        double b0 = h1 * g2 - h2 * g1, b1 = h2 * g0 - h0 * g2;
        double b2 = h0 * g1 - h1 * g0;
        double gg = g0 * g0 + g1 * g1 + g2 * g2;
        double aa = a0 * a0 + a1 * a1 + a2 * a2;
        double bb = b0 * b0 + b1 * b1 + b2 * b2;
        double least_a = 1e-12 * (f0 * f0 + f1 * f1 + f2 * f2) * gg;
        double least_b = 1e-12 * (h0 * h0 + h1 * h1 + h2 * h2) * gg;
        aa = aa > least_a ? aa : least_a;
        bb = bb > least_b ? bb : least_b;
        double per = 1 / sqrt(aa * bb);
        double c0 = b1 * a2 - b2 * a1, c1 = b2 * a0 - b0 * a2;
        double c2 = b0 * a1 - b1 * a0;
        t->cosine[l] = (a0 * b0 + a1 * b1 + a2 * b2) * per;
        t->sine[l] = (c0 * g0 + c1 * g1 + c2 * g2) * per / sqrt(gg);
    }
}

KERNEL_FN void torsion_pulls(const struct torsions *t, const double slope[WIDE],
                             double out[4][3][WIDE])
{
    EACH(l)
    {
        double f0 = t->f[0][l], f1 = t->f[1][l], f2 = t->f[2][l];
        double g0 = t->g[0][l], g1 = t->g[1][l], g2 = t->g[2][l];
        double h0 = t->h[0][l], h1 = t->h[1][l], h2 = t->h[2][l];
        double a[3] = {f1 * g2 - f2 * g1, f2 * g0 - f0 * g2, f0 * g1 - f1 * g0};
        double b[3] = {h1 * g2 - h2 * g1, h2 * g0 - h0 * g2, h0 * g1 - h1 * g0};
        double gg = g0 * g0 + g1 * g1 + g2 * g2;
        double aa = a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
        double bb = b[0] * b[0] + b[1] * b[1] + b[2] * b[2];
        double least_a = 1e-12 * (f0 * f0 + f1 * f1 + f2 * f2) * gg;
        double least_b = 1e-12 * (h0 * h0 + h1 * h1 + h2 * h2) * gg;
        double per_a = slope[l] / (aa > least_a ? aa : least_a);
        double per_b = slope[l] / (bb > least_b ? bb : least_b);
        double length = sqrt(gg), per_length = 1 / length;
        double on_i = length * per_a, on_l = length * per_b;
        double s = (f0 * g0 + f1 * g1 + f2 * g2) * per_a * per_length;
        double q = (h0 * g0 + h1 * g1 + h2 * g2) * per_b * per_length;
        for (int d = 0; d < 3; d++) {
            double i = on_i * a[d], m = on_l * b[d];
            double mixed = s * a[d] - q * b[d];
            out[0][d][l] = i;
            out[1][d][l] = -mixed - i;
            out[2][d][l] = mixed + m;
            out[3][d][l] = -m;
        }
    }
}

KERNEL_FN void find_ends(const struct bonded_run *r, const struct block *b,
                         struct ends *e)
{
    const struct md_store *s = r->s;
    const struct md_wide *w = s->terms->wide;
    e->any = 0;
    for (int l = 0; l < WIDE; l++) {
        const struct slot_term *term = &b->term[l < b->n ? l : 0];
        uint32_t i = term->slot[0], j = term->slot[3];
        e->weight[l] = w->torque[term->type].weight;
        e->any |= e->weight[l] > 0;
        e->c12[l] = e->c6[l] = e->qq[l] = 0;
        if (r->field->lj14) {
            const struct md_lj14 *c =
                &r->field
                     ->lj14[s->species[i] * s->setup.n_species + s->species[j]];
            e->c12[l] = 12 * c->c12;
            e->c6[l] = 6 * c->c6;
        }
        if (s->charge)
            e->qq[l] = r->field->coulomb.constant * (double)s->charge[i] *
                       (double)s->charge[j];
    }
}

KERNEL_FN void add_ends(const struct bonded_run *r, struct block *b,
                        struct ends *e)
{
    subtract(r->s, b, 0, 3, e->d);
    EACH(l)
    {
        double inv2 = 1 / (e->d[0][l] * e->d[0][l] + e->d[1][l] * e->d[1][l] +
                           e->d[2][l] * e->d[2][l]);
        double inv6 = inv2 * inv2 * inv2;
        double lj = inv6 * (e->c12[l] * inv6 - e->c6[l]);
        double all = e->weight[l] * (lj + e->qq[l] * sqrt(inv2)) * inv2;
        e->over_r[l] = e->weight[l] > 0 ? all : 0;
        for (int d = 0; d < 3; d++) {
            b->force[0][d][l] += e->over_r[l] * e->d[d][l];
            b->force[3][d][l] -= e->over_r[l] * e->d[d][l];
        }
    }
}

/* The energies of one lane's ends. */
static void add_ends_energy(struct bonded_run *r, const struct block *b,
                            const struct ends *e, int l)
{
    double d[3], share = share_of(&b->term[l]);
    lane_of(e->d, l, d);
    double inv2 = 1 / dot3(d, d), inv6 = inv2 * inv2 * inv2;
    r->energy[MD_ENERGY_PAIR] +=
        share * e->weight[l] * inv6 * (e->c12[l] / 12 * inv6 - e->c6[l] / 6);
    r->energy[MD_ENERGY_COULOMB] +=
        share * e->weight[l] * e->qq[l] * sqrt(inv2);
}

static void add_torsion_energy(struct bonded_run *r, const struct block *b,
                               const struct ends *e, int l, const double f[3],
                               const double g[3], const double h[3])
{
    struct torsion one;
    double slope;
    torsion_of(f, g, h, &one);
    r->energy[MD_ENERGY_DIHEDRAL] +=
        share_of(&b->term[l]) *
        dihedral_energy(&r->field->dihedrals[b->term[l].type], &one, &slope);
    if (e->weight[l] > 0)
        add_ends_energy(r, b, e, l);
}

static __attribute__((noinline)) void add_torsion_sums(struct bonded_run *r,
                                                       const struct block *b,
                                                       const struct torsions *t,
                                                       const struct ends *e)
{
    for (int l = 0; l < b->n; l++) {
        double f[3], g[3], h[3], x_i[3];
        lane_of(t->f, l, f);
        lane_of(t->g, l, g);
        lane_of(t->h, l, h);
        if (r->want == BONDED_ALL)
            add_torsion_energy(r, b, e, l, f, g, h);
        for (int d = 0; d < 3; d++)
            x_i[d] = f[d] + g[d]; /* relative to particle k */
        add_virial(r, b, l, 0, x_i);
        add_virial(r, b, l, 1, g);
        add_virial(r, b, l, 3, h);
    }
}

/* du/dphi where the energy is a polynomial of the cosine: -P' sin(phi). */
KERNEL_FN void add_powers(const struct md_wide *w, const struct block *b,
                          const struct torsions *t, double slope[WIDE])
{
    double power[DIHEDRAL_POWERS][WIDE], sum[WIDE];
    for (int l = 0; l < WIDE; l++)
        for (int n = 0; n < DIHEDRAL_POWERS; n++)
            power[n][l] = w->torque[b->term[l < b->n ? l : 0].type].power[n];
    EACH(l) sum[l] = power[DIHEDRAL_POWERS - 1][l];
    for (int n = DIHEDRAL_POWERS - 2; n >= 0; n--)
        EACH(l) sum[l] = sum[l] * t->cosine[l] + power[n][l];
    EACH(l) slope[l] -= sum[l] * t->sine[l];
}

static void run_torsions(struct bonded_run *r, struct block *b)
{
    const struct md_wide *w = r->s->terms->wide;
    struct torsions t;
    struct ends e;
    double even[WIDE], odd[WIDE], c[WIDE], s[WIDE], slope[WIDE];
    int n[WIDE], most = 0, powers = 0;
    find_block(b, 4);
    subtract(r->s, b, 0, 1, t.f);
    subtract(r->s, b, 1, 2, t.g);
    subtract(r->s, b, 3, 2, t.h);
    for (int l = 0; l < WIDE; l++) {
        const struct torque *to = &w->torque[b->term[l < b->n ? l : 0].type];
        even[l] = to->even;
        odd[l] = to->odd;
        n[l] = to->n;
        most = to->n > most ? to->n : most;
        powers |= to->powers;
    }
    torsion_angles(&t);
    turn_all(&t, n, most, c, s);
    EACH(l) slope[l] = odd[l] * c[l] - even[l] * s[l];
    if (powers)
        add_powers(w, b, &t, slope);
    torsion_pulls(&t, slope, b->force);
    find_ends(r, b, &e);
    if (e.any)
        add_ends(r, b, &e);
    store_block(r, b, 4);
    if (r->want)
        add_torsion_sums(r, b, &t, &e);
}

void md_run_wide(struct bonded_run *r, const struct slot_term *term, size_t n)
{
    struct block b;
    for (size_t k = 0; k < n; k += WIDE) {
        b.term = term + k;
        b.n = n - k < WIDE ? (int)(n - k) : WIDE;
        if (term->kind == MD_TERM_ANGLE)
            run_angles(r, &b);
        else
            run_torsions(r, &b);
    }
}
