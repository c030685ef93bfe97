#include "base/units.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dimensions.h"
#include "base/numeral.h"

/* CODATA 2018 (E. Tiesinga et al., Rev. Mod. Phys. 93, 025010, 2021). The first
 * three are exact since the SI of 2019. */
#define BOLTZMANN 1.380649e-23            /* J/K */
#define AVOGADRO 6.02214076e23            /* 1/mol */
#define ELEMENTARY_CHARGE 1.602176634e-19 /* C */
#define ATOMIC_MASS 1.66053906660e-27     /* kg */
#define HARTREE 4.3597447222071e-18       /* J */
#define BOHR 5.29177210903e-11            /* m */
#define CALORIE 4.184                     /* J, thermochemical; exact */
#define ATMOSPHERE 101325.0               /* Pa, exact */

struct unit {
    const char *name;
    double si;
    struct dimension dim;
};

#define DIM_AMOUNT       \
    {                    \
        0, 0, 0, 0, 0, 1 \
    }
#define VOLUME           \
    {                    \
        0, 3, 0, 0, 0, 0 \
    }
#define CHARGE           \
    {                    \
        0, 0, 0, 0, 1, 0 \
    }
#define FORCE             \
    {                     \
        1, 1, -2, 0, 0, 0 \
    }
#define PRESSURE           \
    {                      \
        1, -1, -2, 0, 0, 0 \
    }
#define VISCOSITY          \
    {                      \
        1, -1, -1, 0, 0, 0 \
    }

static const struct unit unit_table[] = {
    {"as", 1e-18, TIME},
    {"fs", 1e-15, TIME},
    {"ps", 1e-12, TIME},
    {"ns", 1e-9, TIME},
    {"us", 1e-6, TIME},
    {"\xc2\xb5s", 1e-6, TIME}, /* micro sign */
    {"\xce\xbcs", 1e-6, TIME}, /* Greek mu */
    {"ms", 1e-3, TIME},
    {"s", 1.0, TIME},
    {"min", 60.0, TIME},
    {"h", 3600.0, TIME},
    {"fm", 1e-15, LENGTH},
    {"pm", 1e-12, LENGTH},
    {"A", 1e-10, LENGTH},
    {"angstrom", 1e-10, LENGTH},
    {"Angstrom", 1e-10, LENGTH},
    {"\xc3\x85", 1e-10, LENGTH},     /* A with ring */
    {"\xe2\x84\xab", 1e-10, LENGTH}, /* angstrom sign */
    {"bohr", BOHR, LENGTH},
    {"nm", 1e-9, LENGTH},
    {"um", 1e-6, LENGTH},
    {"\xc2\xb5m", 1e-6, LENGTH},
    {"\xce\xbcm", 1e-6, LENGTH},
    {"mm", 1e-3, LENGTH},
    {"cm", 1e-2, LENGTH},
    {"m", 1.0, LENGTH},
    {"km", 1e3, LENGTH},
    {"mL", 1e-6, VOLUME},
    {"L", 1e-3, VOLUME},
    {"mK", 1e-3, TEMPERATURE},
    {"K", 1.0, TEMPERATURE},
    {"eV", ELEMENTARY_CHARGE, ENERGY},
    {"meV", 1e-3 * ELEMENTARY_CHARGE, ENERGY},
    {"keV", 1e3 * ELEMENTARY_CHARGE, ENERGY},
    {"J", 1.0, ENERGY},
    {"kJ", 1e3, ENERGY},
    {"cal", CALORIE, ENERGY},
    {"kcal", 1e3 * CALORIE, ENERGY},
    {"Hartree", HARTREE, ENERGY},
    {"hartree", HARTREE, ENERGY},
    {"Ha", HARTREE, ENERGY},
    {"Ry", 0.5 * HARTREE, ENERGY},
    {"erg", 1e-7, ENERGY},
    {"kg", 1.0, MASS},
    {"g", 1e-3, MASS},
    {"mg", 1e-6, MASS},
    {"u", ATOMIC_MASS, MASS},
    {"amu", ATOMIC_MASS, MASS},
    {"Da", ATOMIC_MASS, MASS},
    {"Pa", 1.0, PRESSURE},
    {"hPa", 1e2, PRESSURE},
    {"kPa", 1e3, PRESSURE},
    {"MPa", 1e6, PRESSURE},
    {"GPa", 1e9, PRESSURE},
    {"mbar", 1e2, PRESSURE},
    {"bar", 1e5, PRESSURE},
    {"kbar", 1e8, PRESSURE},
    {"atm", ATMOSPHERE, PRESSURE},
    {"N", 1.0, FORCE},
    {"nN", 1e-9, FORCE},
    {"pN", 1e-12, FORCE},
    {"dyn", 1e-5, FORCE},
    {"P", 0.1, VISCOSITY},
    {"cP", 1e-3, VISCOSITY},
    {"e", ELEMENTARY_CHARGE, CHARGE},
    {"C", 1.0, CHARGE},
    {"mol", AVOGADRO, DIM_AMOUNT},
    {"mmol", 1e-3 * AVOGADRO, DIM_AMOUNT},
    {"Hz", 1.0, RATE},
    {"kHz", 1e3, RATE},
    {"MHz", 1e6, RATE},
    {"GHz", 1e9, RATE},
    {"THz", 1e12, RATE},
};

