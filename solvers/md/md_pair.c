/* md_pair.c: Lennard-Jones parameters of all pairs of species. */
#include "md.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/param.h"
#include "md_data.h"

/* What the deck says of one pair of species. */
struct lj {
    int known;
    double epsilon, sigma, cutoff;
};

/* ---- mixing ---- */

/* Parameters of an unlike pair from those of the like ones. Lorentz (1881) and
 * Berthelot (1898); geometric means; Waldman and Hagler (1993), J. Comput.
 * Chem. 14, 1077. The same rules as LAMMPS's pair_modify mix. */
static struct lj mix(enum md_mixing rule, struct lj a, struct lj b)
{
    struct lj m = {1, sqrt(a.epsilon * b.epsilon), sqrt(a.sigma * b.sigma), 0};
    double a3 = pow(a.sigma, 3), b3 = pow(b.sigma, 3);
    double mean6 = 0.5 * (a3 * a3 + b3 * b3);
    switch (rule) {
    case MD_ARITHMETIC:
        m.sigma = 0.5 * (a.sigma + b.sigma);
        break;
    case MD_GEOMETRIC:
        break;
    case MD_SIXTH_POWER:
        m.epsilon *= mean6 > 0 ? a3 * b3 / mean6 : 0;
        m.sigma = pow(mean6, 1.0 / 6.0);
        break;
    }
    return m;
}

void md_pair_mix(enum md_mixing rule, const double a[2], const double b[2],
                 double *epsilon, double *sigma)
{
    struct lj m =
        mix(rule, (struct lj){1, a[0], a[1], 0}, (struct lj){1, b[0], b[1], 0});
    *epsilon = m.epsilon;
    *sigma = m.sigma;
}

/* Energy shift and linear force shift, so that energy (and force) end at zero:
 * u(r) - u(rc) - (r - rc) u'(rc); Allen and Tildesley (2017), section 5.2.4. */
static struct lj_coeff finish(double c12, double c6, double cutoff,
                              enum md_shift shift)
{
    double r6 = pow(cutoff, -6);
    struct lj_coeff c = {
        .c12 = c12,
        .c6 = c6,
        .cutoff2 = cutoff * cutoff,
        .cutoff = cutoff,
    };
    if (shift == MD_SHIFT_ENERGY || shift == MD_SHIFT_FORCE)
        c.shift = (c.c12 * r6 - c.c6) * r6;
    if (shift == MD_SHIFT_FORCE)
        c.force_shift = (12 * c.c12 * r6 - 6 * c.c6) * r6 / cutoff;
    return c;
}

/* ---- the deck ---- */

/* Keys of metals. */
static void refuse_eam(struct params *p)
{
    static const char *const keys[] = {"element", "potential"};
    if (params_is_set(p, "md.pair", "file"))
        params_error(p, "md.pair", "file",
                     "md.pair.file is of the styles eam and eam/alloy only");
    for (int a = 0; a < params_count(p, "md.species"); a++)
        for (int k = 0; k < 2; k++)
            if (params_is_set_at(p, "md.species", a, keys[k]))
                params_error_at(p, "md.species", a, keys[k],
                                "%s is of the style %s only", keys[k],
                                k == 0 ? "eam/alloy" : "eam");
}

static void read_options(struct params *p, struct md *md)
{
    static const char *const shifts[] = {"none", "energy", "force",
                                         "charmm-switch"};
    static const char *const rules[] = {"arithmetic", "geometric",
                                        "sixth-power"};
    struct md_pair *pair = &md->pair;
    const char *shift = params_string(p, "md.pair", "shift");
    const char *rule = params_string(p, "md.pair", "mixing");
    for (int i = 0; i < 4; i++)
        if (strcmp(shift, shifts[i]) == 0)
            pair->shift = (enum md_shift)i;
    for (int i = 0; i < 3; i++) {
        if (strcmp(rule, rules[i]) == 0)
            pair->mixing = (enum md_mixing)i;
    }
    if (!params_is_set(p, "md.pair", "cutoff"))
        params_error(p, "md.pair", "cutoff", "md.pair.cutoff is required");
    refuse_eam(p);
    params_fill_double(p, "md.pair", "cutoff", 1);
    pair->cutoff = params_double(p, "md.pair", "cutoff");
    params_fill_double(p, "md.pair", "skin", 0.12 * pair->cutoff);
    pair->skin = params_double(p, "md.pair", "skin");
    pair->rebuild_every = params_int(p, "md.pair", "rebuild_every");
    pair->tail = params_bool(p, "md.pair", "tail");
    if (pair->tail && pair->shift != MD_SHIFT_NONE)
        params_error(p, "md.pair", "tail",
                     "md.pair.tail = true needs md.pair.shift = \"none\": the "
                     "tail of a shifted potential is not defined");
}

