#include "molecules.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

enum { SIDE = 3, MOLECULES = SIDE * SIDE * SIDE };
enum { CHAIN = 6, ATOMS = CHAIN * MOLECULES };
/* Of the lattices: molecules of six, groups of up to four. */
static const double CHAIN_STEP = 5.2, BODY_STEP = 4.2;

/* Numbers in [-1, 1), the same everywhere. */
static double shake(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / 8388608.0 - 1;
}

/* A turned and shaken copy of a molecule in cell m of a lattice. */
static void put_molecule(uint32_t *random, double step, int m, int n,
                         const double shape[][3], double spread, double x[][3])
{
    double axis[3], angle = 3.1 * shake(random), norm = 0;
    double cell[3] = {m % SIDE, m / SIDE % SIDE, m / SIDE / SIDE};
    for (int d = 0; d < 3; d++)
        axis[d] = shake(random) + 0.01;
    norm = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    for (int k = 0; k < n; k++) {
        const double *p = shape[k];
        double along =
            (axis[0] * p[0] + axis[1] * p[1] + axis[2] * p[2]) / norm / norm;
        double across[3] = {axis[1] * p[2] - axis[2] * p[1],
                            axis[2] * p[0] - axis[0] * p[2],
                            axis[0] * p[1] - axis[1] * p[0]};
        for (int d = 0; d < 3; d++)
            x[k][d] = axis[d] * along + cos(angle) * (p[d] - axis[d] * along) +
                      sin(angle) * across[d] / norm + (cell[d] + 0.45) * step +
                      spread * shake(random);
    }
}

/* The head of a data file; NULL where it cannot be written. */
static FILE *begin_file(const char *path, double step, const char *counts)
{
    FILE *f = fopen(path, "w");
    if (f)
        fprintf(f,
                "molecules\n\n%s\n0 %g xlo xhi\n0 %g ylo yhi\n0 %g zlo zhi\n\n",
                counts, SIDE * step, SIDE * step, SIDE * step);
    return f;
}

static void put_place(FILE *f, int charged, double charge, const double x[3])
{
    if (charged)
        fprintf(f, "%.17g ", charge);
    fprintf(f, "%.17g %.17g %.17g\n", x[0], x[1], x[2]);
}

/* Terms of a kind: `each` of a molecule of six, of n_types types in turn. */
static void write_terms(FILE *f, const char *title, int size, int each,
                        int n_types, const int places[][4])
{
    fprintf(f, "\n%s\n\n", title);
    for (int k = 0; k < each * MOLECULES; k++) {
        fprintf(f, "%d %d", k + 1, k % n_types + 1);
        for (int e = 0; e < size; e++)
            fprintf(f, " %d", k / each * CHAIN + 1 + places[k % each][e]);
        fprintf(f, "\n");
    }
}

int molecules_write_chains(const char *path, int backwards, int charged)
{
    static const double shape[CHAIN][3] = {{-2, -0.1, 0}, {-1, 0.45, 0.1},
                                           {0, 0, -0.1},  {1, 0.5, 0.2},
                                           {2, 0, 0},     {0.1, -0.9, 0.6}};
    static const int bonds[][4] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {2, 5}};
    static const int angles[][4] = {{0, 1, 2}, {1, 2, 3}, {2, 3, 4}, {1, 2, 5}};
    static const int dihedrals[][4] = {
        {0, 1, 2, 3}, {1, 2, 3, 4}, {0, 1, 2, 5}, {5, 2, 3, 4}, {4, 3, 2, 5}};
    static const int impropers[][4] = {{2, 1, 3, 5}};
    static const double charge[CHAIN] = {0.4, -0.3, 0.2, -0.5, 0.6, -0.4};
    double x[ATOMS][3];
    char counts[256];
    uint32_t random = 7;
    for (int m = 0; m < MOLECULES; m++)
        put_molecule(&random, CHAIN_STEP, m, CHAIN, shape, 0.05, x + CHAIN * m);
    snprintf(counts, sizeof counts,
             "%d atoms\n%d bonds\n%d angles\n%d dihedrals\n%d impropers\n"
             "2 atom types\n3 bond types\n3 angle types\n4 dihedral types\n"
             "3 improper types\n",
             ATOMS, 5 * MOLECULES, 4 * MOLECULES, 5 * MOLECULES, MOLECULES);
    FILE *f = begin_file(path, CHAIN_STEP, counts);
    if (!f)
        return -1;
    fprintf(f, "Masses\n\n1 1.0 # C\n2 2.5 # D\n\nAtoms # %s\n\n",
            charged ? "full" : "molecular");
    for (int k = 0; k < ATOMS; k++) {
        int i = backwards ? ATOMS - 1 - k : k;
        fprintf(f, "%d %d %d ", i + 1, i / CHAIN + 1, i % CHAIN == 5 ? 2 : 1);
        put_place(f, charged, charge[i % CHAIN], x[i]);
    }
    write_terms(f, "Bonds", 2, 5, 3, bonds);
    write_terms(f, "Angles", 3, 4, 3, angles);
    write_terms(f, "Dihedrals", 4, 5, 4, dihedrals);
    write_terms(f, "Impropers", 4, 1, 3, impropers);
    return fclose(f);
}

