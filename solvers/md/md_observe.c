/* md_observe.c: what a run shows: scalars of time, and pictures of the
 * particles.
 */
#include "md.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "domain/particles.h"
#include "md_exchange.h"

/* ---- scalars ---- */

static void name_units(struct md *md)
{
    static const struct dimension dims[MD_UNITS] = {
        [MD_TIME] = {0, 0, 1, 0, 0, 0},
        [MD_LENGTH] = {0, 1, 0, 0, 0, 0},
        [MD_AREA] = {0, 2, 0, 0, 0, 0},
        [MD_VELOCITY] = {0, 1, -1, 0, 0, 0},
        [MD_FORCE] = {1, 1, -2, 0, 0, 0},
        [MD_MASS] = {1, 0, 0, 0, 0, 0},
        [MD_ENERGY] = {1, 2, -2, 0, 0, 0},
        [MD_TEMPERATURE] = {0, 0, 0, 1, 0, 0},
        [MD_PRESSURE] = {1, -1, -2, 0, 0, 0},
        [MD_MOMENTUM] = {1, 1, -1, 0, 0, 0},
        [MD_CHARGE] = {0, 0, 0, 0, 1, 0},
        [MD_VOLUME] = {0, 3, 0, 0, 0, 0},
        [MD_DENSITY] = {1, -3, 0, 0, 0, 0},
        [MD_NO_UNIT] = {0, 0, 0, 0, 0, 0},
    };
    for (int u = 0; u < MD_UNITS; u++)
        unit_name(md->units, dims[u], md->unit_text[u],
                  sizeof md->unit_text[u]);
}

void md_add_observable(struct md *md, const char *name, enum md_unit unit,
                       const char *description, const char *heading,
                       int per_particle, int decimals)
{
    md->observables[md->n_observables++] =
        (struct observable){.name = name,
                            .unit = md->unit_text[unit],
                            .description = description,
                            .heading = heading,
                            .per_particle = per_particle,
                            .decimals = decimals};
}

/* Parts of the potential energy, where there is more than plain pairs. */
static const struct {
    const char *name, *description;
} parts[MD_ENERGIES] = {
    [MD_ENERGY_PAIR] = {"pair_energy", "of pairs, charges left out"},
    [MD_ENERGY_COULOMB] = {"coulomb_energy", "Coulomb's between charges"},
    [MD_ENERGY_BOND] = {"bond_energy", "energy of bonds"},
    [MD_ENERGY_ANGLE] = {"angle_energy", "energy of angles"},
    [MD_ENERGY_DIHEDRAL] = {"dihedral_energy", "energy of dihedrals"},
    [MD_ENERGY_IMPROPER] = {"improper_energy", "energy of impropers"},
    [MD_ENERGY_CMAP] = {"cmap_energy", "energy of correction maps"},
    [MD_ENERGY_EMBEDDING] = {"embedding_energy",
                             "of atoms in the density of their neighbors"},
    [MD_ENERGY_WALL] = {"wall_energy", "of particles near walls"},
    [MD_ENERGY_FIELD] = {"field_energy",
                         "of particles in the constant fields, along their "
                         "paths through periodic faces"},
    [MD_ENERGY_MESH] =
        {"mesh_energy",
         "far part of Coulomb's: waves, and charges by themselves"},
};

/* Whether a part of the energy has a column. */
static int has_part(const struct md *md, int e)
{
    int coulomb = md->bonded.field.coulomb.method != MD_COULOMB_NONE;
    if (e == MD_ENERGY_EMBEDDING)
        return md->eam != NULL;
    if (e == MD_ENERGY_CMAP)
        return md->bonded.field.n_cmaps > 0;
    if (e == MD_ENERGY_WALL)
        return md->walls.outer.n_walls > 0;
    if (e == MD_ENERGY_FIELD)
        return md->walls.has_field;
    if (e == MD_ENERGY_PAIR)
        return coulomb || md->bonded.on || md->eam || md->walls.has_field ||
               md->walls.outer.n_walls > 0;
    if (e == MD_ENERGY_COULOMB)
        return coulomb;
    if (e == MD_ENERGY_MESH)
        return md->ewald != NULL;
    return parts[e].name && md->bonded.on;
}