/* One [[md.pair.coefficients]] into the table of pairs. 0: of no known pair. */
static int read_coefficients(struct params *p, const struct md *md, int i,
                             struct lj *table)
{
    const char *section = "md.pair.coefficients";
    size_t n = 0;
    int s[2];
    const char *const *names = params_strings_at(p, section, i, "species", &n);
    if (!md_read_pair(p, md, section, i, "species", names, s))
        return 0;
    if (md_pair_check_keys(p, i) != 0)
        return 0;
    struct lj lj = {1, params_double_at(p, section, i, "epsilon"),
                    params_double_at(p, section, i, "sigma"), md->pair.cutoff};
    if (params_is_set_at(p, section, i, "cutoff"))
        lj.cutoff = params_double_at(p, section, i, "cutoff");
    if (lj.cutoff > md->pair.cutoff)
        params_error_at(p, section, i, "cutoff",
                        "the cutoff of a pair, %g, must not be longer than "
                        "md.pair.cutoff = %g",
                        lj.cutoff, md->pair.cutoff);
    if (table[s[0] * md->n_species + s[1]].known)
        params_error_at(p, section, i, "species",
                        "the pair %s-%s already has coefficients", names[0],
                        names[1]);
    table[s[0] * md->n_species + s[1]] = lj;
    table[s[1] * md->n_species + s[0]] = lj;
    return 1;
}

/* Whether this is Lennard-Jones; without epsilon, as for hydrogens of water,
 * sigma may be 0, too. */
static int is_lj(double epsilon, double sigma)
{
    return epsilon >= 0 && (sigma > 0 || (epsilon <= 0 && sigma >= 0));
}

/* Coefficients that a data file has of a pair of types, or NULL. */
static const struct md_data_coeff *of_file(const struct md_data *data, int a,
                                           int b)
{
    if (data->pair_ij)
        return &data->pair_ij[md_data_ij(a, b)];
    return a == b ? &data->pair[a] : NULL;
}

static int has_pairs(const struct md_data *data)
{
    return data && (data->pair_ij || data->pair[0].n > 0);
}

/* Styles of LAMMPS whose first numbers are epsilon and sigma of a 12-6
 * potential; "": the file does not say. */
static int is_lj_style(const char *name)
{
    static const char *const begin[] = {"lj/cut", "lj/charmm",
                                        "lj/smooth/linear"};
    for (size_t k = 0; k < sizeof begin / sizeof begin[0]; k++) {
        size_t n = strlen(begin[k]);
        if (strncmp(name, begin[k], n) == 0 &&
            (name[n] == '\0' || name[n] == '/'))
            return 1;
    }
    return name[0] == '\0';
}

/* "Pair Coeffs" or "PairIJ Coeffs" of a data file: epsilon, sigma and, of
 * LAMMPS's lj/charmm, both again for the ends of dihedrals; three numbers have
 * a cutoff. 0: no use. */
