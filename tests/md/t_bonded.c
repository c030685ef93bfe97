/* Forces along bonds: each is the slope of its energy; energies at angles that
 * are known; who is how many bonds from whom; terms that travel.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "domain/topology.h"
#include "kernels/md/cmap.h"
#include "kernels/md/pairs.h"
#include "tests/tap.h"

static const double pi = 3.14159265358979323846;

/* ---- energies and forces of positions x[5][3] ---- */

typedef double (*energy_fn)(const void *coeff, double x[5][3],
                            double force[5][3]);

static void minus(const double a[3], const double b[3], double out[3])
{
    for (int d = 0; d < 3; d++)
        out[d] = a[d] - b[d];
}

static double bond(const void *coeff, double x[5][3], double force[5][3])
{
    double r[3], g;
    int broken = 0;
    minus(x[0], x[1], r);
    double u = bond_energy(coeff, dot3(r, r), &g, &broken);
    for (int d = 0; d < 3; d++) {
        force[0][d] += g * r[d];
        force[1][d] -= g * r[d];
    }
    return u;
}

static double angle(const void *coeff, double x[5][3], double force[5][3])
{
    double a[3], b[3], f_i[3] = {0}, f_k[3] = {0};
    minus(x[0], x[1], a);
    minus(x[2], x[1], b);
    double u = angle_energy(coeff, a, b, f_i, f_k);
    for (int d = 0; d < 3; d++) {
        force[0][d] += f_i[d];
        force[1][d] -= f_i[d] + f_k[d];
        force[2][d] += f_k[d];
    }
    return u;
}

static void measure(double x[5][3], struct torsion *t)
{
    double f[3], g[3], h[3];
    minus(x[0], x[1], f);
    minus(x[1], x[2], g);
    minus(x[3], x[2], h);
    torsion_of(f, g, h, t);
}

static double dihedral(const void *coeff, double x[5][3], double force[5][3])
{
    struct torsion t;
    double slope;
    measure(x, &t);
    double u = dihedral_energy(coeff, &t, &slope);
    torsion_forces(&t, slope, force);
    return u;
}

static double harmonic(const void *coeff, double x[5][3], double force[5][3])
{
    struct torsion t;
    double slope;
    measure(x, &t);
    double u = improper_harmonic(coeff, &t, &slope);
    torsion_forces(&t, slope, force);
    return u;
}

static double cvff(const void *coeff, double x[5][3], double force[5][3])
{
    struct torsion t;
    double slope;
    measure(x, &t);
    double u = improper_cvff(coeff, &t, &slope);
    torsion_forces(&t, slope, force);
    return u;
}

static double signed_one(const void *coeff, double x[5][3], double force[5][3])
{
    struct torsion t;
    double slope;
    measure(x, &t);
    double u = improper_signed(coeff, &t, &slope);
    torsion_forces(&t, slope, force);
    return u;
}

/* Nodes that are those of no spline are as good for the formulas. */
enum { MAP_POINTS = 7 };
struct drawn_map {
    struct md_cmap map;
    struct md_cmap_node node[MAP_POINTS * MAP_POINTS];
};

static double correction(const void *coeff, double x[5][3], double force[5][3])
{
    const struct drawn_map *m = coeff;
    struct cmap_shape shape;
    minus(x[0], x[1], shape.f);
    minus(x[1], x[2], shape.g);
    minus(x[3], x[2], shape.h);
    minus(x[4], x[3], shape.e);
    return cmap_forces(&m->map, m->node, &shape, force);
}

static double spread(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (double)(*state >> 33) / 2147483648.0 - 0.5;
}

/* The force on each coordinate against the centered difference of energies, for
 * 50 random shapes; and that all forces together are zero, without torque. */