/* A system's units. The base units are not coherent: energy, pressure and the
 * rest have units of their own, as in LAMMPS ("units" in its manual). */
struct system_units {
    const char *name;
    const char *mass, *length, *time, *temperature, *charge;
    const char *energy, *pressure, *viscosity, *density;
};

static const struct system_units system_table[] = {
    {"lj", "", "", "", "", "", "", "", "", ""},
    {"metal", "g/mol", "Angstrom", "ps", "K", "e", "eV", "bar", "P", "g/cm^3"},
    {"real", "g/mol", "Angstrom", "fs", "K", "e", "kcal/mol", "atm", "P",
     "g/cm^3"},
    {"si", "kg", "m", "s", "K", "C", "J", "Pa", "", ""},
};

enum { SYSTEM_COUNT = sizeof system_table / sizeof system_table[0] };

/* mvv_to_energy: (g/mol)(angstrom/ps)^2 in eV and (g/mol)(angstrom/fs)^2 in
 * kcal/mol; LAMMPS's own table (update.cpp) has the values of CODATA 1986 to
 * 2006, which agree to about 2e-6. */
#define METAL_MVV (1e-3 / AVOGADRO * 1e4 / ELEMENTARY_CHARGE)
#define REAL_MVV (1e-3 * 1e10 / (1e3 * CALORIE))

static const struct unit_constants constants_table[] = {
    {1.0, 1.0, 1.0, 1.0},
    {BOLTZMANN / ELEMENTARY_CHARGE, METAL_MVV, 1.0 / METAL_MVV,
     ELEMENTARY_CHARGE / 1e-30 / 1e5},
    {BOLTZMANN * AVOGADRO / (1e3 * CALORIE), REAL_MVV, 1.0 / REAL_MVV,
     1e3 * CALORIE / AVOGADRO / 1e-30 / ATMOSPHERE},
    {BOLTZMANN, 1.0, 1.0, 1.0},
};

const struct unit_constants *unit_constants(enum unit_system system)
{
    return &constants_table[system];
}

const char *unit_system_name(enum unit_system system)
{
    return system_table[system].name;
}

int unit_system_parse(const char *name, enum unit_system *system)
{
    for (int i = 0; i < SYSTEM_COUNT; i++)
        if (strcmp(name, system_table[i].name) == 0) {
            *system = (enum unit_system)i;
            return 0;
        }
    return -1;
}

static int same_dimension(struct dimension a, struct dimension b)
{
    return a.mass == b.mass && a.length == b.length && a.time == b.time &&
           a.temperature == b.temperature && a.charge == b.charge &&
           a.amount == b.amount;
}

/* ---- names ---- */

static void append(char *buf, size_t size, const char *text)
{
    size_t used = strlen(buf);
    if (used + 1 < size)
        snprintf(buf + used, size - used, "%s", text);
}

static void append_power(char *buf, size_t size, const char *unit, int power)
{
    char text[48];

    if (power == 0 || unit[0] == '\0')
        return;
    if (buf[0] != '\0')
        append(buf, size, " ");
    if (power == 1)
        snprintf(text, sizeof text, "%s", unit);
    else if (strcmp(unit, "g/mol") == 0)
        snprintf(text, sizeof text, "g%d mol%d", power, -power);
    else
        snprintf(text, sizeof text, "%s%d", unit, power);
    append(buf, size, text);
}