static int pairs_of_file(struct params *p, struct md *md, struct lj *table)
{
    const struct md_data *data = md->data;
    const char *style = data->hint[0];
    int types = data->n_types < md->n_species ? data->n_types : md->n_species;
    if (!is_lj_style(style)) {
        params_error(p, "md.initial", "read",
                     "'%s' has pair coefficients of style '%s', which are not "
                     "Lennard-Jones's; give [[md.pair.coefficients]]",
                     data->path, style);
        return 0;
    }
    for (int a = 0; a < types; a++)
        for (int b = 0; b <= a; b++) {
            const struct md_data_coeff *c = of_file(data, a, b);
            if (!c)
                continue;
            if (c->n < 2 || c->n > 4 || !is_lj(c->value[0], c->value[1])) {
                params_error(p, "md.initial", "read",
                             "%s:%" PRId64
                             ": the pair coefficients of types %d and %d are "
                             "not 2 to 4 numbers of Lennard-Jones (epsilon, "
                             "sigma, ...); give [[md.pair.coefficients]]",
                             data->path, c->line, b + 1, a + 1);
                return 0;
            }
            double cutoff = c->n == 3 ? fmin(c->value[2], md->pair.cutoff)
                                      : md->pair.cutoff;
            table[a * md->n_species + b] = table[b * md->n_species + a] =
                (struct lj){1, c->value[0], c->value[1], cutoff};
        }
    return 1;
}

/* Every pair of species has its own in a topology. */
static int pairs_of_topology(struct md *md)
{
    int n = md->n_species;
    for (int i = 0; i < n * n; i++) {
        const double *lj = md->data->lj[i]; /* c12, c6 */
        double sigma = pow(lj[0] / fmax(lj[1], 1e-300), 1.0 / 6.0);
        md->pair.coeff[i] =
            finish(lj[0], lj[1], md->pair.cutoff, md->pair.shift);
        if (lj[0] > 0 && lj[1] > 0 &&
            (!(md->pair.smallest_sigma > 0) || sigma < md->pair.smallest_sigma))
            md->pair.smallest_sigma = sigma;
    }
    return 0;
}

static struct lj end_of_file(const struct md *md, int a, int b)
{
    const struct md_data_coeff *c = of_file(md->data, a, b);
    if (c)
        return (struct lj){1, c->value[2], c->value[3], md->pair.cutoff};
    return mix(md->pair.mixing, end_of_file(md, a, a), end_of_file(md, b, b));
}

/* The pairs of a file's 1-4 parameters, mixed like all others. */
static int ends_of_file(struct ctx *ctx, struct md *md)
{
    const struct md_data *data = md->data;
    int n = md->n_species;
    if (!has_pairs(data) || data->n_types != n)
        return 0;
    for (int a = 0; a < n; a++)
        for (int b = 0; b <= a; b++)
            if (of_file(data, a, b) && of_file(data, a, b)->n != 4)
                return 0;
    size_t pairs = (size_t)n * (size_t)n;
    md->bonded.lj14 = calloc(pairs, sizeof *md->bonded.lj14);
    if (!md->bonded.lj14)
        return FAIL(ctx, STATUS_MEMORY, "no memory for %zu pairs of species",
                    pairs);
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            struct lj m = end_of_file(md, a, b);
            double s6 = pow(m.sigma, 6);
            md->bonded.lj14[a * n + b] =
                (struct md_lj14){4 * m.epsilon * s6 * s6, 4 * m.epsilon * s6};
        }
    return 0;
}

/* Where there are charges, a species that is left out has no Lennard-Jones
 * forces, as the hydrogens of most water models. */
static void complete_charged(struct ctx *ctx, const struct md *md,
                             struct lj *table)
{
    int n = md->n_species;
    for (int i = 0; i < n; i++) {
        if (table[i * n + i].known)
            continue;
        table[i * n + i] = (struct lj){1, 0, 0, md->pair.cutoff};
        log_info(ctx->log,
                 "species %s has no [[md.pair.coefficients]]: no Lennard-Jones "
                 "forces between its particles",
                 md->species[i].name);
    }
}

