/* md_coulomb.c: charges and what acts between them, from the deck. */
#include "md.h"

#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/param.h"
#include "md_data.h"
#include "md_ewald.h"

/* q q / (4 pi epsilon_0 r) in energy and length of each system; of "metal" and
 * "real" as LAMMPS has it. */
static double coulomb_constant(enum unit_system units)
{
    switch (units) {
    case UNITS_METAL:
        return 14.399645;
    case UNITS_REAL:
        return 332.06371;
    case UNITS_SI:
        return 8.9875517923e9;
    case UNITS_LJ:
        break;
    }
    return 1;
}

/* Charges by species, for particles that bring none of their own. */
static void read_charges(struct params *p, struct md *md)
{
    for (int i = 0; i < params_count(p, "md.species"); i++) {
        if (i >= md->n_species ||
            !params_is_set_at(p, "md.species", i, "charge"))
            continue;
        if ((md->data && md->data->charged) || md->initial.has_charges > 0) {
            params_error_at(p, "md.species", i, "charge",
                            "the charges are those of '%s', particle by "
                            "particle; leave this out",
                            md->data ? md->data->path : md->initial.read);
            return;
        }
        md->species[i].charge = params_double_at(p, "md.species", i, "charge");
        md->charged = md->charge_by_species = 1;
    }
}

/* The switch needs room between its start and each pair's cutoff. */
static void read_switch(struct params *p, struct md *md)
{
    int wanted = md->pair.shift == MD_SHIFT_SWITCH;
    int n = md->n_species;
    if (params_is_set(p, "md.pair", "switch_from") != wanted) {
        params_error(p, "md.pair", wanted ? "shift" : "switch_from",
                     "md.pair.shift = \"charmm-switch\" and "
                     "md.pair.switch_from need one another");
        return;
    }
    if (!wanted)
        return;
    double from = params_double(p, "md.pair", "switch_from");
    for (int i = 0; i < n * n; i++)
        if (md->pair.coeff[i].cutoff > 0 && from >= md->pair.coeff[i].cutoff) {
            params_error(p, "md.pair", "switch_from",
                         "md.pair.switch_from = %g must be below each pair's "
                         "cutoff; one is %g",
                         from, md->pair.coeff[i].cutoff);
            return;
        }
    md->bonded.field.switch_from = from;
    md->bonded.has_field = 1;
}

static int read_method(struct ctx *ctx, struct params *p, struct md *md)
{
    struct md_coulomb *q = &md->bonded.field.coulomb;
    const char *method = params_string(p, "md.coulomb", "method");
    int is_dsf = strcmp(method, "dsf") == 0,
        is_cut = strcmp(method, "cut") == 0;
    if (!md->charged)
        params_error(p, "md.coulomb", "method",
                     "no particle has a charge: give the species' charge in "
                     "[[md.species]], or a file with charges (atom style "
                     "charge or full, charge:R:1, a topology)");
    q->method = is_dsf   ? MD_COULOMB_DSF
                : is_cut ? MD_COULOMB_CUT
                         : MD_COULOMB_EWALD;
    q->constant = coulomb_constant(md->units);
    params_fill_double(p, "md.coulomb", "cutoff", md->pair.cutoff);
    q->cutoff = params_double(p, "md.coulomb", "cutoff");
    if (is_dsf) {
        params_fill_double(p, "md.coulomb", "damping", 2.4 / q->cutoff);
        q->alpha = params_double(p, "md.coulomb", "damping");
    } else if (params_is_set(p, "md.coulomb", "damping")) {
        params_error(p, "md.coulomb", "damping",
                     "md.coulomb.damping has no meaning for method \"%s\"",
                     method);
    }
    md->pair.reach = fmax(md->pair.reach, q->cutoff);
    md->bonded.has_field = 1;
    if (q->method == MD_COULOMB_EWALD)
        return md_ewald_read(ctx, p, md);
    md_ewald_refuse(p, method);
    return 0;
}

int md_coulomb_read(struct ctx *ctx, struct params *p, struct md *md)
{
    md->pair.reach = md->pair.cutoff;
    read_charges(p, md);
    read_switch(p, md);
    if (params_has_section(p, "md.coulomb"))
        TRY(read_method(ctx, p, md));
    md->bonded.field.lj14 = md->bonded.lj14;
    md->bonded.has_field |= md->bonded.on;
    return 0;
}

int md_coulomb_charge(struct ctx *ctx, const struct md *md,
                      struct md_particle *p, size_t n)
{
    double sum[2] = {0, 0};
    for (size_t i = 0; i < n; i++) {
        if (md->charge_by_species)
            p[i].charge = md->species[p[i].species].charge;
        sum[0] += p[i].charge;
        sum[1] += fabs(p[i].charge);
    }
    TRY(comm_sum_double(ctx, sum, 2));
    if (md->bonded.field.coulomb.method == MD_COULOMB_NONE) {
        if (md->charged && sum[1] > 0)
            log_warn(ctx->log,
                     "particles have charges, but there is no [md.coulomb]: no "
                     "force acts between them");
        return 0;
    }
    if (!md->ewald && fabs(sum[0]) > 1e-6 * sum[1])
        log_warn(ctx->log,
                 "the charges add up to %g, not to 0: energies depend on the "
                 "cutoff",
                 sum[0]);
    return 0;
}
