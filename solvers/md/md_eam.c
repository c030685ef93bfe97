/* md_eam.c: metals: tables of the embedded-atom method from the deck's files,
 * and the two passes of a step.
 */
#include "md_eam.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/param.h"
#include "base/timer.h"
#include "domain/halo.h"
#include "domain/state.h"
#include "kernels/md/eam.h"
#include "md_data.h"
#include "md_fingerprint.h"

/* ---- tables of one grid ---- */

/* A function on an even grid from 0, between its points: the cubic through four
 * of them, the middle ones around r (Abramowitz and Stegun, 25.2.13). */
static double interpolate(const double *f, int n, double step, double r)
{
    double place = r / step;
    int k = place < n - 3 ? (int)place : n - 3;
    k = k > 1 ? k : 1;
    double p = fmin(place - k, 2);
    return -p * (p - 1) * (p - 2) / 6 * f[k - 1] +
           (p * p - 1) * (p - 2) / 2 * f[k] -
           p * (p + 1) * (p - 2) / 2 * f[k + 1] +
           p * (p * p - 1) / 6 * f[k + 2];
}

static int allocate(struct ctx *ctx, struct md_eam *eam)
{
    size_t n = (size_t)eam->n_species, n_r = (size_t)eam->n_r;
    eam->embedding = malloc(n * (size_t)eam->n_rho * sizeof(double));
    eam->density = malloc(n * n_r * sizeof(double));
    eam->pair = malloc(eam_pairs(eam->n_species) * n_r * sizeof(double));
    if (!eam->embedding || !eam->density || !eam->pair)
        return FAIL(ctx, STATUS_MEMORY, "no memory for EAM tables");
    return 0;
}

/* The arrays are this file's to fill, and all others' to read. */
static double *writable(const double *array)
{
    return (double *)(uintptr_t)array;
}

/* Files of one element each on the coarsest of their grids, as LAMMPS does it.
 * Their pair functions are products of effective charges,
 *     r phi_ab = 27.2 eV x 0.529 angstrom  Z_a Z_b,
 * Hartree's energy and Bohr's radius with the digits of Daw and Baskes. */
static int combine_funcfl(struct ctx *ctx, const struct md_eam_file *files,
                          struct md_eam *eam)
{
    const double hartree_bohr = 27.2 * 0.529;
    double greatest_rho = 0, greatest_r = 0;
    for (int a = 0; a < eam->n_species; a++) {
        const struct md_eam_file *f = &files[a];
        eam->rho_step = fmax(eam->rho_step, f->rho_step);
        eam->r_step = fmax(eam->r_step, f->r_step);
        eam->cutoff = fmax(eam->cutoff, f->cutoff);
        greatest_rho = fmax(greatest_rho, (f->n_rho - 1) * f->rho_step);
        greatest_r = fmax(greatest_r, (f->n_r - 1) * f->r_step);
    }
    eam->n_rho = (int)(greatest_rho / eam->rho_step + 0.5);
    eam->n_r = (int)(greatest_r / eam->r_step + 0.5);
    if (eam->n_rho < EAM_POINTS_MIN || eam->n_r < EAM_POINTS_MIN)
        return FAIL(ctx, STATUS_INPUT,
                    "'%s': the tables are too short: fewer than %d points "
                    "besides the last one",
                    files[0].path, EAM_POINTS_MIN);
    TRY(allocate(ctx, eam));
    for (int a = 0; a < eam->n_species; a++) {
        const struct md_eam_file *f = &files[a];
        double *embedding = writable(eam->embedding) + a * eam->n_rho;
        double *density = writable(eam->density) + a * eam->n_r;
        for (int k = 0; k < eam->n_rho; k++)
            embedding[k] = interpolate(f->embedding, f->n_rho, f->rho_step,
                                       k * eam->rho_step);
        for (int k = 0; k < eam->n_r; k++)
            density[k] =
                interpolate(f->density, f->n_r, f->r_step, k * eam->r_step);
        for (int b = 0; b <= a; b++) {
            const struct md_eam_file *g = &files[b];
            double *pair =
                writable(eam->pair) + eam_pair_index(a, b) * (size_t)eam->n_r;
            for (int k = 0; k < eam->n_r; k++) {
                double r = k * eam->r_step;
                pair[k] = hartree_bohr *
                          interpolate(f->charge, f->n_r, f->r_step, r) *
                          interpolate(g->charge, g->n_r, g->r_step, r);
            }
        }
    }
    return 0;
}

