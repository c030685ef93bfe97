/* md_pair_forms.c: pair potentials beside Lennard-Jones alone: which form each
 * pair of species has, from the deck.
 */
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/param.h"
#include "domain/state.h"
#include "md_data.h"
#include "md_fingerprint.h"
#include "md_pair.h"

static const char section[] = "md.pair.coefficients";

/* ---- styles ---- */

enum { KEYS = 3 };

/* A style's name, and its numbers a, b, c in the order of md_pair_form. */
static const struct {
    const char *name, *keys[KEYS];
} styles[MD_PAIR_STYLES] = {
    [MD_PAIR_NONE] = {"none", {NULL}},
    [MD_PAIR_LJ] = {"lj", {"epsilon", "sigma"}},
    [MD_PAIR_MORSE] = {"morse", {"d0", "alpha", "r0"}},
    [MD_PAIR_BUCKINGHAM] = {"buckingham", {"a", "rho", "c"}},
    [MD_PAIR_YUKAWA] = {"yukawa", {"strength", "kappa"}},
    [MD_PAIR_SOFT] = {"soft", {"a"}},
    [MD_PAIR_DPD] = {"dpd", {"repulsion"}},
    [MD_PAIR_TABLE] = {"table", {NULL}},
};

static const char *const numbers[] = {
    "epsilon", "sigma",    "d0",    "alpha", "r0",       "a",
    "rho",     "strength", "kappa", "c",     "repulsion"};
enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

static enum md_pair_style style_of(const char *name)
{
    int s = 0;
    while (s < MD_PAIR_STYLES - 1 && strcmp(styles[s].name, name) != 0)
        s++;
    return (enum md_pair_style)s;
}

/* That of coefficients i: their own, or md.pair.style. */
static const char *name_of(const struct params *p, int i)
{
    return params_is_set_at(p, section, i, "style")
               ? params_string_at(p, section, i, "style")
               : params_string(p, "md.pair", "style");
}

int md_forms_wanted(const struct params *p)
{
    int other = strcmp(params_string(p, "md.pair", "style"), "lj") != 0;
    for (int i = 0; i < params_count(p, section); i++)
        other |= strcmp(name_of(p, i), "lj") != 0;
    return other;
}

static int has_key(enum md_pair_style style, const char *key)
{
    for (int k = 0; k < KEYS && styles[style].keys[k]; k++)
        if (strcmp(styles[style].keys[k], key) == 0)
            return 1;
    return 0;
}

int md_pair_check_keys(struct params *p, int i)
{
    const char *name = name_of(p, i);
    enum md_pair_style style = style_of(name);
    int wrong = 0;
    for (int k = 0; k < NUMBERS; k++) {
        int wanted = has_key(style, numbers[k]);
        if (params_is_set_at(p, section, i, numbers[k]) == wanted)
            continue;
        wrong = 1;
        if (wanted)
            params_error_at(p, section, i, NULL,
                            "%s.%s is missing: style \"%s\" needs it", section,
                            numbers[k], name);
        else
            params_error_at(p, section, i, numbers[k],
                            "%s has no meaning for style \"%s\"", numbers[k],
                            name);
    }
    static const char *const texts[] = {"file", "keyword"};
    for (int k = 0; k < 2; k++) {
        int wanted = style == MD_PAIR_TABLE;
        if (params_is_set_at(p, section, i, texts[k]) == wanted)
            continue;
        wrong = 1;
        params_error_at(p, section, i, wanted ? NULL : texts[k],
                        wanted ? "%s.%s is missing: style \"%s\" needs it"
                               : "%s.%s has no meaning for style \"%s\"",
                        section, texts[k], name);
    }
    return wrong;
}

/* ---- files with tables ---- */

static int share_file(struct ctx *ctx, struct md_pair_file *f)
{
    struct md_pair_file own = *f;
    int status = 0;
    TRY(comm_bcast(ctx, f, sizeof *f));
    f->path = own.path;
    f->keyword = own.keyword;
    size_t bytes = (size_t)f->n * sizeof(double);
    if (comm_rank(ctx->comm) != 0) {
        own.r = malloc(bytes);
        own.force = malloc(bytes);
        own.energy = malloc(bytes);
        if (!own.r || !own.force || !own.energy)
            status = FAIL(ctx, STATUS_MEMORY, "no memory for the table of '%s'",
                          f->path);
    }
    f->r = own.r;
    f->force = own.force;
    f->energy = own.energy;
    TRY(comm_agree(ctx, status));
    TRY(comm_bcast(ctx, f->r, bytes));
    TRY(comm_bcast(ctx, f->force, bytes));
    return comm_bcast(ctx, f->energy, bytes);
}