/* Products are written as H5MD has them, "Angstrom ps-1". */
const char *unit_name(enum unit_system system, struct dimension dim, char *buf,
                      size_t size)
{
    const struct system_units *s = &system_table[system];

    buf[0] = '\0';
    if (system == UNITS_LJ)
        return buf;
    if (same_dimension(dim, DIM_PRESSURE)) {
        append(buf, size, s->pressure);
        return buf;
    }
    if (same_dimension(dim, (struct dimension)VISCOSITY) && s->viscosity[0]) {
        append(buf, size, s->viscosity);
        return buf;
    }
    if (same_dimension(dim, DIM_DENSITY) && s->density[0]) {
        append(buf, size, s->density);
        return buf;
    }
    if (same_dimension(dim, DIM_FORCE) && system == UNITS_SI) {
        append(buf, size, "N");
        return buf;
    }
    if (dim.mass == 1 && dim.time == -2) {
        int rest = dim.length - 2 || dim.temperature || dim.charge;
        append(buf, size,
               rest && system == UNITS_REAL ? "kcal mol-1" : s->energy);
        dim.mass = dim.time = 0;
        dim.length = (signed char)(dim.length - 2);
    }
    append_power(buf, size, s->mass, dim.mass);
    append_power(buf, size, s->length, dim.length);
    append_power(buf, size, s->time, dim.time);
    append_power(buf, size, s->temperature, dim.temperature);
    append_power(buf, size, s->charge, dim.charge);
    append_power(buf, size, "mol", dim.amount);
    return buf;
}

/* ---- parsing ---- */

enum { EXPONENT_MAX = 9, FACTORS_MAX = 12 };

struct parsed_unit {
    double si;
    int exponents[6];
};

static const struct unit *find_unit(const char *name, size_t length)
{
    size_t n = sizeof unit_table / sizeof unit_table[0];

    for (size_t i = 0; i < n; i++)
        if (strlen(unit_table[i].name) == length &&
            memcmp(unit_table[i].name, name, length) == 0)
            return &unit_table[i];
    return NULL;
}

static void multiply(struct parsed_unit *u, const struct unit *unit, int power)
{
    const struct dimension *d = &unit->dim;
    const int e[6] = {d->mass,        d->length, d->time,
                      d->temperature, d->charge, d->amount};

    for (int i = 0; i < 6; i++)
        u->exponents[i] += power * e[i];
    u->si *= pow(unit->si, power);
}

static size_t name_length(const char *s)
{
    size_t n = 0;

    while (isalpha((unsigned char)s[n]) || (unsigned char)s[n] >= 0x80)
        n++;
    return n;
}

/* "^3", "^-3", "-3" or "3" behind a unit's name; 1 where there is none. */
static const char *parse_exponent(const char *s, int *power)
{
    int sign = 1;
    const char *digits = s;

    *power = 1;
    if (*digits == '^')
        digits++;
    if (*digits == '-' || *digits == '+')
        sign = *digits++ == '-' ? -1 : 1;
    if (!isdigit((unsigned char)*digits))
        return digits == s ? s : NULL;
    if (isdigit((unsigned char)digits[1]))
        return NULL;
    *power = sign * (*digits - '0');
    return digits + 1;
}

static const char *skip_blanks(const char *s)
{
    while (*s == ' ' || *s == '\t')
        s++;
    return s;
}

/* The text after the number: factor {("*" | "/" | blank) factor}, where a
 * factor is a unit with an exponent, or 1. */