/* Of a file's elements those that are species: element[a] of species a. */
static int choose_setfl(struct ctx *ctx, const struct md_eam_file *f,
                        const int *element, struct md_eam *eam)
{
    size_t n_rho = (size_t)f->n_rho, n_r = (size_t)f->n_r;
    eam->n_rho = f->n_rho;
    eam->n_r = f->n_r;
    eam->rho_step = f->rho_step;
    eam->r_step = f->r_step;
    eam->cutoff = f->cutoff;
    TRY(allocate(ctx, eam));
    for (int a = 0; a < eam->n_species; a++) {
        size_t e = (size_t)element[a];
        memcpy(writable(eam->embedding) + (size_t)a * n_rho,
               f->embedding + e * n_rho, n_rho * sizeof(double));
        memcpy(writable(eam->density) + (size_t)a * n_r, f->density + e * n_r,
               n_r * sizeof(double));
        for (int b = 0; b <= a; b++)
            memcpy(writable(eam->pair) + eam_pair_index(a, b) * n_r,
                   f->pair + eam_pair_index(element[a], element[b]) * n_r,
                   n_r * sizeof(double));
    }
    return 0;
}

/* ---- files, on rank 0 ---- */

static void check_mass(struct ctx *ctx, const struct md_species *s,
                       const struct md_eam_file *f, int e)
{
    if (fabs(s->mass - f->mass[e]) > 0.01 * f->mass[e])
        log_warn(ctx->log,
                 "species '%s' has mass %g; '%s' says %g, which is not used",
                 s->name, s->mass, f->path, f->mass[e]);
}

static int read_funcfls(struct ctx *ctx, const struct md *md, char **paths,
                        struct md_eam *eam)
{
    struct md_eam_file *files = calloc((size_t)md->n_species, sizeof *files);
    int status = files ? 0 : FAIL(ctx, STATUS_MEMORY, "no memory for files");
    for (int a = 0; a < md->n_species && status == 0; a++) {
        status = md_eam_parse(ctx, paths[a], 0, &files[a]);
        if (status == 0)
            check_mass(ctx, &md->species[a], &files[a], 0);
    }
    if (status == 0)
        status = combine_funcfl(ctx, files, eam);
    for (int a = 0; a < md->n_species && files; a++)
        md_eam_file_free(&files[a]);
    free(files);
    return status;
}

static int find_element(struct ctx *ctx, const struct md_eam_file *f,
                        const struct md_species *s, const char *name, int *out)
{
    char list[256] = "";
    for (int e = 0; e < f->n_elements; e++) {
        size_t used = strlen(list);
        if (strcmp(f->element[e], name) == 0) {
            *out = e;
            return 0;
        }
        snprintf(list + used, sizeof list - used, "%s%s", e > 0 ? ", " : "",
                 f->element[e]);
    }
    return FAIL_AT(ctx, STATUS_INPUT,
                   "%s:%d: error: no element '%s' for species '%s'; there are "
                   "%s: name one with [[md.species]] element",
                   f->path, f->elements_line, name, s->name, list);
}

static int read_setfl(struct ctx *ctx, const struct md *md, const char *path,
                      const char *const *names, struct md_eam *eam)
{
    int element[MD_SPECIES_MAX];
    struct md_eam_file *f = calloc(1, sizeof *f);
    if (!f)
        return FAIL(ctx, STATUS_MEMORY, "no memory for a file");
    int status = md_eam_parse(ctx, path, 1, f);
    for (int a = 0; a < md->n_species && status == 0; a++) {
        status = find_element(ctx, f, &md->species[a], names[a], &element[a]);
        if (status == 0)
            check_mass(ctx, &md->species[a], f, element[a]);
    }
    if (status == 0)
        status = choose_setfl(ctx, f, element, eam);
    md_eam_file_free(f);
    free(f);
    return status;
}

/* Rank 0's tables to all. Collective. */
static int share(struct ctx *ctx, struct md_eam *eam)
{
    struct md_eam own = *eam;
    int status = 0;
    TRY(comm_bcast(ctx, eam, sizeof *eam));
    eam->embedding = own.embedding;
    eam->density = own.density;
    eam->pair = own.pair;
    if (comm_rank(ctx->comm) != 0)
        status = allocate(ctx, eam);
    TRY(comm_agree(ctx, status));
    size_t n = (size_t)eam->n_species,
           bytes = (size_t)eam->n_r * sizeof(double);
    TRY(comm_bcast(ctx, writable(eam->embedding),
                   n * (size_t)eam->n_rho * sizeof(double)));
    TRY(comm_bcast(ctx, writable(eam->density), n * bytes));
    return comm_bcast(ctx, writable(eam->pair),
                      eam_pairs(eam->n_species) * bytes);
}

