/* md_params.c: what the keys of [md...] become. */
#include "md.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/param.h"
#include "md_balance.h"
#include "md_data.h"
#include "md_ewald.h"
#include "md_exchange.h"
#include "md_gro.h"
#include "md_h5md.h"

/* ---- reading ---- */

/* The index of a chosen text in a NULL-ended list. */
static int choice(const char *text, const char *const *names)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(text, names[i]) == 0)
            return i;
    return 0;
}

static void read_times(struct params *p, struct md *md)
{
    static const char *const precisions[] = {"double", "mixed", "single", NULL};
    static const char *const graphs[] = {"auto", "on", "off", NULL};
    md->units = params_units(p);
    md->constants = unit_constants(md->units);
    md->seed = (uint64_t)params_int(p, "run", "seed");
    md->steps = params_int(p, "md", "steps");
    md->precision =
        (enum precision)choice(params_string(p, "md", "precision"), precisions);
    md->dt = params_double(p, "md", "timestep");
    md->deterministic = params_bool(p, "md", "deterministic");
    md->graphs =
        (enum md_graphs)choice(params_string(p, "md", "graphs"), graphs);
}

/* The edge of the cubic cell by direction. `size`: the box, or NULL. */
static void read_spacing(struct params *p, struct md *md, const double *size)
{
    static const int per_cell[] = {1, 2, 4, 8}; /* sc, bcc, fcc, diamond */
    struct md_initial *init = &md->initial;
    int has_density = params_is_set(p, "md.initial", "density");
    int has_constant = params_is_set(p, "md.initial", "lattice_constant");
    double spacing = 0;
    if (has_density && has_constant)
        params_error(p, "md.initial", "lattice_constant",
                     "give density or lattice_constant, not both");
    if (has_density)
        spacing = cbrt(per_cell[init->lattice] /
                       params_double(p, "md.initial", "density"));
    else if (has_constant)
        spacing = params_double(p, "md.initial", "lattice_constant");
    else if (!size)
        params_error(p, "md.initial", "lattice",
                     "a lattice needs one of md.initial.density, "
                     "md.initial.lattice_constant and domain.size");
    for (int d = 0; d < 3; d++) {
        double cells = (double)init->cells[d];
        init->spacing[d] = spacing > 0 ? spacing : size ? size[d] / cells : 1;
        md->box_length[d] = size ? size[d] : init->spacing[d] * cells;
        if (size && init->spacing[d] * cells > size[d] * (1 + 1e-9)) {
            params_error(p, "domain", "size",
                         "the lattice is %.6g long in %c, longer than the box, "
                         "%.6g",
                         init->spacing[d] * cells, "xyz"[d], size[d]);
            return;
        }
    }
}

static void read_lattice(struct params *p, struct md *md, const double *size)
{
    static const char *const lattices[] = {"sc", "bcc", "fcc", "diamond", NULL};
    struct md_initial *init = &md->initial;
    init->lattice = (enum md_lattice)choice(
        params_string(p, "md.initial", "lattice"), lattices);
    if (!params_is_set(p, "md.initial", "cells")) {
        params_error(p, "md.initial", "lattice",
                     "a lattice needs md.initial.cells, e.g. [10, 10, 10]");
        return;
    }
    size_t n = 0;
    const int64_t *cells = params_ints(p, "md.initial", "cells", &n);
    double sites = 8;
    for (int d = 0; d < 3; d++) {
        init->cells[d] = cells[d];
        sites *= (double)cells[d];
    }
    if (sites > 9e15) { /* exact as a double, far below 2^63 */
        params_error(p, "md.initial", "cells",
                     "that is more than 10^15 particles");
        return;
    }
    read_spacing(p, md, size);
    md->n_particles = md_lattice_sites(init);
    md_species_shares(p, md);
    md_lattice_counts(md);
}