static void check_gradient(const char *name, energy_fn energy,
                           const void *coeff)
{
    const double h = 1e-5;
    double worst = 0, net = 0, torque = 0;
    uint64_t state = 12345;
    for (int trial = 0; trial < 50; trial++) {
        double x[5][3], force[5][3] = {{0}}, scratch[5][3];
        double sum[3] = {0}, turn[3] = {0}, greatest = 1;
        for (int k = 0; k < 5; k++)
            for (int d = 0; d < 3; d++)
                x[k][d] = 0.35 * spread(&state) + (d == k % 3 ? 0.9 : 0) +
                          (k == 3 && d == 1 ? 1.1 : 0) +
                          (k == 4 && d == 2 ? 2.1 : 0);
        (void)energy(coeff, x, force);
        for (int k = 0; k < 5; k++)
            for (int d = 0; d < 3; d++)
                greatest = fmax(greatest, fabs(force[k][d]));
        for (int k = 0; k < 5; k++)
            for (int d = 0; d < 3; d++) {
                double at = x[k][d];
                x[k][d] = at + h;
                double above = energy(coeff, x, scratch);
                x[k][d] = at - h;
                double below = energy(coeff, x, scratch);
                x[k][d] = at;
                double slope = (above - below) / (2 * h);
                worst = fmax(worst, fabs(force[k][d] + slope) / greatest);
            }
        for (int k = 0; k < 5; k++) {
            double c[3];
            cross3(x[k], force[k], c);
            for (int d = 0; d < 3; d++) {
                sum[d] += force[k][d];
                turn[d] += c[d];
            }
        }
        for (int d = 0; d < 3; d++) {
            net = fmax(net, fabs(sum[d]) / greatest);
            torque = fmax(torque, fabs(turn[d]) / greatest);
        }
    }
    /* A centered difference is good to h^2 and to rounding over h. */
    tap_ok(worst < 1e-7, "%s: forces are the slope of the energy", name);
    tap_note("worst %.1e of the greatest force", worst);
    tap_ok(net < 1e-13 && torque < 1e-12, "%s: no net force and no torque",
           name);
}

static void check_gradients(void)
{
    struct md_bond_coeff b = {.style = MD_BOND_HARMONIC, .k = 30, .r0 = 1.1};
    check_gradient("harmonic bond", bond, &b);
    b = (struct md_bond_coeff){MD_BOND_FENE, 30, 2.5, 0, 1, 1};
    check_gradient("FENE bond", bond, &b);
    b = (struct md_bond_coeff){
        .style = MD_BOND_MORSE, .k = 3, .r0 = 1.2, .a = 1.7};
    check_gradient("Morse bond", bond, &b);
    struct md_angle_coeff a = {MD_ANGLE_HARMONIC, 50, 1.9, 0, 0};
    check_gradient("harmonic angle", angle, &a);
    a = (struct md_angle_coeff){MD_ANGLE_CHARMM, 50, 1.9, 20, 1.5};
    check_gradient("Urey-Bradley angle", angle, &a);
    a = (struct md_angle_coeff){MD_ANGLE_COSINE, 5, 0, 0, 0};
    check_gradient("cosine angle", angle, &a);
    struct md_dihedral_coeff d = {
        .style = MD_DIHEDRAL_CHARMM, .k = 2, .n = 3, .delta = 0.7};
    check_gradient("CHARMM dihedral", dihedral, &d);
    d = (struct md_dihedral_coeff){.style = MD_DIHEDRAL_OPLS,
                                   .c = {1.3, -0.4, 0.8, 0.2, 0}};
    check_gradient("OPLS dihedral", dihedral, &d);
    d = (struct md_dihedral_coeff){.style = MD_DIHEDRAL_MULTI,
                                   .c = {1, -0.7, 0.4, 1.2, -0.3, 0.2}};
    check_gradient("multi/harmonic dihedral", dihedral, &d);
    struct md_improper_coeff i = {MD_IMPROPER_HARMONIC, 40, 0.6, 0, 0};
    check_gradient("harmonic improper", harmonic, &i);
    i = (struct md_improper_coeff){MD_IMPROPER_CVFF, 4, 0, -1, 2};
    check_gradient("CVFF improper", cvff, &i);
    i = (struct md_improper_coeff){MD_IMPROPER_SIGNED, 40, 0.6, 0, 0};
    check_gradient("improper harmonic in phi", signed_one, &i);
    struct drawn_map m = {.map = {MAP_POINTS, 0}};
    for (int k = 0; k < MAP_POINTS * MAP_POINTS; k++)
        m.node[k] = (struct md_cmap_node){sin(1 + k), cos(2 * k), sin(3 * k),
                                          cos(1 + 5 * k)};
    check_gradient("correction map", correction, &m);
}