/* ---- the deck ---- */

int md_eam_wanted(const struct params *p)
{
    return strncmp(params_string(p, "md.pair", "style"), "eam", 3) == 0;
}

/* Keys of Lennard-Jones, and what has no place beside tables. 0: all right. */
static int check_keys(struct params *p, const struct md *md, int is_setfl)
{
    static const char *const others[] = {"cutoff", "switch_from", "mixing"};
    const char *style = params_string(p, "md.pair", "style");
    int wrong = 0;
    for (int k = 0; k < 3; k++)
        wrong |= params_refuse(
            p, "md.pair", others[k],
            "md.pair.%s has no meaning for style \"%s\"%s", others[k], style,
            k == 0 ? "; the cutoff is that of the tables" : "");
    if (strcmp(params_string(p, "md.pair", "shift"), "none") != 0 ||
        params_bool(p, "md.pair", "tail") ||
        params_count(p, "md.pair.coefficients") > 0) {
        params_error(p, "md.pair", "style",
                     "md.pair.shift, md.pair.tail and [[md.pair.coefficients]] "
                     "are of style \"lj\" only");
        wrong = 1;
    }
    if (md->units != UNITS_METAL) {
        params_error(p, "md.pair", "style",
                     "style \"%s\" needs run.units = \"metal\": its tables are "
                     "in eV and angstrom",
                     style);
        wrong = 1;
    }
    int64_t terms = md->data ? md->data->n_crossterms : 0;
    for (int k = 0; k < MD_DATA_KINDS && md->data; k++)
        terms += md->data->n_terms[k];
    if (terms > 0 || params_has_section(p, "md.coulomb")) {
        params_error(p, "md.pair", "style",
                     "style \"%s\" goes with neither bonds nor charges", style);
        wrong = 1;
    }
    for (int a = 0; a < params_count(p, "md.species"); a++) {
        const char *key = is_setfl ? "potential" : "element";
        if (params_is_set_at(p, "md.species", a, key)) {
            params_error_at(p, "md.species", a, key,
                            "%s is of style \"%s\" only", key,
                            is_setfl ? "eam" : "eam/alloy");
            wrong = 1;
        }
    }
    return wrong;
}

/* The file and the element of each species. 0: all right. */
static int name_files(struct params *p, const struct md *md, int is_setfl,
                      char **paths, const char **names)
{
    const char *one = params_is_set(p, "md.pair", "file")
                          ? params_string(p, "md.pair", "file")
                          : NULL;
    int declared = params_count(p, "md.species");
    if (is_setfl && !one) {
        params_error(p, "md.pair", "style",
                     "style \"eam/alloy\" needs md.pair.file");
        return -1;
    }
    for (int a = 0; a < md->n_species; a++) {
        const char *key = is_setfl ? "element" : "potential";
        int is_own = a < declared && params_is_set_at(p, "md.species", a, key);
        const char *own =
            is_own ? params_string_at(p, "md.species", a, key) : NULL;
        names[a] = is_setfl && own ? own : md->species[a].name;
        const char *file = is_setfl             ? one
                           : own                ? own
                           : md->n_species == 1 ? one
                                                : NULL;
        if (!file) {
            params_error(p, "md.pair", "style", "style \"eam\" needs %s%s",
                         md->n_species == 1 ? "md.pair.file"
                                            : "a file of each species: "
                                              "[[md.species]] potential of ",
                         md->n_species == 1 ? "" : md->species[a].name);
            return -1;
        }
        if (one && file != one) {
            params_error(p, "md.pair", "file",
                         "md.pair.file and the potential of species '%s' both "
                         "name a file: leave one of them out",
                         md->species[a].name);
            return -1;
        }
        paths[a] = params_file(p, file);
    }
    return 0;
}

/* Rank 0 reads; whatever comes of it, all ranks end together. */
static int read_tables(struct ctx *ctx, const struct md *md, int is_setfl,
                       char **paths, const char *const *names)
{
    int status = 0;
    for (int a = 0; a < md->n_species; a++)
        if (!paths[a])
            status = FAIL(ctx, STATUS_MEMORY, "no memory for a path");
    if (status == 0 && comm_rank(ctx->comm) == 0)
        status = is_setfl ? read_setfl(ctx, md, paths[0], names, md->eam)
                          : read_funcfls(ctx, md, paths, md->eam);
    TRY(comm_agree(ctx, status));
    return share(ctx, md->eam);
}

