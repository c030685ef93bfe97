/* Files that particles, topologies and tables come from, changed at random: cut
 * off at each tenth, with flipped bits, other numbers, pieces that are gone or
 * stand twice, other ends of lines. Whatever stands in one, the readers neither
 * crash nor hang; they take it, and a step can be tried, or say why not and
 * where.
 *
 * The numbers are fixed, so that a failure can be repeated; it prints the
 * number of its change. Usage: t_fuzz_files [CHANGES [SEED]] */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "md_case.h"
#include "tests/fuzz.h"
#include "tests/tap.h"

enum { FILES_MAX = 3 };

/* ---- what is read ---- */

struct source {
    const char *name, *deck;
    const char *file[FILES_MAX]; /* which are changed */
    char *text[FILES_MAX];
};

#define HEAD                                                      \
    "[run]\nsolver = \"md\"\n[md]\nsteps = 1\ntimestep = 0.001\n" \
    "[md.initial]\n"
#define TWO                                    \
    "[[md.species]]\nname = \"A\"\nmass = 1\n" \
    "[[md.species]]\nname = \"B\"\nmass = 2\n"
#define PAIRS                                                           \
    "[[md.pair.coefficients]]\nspecies = [\"A\", \"A\"]\nepsilon = 1\n" \
    "sigma = 0.9\n[[md.pair.coefficients]]\nspecies = [\"B\", \"B\"]\n" \
    "epsilon = 0.5\nsigma = 1\n"

static struct source sources[] = {
    {"a LAMMPS data file",
     HEAD "read = \"fuzz.data\"\n[md.pair]\ncutoff = 2.5\n" PAIRS
          "[md.coulomb]\nmethod = \"dsf\"\n[md.bonds]\n"
          "special_lj = [0, 0, 0.5]\n",
     {"fuzz.data"},
     {NULL}},
    {"a table of extended XYZ",
     HEAD "read = \"fuzz.xyz\"\n" TWO "[md.pair]\ncutoff = 2.5\n" PAIRS
          "[md.coulomb]\nmethod = \"dsf\"\n",
     {"fuzz.xyz"},
     {NULL}},
    {"GROMACS's files",
     "[run]\nsolver = \"md\"\nunits = \"real\"\n[md]\nsteps = 1\n"
     "timestep = \"1 fs\"\n[md.initial]\nread = \"fuzz.gro\"\n"
     "topology = \"fuzz.top\"\noverlap = 0\n[md.pair]\ncutoff = \"0.8 nm\"\n"
     "[md.coulomb]\nmethod = \"cut\"\n",
     {"fuzz.gro", "fuzz.top", "fuzz.itp"},
     {NULL}},
    {"a table of pairs",
     HEAD "lattice = \"fcc\"\ncells = [4, 4, 4]\ndensity = 0.8\n"
          "overlap = 0\n[[md.species]]\nname = \"A\"\n[md.pair]\n"
          "cutoff = 2.5\n[[md.pair.coefficients]]\nspecies = [\"A\", \"A\"]\n"
          "style = \"table\"\nfile = \"fuzz.table\"\nkeyword = \"LJ\"\n",
     {"fuzz.table"},
     {NULL}},
    {"a setfl file",
     "[run]\nsolver = \"md\"\nunits = \"metal\"\n[md]\nsteps = 1\n"
     "timestep = \"1 fs\"\n[md.initial]\nlattice = \"fcc\"\n"
     "cells = [4, 4, 4]\nlattice_constant = 3.6\n[[md.species]]\n"
     "name = \"Cu\"\nmass = 63.5\n[md.pair]\nstyle = \"eam/alloy\"\n"
     "file = \"fuzz.alloy\"\n",
     {"fuzz.alloy"},
     {NULL}},
    {"a funcfl file",
     "[run]\nsolver = \"md\"\nunits = \"metal\"\n[md]\nsteps = 1\n"
     "timestep = \"1 fs\"\n[md.initial]\nlattice = \"fcc\"\n"
     "cells = [4, 4, 4]\nlattice_constant = 3.6\n[[md.species]]\n"
     "name = \"Cu\"\nmass = 63.5\npotential = \"fuzz.eam\"\n[md.pair]\n"
     "style = \"eam\"\n",
     {"fuzz.eam"},
     {NULL}},
};