/* The file must have a force wherever the pair acts. */
static int check_range(struct ctx *ctx, const struct md_pair_file *f,
                       double cutoff)
{
    double last = f->r[f->n - 1];
    if (cutoff <= last * (1 + 1e-9))
        return 0;
    return FAIL_AT(ctx, STATUS_INPUT,
                   "%s:%" PRId64
                   ": error: the table '%s' is too short: it ends "
                   "at %g, before the cutoff %g",
                   f->path, f->head_line, f->keyword, last, cutoff);
}

/* The section of a file named in the deck, as a spline. Collective. */
static int read_spline(struct ctx *ctx, struct params *p, int i, double cutoff,
                       struct md_spline *out)
{
    struct md_pair_file f = {0};
    const char *name = params_string_at(p, section, i, "file");
    char *path = params_file(p, name);
    int status = 0;
    if (!path)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for a path");
    TRY_CLEANUP(comm_agree(ctx, status));
    f.path = path;
    f.keyword = params_string_at(p, section, i, "keyword");
    if (comm_rank(ctx->comm) == 0)
        status = md_pair_parse(ctx, path, f.keyword, &f);
    TRY_CLEANUP(comm_agree(ctx, status));
    TRY_CLEANUP(share_file(ctx, &f));
    TRY_CLEANUP(check_range(ctx, &f, cutoff));
    double worst = 0;
    TRY_CLEANUP(comm_agree(ctx, md_pair_spline(ctx, &f, out, &worst)));
    log_info(ctx->log,
             "%s: table '%s': %d points from %g to %g; energies are the "
             "integral of the forces to %.1e",
             path, f.keyword, f.n, out->r[0], out->r[f.n - 1], worst);
cleanup:
    md_pair_file_free(&f);
    free(path);
    return status;
}

/* ---- forms ---- */

/* Species of coefficients i; 0: unknown or given twice. */
static int find_pair(struct params *p, const struct md *md, int i,
                     const unsigned char *known, int s[2])
{
    size_t count = 0;
    const char *const *names =
        params_strings_at(p, section, i, "species", &count);
    if (!md_read_pair(p, md, section, i, "species", names, s))
        return 0;
    if (known[s[0] * md->n_species + s[1]])
        params_error_at(p, section, i, "species",
                        "the pair %s-%s already has coefficients", names[0],
                        names[1]);
    return !known[s[0] * md->n_species + s[1]];
}

/* The numbers of coefficients i. 0: something is wrong with them. */
static int read_numbers(struct params *p, const struct md *md, int i,
                        struct md_pair_form *form)
{
    *form = (struct md_pair_form){.style = style_of(name_of(p, i)),
                                  .cutoff = md->pair.cutoff};
    if (md_pair_check_keys(p, i) != 0)
        return 0;
    double *to[KEYS] = {&form->a, &form->b, &form->c};
    for (int k = 0; k < KEYS && styles[form->style].keys[k]; k++)
        *to[k] = params_double_at(p, section, i, styles[form->style].keys[k]);
    if (params_is_set_at(p, section, i, "cutoff"))
        form->cutoff = params_double_at(p, section, i, "cutoff");
    if (form->cutoff > md->pair.cutoff) {
        params_error_at(p, section, i, "cutoff",
                        "the cutoff of a pair, %g, must not be longer than "
                        "md.pair.cutoff = %g",
                        form->cutoff, md->pair.cutoff);
        return 0;
    }
    return 1;
}

/* Energy and force at the cutoff taken off, as md.pair.shift says. */
static void shift_form(const struct md *md, struct md_pair_form *f)
{
    double g, rc = f->cutoff, u = md_pair_plain(f, rc * rc, &g);
    if (md->pair.shift != MD_SHIFT_NONE)
        f->shift = u;
    if (md->pair.shift == MD_SHIFT_FORCE)
        f->force_shift = g * rc;
}