int md_eam_read(struct ctx *ctx, struct params *p, struct md *md)
{
    struct md_pair *pair = &md->pair;
    size_t n = (size_t)md->n_species;
    const char *style = params_string(p, "md.pair", "style");
    int is_setfl = strcmp(style, "eam/alloy") == 0, status = 0;
    char *paths[MD_SPECIES_MAX] = {NULL};
    const char *names[MD_SPECIES_MAX];
    md->eam = calloc(1, sizeof *md->eam);
    pair->coeff = calloc(n * n, sizeof *pair->coeff); /* no Lennard-Jones */
    if (!md->eam || !pair->coeff)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for EAM tables");
    TRY(comm_agree(ctx, status));
    md->eam->n_species = md->n_species;
    pair->cutoff = 1; /* until it is known, for checks that go on */
    if (check_keys(p, md, is_setfl) == 0 &&
        name_files(p, md, is_setfl, paths, names) == 0) {
        status = read_tables(ctx, md, is_setfl, paths, names);
        pair->cutoff = md->eam->cutoff;
    }
    for (size_t a = 0; a < n; a++)
        free(paths[a]);
    TRY(status);
    params_fill_double(p, "md.pair", "cutoff", pair->cutoff);
    params_fill_double(p, "md.pair", "skin", 0.2 * pair->cutoff);
    pair->skin = params_double(p, "md.pair", "skin");
    pair->rebuild_every = params_int(p, "md.pair", "rebuild_every");
    pair->smallest_sigma = 0.5 * pair->cutoff;
    return 0;
}

void md_eam_free(struct md *md)
{
    if (!md->eam)
        return;
    free(writable(md->eam->embedding));
    free(writable(md->eam->density));
    free(writable(md->eam->pair));
    free(md->eam);
    md->eam = NULL;
}

/* ---- checkpoints ---- */

/* A number that tells one set of tables from another. */
static int64_t fingerprint(const struct md_eam *eam)
{
    size_t n = (size_t)eam->n_species, n_r = (size_t)eam->n_r;
    uint64_t h = mix_bytes(fingerprint_start, &eam->cutoff, sizeof eam->cutoff);
    h = mix_bytes(h, &eam->r_step, sizeof eam->r_step);
    h = mix_bytes(h, &eam->rho_step, sizeof eam->rho_step);
    h = mix_bytes(h, eam->embedding, n * (size_t)eam->n_rho * sizeof(double));
    h = mix_bytes(h, eam->density, n * n_r * sizeof(double));
    h = mix_bytes(h, eam->pair,
                  eam_pairs(eam->n_species) * n_r * sizeof(double));
    int64_t out;
    memcpy(&out, &h, sizeof out);
    return out;
}

int md_eam_save(struct ctx *ctx, const struct md *md, struct state_io *io)
{
    int64_t print = fingerprint(md->eam);
    struct state_array tables =
        state_shared("eam_tables", STATE_INT64, 1, &print);
    return state_put(ctx, io, &tables);
}

int md_eam_restore(struct ctx *ctx, const struct md *md, struct state_io *io)
{
    int64_t print = 0;
    struct state_array tables =
        state_shared("eam_tables", STATE_INT64, 1, &print);
    TRY(state_get(ctx, io, &tables));
    if (print == fingerprint(md->eam))
        return 0;
    return FAIL(ctx, STATUS_INPUT,
                "the tables of md.pair.style = \"eam\" are not those that the "
                "checkpoint was computed with: a file has changed");
}

/* ---- forces ---- */

static void densities(struct ctx *ctx, struct md *md,
                      void (*part)(struct md_store *, struct md_sums *),
                      struct md_sums *sums)
{
    timer_begin(ctx->timers, md->phase_pair);
    part(md->store, sums);
    timer_end(ctx->timers, md->phase_pair);
}

void md_eam_own(struct ctx *ctx, struct md *md, struct md_sums *sums)
{
    densities(ctx, md, md->k->density_own, sums);
}

int md_eam_densities(struct ctx *ctx, struct md *md, struct md_sums *sums)
{
    densities(ctx, md, md->k->density_halo, sums);
    if (md_half(md) != MD_WHOLE) {
        TRY(halo_densities(ctx, md->halo, md->k, md->store));
        densities(ctx, md, md->k->density_finish, sums);
    }
    return halo_post_extra(ctx, md->halo, md->k, md->store);
}