/* ---- the files as they should be ---- */

static void add(char *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add(char *text, const char *format, ...)
{
    size_t n = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + n, TEXT_MAX / 2 - n, format, args);
    va_end(args);
}

/* Eight chains of four in a box of 9, each in its corner. */
static void place(int i, double x[3])
{
    static const double chain[4][3] = {
        {0, 0, 0}, {1, 0.4, 0.1}, {2, 0, 0}, {2.9, 0.5, 0.3}};
    for (int d = 0; d < 3; d++)
        x[d] = 0.5 + 4.5 * (i / 4 >> d & 1) + chain[i % 4][d];
}

static void make_data(char *text)
{
    double x[3];
    add(text,
        "chains\n\n32 atoms\n24 bonds\n16 angles\n8 dihedrals\n"
        "8 impropers\n2 atom types\n1 bond types\n1 angle types\n"
        "1 dihedral types\n1 improper types\n\n0 9 xlo xhi\n0 9 ylo yhi\n"
        "0 9 zlo zhi\n0.0 0.5 0 xy xz yz\n\nMasses\n\n1 1 # A\n2 2 # B\n\n"
        "Bond Coeffs # harmonic\n\n1 100 1.1\n\nAngle Coeffs # charmm\n\n"
        "1 40 125 5 2.1\n\nDihedral Coeffs # opls\n\n1 1.3 -0.3 0.6 0.1\n\n"
        "Improper Coeffs # harmonic\n\n1 8 20\n\nAtoms # full\n\n");
    for (int i = 31; i >= 0; i--) {
        place(i, x);
        add(text, "%d %d %d %g %g %g %g 0 -1 0\n", i + 1, i / 4 + 1,
            1 + i % 4 / 3, i % 2 ? 0.3 : -0.3, x[0], x[1], x[2]);
    }
    add(text, "\nVelocities\n\n");
    for (int i = 0; i < 32; i++)
        add(text, "%d 0.1 -0.2 0.%d\n", i + 1, i);
    add(text, "\nBonds\n\n");
    for (int i = 0; i < 24; i++)
        add(text, "%d 1 %d %d\n", i + 1, i / 3 * 4 + i % 3 + 1,
            i / 3 * 4 + i % 3 + 2);
    add(text, "\nAngles\n\n");
    for (int i = 0; i < 16; i++)
        add(text, "%d 1 %d %d %d\n", i + 1, i / 2 * 4 + i % 2 + 1,
            i / 2 * 4 + i % 2 + 2, i / 2 * 4 + i % 2 + 3);
    for (int k = 0; k < 2; k++) {
        add(text, "\n%s\n\n", k ? "Impropers" : "Dihedrals");
        for (int i = 0; i < 8; i++)
            add(text, "%d 1 %d %d %d %d\n", i + 1, 4 * i + 1, 4 * i + 2,
                4 * i + 3, 4 * i + 4);
    }
}

static void make_xyz(char *text)
{
    double x[3];
    add(text, "32\nLattice=\"9 0 0 0.5 9 0 0 0 9\" pbc=\"T T T\" time=0.5 "
              "Properties=id:I:1:species:S:1:pos:R:3:velo:R:3:charge:R:1:"
              "mass:R:1:other:S:2\n");
    for (int i = 0; i < 32; i++) {
        place(i, x);
        add(text, "%d %s %g %g %g 0.1 0.2 -0.3 0.25 %d a %d\n", 32 - i,
            i % 3 ? "A" : "B", x[0], x[1], x[2], i % 3 ? 1 : 2, i);
    }
}