/* What follows from velocities; Brownian motion has none. */
static void add_motion(struct md *md)
{
    md_add_observable(md, "kinetic_energy", MD_ENERGY,
                      "kinetic energy of all particles", NULL, 0, 6);
    md_add_observable(md, "total_energy", MD_ENERGY,
                      "potential + kinetic energy of all particles", "E/N", 1,
                      6);
    md_add_observable(md, "momentum", MD_MOMENTUM,
                      "length of the total momentum", NULL, 0, 6);
    if (md->ensemble != MD_NVE || md_box_changes(md))
        md_add_observable(
            md, "conserved_energy", MD_ENERGY,
            "total energy with that of thermostat and barostat, or "
            "less what they have put in",
            NULL, 0, 6);
}

/* The order here is the order of values in md_observe(). */
void md_observe_init(struct md *md)
{
    name_units(md);
    int moves = md->ensemble != MD_BROWNIAN;
    if (moves)
        md_add_observable(md, "temperature", MD_TEMPERATURE,
                          "kinetic temperature, 2 K / (degrees of freedom x k)",
                          "T", 0, 4);
    md_add_observable(
        md, "pressure", MD_PRESSURE,
        moves ? "(2 K + virial) / 3 V, with the tail correction if asked"
              : "N k T / V of the bath's temperature + virial / 3 V, with the "
                "tail correction if asked",
        "P", 0, 4);
    md_add_observable(md, "potential_energy", MD_ENERGY,
                      "potential energy of all particles", "U/N", 1, 6);
    if (moves)
        add_motion(md);
    for (int e = 0; e < MD_ENERGIES; e++)
        if (has_part(md, e))
            md_add_observable(md, parts[e].name, MD_ENERGY,
                              parts[e].description, NULL, 0, 6);
    if (md->msd.on)
        md_add_observable(md, "mean_squared_displacement", MD_AREA,
                          "mean squared distance from the start, all particles",
                          "MSD", 0, 4);
    md_observe_box_init(md);
    md_walls_observe_init(md);
    md_bath_observe_init(md);
    md_exchange_observe_init(md);
}

/* Sums over ranks that all values are made of. */
struct whole {
    double potential, virial, kinetic, momentum[3], work;
    double part[MD_ENERGIES];
};

static int sum_whole(struct ctx *ctx, struct md *md, struct whole *w)
{
    struct md_moments moments;
    if (!md->sums_known)
        TRY(md_compute_sums(ctx, md));
    md->k->moments(md->store, &moments);
    md_work_fetch(md);
    TRY(md_check_device(ctx, md));
    double v[7 + MD_ENERGIES] = {md->sums.energy,     md->sums.virial,
                                 moments.kinetic,     moments.momentum[0],
                                 moments.momentum[1], moments.momentum[2],
                                 md->thermostat_work};
    memcpy(v + 7, md->sums.part, sizeof md->sums.part);
    TRY(comm_sum_double(ctx, v, 7 + MD_ENERGIES));
    double to_energy = md->constants->mvv_to_energy;
    if (md->ensemble == MD_BROWNIAN) /* as a bath would have it */
        v[2] = 0.5 * md->degrees_of_freedom * md_thermal(md, md->temperature);
    *w = (struct whole){.potential = v[0],
                        .virial = v[1],
                        .kinetic = v[2] * to_energy,
                        .momentum = {v[3], v[4], v[5]}};
    memcpy(w->part, v + 7, sizeof w->part);
    /* Bussi's work is the same number on every rank, Langevin's a share. */
    w->work = to_energy * (md_work_is_shared(md) ? v[6] : md->thermostat_work);
    return 0;
}

int md_observe(struct ctx *ctx, void *state, double *values)
{
    struct md *md = state;
    struct whole w;
    TRY(sum_whole(ctx, md, &w)); /* also what a card says of a step */
    double volume = md_volume(md);
    double potential = w.potential + md->pair.tail_energy;
    double pressure = (2 * w.kinetic + w.virial) / (3 * volume) *
                          md->constants->energy_per_volume_to_pressure +
                      md->pair.tail_pressure;
    double temperature =
        2 * w.kinetic / (md->degrees_of_freedom * md->constants->boltzmann);
    int n = 0;
    /* The motion is checked when particles move next; a last step is not. */
    if (!isfinite(potential + w.kinetic + w.virial)) {
        TRY(comm_agree(ctx, md_check_finite(ctx, md)));
        return FAIL(ctx, STATUS_PHYSICS,
                    "step %" PRId64 ": the energy is not finite", md->step);
    }
    int moves = md->ensemble != MD_BROWNIAN;
    if (moves)
        values[n++] = temperature;
    values[n++] = pressure;
    values[n++] = potential;
    if (moves) {
        values[n++] = w.kinetic;
        values[n++] = potential + w.kinetic;
        values[n++] =
            sqrt(w.momentum[0] * w.momentum[0] + w.momentum[1] * w.momentum[1] +
                 w.momentum[2] * w.momentum[2]);
    }
    if (moves && (md->ensemble != MD_NVE || md_box_changes(md)))
        values[n++] = potential + w.kinetic - w.work - md->deform.work +
                      md_extended_energy(md);
    w.part[MD_ENERGY_PAIR] += md->pair.tail_energy;
    for (int e = 0; e < MD_ENERGIES; e++)
        if (has_part(md, e))
            values[n++] = w.part[e];
    if (md->msd.on) {
        TRY(md_msd_measure(ctx, md));
        values[n++] = md->msd_now[0];
    }
    TRY(md_observe_box(ctx, md, values, &n));
    TRY(md_walls_observe(ctx, md, values, &n));
    TRY(md_bath_observe(ctx, md, values, &n));
    md_exchange_observe(md, values, &n);
    return 0;
}