/* The path of the particle file: relative to the deck. */
static int read_path(struct ctx *ctx, struct params *p, struct md *md)
{
    const char *name = params_string(p, "md.initial", "read");
    md->initial.read = params_file(p, name);
    if (!md->initial.read)
        return FAIL(ctx, STATUS_MEMORY, "no memory for a path");
    size_t length = strlen(name);
    if (!md_data_is(name) && !md_gro_is(name) && !md_h5md_is(name) &&
        (length < 5 || strcmp(name + length - 4, ".xyz") != 0))
        params_error(
            p, "md.initial", "read",
            "cannot read '%s': the name of a particle file ends in "
            "\".xyz\", \".h5\" or \".gro\", or for a LAMMPS data file in "
            "\".data\"",
            name);
    return 0;
}

/* The data file, read by rank 0; its header and coefficients are needed before
 * species and pairs are. Collective. */
static int read_data(struct ctx *ctx, struct params *p, struct md *md)
{
    int status = 0;
    md_gro_check(p);
    md_replicate_read(p, md);
    if (!params_is_set(p, "md.initial", "read"))
        return 0;
    int is_gro = md_gro_is(params_string(p, "md.initial", "read"));
    if (!is_gro && !md_data_is(params_string(p, "md.initial", "read")))
        return 0;
    if (is_gro) /* what it needs is there */
        TRY(params_finish(ctx, p));
    TRY(comm_agree(ctx, read_path(ctx, p, md)));
    md->data = calloc(1, sizeof *md->data);
    if (!md->data)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for a data file");
    TRY(comm_agree(ctx, status));
    md->data->path = md->initial.read;
    md->initial.read = NULL;
    if (comm_rank(ctx->comm) == 0 && is_gro)
        status = md_gro_parse(ctx, p, md->data);
    else if (comm_rank(ctx->comm) == 0)
        status = md_data_parse(ctx, md->data->path,
                               params_string(p, "md.initial", "atom_style"),
                               md->data);
    if (status == 0 && comm_rank(ctx->comm) == 0)
        status = md_replicate_data(ctx, md, md->data);
    TRY(comm_agree(ctx, status));
    TRY(md_data_share(ctx, md->data));
    md->n_particles = md->data->n_atoms;
    md->charged = md->data->charged;
    return 0;
}

/* The box of a data file, and how many of each species it has. */
static void use_data(struct params *p, struct md *md)
{
    const struct md_data *data = md->data;
    if (params_is_set(p, "domain", "size"))
        params_error(p, "domain", "size",
                     "the box is that of '%s'; leave domain.size out",
                     data->path);
    for (int d = 0; d < 3; d++) {
        md->box_lo[d] = data->lo[d];
        md->box_length[d] = data->hi[d] - data->lo[d];
    }
    md_tilt_use(p, md, data->path, data->tilt);
    if (md->n_species != data->n_types)
        params_error(p, "md.species", "name",
                     "'%s' has %d atom types, but there are %d "
                     "[[md.species]]: one each, in their order",
                     data->path, data->n_types, md->n_species);
    for (int s = 0; s < md->n_species && s < data->n_types; s++)
        md->species[s].count = data->count[s];
}

static int read_initial(struct ctx *ctx, struct params *p, struct md *md)
{
    const double *size = NULL;
    size_t n = 0;
    if (params_is_set(p, "domain", "size"))
        size = params_doubles(p, "domain", "size", &n);
    for (int d = 0; d < 3; d++)
        md->box_length[d] = size ? size[d] : 0;
    int has_lattice = params_is_set(p, "md.initial", "lattice");
    int has_file = params_is_set(p, "md.initial", "read");
    md->initial.random = params_is_set(p, "md.initial", "random");
    if (md->initial.random && (has_lattice || has_file)) {
        params_error(p, "md.initial", "random",
                     "give one of md.initial.lattice, md.initial.random and "
                     "md.initial.read");
    } else if (md->initial.random) {
        md_random_read(p, md, size);
        md_species_shares(p, md);
        md_lattice_counts(md);
    } else if (md->data && !has_lattice)
        use_data(p, md);
    else if (has_lattice == has_file)
        params_error(p, "md.initial", has_file ? "read" : "lattice",
                     has_file ? "give md.initial.lattice or md.initial.read, "
                                "not both"
                              : "[md.initial] needs lattice (with cells and "
                                "density), random (with density) or read");
    else if (has_lattice)
        read_lattice(p, md, size);
    else
        TRY(read_path(ctx, p, md));
    md->initial.has_temperature = params_is_set(p, "md.initial", "temperature");
    if (md->initial.has_temperature)
        md->initial.temperature = params_double(p, "md.initial", "temperature");
    return 0;
}