static void make_gro(char *text)
{
    static const char *const names[] = {"C1", "C2", "C3", "N4"};
    double x[3];
    add(text, "chains\n35\n");
    for (int i = 0; i < 32; i++) {
        place(i, x);
        add(text, "%5d%-5s%5s%5d%8.3f%8.3f%8.3f%8.4f%8.4f%8.4f\n", i / 4 + 1,
            "CHN", names[i % 4], i + 1, 0.3 * x[0], 0.3 * x[1], 0.3 * x[2], 0.1,
            -0.2, 0.3);
    }
    for (int i = 0; i < 3; i++)
        add(text, "%5d%-5s%5s%5d%8.3f%8.3f%8.3f%8.4f%8.4f%8.4f\n", 9, "SOL",
            i == 0   ? "OW"
            : i == 1 ? "HW1"
                     : "HW2",
            33 + i,
            1.2 + (i == 1   ? 0.0816
                   : i == 2 ? -0.0816
                            : 0),
            i > 0 ? 0.6577 : 0.6, 1.2, 0.0, 0.0, 0.0);
    add(text, "%10.5f%10.5f%10.5f\n", 2.7, 2.7, 2.7);
}

static void make_top(char *text)
{
    add(text,
        "; chains\n#include \"fuzz.itp\"\n#define spring 1 0.33 20000\n"
        "[ moleculetype ]\nCHN 3\n[ atoms ]\n1 CT 1 CHN C1 1 0.1\n"
        "2 CT 1 CHN C2 1 -0.2\n3 CT 1 CHN C3 1 0.35 12.5\n"
        "4 N3 1 CHN N4 2 -0.25\n[ bonds ]\n1 2 spring\n2 3 1\n3 4 1\n"
        "[ angles ]\n1 2 3 1\n2 3 4 5\n[ dihedrals ]\n1 2 3 4 9\n2 3 4 1 4\n"
        "[ pairs ]\n1 4 1\n[ exclusions ]\n1 4\n"
        "#ifndef FLEXIBLE\n[ moleculetype ]\nSOL 2\n[ atoms ]\n"
        "1 OW 1 SOL OW 1 -0.8476\n2 HW 1 SOL HW1 1 0.4238 1.008\n"
        "3 HW 1 SOL HW2 1 0.4238 1.008\n[ settles ]\n1 1 0.1 0.1633\n"
        "[ exclusions ]\n1 2 3\n2 1 3\n3 1 2\n#else\n[ nothing ]\n#endif\n"
        "[ system ]\nchains \\\nand water\n[ molecules ]\nCHN 8\nSOL 1\n");
}

static void make_itp(char *text)
{
    add(text,
        "* a comment\n[ defaults ]\n1 2 yes 0.5 0.8333\n[ atomtypes ]\n"
        "CT 6 12.01 0.0 A 3.39967e-01 4.57730e-01\n"
        "N3 7 14.01 0.0 A 3.25000e-01 7.11280e-01 ; nitrogen\n"
        "OW 15.9994 0.0 A 0.316557 0.650194\nHW 1.008 0.0 A 0 0\n"
        "[ nonbond_params ]\nN3 OW 1 0.31 0.9\n[ pairtypes ]\n"
        "CT N3 1 0.3385 0.04184\n#define turn 0.0 0.65084 3\n[ bondtypes ]\n"
        "CT CT 1 0.33 224262.4\nCT N3 1 0.3448 319657.6\n[ angletypes ]\n"
        "CT CT CT 1 112.7 488.273\nCT CT N3 5 110.0 566.5136 0.25 1.0\n"
        "[ dihedraltypes ]\nX CT CT X 9 turn\nCT CT CT N3 9 180.0 0.8368 1\n"
        "CT CT CT N3 9 180.0 1.0460 2\nCT X X CT 4 180.0 43.9 2\n");
}

static void make_table(char *text)
{
    add(text, "# of pairs\n\nOTHER\nN 2\n\n1 1 0 0\n2 3 0 0\n\n"
              "LJ\nN 60 R 0.6 2.6 FPRIME -1e5 0\n\n");
    for (int k = 0; k < 60; k++) {
        double r = 0.6 + 2.0 * k / 59, s = 1 / (r * r * r * r * r * r);
        add(text, "%d %.9g %.12g %.12g\n", k + 1, r, 4 * (s * s - s),
            (48 * s * s - 24 * s) / r);
    }
}

/* Tables of n numbers, some in a line. */
static void add_rows(char *text, int n, double first, double rate)
{
    double v = first;
    for (int k = 0; k < n; k++, v *= rate)
        add(text, "%.9g%s", v, k % 5 == 4 || k == n - 1 ? "\n" : " ");
}