static int parse_unit(const char *text, struct parsed_unit *u, char *why,
                      size_t why_size)
{
    const char *s = skip_blanks(text);
    int divide = 0;

    *u = (struct parsed_unit){.si = 1.0};
    if (*s == '/') { /* "0.5 /ps" */
        divide = 1;
        s = skip_blanks(s + 1);
    }
    for (int factor = 0; factor < FACTORS_MAX; factor++) {
        size_t length = name_length(s);
        int power = 1;

        if (length > 0) {
            const struct unit *unit = find_unit(s, length);
            if (unit == NULL) {
                snprintf(why, why_size, "unknown unit '%.*s'",
                         length < 32 ? (int)length : 32, s);
                return -1;
            }
            s = parse_exponent(s + length, &power);
            if (s == NULL) {
                snprintf(why, why_size,
                         "bad exponent in the unit (one digit, as in nm^3)");
                return -1;
            }
            multiply(u, unit, divide ? -power : power);
        } else if (*s == '1' && !isdigit((unsigned char)s[1])) {
            s++;
        } else {
            snprintf(why, why_size, "cannot read the unit at '%.16s'", s);
            return -1;
        }
        s = skip_blanks(s);
        if (*s == '\0')
            return 0;
        divide = *s == '/';
        if (*s == '/' || *s == '*')
            s = skip_blanks(s + 1);
    }
    snprintf(why, why_size, "a unit of too many factors");
    return -1;
}

/* What one unit of `dim` in the system is in SI. */
static double system_si(enum unit_system system, struct dimension dim)
{
    char name[96], why[96];
    struct parsed_unit u;

    unit_name(system, dim, name, sizeof name);
    if (name[0] == '\0' || parse_unit(name, &u, why, sizeof why) != 0)
        return 1.0;
    return u.si;
}

/* Amount of substance is a count: "g/mol" is a mass, "kcal/mol" an energy,
 * "mol/L" a number density, unless the key asks for moles. */
static int amount_matches(int amount, struct dimension dim)
{
    if (amount == dim.amount)
        return 1;
    if (dim.amount != 0)
        return 0;
    return dim.mass != 0 ? amount == -dim.mass
                         : amount == 1 && dim.length == -3;
}

static int matches(const struct parsed_unit *u, struct dimension dim)
{
    return u->exponents[0] == dim.mass && u->exponents[1] == dim.length &&
           u->exponents[2] == dim.time && u->exponents[3] == dim.temperature &&
           u->exponents[4] == dim.charge &&
           amount_matches(u->exponents[5], dim);
}

static const char *example_unit(enum unit_system system, struct dimension dim,
                                char *buf, size_t size)
{
    unit_name(system, dim, buf, size);
    return buf[0] != '\0' ? buf : "no unit";
}

static int wrong_dimension(const char *unit, enum unit_system system,
                           struct dimension dim, char *why, size_t why_size)
{
    char name[96];

    snprintf(why, why_size, "'%.32s' is the wrong kind of unit here; use %s",
             skip_blanks(unit), example_unit(system, dim, name, sizeof name));
    return -1;
}

/* What would be 0 of a unit "x...". */
static int is_hexadecimal(const char *number)
{
    const char *s = number + (*number == '-' || *number == '+');
    return s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
}

int unit_parse_quantity(const char *text, enum unit_system system,
                        struct dimension dim, double *value, char *why,
                        size_t why_size)
{
    struct parsed_unit u;
    double number;
    const char *start = skip_blanks(text), *wrong;
    size_t length = numeral_length(start);
    const char *unit = start + length;

    if (length == 0 || is_hexadecimal(start)) {
        snprintf(why, why_size, "expected a number%s, got the text \"%.40s\"",
                 same_dimension(dim, DIM_NONE) || system == UNITS_LJ
                     ? ""
                     : " or a quoted quantity with its unit",
                 text);
        return -1;
    }
    wrong = numeral_real(start, length, &number);
    if (wrong != NULL) {
        snprintf(why, why_size, "'%.*s' %s", length < 40 ? (int)length : 40,
                 start, wrong);
        return -1;
    }
    if (*skip_blanks(unit) == '\0') {
        snprintf(why, why_size, "write the number without quotes");
        return -1;
    }
    if (system == UNITS_LJ) {
        snprintf(why, why_size,
                 "a unit has no meaning with run.units = \"lj\"; bare numbers "
                 "are in reduced units");
        return -1;
    }
    if (same_dimension(dim, DIM_NONE)) {
        snprintf(why, why_size, "this number has no unit");
        return -1;
    }
    if (parse_unit(unit, &u, why, why_size) != 0)
        return -1;
    if (!matches(&u, dim))
        return wrong_dimension(unit, system, dim, why, why_size);
    *value = number * (u.si / system_si(system, dim));
    if (!(fabs(*value) <= NUMERAL_MOST)) {
        snprintf(why, why_size, "the value is too large");
        return -1;
    }
    return 0;
}