/* ---- angles that are known ---- */

/* Four particles with a dihedral angle phi about z. */
static void make_torsion(double phi, double x[5][3])
{
    const double at[4][3] = {
        {1, 0, 0}, {0, 0, 0}, {0, 0, 1.3}, {cos(phi), sin(phi), 1.3}};
    memcpy(x, at, sizeof at);
}

static void check_torsions(void)
{
    double worst = 0;
    for (int k = -17; k <= 18; k++) {
        double phi = k * pi / 18, x[5][3];
        struct torsion t;
        make_torsion(phi, x);
        measure(x, &t);
        worst = fmax(worst, fabs(t.cosine - cos(phi)));
        /* Seen along the axis, clockwise from i to l is positive. */
        worst = fmax(worst, fabs(fabs(t.sine) - fabs(sin(phi))));
    }
    tap_ok(worst < 1e-14, "dihedral angles all around are those of the shape");
    /* Butane's three rotamers in OPLS: trans, gauche, cis by hand. */
    struct md_dihedral_coeff opls = {.style = MD_DIHEDRAL_OPLS,
                                     .c = {1.3, -0.05, 0.2, 0.1, 0}};
    double force[5][3] = {{0}}, x[5][3];
    make_torsion(pi, x);
    tap_near(dihedral(&opls, x, force), 0, 1e-14, "OPLS, trans");
    make_torsion(0, x);
    tap_near(dihedral(&opls, x, force), 1.3 + 0.2, 1e-14, "OPLS, cis");
    make_torsion(pi / 3, x);
    tap_near(dihedral(&opls, x, force),
             0.5 * (1.3 * 1.5 - 0.05 * 1.5 + 0 + 0.1 * 1.5), 1e-14,
             "OPLS, gauche");
    struct md_dihedral_coeff charmm = {
        .style = MD_DIHEDRAL_CHARMM, .k = 0.7, .n = 2, .delta = pi};
    make_torsion(pi / 2, x);
    tap_near(dihedral(&charmm, x, force), 1.4, 1e-14,
             "CHARMM: n = 2, d = 180 is highest at 90 degrees");
}

static void check_fene(void)
{
    struct md_bond_coeff b = {MD_BOND_FENE, 30, 1.5, 0, 1, 1};
    double g;
    int broken = 0;
    /* Kremer and Grest's bond rests at 0.9609 sigma at their k and r0. */
    (void)bond_energy(&b, 0.960897 * 0.960897, &g, &broken);
    tap_ok(fabs(g) < 1e-2 && !broken, "a FENE bond rests at 0.961");
    (void)bond_energy(&b, 1.51 * 1.51, &g, &broken);
    tap_ok(broken, "a FENE bond of more than its greatest length is broken");
}

/* ---- pairs ---- */

static void check_pair(const char *name, double (*energy)(double, double *),
                       double from, double to)
{
    double worst = 0, g, unused;
    for (int k = 1; k < 40; k++) {
        double r = from + (to - from) * k / 40, h = 1e-6;
        double slope =
            (energy(r + h, &unused) - energy(r - h, &unused)) / (2 * h);
        (void)energy(r, &g);
        worst = fmax(worst, fabs(g * r + slope) / (1 + fabs(g * r)));
    }
    tap_ok(worst < 1e-7, "%s: force is the slope of the energy", name);
}

