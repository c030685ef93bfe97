/* md.h: what the files of the molecular dynamics solver share.
 *
 * struct md is one simulation: the deck's values, this rank's place in the box,
 * and the store that a backend keeps. Particles live in the store; this folder
 * decides what is done to them, and when.
 */
#ifndef WARPDECK_SOLVERS_MD_H
#define WARPDECK_SOLVERS_MD_H

#include <stddef.h>
#include <stdint.h>

#include "base/units.h"
#include "domain/field.h"
#include "domain/grid.h"
#include "kernels/device.h"
#include "kernels/md/md_kernels.h"
#include "md_analysis.h"
#include "md_barostat.h"
#include "md_bond_images.h"
#include "md_deform.h"
#include "md_dynamics.h"
#include "md_minimize.h"
#include "md_open_box.h"
#include "md_replicate.h"
#include "md_rigid.h"
#include "md_step.h"
#include "md_walls.h"

struct ctx;
struct halo;
struct md_balance;
struct md_data;
struct md_eam;
struct md_ewald;
struct topology;
struct params;
struct param_table;
struct estimate;
struct solver_totals;
struct solver_bench;
struct state_io;

enum {
    MD_NAME_MAX = 32, /* bytes of a species name, with the NUL */
    MD_OBSERVABLES_MAX = 48,
    MD_FIELDS_MAX = 9
};

/* Units of what is shown and written, see unit_text. */
enum md_unit {
    MD_TIME,
    MD_LENGTH,
    MD_AREA,
    MD_VELOCITY,
    MD_FORCE,
    MD_MASS,
    MD_ENERGY,
    MD_TEMPERATURE,
    MD_PRESSURE,
    MD_MOMENTUM,
    MD_CHARGE,
    MD_VOLUME,
    MD_DENSITY,
    MD_NO_UNIT,
    MD_UNITS
};

enum md_lattice { MD_SC, MD_BCC, MD_FCC, MD_DIAMOND };
enum md_mixing { MD_ARITHMETIC, MD_GEOMETRIC, MD_SIXTH_POWER };
enum md_shift {
    MD_SHIFT_NONE,
    MD_SHIFT_ENERGY,
    MD_SHIFT_FORCE,
    MD_SHIFT_SWITCH /* CHARMM's */
};
/* What keeps the temperature. */
enum md_ensemble {
    MD_NVE,
    MD_LANGEVIN,
    MD_BUSSI,
    MD_NOSE_HOOVER,
    MD_BROWNIAN,
    MD_DPD
};

struct md_species {
    char name[MD_NAME_MAX];
    double mass;
    double charge;   /* with md.charge_by_species */
    double fraction; /* of lattice sites */
    int64_t count;   /* particles, all ranks */
};

/* Where the particles come from. */
struct md_initial {
    char *read;      /* path of an XYZ file, or NULL: a lattice, or md.data */
    int has_charges; /* the XYZ file has some; -1: who knows */
    double charge_sums[2]; /* of it: q and q^2 */
    char group[64];        /* of an H5MD file; "": the only one */
    int64_t file_step;     /* of its frame; -1: the last */
    struct md_replicate replicate;
    enum md_lattice lattice;
    int64_t cells[3];
    double spacing[3]; /* of the cubic cell, by direction */
    int has_temperature;
    double temperature;
    double overlap; /* closest distance allowed at the start; 0: any */
    int random;     /* places are random, no two nearer than: */
    double separation;
};

struct md_forms;

struct md_pair {
    double cutoff, skin;
    double reach; /* the longest cutoff: of Lennard-Jones or Coulomb */
    enum md_mixing mixing;
    enum md_shift shift;
    int tail;
    int64_t rebuild_every;  /* 0: by displacement */
    struct lj_coeff *coeff; /* [n_species][n_species] */
    double smallest_sigma;
    struct md_forms *forms;            /* owned, or NULL: Lennard-Jones alone */
    double tail_energy, tail_pressure; /* 0 without `tail` */
};

/* What acts along bonds; the arrays are owned, `field` borrows them. */
struct md_bonded {
    int on;        /* there are terms */
    int has_field; /* there are terms, Coulomb forces or a switch */
    struct md_bond_coeff *bonds;
    struct md_angle_coeff *angles;
    struct md_dihedral_coeff *dihedrals;
    struct md_improper_coeff *impropers;
    struct md_cmap *cmaps;
    struct md_cmap_node *cmap_nodes;
    struct md_lj14 *lj14;
    struct md_force_field field;
    double reach; /* how far apart particles of one term may come */
};