int molecules_write_bodies(const char *path, int charged)
{
    static const double r = 1.09, s = 0.81649658092772603,
                        c = 0.57735026918962573;
    static const int sizes[4] = {2, 3, 3, 4};
    static double x[4 * MOLECULES][3];
    int kind[4 * MOLECULES], first[MOLECULES + 1];
    uint32_t random = 11;
    int n = 0, bonds = 0, angles = 0;
    for (int m = 0; m < MOLECULES; m++) {
        int water = m % 4 == 2, size = sizes[m % 4];
        double length = water ? 1.0 : r;
        double shape[4][3] = {{0, 0, 0},
                              {s * length, 0, c * length},
                              {-s * length, 0, c * length},
                              {0, 0.9 * r, -0.43588989435406735 * r}};
        put_molecule(&random, BODY_STEP, m, size, shape, 0.002, x + n);
        first[m] = n;
        for (int k = 0; k < size; k++)
            kind[n++] = k > 0 ? 2 : water ? 1 : 3;
        bonds += size - 1;
        angles += size == 3;
    }
    first[MOLECULES] = n;
    char counts[512];
    snprintf(counts, sizeof counts,
             "%d atoms\n%d bonds\n%d angles\n3 atom types\n2 bond types\n"
             "2 angle types\n",
             n, bonds, angles);
    FILE *f = begin_file(path, BODY_STEP, counts);
    if (!f)
        return -1;
    fprintf(f,
            "Masses\n\n1 16 # O\n2 1 # H\n3 12 # C\n\n"
            "Bond Coeffs # harmonic\n\n1 450 1.0\n2 450 1.09\n\n"
            "Angle Coeffs # harmonic\n\n1 55 109.47\n2 40 110\n\n"
            "Atoms # %s\n\n",
            charged ? "full" : "molecular");
    for (int m = 0; m < MOLECULES; m++)
        for (int i = first[m]; i < first[m + 1]; i++) {
            double q = kind[i] == 2 ? 0.41 : -0.41 * (sizes[m % 4] - 1);
            fprintf(f, "%d %d %d ", i + 1, m + 1, kind[i]);
            put_place(f, charged, q, x[i]);
        }
    fprintf(f, "\nBonds\n\n");
    for (int m = 0, k = 1; m < MOLECULES; m++)
        for (int i = first[m] + 1; i < first[m + 1]; i++, k++)
            fprintf(f, "%d %d %d %d\n", k, m % 4 == 2 ? 1 : 2, first[m] + 1,
                    i + 1);
    fprintf(f, "\nAngles\n\n");
    for (int m = 0, k = 1; m < MOLECULES; m++)
        if (first[m + 1] - first[m] == 3) {
            fprintf(f, "%d %d %d %d %d\n", k++, m % 4 == 2 ? 1 : 2,
                    first[m] + 2, first[m] + 1, first[m] + 3);
        }
    return fclose(f);
}