static double switched(double r, double *g)
{
    struct lj_coeff c = {.c12 = 4, .c6 = 4, .cutoff2 = 9, .cutoff = 3};
    return lj_pair(&c, 2, r * r, g);
}

static double dsf(double r, double *g)
{
    struct md_coulomb q = {MD_COULOMB_DSF, 2, 3, 0.4};
    return coulomb_pair(&q, r * r, g);
}

static double ewald(double r, double *g)
{
    struct md_coulomb q = {MD_COULOMB_EWALD, 2, 3, 0.4};
    return coulomb_special(&q, 0.3, r * r, g);
}

static void check_pairs(void)
{
    double g;
    check_pair("switched Lennard-Jones", switched, 0.95, 2.99);
    check_pair("damped shifted force", dsf, 0.5, 2.99);
    check_pair("Ewald's sum without a bonded pair", ewald, 0.5, 5);
    (void)dsf(3, &g);
    tap_near(g, 0, 1e-15, "the damped shifted force ends at zero");
    tap_near(switched(2.999999, &g), 0, 1e-9, "the switched energy as well");
    /* erfc(a r) / r - 0.7 / r = 0.3 / r - erf(a r) / r. */
    tap_near(ewald(1.2, &g), 2 * (0.3 - erf(0.4 * 1.2)) / 1.2, 1e-14,
             "a bonded pair keeps its share beside a mesh");
}

/* ---- topology ---- */

/* A chain 1-2-3-4-5 with a branch 6 at 3, and a ring 7-8-9. */
static void check_special(struct ctx *ctx)
{
    static const int64_t bonds[][2] = {{1, 2}, {2, 3}, {3, 4}, {4, 5},
                                       {3, 6}, {7, 8}, {8, 9}, {9, 7}};
    struct md_term *terms = NULL;
    size_t n = 0;
    int count[3] = {0}, right = 1;
    tap_ok(topology_special(ctx, 9, 8, bonds, &terms, &n) == 0,
           "pairs that bonds join");
    for (size_t k = 0; k < n; k++) {
        count[terms[k].type]++;
        right &= terms[k].id[0] < terms[k].id[1];
        if (terms[k].id[0] == 1 && terms[k].id[1] == 6)
            right &= terms[k].type == 2;
        if (terms[k].id[0] == 7)
            right &= terms[k].type == 0;
    }
    tap_ok(count[0] == 8 && count[1] == 5 && count[2] == 4 && right,
           "one, two and three bonds apart: %d, %d and %d pairs, each once",
           count[0], count[1], count[2]);
    free(terms);
}

static void check_travel(struct ctx *ctx)
{
    struct topology *a = NULL, *b = NULL;
    const struct md_term *out = NULL;
    size_t n = 0, m = 0, bytes = 0;
    int status = topology_create(ctx, &a) | topology_create(ctx, &b);
    for (int64_t i = 1; i < 600 && status == 0; i++) {
        struct md_term t = {{i, i + 1}, MD_TERM_BOND, 0};
        status = topology_add(ctx, a, i, &t, 1);
        if (status == 0)
            status = topology_add(ctx, a, i + 1, &t, 1);
    }
    /* Even ids go to b. */
    for (int64_t i = 2; i <= 600; i += 2)
        bytes += topology_packed_bytes(a, i);
    unsigned char *message = malloc(bytes);
    size_t at = 0;
    for (int64_t i = 2; i <= 600 && message; i += 2)
        at += topology_pack(a, i, message + at);
    tap_ok(status == 0 && at == bytes &&
               topology_unpack(ctx, b, message, bytes) == 0,
           "half of a chain goes to another rank");
    int good = topology_terms(ctx, a, &out, &n) == 0 && n == 599;
    for (size_t k = 0; k < n && good; k++)
        good = out[k].id[0] == (int64_t)k + 1;
    good = good && topology_terms(ctx, b, &out, &m) == 0 && m == 599;
    tap_ok(good, "each bond of the chain is known on both sides, once, "
                 "in the order of ids");
    tap_ok(topology_unpack(ctx, b, message, bytes - 8) != 0,
           "a message that was cut is noticed");
    free(message);
    topology_destroy(a);
    topology_destroy(b);
}