struct md_rdf {
    int on;
    int n_pairs;
    int (*pairs)[2]; /* species */
    int *channel_of; /* [n_species][n_species]: index of pair, or -1 */
    double range;
    int n_bins;
    int64_t every, start;
    int64_t n_samples;
    double per_volume; /* 1 / volume, summed over samples */
    uint64_t *counts;  /* [n_pairs][n_bins], of this rank */
};

struct md_msd {
    int on;
    int64_t every;
    int64_t first, n;       /* this rank's slab of ids */
    double (*reference)[3]; /* unwrapped positions of step 0, [n] */
    size_t n_samples, capacity;
    double *samples; /* [n_samples][2 + n_species]: time, all, each species */
};

struct md {
    /* from the deck */
    enum unit_system units;
    const struct unit_constants *constants;
    enum precision precision;
    int deterministic;
    enum md_graphs graphs;
    uint64_t seed;
    double dt;
    int64_t steps;
    int n_species;
    struct md_species species[MD_SPECIES_MAX];
    struct md_initial initial;
    struct md_minimize minimize;
    struct md_pair pair;
    struct md_data *data; /* of a LAMMPS data file, or NULL */
    struct md_bonded bonded;
    struct md_rigid_deck rigid;
    struct md_eam *eam; /* owned with its arrays, or NULL: Lennard-Jones */
    enum md_ensemble ensemble;
    double temperature, relaxation; /* of the thermostat */
    struct md_bath_deck bath;
    struct md_dpd_deck dpd;
    struct md_ramp ramp;
    int exchanged;   /* one of several that exchange temperatures */
    int chain_links; /* of a Nose-Hoover chain */
    struct md_barostat barostat;
    struct md_deform deform;
    struct md_walls walls;
    struct md_open_box open;
    int pressure_tensor;    /* its components are shown */
    int with_tensor;        /* sums come by directions */
    int charged;            /* particles carry charges */
    int charge_by_species;  /* those of md_species */
    struct md_ewald *ewald; /* far part of Coulomb, or NULL */
    double frame_bytes;

    /* where this rank stands */
    double box_lo[3], box_length[3];
    int tilted;       /* the box has a tilt, be it 0 */
    double tilt[3];   /* xy, xz, yz */
    int32_t turns[3]; /* by which the tilts of a start file were more */
    struct grid grid;
    struct md_balance *balance; /* owned, or NULL: faces stay */
    int64_t n_particles;        /* all ranks */
    double degrees_of_freedom;

    /* the particles */
    const struct md_kernels *k;
    struct md_store *store;
    struct halo *halo;
    struct topology *topology; /* NULL: no bonds */
    struct md_bond_images bond_images;

    /* the run */
    int64_t step;
    int64_t first_step; /* where this program began or went on */
    int64_t list_step;  /* when the list was built */
    struct {
        double last, growth; /* of the greatest way since, in the last step */
    } way;
    int64_t
        unsafe_steps; /* with rebuild_every: the list may have missed pairs */
    struct md_sums sums; /* of this rank, where sums_known */
    int sums_known;
    struct md_parts parts;   /* of the present step */
    struct md_chain chain;   /* thermostat */
    struct md_stress stress; /* Nose-Hoover, MTK: after the last step */
    char blocked[320];
    double thermostat_work; /* energy put in by the thermostat: for Bussi of all
                             * ranks, for Langevin of this one */

    /* looking */
    struct md_rdf rdf;
    struct md_msd msd;
    void *analyses[MD_ANALYSES]; /* their states; NULL: off */
    int64_t msd_step;            /* of msd_now; -1: none */
    double msd_now[1 + MD_SPECIES_MAX];
    struct observable observables[MD_OBSERVABLES_MAX];
    int n_observables;
    char unit_text[MD_UNITS][32];
    struct md_particle *rows; /* of the last frame */
    double (*row_force)[3];
    void *field_values[MD_FIELDS_MAX];
    struct field fields[MD_FIELDS_MAX];
    struct field_frame frame;
    /* Description of the field: "species:" and ", 0 = A" of each. */
    char species_text[16 + MD_SPECIES_MAX * (MD_NAME_MAX + 16)];
    struct md_results results;