static int read_forms(struct ctx *ctx, struct params *p, struct md *md,
                      unsigned char *known, int *all_read)
{
    struct md_forms *forms = md->pair.forms;
    int n = md->n_species, s[2];
    for (int i = 0; i < params_count(p, section); i++) {
        struct md_pair_form form;
        int right = find_pair(p, md, i, known, s);
        right &= read_numbers(p, md, i, &form);
        *all_read &= right;
        if (!right)
            continue;
        int ab = s[0] * n + s[1], ba = s[1] * n + s[0];
        if (form.style == MD_PAIR_TABLE) {
            TRY(read_spline(ctx, p, i, form.cutoff, &forms->spline[ab]));
            form.spline = &forms->spline[ab];
        }
        forms->form[ab] = forms->form[ba] = form;
        known[ab] = known[ba] = 1;
    }
    return 0;
}

/* Unlike pairs that were left out: Lennard-Jones mixes, nothing else does. */
static void complete(struct params *p, const struct md *md,
                     const unsigned char *known)
{
    struct md_pair_form *form = md->pair.forms->form;
    int n = md->n_species;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            const struct md_pair_form *ii = &form[i * n + i],
                                      *jj = &form[j * n + j];
            if (known[i * n + j])
                continue;
            if (i == j || !known[i * n + i] || !known[j * n + j] ||
                ii->style != MD_PAIR_LJ || jj->style != MD_PAIR_LJ) {
                params_error(p, "md.pair", "coefficients",
                             "no [[md.pair.coefficients]] for the pair %s-%s: "
                             "only Lennard-Jones mixes; style = \"none\" "
                             "leaves a pair without forces",
                             md->species[j].name, md->species[i].name);
                continue;
            }
            struct md_pair_form mixed = {.style = MD_PAIR_LJ,
                                         .cutoff = md->pair.cutoff};
            md_pair_mix(md->pair.mixing, (double[]){ii->a, ii->b},
                        (double[]){jj->a, jj->b}, &mixed.a, &mixed.b);
            form[i * n + j] = form[j * n + i] = mixed;
        }
}

/* Buckingham's attraction has no end near zero: where the barrier is that keeps
 * particles from it, or 0 without one. The outermost maximum of the energy. */
static double barrier(const struct md_pair_form *f)
{
    double before = 0;
    for (int k = 0; k < 20000 && f->c > 0; k++) {
        double r = f->cutoff * (1 - k / 20000.0), g;
        (void)md_pair_plain(f, r * r, &g);
        if (before > 0 && g < 0 && r < f->cutoff / 2)
            return r;
        before = g;
    }
    return 0;
}

/* A length that tells which pairs are too near at the start: 0.3 of it. */
static double size_of(struct ctx *ctx, struct md *md, int i, int j)
{
    struct md_forms *forms = md->pair.forms;
    const struct md_pair_form *f = &forms->form[i * md->n_species + j];
    double r;
    switch (f->style) {
    case MD_PAIR_LJ:
        return f->a > 0 ? f->b : 0;
    case MD_PAIR_MORSE:
        return fmax(f->c - log(2) / f->b, 0);
    case MD_PAIR_TABLE:
        return f->spline->r[0] / 0.3;
    case MD_PAIR_BUCKINGHAM:
        r = barrier(f);
        if (r > 0)
            log_info(ctx->log,
                     "the Buckingham potential of %s-%s has its barrier at %g; "
                     "a pair that comes nearer falls together",
                     md->species[i].name, md->species[j].name, r);
        forms->may_fall |= r > 0;
        return r / 0.3;
    default:
        return 0;
    }
}

/* What all else looks at: cutoffs, and which pairs have forces. */
static void finish(struct ctx *ctx, struct md *md)
{
    struct md_forms *forms = md->pair.forms;
    int n = md->n_species;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            struct md_pair_form *f = &forms->form[i * n + j];
            double reach = f->style == MD_PAIR_NONE ? 0 : f->cutoff;
            shift_form(md, f);
            forms->form[j * n + i] = *f;
            md->pair.coeff[i * n + j] = md->pair.coeff[j * n + i] =
                (struct lj_coeff){.cutoff2 = reach * reach, .cutoff = reach};
            double size = size_of(ctx, md, j, i);
            if (size > 0 && (!(md->pair.smallest_sigma > 0) ||
                             size < md->pair.smallest_sigma))
                md->pair.smallest_sigma = size;
        }
}