/* ---- pictures ---- */

enum md_field {
    POSITION,
    VELOCITY,
    FORCE,
    IMAGE,
    ID,
    SPECIES,
    MASS,
    CHARGE,
    N_FIELDS
};

struct field_kind {
    const char *name;
    enum field_type type;
    int components, constant;
    enum md_unit unit;
    const char *description;
};

static const struct field_kind kinds[N_FIELDS] = {
    [POSITION] = {"position", FIELD_DOUBLE, 3, 0, MD_LENGTH,
                  "positions inside the box"},
    [VELOCITY] = {"velocity", FIELD_DOUBLE, 3, 0, MD_VELOCITY, "velocities"},
    [FORCE] = {"force", FIELD_DOUBLE, 3, 0, MD_FORCE, "total forces"},
    [IMAGE] = {"image", FIELD_INT32, 3, 0, MD_NO_UNIT,
               "boxes crossed: unwrapped position = position + image x edge"},
    [ID] = {"id", FIELD_INT64, 1, 1, MD_NO_UNIT, "particle ids, 1 to N"},
    [SPECIES] = {"species", FIELD_INT32, 1, 1, MD_NO_UNIT, NULL},
    [MASS] = {"mass", FIELD_DOUBLE, 1, 1, MD_MASS, "masses"},
    [CHARGE] = {"charge", FIELD_DOUBLE, 1, 1, MD_CHARGE, "charges"},
};

static size_t value_size(enum field_type type)
{
    return type == FIELD_INT32 ? sizeof(int32_t) : sizeof(double);
}

/* One field of all rows, as the file wants it. */
static void fill(const struct md *md, enum md_field f, int64_t n, void *values)
{
    double *real = values;
    int32_t *small = values;
    int64_t *whole = values;
    for (int64_t i = 0; i < n; i++) {
        const struct md_particle *p = &md->rows[i];
        for (int d = 0; d < 3 && f == POSITION; d++)
            real[3 * i + d] = p->position[d];
        for (int d = 0; d < 3 && f == VELOCITY; d++)
            real[3 * i + d] = p->velocity[d];
        for (int d = 0; d < 3 && f == FORCE; d++)
            real[3 * i + d] = md->row_force[i][d];
        for (int d = 0; d < 3 && f == IMAGE; d++)
            small[3 * i + d] = p->image[d];
        if (f == ID)
            whole[i] = p->id;
        if (f == SPECIES)
            small[i] = p->species;
        if (f == MASS)
            real[i] = md->species[p->species].mass;
        if (f == CHARGE)
            real[i] = p->charge;
    }
}

static int find_field(const char *name)
{
    for (int f = 0; f < N_FIELDS; f++)
        if (strcmp(kinds[f].name, name) == 0)
            return f;
    return -1;
}

int md_has_field(const char *name)
{
    return find_field(name) >= 0;
}

/* Bring the particles of this rank's slab into md->rows, and their forces where
 * they are wanted. */
static int fetch_rows(struct ctx *ctx, struct md *md, int want_force)
{
    size_t n = md->k->count(md->store);
    int status = 0;
    free(md->rows);
    free(md->row_force);
    md->rows = NULL;
    md->row_force = NULL;
    struct md_particle *p = malloc((n + 1) * sizeof *p);
    double(*force)[3] = want_force ? malloc((n + 1) * sizeof *force) : NULL;
    if (!p || (want_force && !force))
        status = FAIL(ctx, STATUS_MEMORY, "no memory for %zu particles", n);
    TRY_CLEANUP(comm_agree(ctx, status));
    TRY_CLEANUP(md_gather(ctx, md, p, force));
    status = particles_by_id(ctx, md->n_particles, p, force, n, &md->rows,
                             want_force ? &md->row_force : NULL);
cleanup:
    free(p);
    free(force);
    return status;
}