    int phase_pair, phase_bonded, phase_list, phase_integrate, phase_analysis,
        phase_rigid, phase_mesh;
};

/* ---- md_table.c, md_params.c: the deck ---- */
extern const struct param_table md_param_table;
/* Fill in all that comes from the deck. Errors: STATUS_DECK, STATUS_INPUT. */
int md_read_params(struct ctx *ctx, struct params *p, struct md *md);

/* ---- md_species.c: the kinds of particles ---- */
/* Those of the deck, or without any the types of the data file. Errors go to
 * params_error, as below. */
void md_species_read(struct params *p, struct md *md);
/* Shares of a lattice's sites: all given and adding up to 1, or one species. */
void md_species_shares(struct params *p, struct md *md);
/* The index of the species named so, or -1. */
int md_find_species(const struct md *md, const char *name);
/* The names of all species, "A, B", for messages. */
const char *md_species_list(const struct md *md, char *buffer, size_t size);
/* Index of a species, or both of a pair, named by a key of the deck (index: of
 * a repeated section, else -1). -1, or 0 for a pair: not declared, which is an
 * error of the key. */
int md_read_species(struct params *p, const struct md *md, const char *section,
                    int index, const char *key, const char *name);
int md_read_pair(struct params *p, const struct md *md, const char *section,
                 int index, const char *key, const char *const names[2],
                 int s[2]);

/* ---- md_pair.c: the force field ---- */
/* Coefficients of all pairs by the mixing rule; errors go to params_error. */
int md_pair_read(struct ctx *ctx, struct params *p, struct md *md);
/* Tail corrections, once the species are counted. */
void md_pair_tail(struct md *md);
/* Epsilon and sigma of an unlike pair from those {epsilon, sigma} of like ones.
 */
void md_pair_mix(enum md_mixing rule, const double a[2], const double b[2],
                 double *epsilon, double *sigma);

/* ---- md_pair_forms.c: potentials beside Lennard-Jones alone ---- */
/* Whether md.pair or one of its pairs asks for another form. */
int md_forms_wanted(const struct params *p);
/* Forms of all pairs of species, their files and their tables, after the
 * options of md.pair. Errors of the deck go to params_error, those of files are
 * STATUS_INPUT. Collective. */
int md_forms_read(struct ctx *ctx, struct params *p, struct md *md);
/* Refuse keys of [[md.pair.coefficients]] number i that its style does not
 * take, and ask for those it needs. 0: all right. */
int md_pair_check_keys(struct params *p, int i);
void md_forms_free(struct md *md);
/* What else may be behind a particle that is too fast: text to add, or "". */
const char *md_forms_fall(const struct md *md);
/* What a store is given of them, or NULL. */
const struct md_pair_tables *md_forms_tables(const struct md *md);
/* As md_eam_save() and md_eam_restore(). */
int md_forms_save(struct ctx *ctx, const struct md *md, struct state_io *io);
int md_forms_restore(struct ctx *ctx, const struct md *md, struct state_io *io);

/* ---- md_eam.c: metals ---- */
/* Whether md.pair.style is one of the embedded-atom method. */
int md_eam_wanted(const struct params *p);
/* The tables of its files into md.eam, and md.pair; errors of the deck go to
 * params_error, those of files are STATUS_INPUT. Collective. */
int md_eam_read(struct ctx *ctx, struct params *p, struct md *md);
void md_eam_free(struct md *md);
/* What tells these tables from others, into a checkpoint; and whether one was
 * computed with them: STATUS_INPUT where not. */
int md_eam_save(struct ctx *ctx, const struct md *md, struct state_io *io);
int md_eam_restore(struct ctx *ctx, const struct md *md, struct state_io *io);
/* Densities of the present positions: what needs no copy, and the rest, which
 * puts what copies are to know of them on its way: halo_complete_extra() is due
 * before the copies' forces. */
void md_eam_own(struct ctx *ctx, struct md *md, struct md_sums *sums);
int md_eam_densities(struct ctx *ctx, struct md *md, struct md_sums *sums);

/* ---- md_bonds.c: terms along bonds ---- */
/* Styles and coefficients of md.bonded from deck and data file; errors go to
 * params_error. */
int md_bonds_read(struct ctx *ctx, struct params *p, struct md *md);
void md_bonds_free(struct md *md);

