/* units.h: dimensions, unit systems and quantities with a unit in a deck.
 *
 * Inside the program every number is in the deck's unit system, the one named
 * by run.units. The systems "lj", "metal" and "real" are those of LAMMPS, so
 * that decks and published inputs compare directly; "si" is SI.
 */
#ifndef WARPDECK_BASE_UNITS_H
#define WARPDECK_BASE_UNITS_H

#include <stddef.h>

/* A dimension as the exponents of mass, length, time, temperature, charge and
 * amount of substance. */
struct dimension {
    signed char mass, length, time, temperature, charge, amount;
};

#define DIM_NONE ((struct dimension){0, 0, 0, 0, 0, 0})
#define DIM_MASS ((struct dimension){1, 0, 0, 0, 0, 0})
#define DIM_LENGTH ((struct dimension){0, 1, 0, 0, 0, 0})
#define DIM_TIME ((struct dimension){0, 0, 1, 0, 0, 0})
#define DIM_TEMPERATURE ((struct dimension){0, 0, 0, 1, 0, 0})
#define DIM_CHARGE ((struct dimension){0, 0, 0, 0, 1, 0})
#define DIM_ENERGY ((struct dimension){1, 2, -2, 0, 0, 0})
#define DIM_VELOCITY ((struct dimension){0, 1, -1, 0, 0, 0})
#define DIM_FORCE ((struct dimension){1, 1, -2, 0, 0, 0})
#define DIM_PRESSURE ((struct dimension){1, -1, -2, 0, 0, 0})
#define DIM_AREA ((struct dimension){0, 2, 0, 0, 0, 0})
#define DIM_VOLUME ((struct dimension){0, 3, 0, 0, 0, 0})
#define DIM_NUMBER_DENSITY ((struct dimension){0, -3, 0, 0, 0, 0})
#define DIM_DENSITY ((struct dimension){1, -3, 0, 0, 0, 0})
#define DIM_KINEMATIC_VISCOSITY ((struct dimension){0, 2, -1, 0, 0, 0})
#define DIM_RATE ((struct dimension){0, 0, -1, 0, 0, 0})

enum unit_system { UNITS_LJ, UNITS_METAL, UNITS_REAL, UNITS_SI };

/* Constants of a system, in its own units (for lj all are 1). */
struct unit_constants {
    double boltzmann;             /* energy per temperature */
    double mvv_to_energy;         /* mass * velocity^2 -> energy */
    double force_to_acceleration; /* force / mass -> velocity / time */
    double energy_per_volume_to_pressure;
};

const struct unit_constants *unit_constants(enum unit_system system);
const char *unit_system_name(enum unit_system system);
/* 0 and *system, or -1 for an unknown name. */
int unit_system_parse(const char *name, enum unit_system *system);

/* The name of the unit of a dimension in a system, e.g. "angstrom", "ps",
 * "kcal/mol"; "" for lj and for DIM_NONE. Spelled so that MDAnalysis knows
 * position, time, velocity, force and energy units. Writes into buf. */
const char *unit_name(enum unit_system system, struct dimension dim, char *buf,
                      size_t size);

/* Parse "2 fs", "298 K", "1.5 nm", "0.1553 kcal/mol", "15.9994 g/mol" and
 * convert to the system's unit of `dim`. Returns 0; or -1 with one line in
 * `why` (unknown unit, wrong dimension, no number, unit in lj). */
int unit_parse_quantity(const char *text, enum unit_system system,
                        struct dimension dim, double *value, char *why,
                        size_t why_size);

#endif
