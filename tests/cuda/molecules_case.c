#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/error.h"
#include "molecules.h"
#include "solvers/md/md_data.h"
#include "tests/tap.h"

/* A correction map of 6 x 6 points on the chain of each molecule; nodes that
 * are those of no spline are as good for the formulas. */
static int give_maps(struct md_case *c)
{
    enum { POINTS = 6, CHAIN = 6 };
    static const struct md_cmap map = {POINTS, 0};
    static struct md_cmap_node nodes[POINTS * POINTS];
    struct md_data *data = c->md->data;
    struct md_force_field *f = &c->md->bonded.field;
    for (int k = 0; k < POINTS * POINTS; k++)
        nodes[k] = (struct md_cmap_node){sin(1 + k), cos(2 * k), sin(3 * k),
                                         0.5 * cos(1 + 5 * k)};
    f->cmaps = &map;
    f->cmap_nodes = nodes;
    f->n_cmaps = 1;
    f->n_cmap_nodes = POINTS * POINTS;
    if (!data->terms)
        return 0;
    size_t chains = (size_t)data->n_atoms / CHAIN;
    struct md_term *grown =
        realloc(data->terms, (data->n_all_terms + chains) * sizeof *grown);
    if (!grown)
        return FAIL(c->ctx, STATUS_MEMORY, "no memory");
    data->terms = grown;
    for (int64_t m = 0; m < (int64_t)chains; m++) {
        int64_t at = CHAIN * m;
        grown[data->n_all_terms++] = (struct md_term){
            {at + 1, at + 2, at + 3, at + 4, at + 5}, MD_TERM_CMAP, 0};
    }
    return 0;
}

/* Every style, each of one type; and in place of the last type's dihedrals
 * pairs with coefficients of their own. fene: the length where it breaks, of
 * which the kernels alone know, as the file's bonds would be refused. */
static int give_styles(struct md_case *c, double fene)
{
    static struct md_bond_coeff bonds[3];
    struct md_bonded *b = &c->md->bonded;
    struct md_data *data = c->md->data;
    if (!b->on)
        return 0;
    b->bonds[0] = (struct md_bond_coeff){MD_BOND_HARMONIC, 100, 1.15, 0, 0, 0};
    b->bonds[1] = (struct md_bond_coeff){MD_BOND_FENE, 30, 1.9, 0, 1, 0.95};
    b->bonds[2] = (struct md_bond_coeff){MD_BOND_MORSE, 50, 1.1, 1.5, 0, 0};
    memcpy(bonds, b->bonds, sizeof bonds);
    bonds[1].r0 = fene;
    b->field.bonds = bonds;
    b->angles[0] = (struct md_angle_coeff){MD_ANGLE_HARMONIC, 40, 2.2, 0, 0};
    b->angles[1] = (struct md_angle_coeff){MD_ANGLE_CHARMM, 30, 2.1, 5, 2.1};
    b->angles[2] = (struct md_angle_coeff){MD_ANGLE_COSINE, 4, 0, 0, 0};
    b->dihedrals[0] =
        (struct md_dihedral_coeff){MD_DIHEDRAL_CHARMM, 1.5, 0.4, 0.5, 3, {0}};
    b->dihedrals[1] = (struct md_dihedral_coeff){
        MD_DIHEDRAL_OPLS, 0, 0, 0, 0, {1.3, -0.3, 0.6, 0.1}};
    b->dihedrals[2] = (struct md_dihedral_coeff){
        MD_DIHEDRAL_MULTI, 0, 0, 0, 0, {0.4, 0.2, -0.5, 0.3, 0.1, 0.05}};
    b->impropers[0] =
        (struct md_improper_coeff){MD_IMPROPER_HARMONIC, 8, 0.35, 0, 0};
    b->impropers[1] = (struct md_improper_coeff){MD_IMPROPER_CVFF, 3, 0, -1, 2};
    b->impropers[2] =
        (struct md_improper_coeff){MD_IMPROPER_SIGNED, 6, -0.6, 0, 0};
    data->pairs14 = calloc(1, sizeof *data->pairs14);
    b->lj14 = calloc(4, sizeof *b->lj14);
    if (!data->pairs14 || !b->lj14)
        return FAIL(c->ctx, STATUS_MEMORY, "no memory");
    *data->pairs14 = (struct md_pair14){3, 4, 0, 0};
    if (c->md->charged) {
        data->pairs14->weight = 0.7;
        data->pairs14->qq = 0.05;
    }
    for (int k = 0; k < 4; k++)
        b->lj14[k] = (struct md_lj14){2 + k % 3, 3 - k % 3};
    b->field.n_pairs14 = 1;
    b->field.pairs14 = data->pairs14;
    b->field.lj14 = b->lj14;
    for (size_t k = 0; data->terms && k < data->n_all_terms; k++) {
        struct md_term *term = &data->terms[k];
        if (term->kind == MD_TERM_DIHEDRAL && term->type == 3)
            *term =
                (struct md_term){{term->id[0], term->id[3]}, MD_TERM_PAIR14, 0};
    }
    return give_maps(c);
}