static void make_alloy(char *text)
{
    add(text, "made by a test\n\n\n2 Cu Ni\n20 0.5 50 0.1 4.9\n");
    for (int e = 0; e < 2; e++) {
        add(text, "29 63.5 3.6 fcc\n");
        add_rows(text, 20, -1, 1.05);
        add_rows(text, 50, 1, 0.8);
    }
    for (int k = 0; k < 3; k++)
        add_rows(text, 50, 2, 0.8);
}

static void make_eam(char *text)
{
    add(text, "made by a test\n29 63.5 3.6 fcc\n20 0.5 50 0.1 4.9\n");
    add_rows(text, 20, -1, 1.05);
    add_rows(text, 50, 2, 0.9);
    add_rows(text, 50, 1, 0.8);
}

static void (*const makers[][FILES_MAX])(char *) = {
    {make_data},  {make_xyz},   {make_gro, make_top, make_itp},
    {make_table}, {make_alloy}, {make_eam}};

/* ---- changes ---- */

static const char *const words[] = {"nan",
                                    "-inf",
                                    "0",
                                    "-1",
                                    "1",
                                    "2",
                                    "1e300",
                                    "-1e308",
                                    "1e-320",
                                    "3.5",
                                    "1e9",
                                    "x",
                                    "\"",
                                    "#",
                                    ";",
                                    "",
                                    "2147483648",
                                    "999",
                                    "1e999",
                                    "\\",
                                    "[ x ]",
                                    "\x80\xff",
                                    "-0.0",
                                    "99999999999999999999",
                                    "9223372036854775807",
                                    "4294967296",
                                    "1000000000",
                                    "#include \"fuzz.top\"",
                                    "#ifdef A",
                                    "LJ",
                                    "N",
                                    "RSQ",
                                    "10000000"};

/* The start of a line or word near `at`. */
static size_t back_to(const char *text, size_t at, const char *stop)
{
    while (at > 0 && !strchr(stop, text[at - 1]))
        at--;
    return at;
}

static size_t until(const char *text, size_t length, size_t at,
                    const char *stop)
{
    while (at < length && !strchr(stop, text[at]))
        at++;
    return at;
}

static size_t change(char *text, size_t length, uint64_t *state)
{
    char piece[512];
    size_t at = below(state, length), start, end, n;
    const char *word = words[below(state, sizeof words / sizeof words[0])];
    switch (below(state, 8)) {
    case 0: /* one bit */
        text[at] = (char)(text[at] ^ (1 << below(state, 8)));
        return length;
    case 1: /* a line goes, or stands somewhere else as well */
    case 2:
        start = back_to(text, at, "\n");
        end = until(text, length, start, "\n");
        end += end < length;
        n = end - start < sizeof piece ? end - start : sizeof piece;
        memcpy(piece, text + start, n);
        if (below(state, 2))
            length = splice(text, length, start, n, "", 0);
        if (below(state, 2))
            return length;
        start = back_to(text, below(state, length + 1), "\n");
        return splice(text, length, start, 0, piece, n);
    case 3: /* a piece goes */
        n = below(state, length - at < 40 ? length - at + 1 : 40);
        return splice(text, length, at, n, "", 0);
    default: /* another word in a word's place */
        start = back_to(text, at, " \t\n:");
        end = until(text, length, start, " \t\n:");
        return splice(text, length, start, end - start, word, strlen(word));
    }
}

/* Every tab or end of line in another way. */
static size_t other_blanks(char *text, size_t length, const char *from,
                           const char *to)
{
    for (size_t at = 0; (at = until(text, length, at, from)) < length;
         at += strlen(to))
        length = splice(text, length, at, 1, to, strlen(to));
    return length;
}

/* ---- one file ---- */

static int write_file(const char *name, const char *text, size_t n)
{
    FILE *f = fopen(name, "wb");
    if (!f)
        return -1;
    size_t written = fwrite(text, 1, n, f);
    return fclose(f) != 0 || written != n ? -1 : 0;
}