/* Give every pair its parameters: those of the deck, or mixed. */
static void complete(struct ctx *ctx, struct params *p, const struct md *md,
                     struct lj *table)
{
    int n = md->n_species;
    if (params_has_section(p, "md.coulomb") &&
        params_count(p, "md.pair.coefficients") > 0)
        complete_charged(ctx, md, table);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) {
            struct lj *ij = &table[i * n + j];
            const struct lj *ii = &table[i * n + i], *jj = &table[j * n + j];
            if (ij->known || !ii->known || !jj->known)
                continue;
            *ij = mix(md->pair.mixing, *ii, *jj);
            ij->cutoff = md->pair.cutoff;
            table[j * n + i] = *ij;
        }
    for (int i = 0; i < n; i++)
        if (!table[i * n + i].known)
            params_error(p, "md.pair", "coefficients",
                         "no [[md.pair.coefficients]] for species %s, and no "
                         "'Pair Coeffs' of a data file",
                         md->species[i].name);
}

int md_pair_read(struct ctx *ctx, struct params *p, struct md *md)
{
    size_t n = (size_t)md->n_species;
    int n_given = params_count(p, "md.pair.coefficients");
    if (md_eam_wanted(p))
        return md_eam_read(ctx, p, md);
    read_options(p, md);
    if (md_forms_wanted(p))
        return md_forms_read(ctx, p, md);
    struct lj *table = calloc(n * n, sizeof *table);
    md->pair.coeff = calloc(n * n, sizeof *md->pair.coeff);
    if (!table || !md->pair.coeff) {
        free(table);
        return FAIL(ctx, STATUS_MEMORY, "no memory for %zu pairs of species",
                    n * n);
    }
    if (md->data && md->data->styled && n_given == 0) {
        free(table);
        return md->n_species == md->data->n_types ? pairs_of_topology(md) : 0;
    }
    int all_read = 1;
    if (n_given == 0 && has_pairs(md->data))
        all_read = pairs_of_file(p, md, table);
    for (int i = 0; i < n_given; i++)
        all_read &= read_coefficients(p, md, i, table);
    if (n_given == 0 && n == 1 && md->units == UNITS_LJ)
        table[0] = (struct lj){1, 1, 1, md->pair.cutoff};
    if (all_read) /* else a pair lacks what is misspelt */
        complete(ctx, p, md, table);
    for (size_t i = 0; i < n * n; i++) {
        if (!table[i].known)
            continue;
        double s6 = pow(table[i].sigma, 6), c6 = 4 * table[i].epsilon * s6;
        md->pair.coeff[i] =
            finish(c6 * s6, c6, table[i].cutoff, md->pair.shift);
        if (table[i].epsilon > 0 && (!(md->pair.smallest_sigma > 0) ||
                                     table[i].sigma < md->pair.smallest_sigma))
            md->pair.smallest_sigma = table[i].sigma;
    }
    free(table);
    return ends_of_file(ctx, md);
}

/* ---- tail corrections ---- */

/* Energy and pressure of all pairs beyond their cutoff, with g(r) = 1 there;
 * Allen and Tildesley (2017), eqs. 2.144 and 2.145, summed over species:
 *     U = 2 pi / V     sum_ij N_i N_j (c12 rc^-9 / 9 - c6 rc^-3 / 3)
 *     P = 2 pi / 3 V^2 sum_ij N_i N_j (4/3 c12 rc^-9 - 2 c6 rc^-3). */
void md_pair_tail(struct md *md)
{
    const double pi = 3.14159265358979323846;
    double volume = md->box_length[0] * md->box_length[1] * md->box_length[2];
    double energy = 0, pressure = 0;
    int n = md->n_species;
    for (int i = 0; i < n && md->pair.tail; i++)
        for (int j = 0; j < n; j++) {
            const struct lj_coeff *c = &md->pair.coeff[i * n + j];
            double pairs =
                (double)md->species[i].count * (double)md->species[j].count;
            double r3 = pow(c->cutoff, -3), r9 = r3 * r3 * r3;
            energy += pairs * (c->c12 * r9 / 9 - c->c6 * r3 / 3);
            pressure += pairs * (4 * c->c12 * r9 / 3 - 2 * c->c6 * r3);
        }
    md->pair.tail_energy = 2 * pi / volume * energy;
    md->pair.tail_pressure = 2 * pi / (3 * volume * volume) * pressure *
                             md->constants->energy_per_volume_to_pressure;
}