/* Look into the particle file for its size and box; what the file says about
 * the box goes before nothing: a deck that also gives one is refused. */
static int scan_file(struct ctx *ctx, struct params *p, struct md *md)
{
    double size[3] = {0, 0, 0}, tilt[3] = {0, 0, 0};
    int has_box = 0, in_deck = params_is_set(p, "domain", "size");
    TRY(md_xyz_scan(ctx, md, &has_box, size, tilt));
    TRY(md_replicate_counts(ctx, md, has_box, size, tilt));
    if (has_box)
        md_tilt_use(p, md, md->initial.read, tilt);
    for (int d = 0; d < 3 && has_box; d++) {
        if (in_deck && fabs(size[d] - md->box_length[d]) > 1e-9 * size[d]) {
            params_error(p, "domain", "size",
                         "the box of '%s' is %.9g long in %c, not %.9g",
                         md->initial.read, size[d], "xyz"[d],
                         md -> box_length[d]);
            return params_finish(ctx, p);
        }
        md->box_length[d] = size[d];
    }
    if (!has_box && !in_deck)
        params_error(p, "md.initial", "read",
                     "'%s' names no box (Lattice=\"...\"), so domain.size is "
                     "required",
                     md->initial.read);
    return params_finish(ctx, p);
}

/* An unknown field is found here, not when the first frame is due. */
static void check_fields(struct params *p)
{
    size_t n = 0;
    const char *const *fields = params_strings(p, "output", "fields", &n);
    for (size_t i = 0; i < n; i++)
        if (!md_has_field(fields[i]))
            params_error(p, "output", "fields", "no field '%s'; there are %s",
                         fields[i], MD_FIELD_NAMES);
}

/* Bytes of one frame of the fields that the deck asks for. */
static void read_output(struct params *p, struct md *md)
{
    static const char *const names[] = {"position", "velocity", "force",
                                        "image"};
    static const double bytes[] = {24, 24, 24, 12};
    size_t n = 0;
    const char *const *fields = params_strings(p, "output", "fields", &n);
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        for (int f = 0; f < 4; f++)
            if (strcmp(fields[i], names[f]) == 0)
                sum += bytes[f];
    md->frame_bytes = sum * (double)md->n_particles;
}

/* ---- checks that need the box ---- */

static void check_cutoff(struct params *p, const struct md *md)
{
    double shortest = md_shortest_edge(md);
    double reach = md->pair.reach + md->pair.skin;
    md_box_check(p, md);
    /* A pair at exactly half the box has two images, both just not counted. */
    if (md->pair.cutoff > 0.5 * shortest * (1 + 1e-12))
        params_error(p, "md.pair", "cutoff",
                     "md.pair.cutoff = %g must be below half the box, %.6g",
                     md->pair.cutoff, 0.5 * shortest);
    else if (md->pair.reach > 0.5 * shortest * (1 + 1e-12))
        params_error(p, "md.coulomb", "cutoff",
                     "md.coulomb.cutoff = %g must be below half the box, %.6g",
                     md->pair.reach, 0.5 * shortest);
    else if (reach > shortest * (1 + 1e-12))
        params_error(p, "md.pair", "skin",
                     "the cutoff and md.pair.skin, %g, must not be longer "
                     "than the box, %.6g",
                     reach, shortest);
    md_analysis_check(p, md);
    if (!md->rdf.on)
        return;
    if (md->rdf.range > 0.5 * shortest * (1 + 1e-12))
        params_error(p, "md.analysis.rdf", "range",
                     "md.analysis.rdf.range = %g must be below half the box, "
                     "%.6g",
                     md->rdf.range, 0.5 * shortest);
    else if (md->rdf.range + md->pair.skin > shortest * (1 + 1e-12))
        params_error(p, "md.pair", "skin",
                     "md.analysis.rdf.range + md.pair.skin = %g must not be "
                     "longer than the box, %.6g",
                     md->rdf.range + md->pair.skin, shortest);
}