int molecules_start(struct ctx *ctx, struct md_case *c, int cpu, double fene,
                    const char *deck)
{
    const char *device = getenv("WARPDECK_TEST_DEVICE");
    TRY(case_read(ctx, c, "%s", deck));
    TRY(job_open_device(ctx, &c->job, cpu || !device ? "cpu" : device));
    if (!c->md->rigid.on)
        TRY(give_styles(c, fene));
    return job_initial(ctx, &c->job);
}

int molecules_look(struct md_case *c, struct outcome *o)
{
    struct md *md = c->md;
    struct md_stress inner;
    o->sums[0] = md->sums.virial;
    memcpy(o->sums + 1, md->sums.tensor, sizeof md->sums.tensor);
    memcpy(o->sums + 7, md->sums.part, sizeof md->sums.part);
    TRY(comm_sum_double(c->ctx, o->sums, MOLECULES_SUMS));
    md->k->kinetic_tensor(md->store, o->kinetic);
    TRY(comm_sum_double(c->ctx, o->kinetic, 6));
    TRY(md_rigid_inner(c->ctx, md, &inner));
    memcpy(o->inner, inner.kinetic, sizeof inner.kinetic);
    memcpy(o->inner + 3, inner.virial, sizeof inner.virial);
    TRY(comm_sum_double(c->ctx, o->inner, 6));
    memset(o->counts, 0, sizeof o->counts);
    md->k->term_histogram(md->store, MD_TERM_BOND, 0.8, 1.6, 40, o->counts[0]);
    md->k->term_histogram(md->store, MD_TERM_ANGLE, 1, 3, 40, o->counts[1]);
    TRY(comm_sum_int64(c->ctx, (int64_t *)(void *)o->counts, 2 * 3 * 41));
    TRY(case_snapshot(c, &o->s));
    return md_check_device(c->ctx, md);
}

int molecules_run(struct ctx *ctx, const char *deck, int cpu, int n,
                  struct outcome *first, struct outcome *last)
{
    struct md_case c;
    memset(last, 0, sizeof *last);
    int status = molecules_start(ctx, &c, cpu, 1.9, deck);
    if (status == 0 && first)
        status = molecules_look(&c, first);
    if (status == 0)
        status = case_steps(&c, n);
    if (status == 0)
        status = molecules_look(&c, last);
    if (status != 0)
        tap_note("%s: %s", cpu ? "cpu" : "card", ctx->error.text);
    case_close(&c);
    return status;
}

void molecules_free(struct outcome *a, struct outcome *b)
{
    snapshot_free(&a->s);
    snapshot_free(&b->s);
}

/* ---- comparing ---- */

double molecules_off(const void *a, const void *b, size_t n)
{
    const double *x = a, *y = b;
    double worst = 0, square = 1e-300;
    for (size_t i = 0; i < n; i++) {
        worst = fmax(worst, isfinite(x[i]) ? fabs(x[i] - y[i]) : HUGE_VAL);
        square += y[i] * y[i];
    }
    return worst / sqrt(square / (double)n);
}

void molecules_below(double got, double most, const char *what,
                     const char *more)
{
    tap_ok(got <= most, "%s: %s", what, more);
    tap_note("off by %.2e, allowed %.0e", got, most);
}

void molecules_compare(const struct outcome *a, const struct outcome *b,
                       double tolerance, int motion, const char *what)
{
    molecules_below(molecules_off(a->s.force, b->s.force, 3 * a->s.n),
                    tolerance, what, "forces are the CPU's");
    molecules_below(molecules_off(a->sums + 7, b->sums + 7, MD_ENERGIES),
                    tolerance, what, "energies of every term are the CPU's");
    molecules_below(fmax(molecules_off(a->sums, b->sums, 7),
                         molecules_off(a->kinetic, b->kinetic, 6)),
                    10 * tolerance, what,
                    "the virial and the tensor are the CPU's");
    if (motion)
        molecules_below(
            fmax(molecules_off(a->s.position, b->s.position, 3 * a->s.n),
                 molecules_off(a->s.velocity, b->s.velocity, 3 * a->s.n)),
            tolerance, what, "places and velocities are the CPU's");
}