/* Keys of md.pair that are Lennard-Jones's alone. */
static void check_options(struct params *p, const struct md *md)
{
    if (md->pair.shift == MD_SHIFT_SWITCH)
        params_error(p, "md.pair", "shift",
                     "shift = \"charmm-switch\" is of Lennard-Jones alone");
    if (md->pair.tail)
        params_error(p, "md.pair", "tail",
                     "md.pair.tail is of Lennard-Jones alone: other tails are "
                     "not known");
    if (params_count(p, section) == 0)
        params_error(p, "md.pair", "style",
                     "style \"%s\" needs [[md.pair.coefficients]]",
                     params_string(p, "md.pair", "style"));
}

static int allocate(struct ctx *ctx, struct md *md)
{
    size_t n = (size_t)md->n_species;
    struct md_forms *f = md->pair.forms = calloc(1, sizeof *f);
    md->pair.coeff = calloc(n * n, sizeof *md->pair.coeff);
    if (f) {
        f->form = calloc(n * n, sizeof *f->form);
        f->table = calloc(n * n, sizeof *f->table);
        f->spline = calloc(n * n, sizeof *f->spline);
    }
    return f && f->form && f->table && f->spline && md->pair.coeff
               ? 0
               : FAIL(ctx, STATUS_MEMORY, "no memory for pair potentials");
}

int md_forms_read(struct ctx *ctx, struct params *p, struct md *md)
{
    unsigned char known[MD_SPECIES_MAX * MD_SPECIES_MAX] = {0};
    int all_read = 1;
    TRY(comm_agree(ctx, allocate(ctx, md)));
    check_options(p, md);
    TRY(read_forms(ctx, p, md, known, &all_read));
    if (!all_read || params_count(p, section) == 0)
        return 0;
    complete(p, md, known);
    for (int k = 0; k < md->n_species * md->n_species; k++)
        if (!(md->pair.forms->form[k].cutoff > 0))
            return 0; /* a pair is missing, and that has been said */
    finish(ctx, md);
    return md_pair_tables_make(ctx, md, md->pair.forms);
}

const char *md_forms_fall(const struct md *md)
{
    return md->pair.forms && md->pair.forms->may_fall
               ? ", or a pair fell through the barrier of its Buckingham "
                 "potential, which the log names"
               : "";
}

void md_forms_free(struct md *md)
{
    struct md_forms *f = md->pair.forms;
    if (!f)
        return;
    for (int k = 0; k < md->n_species * md->n_species && f->spline; k++)
        md_pair_spline_free(&f->spline[k]);
    free(f->spline);
    free(f->form);
    free(f->table);
    free(f->force);
    free(f->energy);
    free(f);
    md->pair.forms = NULL;
}

const struct md_pair_tables *md_forms_tables(const struct md *md)
{
    return md->pair.forms ? &md->pair.forms->tables : NULL;
}

/* ---- checkpoints ---- */

/* A number that tells the tables of one set of files from another. */
static int64_t fingerprint(const struct md *md)
{
    uint64_t h = fingerprint_start;
    int64_t out;
    for (int k = 0; k < md->n_species * md->n_species; k++) {
        const struct md_spline *s = &md->pair.forms->spline[k];
        const double *arrays[] = {s->r, s->force, s->energy};
        for (int a = 0; a < 3; a++)
            h = mix_bytes(h, arrays[a], (size_t)s->n * sizeof(double));
    }
    memcpy(&out, &h, sizeof out);
    return out;
}

int md_forms_save(struct ctx *ctx, const struct md *md, struct state_io *io)
{
    int64_t print = fingerprint(md);
    struct state_array tables =
        state_shared("pair_tables", STATE_INT64, 1, &print);
    return state_put(ctx, io, &tables);
}

int md_forms_restore(struct ctx *ctx, const struct md *md, struct state_io *io)
{
    int64_t print = 0;
    struct state_array tables =
        state_shared("pair_tables", STATE_INT64, 1, &print);
    TRY(state_get(ctx, io, &tables));
    if (print == fingerprint(md))
        return 0;
    return FAIL(ctx, STATUS_INPUT,
                "the tables of [[md.pair.coefficients]] file are not those "
                "that the checkpoint was computed with: a file has changed");
}
