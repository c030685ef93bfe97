/* Units: constants, names, and quantities of decks. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "tests/tap.h"

/* Conversions are a handful of multiplications: a few units in the last place.
 */
static const double EXACT = 4e-15;

static void converts(const char *text, enum unit_system system,
                     struct dimension dim, double want)
{
    char why[256] = "";
    double value = 0.0;
    int status =
        unit_parse_quantity(text, system, dim, &value, why, sizeof why);

    if (!tap_ok(status == 0 && fabs(value - want) <= EXACT * fabs(want),
                "\"%s\" is %.12g in %s units", text, want,
                unit_system_name(system)))
        tap_note("status %d, got %.17g, %s", status, value, why);
}

static void refused(const char *text, enum unit_system system,
                    struct dimension dim, const char *reason)
{
    char why[256] = "";
    double value = -7.0;
    int status =
        unit_parse_quantity(text, system, dim, &value, why, sizeof why);

    if (!tap_ok(status != 0 && strstr(why, reason) != NULL,
                "\"%s\" is refused in %s units: %s", text,
                unit_system_name(system), reason))
        tap_note("status %d: %s", status, why);
}

static void test_quantities(void)
{
    converts("2 fs", UNITS_REAL, DIM_TIME, 2.0);
    converts("2 fs", UNITS_METAL, DIM_TIME, 0.002);
    converts("0.5 ps", UNITS_REAL, DIM_TIME, 500.0);
    converts("1 us", UNITS_SI, DIM_TIME, 1e-6);
    converts("1 \xc2\xb5s", UNITS_SI, DIM_TIME, 1e-6);
    converts("2 min", UNITS_SI, DIM_TIME, 120.0);
    converts("1.5h", UNITS_SI, DIM_TIME, 5400.0);
    converts("298 K", UNITS_REAL, DIM_TEMPERATURE, 298.0);
    converts("1.5 nm", UNITS_REAL, DIM_LENGTH, 15.0);
    converts("9 angstrom", UNITS_REAL, DIM_LENGTH, 9.0);
    converts("9 A", UNITS_SI, DIM_LENGTH, 9e-10);
    converts("-1 um", UNITS_SI, DIM_LENGTH, -1e-6);
    converts("0.1553 kcal/mol", UNITS_REAL, DIM_ENERGY, 0.1553);
    converts("1 kJ/mol", UNITS_REAL, DIM_ENERGY, 1.0 / 4.184);
    converts("1 eV", UNITS_METAL, DIM_ENERGY, 1.0);
    converts("10.5 meV", UNITS_METAL, DIM_ENERGY, 0.0105);
    /* CODATA 2018: 27.211386245988 eV */
    converts("1 Hartree", UNITS_METAL, DIM_ENERGY,
             4.3597447222071e-18 / 1.602176634e-19);
    converts("15.9994 g/mol", UNITS_REAL, DIM_MASS, 15.9994);
    converts("1 kg", UNITS_METAL, DIM_MASS, 6.02214076e26);
    converts("12 u", UNITS_SI, DIM_MASS, 12 * 1.66053906660e-27);
    converts("1 atm", UNITS_METAL, DIM_PRESSURE, 1.01325);
    converts("1 MPa", UNITS_METAL, DIM_PRESSURE, 10.0);
    converts("1 GPa", UNITS_SI, DIM_PRESSURE, 1e9);
    converts("1 bar", UNITS_REAL, DIM_PRESSURE, 1e5 / 101325.0);
    converts("2 e", UNITS_REAL, DIM_CHARGE, 2.0);
    converts("1.602176634e-19 C", UNITS_METAL, DIM_CHARGE, 1.0);
    converts("3 1/ps", UNITS_METAL, DIM_RATE, 3.0);
    converts("3 /ps", UNITS_METAL, DIM_RATE, 3.0);
    converts("3 ps^-1", UNITS_REAL, DIM_RATE, 3e-3);
    converts("1 THz", UNITS_METAL, DIM_RATE, 1.0);
    converts("0.0334 1/angstrom^3", UNITS_REAL, DIM_NUMBER_DENSITY, 0.0334);
    converts("1 1/nm^3", UNITS_METAL, DIM_NUMBER_DENSITY, 1e-3);
    converts("1 mol/L", UNITS_SI, DIM_NUMBER_DENSITY, 6.02214076e26);
    converts("1 g/cm^3", UNITS_REAL, DIM_DENSITY, 1.0);
    converts("1 g/cm^3", UNITS_SI, DIM_DENSITY, 1000.0);
    converts("1e-6 m^2/s", UNITS_SI, DIM_KINEMATIC_VISCOSITY, 1e-6);
    converts("1 nm/ps", UNITS_METAL, DIM_VELOCITY, 10.0);
    converts("1 kcal/mol/angstrom", UNITS_REAL, DIM_FORCE, 1.0);
    converts("1 kcal mol-1 Angstrom-1", UNITS_REAL, DIM_FORCE, 1.0);
    converts("1 kcal/mol/angstrom^2", UNITS_REAL,
             (struct dimension){1, 0, -2, 0, 0, 0}, 1.0);
    converts("1 kg*m/s^2", UNITS_SI, DIM_FORCE, 1.0);
    converts("1 eV/angstrom", UNITS_METAL, DIM_FORCE, 1.0);
}