/* ---- terms that are looked at again ---- */

enum { TRAVELLERS = 400, ROUNDS = 200 };

/* Term k of a ring in the order of kind, ids and type: bonds, angles, and a
 * dihedral on every tenth particle that is there twice. */
static struct md_term ring_term(int k)
{
    int kind = k < TRAVELLERS       ? MD_TERM_BOND
               : k < 2 * TRAVELLERS ? MD_TERM_ANGLE
                                    : MD_TERM_DIHEDRAL;
    int first = kind == MD_TERM_DIHEDRAL ? (k - 2 * TRAVELLERS) / 2 * 10
                                         : k % TRAVELLERS;
    struct md_term t = {.kind = kind};
    for (int e = 0; e < md_term_size(kind); e++)
        t.id[e] = (first + e) % TRAVELLERS + 1;
    return t;
}
enum { RING_TERMS = 2 * TRAVELLERS + 2 * TRAVELLERS / 10 };

static int is_here(const struct md_term *t, const int *rank, int r)
{
    for (int e = 0; e < md_term_size(t->kind); e++)
        if (rank[t->id[e]] == r)
            return 1;
    return 0;
}

static int lists_match(struct ctx *ctx, struct topology *const side[2],
                       const int *rank)
{
    for (int r = 0; r < 2; r++) {
        const struct md_term *out = NULL;
        size_t n = 0, m = 0;
        if (topology_terms(ctx, side[r], &out, &n) != 0)
            return 0;
        for (int k = 0; k < RING_TERMS; k++) {
            struct md_term t = ring_term(k);
            if (!is_here(&t, rank, r))
                continue;
            if (m == n || memcmp(&out[m++], &t, sizeof t) != 0)
                return 0;
        }
        if (m != n)
            return 0;
    }
    return 1;
}

/* A few go at a time, at times half of all, and any may come back. */
static void check_returns(struct ctx *ctx)
{
    struct topology *side[2] = {NULL, NULL};
    int rank[TRAVELLERS + 1] = {0}, good = 1;
    uint64_t seed = 2026;
    if (topology_create(ctx, &side[0]) | topology_create(ctx, &side[1]))
        good = 0;
    for (int k = 0; k < RING_TERMS && good; k++) {
        struct md_term t = ring_term(k);
        for (int e = 0; e < md_term_size(t.kind); e++)
            good &= topology_add(ctx, side[0], t.id[e], &t, 1) == 0;
    }
    topology_sort(side[0]);
    good = good && lists_match(ctx, side, rank);
    int right = 0;
    for (int round = 0; round < ROUNDS && good; round++) {
        for (int k = round % 50 == 7 ? TRAVELLERS / 2 : round % 6; k > 0; k--) {
            union {
                unsigned char bytes[4096];
                int64_t aligned;
            } message;
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
            int64_t id = (int64_t)(seed >> 33) % TRAVELLERS + 1;
            int from = rank[id];
            size_t n = topology_pack(side[from], id, message.bytes);
            good &= n <= sizeof message &&
                    topology_unpack(ctx, side[1 - from], message.bytes, n) == 0;
            rank[id] = 1 - from;
        }
        right += lists_match(ctx, side, rank);
    }
    tap_ok(good && right == ROUNDS,
           "all terms are listed in order, once, as particles go and return: "
           "%d of %d rounds",
           right, ROUNDS);
    topology_destroy(side[0]);
    topology_destroy(side[1]);
}

int main(void)
{
    struct ctx ctx = {0};
    check_gradients();
    check_torsions();
    check_fene();
    check_pairs();
    check_special(&ctx);
    check_travel(&ctx);
    check_returns(&ctx);
    return tap_done();
}
