/* The CPU's store by itself: terms of particles whose ids are too large to be
 * places of a table, and coefficients that are made of radii and depths.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "kernels/device.h"
#include "kernels/md/md_kernels.h"
#include "tests/tap.h"

extern const struct md_kernels md_kernels_cpu_double;
static const struct md_kernels *const k = &md_kernels_cpu_double;

enum { N = 400, SPECIES = 20 };
static const double box = 20;

/* Particles that are well apart, bound in a chain. */
static void place(struct md_particle *p, int64_t first_id)
{
    uint64_t word = 12345;
    memset(p, 0, N * sizeof *p);
    for (int i = 0; i < N; i++) {
        int site[3] = {i % 8, i / 8 % 8, i / 64};
        for (int d = 0; d < 3; d++) {
            word = word * UINT64_C(6364136223846793005) + 1442695040888963407;
            double u = (double)(word >> 11) * 0x1p-53;
            p[i].position[d] = 2.5 * (site[d] + 0.25 + 0.4 * u);
        }
        p[i].id = first_id + i;
        p[i].species = i % SPECIES;
        p[i].charge = i % 2 ? 0.4 : -0.4;
    }
}

static void mix(struct lj_coeff *c)
{
    for (int a = 0; a < SPECIES; a++)
        for (int b = 0; b < SPECIES; b++) {
            double sigma = 2 + 0.02 * (a + b), depth = (0.5 + 0.1 * a);
            double epsilon = sqrt(depth * (0.5 + 0.1 * b)), s6 = pow(sigma, 6);
            c[a * SPECIES + b] = (struct lj_coeff){
                4 * epsilon * s6 * s6, 4 * epsilon * s6, 64, 0, 0, 8};
        }
}

/* Forces, by particle, where the first n_here are here; *sums of the same.
 * Returns a status. */
static int forces_of(const struct lj_coeff *coeff, double splitting,
                     int64_t first_id, size_t n_here, double (*out)[3],
                     struct md_sums *sums)
{
    struct device device = {.threads = 1};
    struct ctx ctx = {.device = &device};
    const struct md_bond_coeff bond = {
        .style = MD_BOND_HARMONIC, .k = 3, .r0 = 2.4};
    const struct md_force_field field = {
        .n_bonds = 1,
        .bonds = &bond,
        .special_lj = {0, 1, 1},
        .special_coulomb = {0, 1, 1},
        .coulomb = {MD_COULOMB_EWALD, 300, 8, splitting},
        .switch_from = 6};
    struct md_setup setup = {.list_radius = 8.5,
                             .halo_radius = 8.5,
                             .n_species = SPECIES,
                             .coeff = coeff,
                             .acceleration = 1,
                             .expected_count = N,
                             .charged = 1,
                             .field = &field};
    struct md_particle p[N], back[N];
    struct md_term terms[2 * N];
    double force[N][3];
    struct md_store *s = NULL;
    size_t n = 0;
    for (int d = 0; d < 3; d++)
        setup.box_length[d] = setup.hi[d] = box;
    for (int a = 0; a < SPECIES; a++)
        setup.mass[a] = 1;
    place(p, first_id);
    for (int i = 0; i + 1 < N; i++)
        terms[n++] = (struct md_term){{p[i].id, p[i + 1].id}, MD_TERM_BOND, 0};
    for (int i = 0; i + 1 < N; i++)
        terms[n++] =
            (struct md_term){{p[i].id, p[i + 1].id}, MD_TERM_SPECIAL, 0};
    int status = k->create(&ctx, &setup, &s);
    if (status != 0)
        return status;
    status = k->insert(&ctx, s, p, n_here);
    status = status ? status : k->sort(&ctx, s);
    status = status ? status : k->select_halo(&ctx, s, 0, NULL, NULL);
    status = status ? status : k->accept_halo(&ctx, s, 0, NULL);
    status = status ? status : k->set_terms(&ctx, s, terms, n);
    status = status ? status : k->find_terms(&ctx, s); /* nothing changes */
    status = status ? status : k->build_list(&ctx, s);
    if (status == 0) {
        k->force_own(s, sums);
        k->force_halo(s, sums);
        k->gather(s, back, force);
        for (int i = 0; i < N; i++)
            memcpy(out[back[i].id - first_id], force[i], sizeof force[i]);
    }
    k->destroy(s);
    return status;
}

/* The greatest difference over the root mean square. */
static double difference(const double (*a)[3], const double (*b)[3])
{
    double worst = 0, square = 0;
    for (int i = 0; i < N; i++)
        for (int d = 0; d < 3; d++) {
            worst = fmax(worst, fabs(a[i][d] - b[i][d]));
            square += a[i][d] * a[i][d];
        }
    return worst / sqrt(square / (3 * N));
}

int main(void)
{
    struct lj_coeff coeff[SPECIES * SPECIES];
    static double plain[N][3], other[N][3];
    struct md_sums sums = {0}, more = {0};
    mix(coeff);
    tap_ok(forces_of(coeff, 0.3, 1, N, plain, &sums) == 0 &&
               sums.part[MD_ENERGY_BOND] > 0,
           "a chain of 400 particles of 20 species");
    tap_ok(forces_of(coeff, 0.3, INT64_C(1) << 40, N, other, NULL) == 0 &&
               memcmp(plain, other, sizeof plain) == 0,
           "the same bits with ids beyond 10^12, without sums");
    /* One pair beside the rule: all are looked up. */
    coeff[1].c6 *= 1 + 1e-11;
    coeff[SPECIES] = coeff[1];
    int status = forces_of(coeff, 0.3, 1, N, other, &more);
    double apart = difference(plain, other);
    tap_ok(status == 0 && apart > 0 && apart < 1e-10,
           "coefficients from radii and depths are those of the table: %.1e",
           apart);
    tap_near(more.energy, sums.energy, 1e-9 * fabs(sums.energy),
             "and so is the energy");
    tap_near(more.virial, sums.virial, 1e-9 * fabs(sums.virial),
             "and the virial");
    tap_ok(forces_of(coeff, 0.3, 1, N - 1, other, NULL) ==
               STATUS_LOST_PARTICLES,
           "a particle that was forgotten is noticed");
    return tap_done();
}