static void test_refusals(void)
{
    refused("2 parsec", UNITS_SI, DIM_LENGTH, "unknown unit 'parsec'");
    refused("2 K", UNITS_REAL, DIM_LENGTH, "wrong kind of unit");
    refused("2 kcal mol", UNITS_REAL, DIM_ENERGY, "wrong kind of unit");
    refused("2.5 nm", UNITS_LJ, DIM_LENGTH, "reduced units");
    refused("thick", UNITS_LJ, DIM_LENGTH, "expected a number");
    refused("", UNITS_SI, DIM_LENGTH, "expected a number");
    refused("nan m", UNITS_SI, DIM_LENGTH, "expected a number");
    refused("inf m", UNITS_SI, DIM_LENGTH, "expected a number");
    refused("0x10 m", UNITS_SI, DIM_LENGTH, "expected a number");
    refused("1e999 m", UNITS_SI, DIM_LENGTH, "'1e999' is too large");
    refused("1e308 km", UNITS_SI, DIM_LENGTH, "too large");
    refused("2.5", UNITS_REAL, DIM_LENGTH, "without quotes");
    refused("2 m", UNITS_SI, DIM_NONE, "no unit");
    refused("2 m^", UNITS_SI, DIM_LENGTH, "exponent");
    refused("2 m^99", UNITS_SI, DIM_LENGTH, "exponent");
    refused("2 m//s", UNITS_SI, DIM_VELOCITY, "cannot read the unit");
    refused("2 m m m m m m m m m m m m m", UNITS_SI, DIM_LENGTH,
            "too many factors");
}

static void test_names(void)
{
    static const struct dimension dims[] = {
        {1, 0, 0, 0, 0, 0},   {0, 1, 0, 0, 0, 0},   {0, 0, 1, 0, 0, 0},
        {1, 2, -2, 0, 0, 0},  {1, 1, -2, 0, 0, 0},  {0, 1, -1, 0, 0, 0},
        {1, -1, -2, 0, 0, 0}, {0, -3, 0, 0, 0, 0},  {1, -3, 0, 0, 0, 0},
        {0, 2, -1, 0, 0, 0},  {1, -1, -1, 0, 0, 0}, {1, 2, -2, -1, 0, 0},
        {1, 0, -2, 0, 0, 0},  {2, 0, 0, 0, 0, 0},   {0, 0, 0, 0, 1, 0}};
    char name[96], text[128], why[256];
    int good = 1;

    tap_is_text(unit_name(UNITS_REAL, DIM_LENGTH, name, sizeof name),
                "Angstrom", "lengths of real are named Angstrom");
    tap_is_text(unit_name(UNITS_REAL, DIM_VELOCITY, name, sizeof name),
                "Angstrom fs-1", "velocities as MDAnalysis knows them");
    tap_is_text(unit_name(UNITS_REAL, DIM_FORCE, name, sizeof name),
                "kcal mol-1 Angstrom-1", "forces as MDAnalysis knows them");
    tap_is_text(unit_name(UNITS_REAL, DIM_ENERGY, name, sizeof name),
                "kcal/mol", "energies of real are named kcal/mol");
    tap_is_text(unit_name(UNITS_METAL, DIM_TIME, name, sizeof name), "ps",
                "times of metal are named ps");
    tap_is_text(unit_name(UNITS_LJ, DIM_LENGTH, name, sizeof name), "",
                "reduced units have no name");
    tap_is_text(unit_name(UNITS_SI, DIM_NONE, name, sizeof name), "",
                "a number without dimension has no unit");
    for (int s = UNITS_METAL; s <= UNITS_SI; s++)
        for (size_t i = 0; i < sizeof dims / sizeof dims[0]; i++) {
            double value = 0.0;
            enum unit_system system = (enum unit_system)s;
            snprintf(text, sizeof text, "1 %s",
                     unit_name(system, dims[i], name, sizeof name));
            if (unit_parse_quantity(text, system, dims[i], &value, why,
                                    sizeof why) != 0 ||
                fabs(value - 1.0) > EXACT) {
                good = 0;
                tap_note("%s in %s: %.17g %s", text, unit_system_name(system),
                         value, why);
            }
        }
    tap_ok(good, "one of each named unit reads back as 1");
}

static void test_constants(void)
{
    /* LAMMPS's update.cpp; its constants are older than CODATA 2018 */
    const double older = 3e-6;
    const struct unit_constants *real = unit_constants(UNITS_REAL);
    const struct unit_constants *metal = unit_constants(UNITS_METAL);

    tap_near(real->boltzmann / 0.0019872067, 1.0, older,
             "Boltzmann's constant of real is LAMMPS's");
    tap_near(real->mvv_to_energy / (48.88821291 * 48.88821291), 1.0, older,
             "mvv_to_energy of real is LAMMPS's");
    tap_near(real->energy_per_volume_to_pressure / 68568.415, 1.0, older,
             "the pressure of real is LAMMPS's");
    /* CODATA 2018: 8.617333262e-5 eV/K, LAMMPS has 8.617343e-5 */
    tap_near(metal->boltzmann / 8.617333262e-5, 1.0, 1e-9,
             "Boltzmann's constant of metal is CODATA's");
    tap_near(metal->mvv_to_energy / 1.0364269e-4, 1.0, older,
             "mvv_to_energy of metal is LAMMPS's");
    tap_near(metal->energy_per_volume_to_pressure / 1.6021765e6, 1.0, older,
             "the pressure of metal is LAMMPS's");
    tap_near(real->mvv_to_energy * real->force_to_acceleration, 1.0, 1e-15,
             "force to acceleration is the inverse of mvv to energy");
    tap_near(unit_constants(UNITS_LJ)->boltzmann, 1.0, 0.0,
             "Boltzmann's constant of lj is 1");
}

int main(void)
{
    enum unit_system system = UNITS_LJ;

    test_quantities();
    test_refusals();
    test_names();
    test_constants();
    tap_ok(unit_system_parse("metal", &system) == 0 && system == UNITS_METAL,
           "metal is a unit system");
    tap_ok(unit_system_parse("electron", &system) != 0, "electron is none");
    return tap_done();
}