/* ---- md_term_reach.c ---- */
/* md.bonded.reach: by the places of the file, what a bond can stretch to, and
 * the temperature. A chain's angle spans two bonds, of which each may be as
 * long as the cutoff. When the box and all forces are known. Collective. */
int md_term_reach(struct ctx *ctx, struct md *md);

/* ---- md_coulomb.c: charges ---- */
/* [md.coulomb], charges of species, and the switch of md.pair, into
 * md.bonded.field; after md_bonds_read(). Errors go to params_error. */
int md_coulomb_read(struct ctx *ctx, struct params *p, struct md *md);
/* Give the particles of this rank the charges of their species, if that is
 * asked for, and warn where all do not add up to 0. Collective. */
int md_coulomb_charge(struct ctx *ctx, const struct md *md,
                      struct md_particle *p, size_t n);

/* ---- md_tilt.c: boxes without right angles ---- */
/* domain.tilt; errors go to params_error. */
void md_tilt_read(struct params *p, struct md *md);
/* The box of this file has this tilt: xy, xz, yz; the deck gives none. */
void md_tilt_use(struct params *p, struct md *md, const char *path,
                 const double tilt[3]);
/* Once the box is known: a file's tilt is turned. Errors go to params_error. */
void md_tilt_check(struct ctx *ctx, struct params *p, struct md *md);
/* To at most half an edge: b = b' + turns[0] a, c = c' + turns[2] b + turns[1]
 * a, as md_kernels.relabel() has them. Whether it was more. */
int md_tilt_turn(struct md *md, int32_t turns[3]);
/* The grid of the present box, and at constant pressure its lengths' tilt. */
void md_fit_grid(struct md *md);
/* From face to face, by direction. */
void md_box_widths(const struct md *md, double width[3]);
/* Where a particle would be if it had never been wrapped. */
void md_unwrap(const struct md *md, const struct md_particle *p, double out[3]);
/* From a place in the box with right angles to that in the tilted one. */
void md_tilt_place(const struct md *md, double x[3]);

/* ---- md_initial.c: particles at the start ---- */
int64_t md_lattice_sites(const struct md_initial *initial);
/* Put this rank's particles into the store, with velocities. Collective. */
int md_place_particles(struct ctx *ctx, struct md *md);
/* The species of lattice site `id` (1, 2, ...), by the declared fractions. */
int md_lattice_species(const struct md *md, int64_t id);
/* Count the species of a lattice from their fractions. */
void md_lattice_counts(struct md *md);
/* Wrap into the box, counting images; _read: of a file, which has its edges. */
void md_wrap(const struct md *md, struct md_particle *p);
void md_wrap_read(const struct md *md, struct md_particle *p);

/* A growing array of particles. */
struct md_list {
    struct md_particle *p;
    size_t n, capacity;
};
int md_list_add(struct ctx *ctx, struct md_list *list,
                const struct md_particle *p);

/* ---- md_velocity.c: velocities at the start ---- */
/* Draw Maxwell-Boltzmann velocities for the particles of all ranks: zero total
 * momentum, kinetic temperature exactly `temperature`. The result for a
 * particle depends only on its id, never on the ranks. Collective. */
int md_draw_velocities(struct ctx *ctx, const struct md *md,
                       struct md_particle *p, size_t n, double temperature);

/* ---- md_read_xyz.c ---- */
/* Check the whole file: number of particles, of each species, and the box if
 * the file has one (*has_box). Collective. Errors: STATUS_INPUT. */
int md_xyz_scan(struct ctx *ctx, struct md *md, int *has_box,
                double box_length[3], double tilt[3]);
/* Before the deck's charges are read: whether the file brings its own. A file
 * that cannot be read is passed over here. Collective. */
int md_xyz_look(struct ctx *ctx, struct md *md);
/* Keep this rank's particles; velocities are 0 where the file has none. */
int md_xyz_read(struct ctx *ctx, struct md *md, struct md_list *list);

/* ---- md_observe.c ---- */
void md_observe_init(struct md *md);
/* One more column; values follow in the same order. */
void md_add_observable(struct md *md, const char *name, enum md_unit unit,
                       const char *description, const char *heading,
                       int per_particle, int decimals);
int md_observe(struct ctx *ctx, void *state, double *values);
#define MD_FIELD_NAMES \
    "position, velocity, force, image, id, species, mass and charge"
int md_has_field(const char *name);
int md_frame(struct ctx *ctx, void *state, int n_names,
             const char *const *names, const struct field_frame **out);