static char last[500]; /* what the last one said */

/* Read it and go a step: 0 where that went well, 1 where what was said has a
 * place or a particle, -1 where something is amiss. */
static int try_it(struct ctx *ctx, const struct source *s)
{
    struct md_case c;
    int status = case_open(ctx, &c, NULL, "%s", s->deck), good = 1;
    if (status == 0)
        status = case_steps(&c, 1);
    const char *said = ctx->error.text;
    if (status == STATUS_INPUT)
        good = strstr(said, "fuzz.") != NULL || strstr(said, "particles ");
    else if (status != 0)
        good = status != STATUS_INTERNAL && said[0] != '\0';
    if (!good)
        tap_note("status %d: %s", status, said);
    snprintf(last, sizeof last, "%.400s", status != 0 ? said : "");
    case_close(&c);
    return good ? status != 0 : -1;
}

/* A text in place of file k; the others are as they should be. */
static int with_file(struct ctx *ctx, const struct source *s, int k,
                     const char *text, size_t n)
{
    if (write_file(s->file[k], text, n) != 0)
        return -1;
    int result = try_it(ctx, s);
    return write_file(s->file[k], s->text[k], strlen(s->text[k])) ? -1 : result;
}

static void check_source(struct ctx *ctx, const struct source *s,
                         long n_changes, uint64_t *state)
{
    static char text[TEXT_MAX];
    int bad = 0, files = 0;
    long taken = 0;
    while (files < FILES_MAX && s->file[files])
        files++;
    tap_is_int(try_it(ctx, s), 0, "%s is read as it should be", s->name);
    if (last[0] != '\0')
        tap_note("%s", last);
    for (int k = 0; k < files; k++) {
        size_t whole = strlen(s->text[k]), n;
        for (size_t tenth = 0; tenth < 10; tenth++)
            if (with_file(ctx, s, k, s->text[k], whole * tenth / 10) != 1) {
                bad++;
                tap_note("%s up to %zu tenths", s->file[k], tenth);
            }
        for (int way = 0; way < 2; way++) {
            memcpy(text, s->text[k], whole);
            n = other_blanks(text, whole, way ? "\n" : " ",
                             way ? "\r\n" : "\t");
            /* The columns of a .gro file are blanks. */
            int fixed = !way && strcmp(s->file[k], "fuzz.gro") == 0;
            if (!fixed && with_file(ctx, s, k, text, n) != 0) {
                bad++;
                tap_note("%s with %s", s->file[k], way ? "CRLF" : "tabs");
            }
        }
    }
    tap_is_int(bad, 0,
               "cut off at each tenth it is refused; tabs and CRLF change "
               "nothing");
    for (long i = bad = 0; i < n_changes && bad < 5; i++) {
        int k = (int)below(state, (size_t)files), result;
        size_t n = strlen(s->text[k]), changes = 1 + below(state, 3);
        memcpy(text, s->text[k], n);
        while (changes-- > 0 && n > 0)
            n = change(text, n, state);
        result = with_file(ctx, s, k, text, n);
        if (result < 0) {
            bad++;
            tap_note("change %ld of %s", i, s->file[k]);
        }
        taken += result == 0;
    }
    tap_is_int(bad, 0,
               "changed in %ld ways it is taken (%ld) or refused with a place",
               n_changes, taken);
}

int main(int argc, char **argv)
{
    struct ctx ctx;
    long n_changes = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
    uint64_t state = fuzz_state;
    if (argc > 2)
        state += strtoull(argv[2], NULL, 10);
    if (test_start(&argc, &argv, &ctx) != 0)
        return 99;
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        struct source *s = &sources[i];
        for (int k = 0; k < FILES_MAX && s->file[k]; k++) {
            s->text[k] = calloc(1, TEXT_MAX);
            if (!s->text[k])
                return 99;
            makers[i][k](s->text[k]);
            if (write_file(s->file[k], s->text[k], strlen(s->text[k])) != 0)
                return 99;
        }
        check_source(&ctx, s, n_changes, &state);
        for (int k = 0; k < FILES_MAX; k++)
            free(s->text[k]);
    }
    return test_end(&ctx);
}