static void choose_grid(struct ctx *ctx, struct params *p, struct md *md)
{
    int size = comm_size(ctx->comm), dims[3];
    double length[3];
    md_deform_lengths(md, length);
    grid_choose(size, length, dims);
    if (params_is_set(p, "domain", "ranks")) {
        size_t n = 0;
        const int64_t *ranks = params_ints(p, "domain", "ranks", &n);
        double product = 1;
        for (int d = 0; d < 3; d++)
            product *= (double)ranks[d];
        if (product > size || product < size)
            params_error(p, "domain", "ranks",
                         "domain.ranks = [%" PRId64 ", %" PRId64 ", %" PRId64
                         "] makes %.0f blocks, but there are %d ranks",
                         ranks[0], ranks[1], ranks[2], product, size);
        else
            for (int d = 0; d < 3; d++)
                dims[d] = (int)ranks[d];
    }
    md_deform_ranks(p, md, dims);
    grid_init(&md->grid, md->box_lo, md->box_length, dims, comm_rank(ctx->comm),
              size);
    for (int d = 0; d < 3; d++)
        md->grid.open[d] = md->open.on[d];
    for (int d = 0; d < 3; d++)
        md->grid.walled[d] = md->walls.outer.walled[d] || md->open.on[d];
    if (md->tilted)
        grid_set_tilt(&md->grid, md->tilt);
}

/* Langevin noise sets all components of the momentum in motion, and walls those
 * across them; else the total stays zero. */
static double degrees_of_freedom(const struct md *md)
{
    const int *walled = md->walls.outer.walled;
    double n = 3.0 * (double)md->n_particles;
    int at_rest = 3 - walled[0] - walled[1] - walled[2];
    int bathed = md->ensemble == MD_LANGEVIN || md->ensemble == MD_BROWNIAN;
    return bathed || md->n_particles == 1 ? n : n - at_rest;
}

int md_read_params(struct ctx *ctx, struct params *p, struct md *md)
{
    read_times(p, md);
    TRY(read_data(ctx, p, md));
    md_species_read(p, md);
    TRY(comm_agree(ctx, read_initial(ctx, p, md)));
    md_h5md_keys(p, md);
    TRY(md_xyz_look(ctx, md));
    md_ensemble_read(p, md);
    md_exchange_read(p, md);
    TRY(comm_agree(ctx, md_pair_read(ctx, p, md)));
    TRY(comm_agree(ctx, md_bonds_read(ctx, p, md)));
    TRY(comm_agree(ctx, md_coulomb_read(ctx, p, md)));
    TRY(comm_agree(ctx, md_rigid_read(ctx, p, md)));
    TRY(comm_agree(ctx, md_walls_read(ctx, p, md)));
    TRY(comm_agree(ctx, md_bath_read(ctx, p, md)));
    md_minimize_read(p, md);
    TRY(comm_agree(ctx, md_analysis_read(ctx, p, md)));
    md_tilt_read(p, md);
    md_deform_read(p, md);
    md_open_box_read(p, md);
    md_bath_check_box(p, md);
    if (!md->initial.read && md->box_length[0] > 0) {
        md_tilt_check(ctx, p, md);
        check_cutoff(p, md);
    }
    choose_grid(ctx, p, md);
    check_fields(p);
    TRY(params_finish(ctx, p));
    if (md->initial.read) {
        TRY(scan_file(ctx, p, md));
        md_tilt_check(ctx, p, md);
        check_cutoff(p, md);
        choose_grid(ctx, p, md);
        TRY(params_finish(ctx, p));
    }
    TRY(md_balance_read(ctx, p, md));
    TRY(md_ewald_choose(ctx, p, md));
    TRY(md_term_reach(ctx, md));
    md->degrees_of_freedom = degrees_of_freedom(md);
    md_ensemble_prepare(md);
    md_random_fill(p, md);
    params_fill_double(p, "md.initial", "overlap",
                       (md->minimize.on ? 0.01 : 0.3) *
                           md->pair.smallest_sigma);
    md->initial.overlap = params_double(p, "md.initial", "overlap");
    md_pair_tail(md);
    read_output(p, md);
    return 0;
}