void md_observe_free(struct md *md);

/* ---- md_results.c ---- */
int md_results(struct ctx *ctx, void *state, const struct result_table **tables,
               int *n);

/* ---- md_state.c: the state handed out, and taken back ---- */
int md_save(struct ctx *ctx, void *state, struct state_io *io);
int md_restore(struct ctx *ctx, void *state, struct state_io *io);

/* ---- md_state_terms.c: the same of terms along bonds ---- */
int md_save_terms(struct ctx *ctx, const struct md *md, struct state_io *io);
/* For the particles p[n] that this rank has been given. Collective. */
int md_restore_terms(struct ctx *ctx, struct md *md, struct state_io *io,
                     const struct md_particle *p, size_t n);

/* ---- md_totals.c: what a run needs, and what it has done ---- */
int md_estimate(struct ctx *ctx, void *state, struct estimate *out);
int md_totals(struct ctx *ctx, void *state, struct solver_totals *out);

/* ---- md_bench.c: the standard problem ---- */
extern const struct solver_bench md_bench;

/* ---- md_guard.c: whether the state still makes sense ---- */
/* Name the first particle of this rank that is not finite: STATUS_PHYSICS. 0
 * where there is none. */
int md_check_finite(struct ctx *ctx, const struct md *md);
/* This rank's status after a drift by at most sqrt(*moved2), which is made fit
 * for a maximum over ranks. */
int md_check_motion(struct ctx *ctx, const struct md *md, double *moved2);
/* Positions, velocities and forces are finite, and nobody is missing. */
int md_guard(struct ctx *ctx, void *state);

/* ---- md.c ---- */
/* Kernels, store and halo on ctx->device, without particles. */
int md_open_store(struct ctx *ctx, struct md *md);
/* Hand every particle to the rank that owns it, refresh the set of halo copies,
 * and build the pair list. */
int md_redistribute(struct ctx *ctx, struct md *md);
/* The same without its end, which is comm_agree_end() and md_rigid_hold();
 * *status: this rank's. */
int md_redistribute_begin(struct ctx *ctx, struct md *md, int *status);
/* Tell the store this rank's terms, once the copies have come. */
int md_find_terms(struct ctx *ctx, struct md *md);

/* ---- md_forces.c: forces of one step ---- */
/* Beside forces: nothing; energy and virial; the virial. */
enum md_wanted { MD_WANT_FORCES, MD_WANT_ALL, MD_WANT_VIRIAL };
/* What pairs and bonds have taken so far, by this rank's clock. */
double md_force_seconds(const struct ctx *ctx, const struct md *md);
/* Forces, energy and virial where copies and list have just been made. */
int md_first_forces(struct ctx *ctx, struct md *md);
/* Forces after a drift by at most sqrt(moved2) since the list was built, which
 * is built anew where it may miss a pair; energy and virial where wanted. */
int md_update_forces(struct ctx *ctx, struct md *md, double moved2,
                     enum md_wanted wanted);
/* The same after this rank's drift by at most sqrt(moved2), in which it had
 * this status, once all ranks agree on it as by comm_step(). */
int md_step_forces(struct ctx *ctx, struct md *md, int status, int *stop,
                   double moved2, enum md_wanted wanted);
/* Forces, energy and virial of the present positions, list unchanged. */
int md_compute_sums(struct ctx *ctx, struct md *md);
/* Whether the card is still there and all its results are good, by all ranks:
 * to be asked before what it computed is written or told. Collective. */
int md_check_device(struct ctx *ctx, const struct md *md);
/* Copy this rank's particles, count() of them (and forces, or NULL), and check
 * as above. Collective. */
int md_gather(struct ctx *ctx, const struct md *md, struct md_particle *p,
              double (*force)[3]);
/* The same into new memory, for the caller to free: *n particles. Errors:
 * STATUS_MEMORY. Collective. */
int md_own_particles(struct ctx *ctx, const struct md *md,
                     struct md_particle **p, size_t *n);
/* What a store is made from. */
struct md_setup md_setup_of(const struct md *md);
/* Who computes a pair across a face of blocks. */
enum md_half md_half(const struct md *md);

/* How far pairs are looked for, those of g(r), too, with the skin. */
double md_list_radius(const struct md *md);
/* How far halo copies reach: as far as that, and as terms along bonds do. */
double md_halo_radius(const struct md *md);

#endif