static int add_field(struct ctx *ctx, struct md *md, enum md_field f,
                     int64_t first, int64_t n)
{
    const struct field_kind *kind = &kinds[f];
    int at = md->frame.n_fields++;
    size_t size = (size_t)n * (size_t)kind->components * value_size(kind->type);
    free(md->field_values[at]);
    md->field_values[at] = malloc(size + 1);
    if (!md->field_values[at])
        return FAIL(ctx, STATUS_MEMORY, "no memory for field '%s'", kind->name);
    fill(md, f, n, md->field_values[at]);
    md->fields[at] = (struct field){
        .name = kind->name,
        .unit = md->unit_text[kind->unit],
        .description = f == SPECIES ? md->species_text : kind->description,
        .type = kind->type,
        .components = kind->components,
        .constant = kind->constant,
        .total = md->n_particles,
        .first = first,
        .n = n,
        .values = md->field_values[at]};
    return 0;
}

/* "species: 0 = A, 1 = B" */
static void describe_species(struct md *md)
{
    size_t used =
        (size_t)snprintf(md->species_text, sizeof md->species_text, "species:");
    for (int s = 0; s < md->n_species; s++)
        used += (size_t)snprintf(md->species_text + used,
                                 sizeof md->species_text - used, "%s %d = %s",
                                 s > 0 ? "," : "", s, md->species[s].name);
}

static void describe_frame(struct md *md)
{
    struct field_frame *frame = &md->frame;
    describe_species(md);
    frame->step = md->step;
    frame->time = (double)md->step * md->dt;
    frame->time_unit = md->unit_text[MD_TIME];
    frame->length_unit = md->unit_text[MD_LENGTH];
    for (int d = 0; d < 3; d++) {
        frame->box_edges[d] = md->box_length[d];
        frame->box_tilt[d] = md->tilt[d];
        frame->box_origin[d] = md->box_lo[d];
        frame->periodic[d] = !md->grid.walled[d];
    }
    frame->n_fields = 0;
    frame->fields = md->fields;
}

/* Where the box begins, of a box that follows its particles: three rows. */
static int add_lower_corner(struct ctx *ctx, struct md *md)
{
    int at = md->frame.n_fields++, writes = md->grid.rank == 0;
    double *lower = malloc(sizeof md->box_lo);
    free(md->field_values[at]);
    md->field_values[at] = lower;
    if (!lower)
        return FAIL(ctx, STATUS_MEMORY, "no memory for a box");
    memcpy(lower, md->box_lo, sizeof md->box_lo);
    md->fields[at] =
        (struct field){.name = "box/lower",
                       .unit = md->unit_text[MD_LENGTH],
                       .description = "where the box begins, x, y, z",
                       .type = FIELD_DOUBLE,
                       .components = 1,
                       .total = 3,
                       .first = writes ? 0 : 3,
                       .n = writes ? 3 : 0,
                       .values = lower};
    return 0;
}

int md_frame(struct ctx *ctx, void *state, int n_names,
             const char *const *names, const struct field_frame **out)
{
    struct md *md = state;
    int wanted[N_FIELDS] = {[ID] = 1, [SPECIES] = 1, [MASS] = 1}, status = 0;
    wanted[CHARGE] = md->charged;
    int64_t first, n;
    for (int i = 0; i < n_names; i++) {
        int f = find_field(names[i]);
        if (f < 0)
            return FAIL(ctx, STATUS_UNSUPPORTED, "no field '%s'; there are %s",
                        names[i], MD_FIELD_NAMES);
        wanted[f] = 1;
    }
    particles_slab(md->n_particles, md->grid.rank, md->grid.size, &first, &n);
    TRY(fetch_rows(ctx, md, wanted[FORCE]));
    TRY(md_bond_images_check(ctx, md, md->rows));
    describe_frame(md);
    for (int f = 0; f < N_FIELDS && status == 0; f++)
        if (wanted[f])
            status = add_field(ctx, md, (enum md_field)f, first, n);
    if (status == 0 && md_open_box(md))
        status = add_lower_corner(ctx, md);
    TRY(comm_agree(ctx, status));
    *out = &md->frame;
    return 0;
}

void md_observe_free(struct md *md)
{
    free(md->rows);
    free(md->row_force);
    for (int i = 0; i < MD_FIELDS_MAX; i++)
        free(md->field_values[i]);
}
