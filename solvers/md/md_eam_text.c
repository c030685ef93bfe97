/* md_eam_text.c: the text of files with tables of the embedded-atom method. */
#include "md_eam.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "base/numeral.h"
#include "kernels/md/eam.h"
#include "md_text.h"

/* The file as it is read; numbers stand anywhere in their lines. */
struct text {
    struct md_text in;
    char *at; /* what is left of the line */
};

static int next_line(struct text *t, int *there)
{
    TRY(md_text_line(&t->in, there));
    t->at = t->in.line;
    return 0;
}

static int want_line(struct text *t, const char *what)
{
    int there;
    TRY(next_line(t, &there));
    return there ? 0 : md_text_fail(&t->in, "the file ends before %s", what);
}

/* The next word of the present line, or NULL; *length without the
 * MD_TEXT_BLANKS. */
static char *next_word(struct text *t, int *length)
{
    t->at += strspn(t->at, MD_TEXT_BLANKS);
    *length = (int)strcspn(t->at, MD_TEXT_BLANKS);
    char *word = t->at;
    t->at += *length;
    return *length > 0 ? word : NULL;
}

/* The next number of the present line. */
static int number(struct text *t, const char *what, double *value)
{
    int length;
    const char *word = next_word(t, &length);
    if (!word)
        return md_text_fail(&t->in, "%s is missing", what);
    const char *wrong = numeral_real(word, (size_t)length, value);
    return wrong ? md_text_fail(&t->in, "%s: '%.*s' %s", what,
                                length < 40 ? length : 40, word, wrong)
                 : 0;
}

static int count(struct text *t, const char *what, int least, int most,
                 int *value)
{
    double v = 0;
    TRY(number(t, what, &v));
    if (v < least || v > most || fabs(v - rint(v)) > 0)
        return md_text_fail(&t->in, "%s: %g is no whole number from %d to %d",
                            what, v, least, most);
    *value = (int)v;
    return 0;
}

static int positive(struct text *t, const char *what, double *value)
{
    TRY(number(t, what, value));
    return *value > 0
               ? 0
               : md_text_fail(&t->in, "%s: %g is not positive", what, *value);
}

/* n numbers in so many lines as they take, and nothing behind them. */
static int numbers(struct text *t, const char *what, const char *element, int n,
                   double *out)
{
    for (int k = 0, there = 1; k < n;) {
        int length;
        const char *word = next_word(t, &length), *wrong;
        if (!word) {
            TRY(next_line(t, &there));
            if (!there)
                return md_text_fail(
                    &t->in, "the file ends with value %d of the %d of %s%s", k,
                    n, what, element);
            continue;
        }
        if ((wrong = numeral_real(word, (size_t)length, &out[k++])))
            return md_text_fail(&t->in, "value %d of %s%s: '%.*s' %s", k, what,
                                element, length < 40 ? length : 40, word,
                                wrong);
    }
    int length;
    return next_word(t, &length)
               ? md_text_fail(
                     &t->in,
                     "more than the %d values of %s%s that the head of the "
                     "file announces",
                     n, what, element)
               : 0;
}

/* "nrho drho nr dr cutoff" of both formats. A table that ends before the cutoff
 * would leave pairs without a function; up to one step, they get its last
 * value. */
static int read_grids(struct text *t, struct md_eam_file *f)
{
    TRY(want_line(t, "the numbers of points"));
    TRY(count(t, "the number of densities", EAM_POINTS_MIN, MD_EAM_POINTS_MAX,
              &f->n_rho));
    TRY(positive(t, "the step of densities", &f->rho_step));
    TRY(count(t, "the number of distances", EAM_POINTS_MIN, MD_EAM_POINTS_MAX,
              &f->n_r));
    TRY(positive(t, "the step of distances", &f->r_step));
    TRY(positive(t, "the cutoff", &f->cutoff));
    if (f->cutoff > f->n_r * f->r_step * (1 + 1e-9))
        return md_text_fail(
            &t->in,
            "the tables are too short: %d distances of %g end at %g, "
            "before the cutoff %g",
            f->n_r, f->r_step, (f->n_r - 1) * f->r_step, f->cutoff);
    return 0;
}

/* "29 63.55 3.615 FCC": atomic number, mass; the lattice is of no use here. */
static int read_mass(struct text *t, double *mass)
{
    double atomic_number;
    TRY(want_line(t, "an element's atomic number and mass"));
    TRY(number(t, "the atomic number", &atomic_number));
    return positive(t, "the mass", mass);
}

/* The first line is a comment; LAMMPS's files name the units there. */
static int read_comment(struct text *t)
{
    TRY(want_line(t, "its first line"));
    const char *units = strstr(t->in.line, "UNITS:");
    if (!units)
        return 0;
    units += strlen("UNITS:");
    units += strspn(units, MD_TEXT_BLANKS);
    if (strncmp(units, "metal", 5) != 0)
        return md_text_fail(
            &t->in, "the units are '%.*s'; only metal (eV, angstrom) is read",
            (int)strcspn(units, MD_TEXT_BLANKS) < 20
                ? (int)strcspn(units, MD_TEXT_BLANKS)
                : 20,
            units);
    return 0;
}

static int allocate(struct text *t, struct md_eam_file *f, int is_setfl)
{
    size_t n = (size_t)f->n_elements, n_r = (size_t)f->n_r;
    size_t pairs = is_setfl ? eam_pairs(f->n_elements) : 1;
    f->embedding = malloc(n * (size_t)f->n_rho * sizeof *f->embedding);
    f->density = malloc(n * n_r * sizeof *f->density);
    double **pair = is_setfl ? &f->pair : &f->charge;
    *pair = malloc(pairs * n_r * sizeof **pair);
    if (!f->embedding || !f->density || !*pair)
        return FAIL(t->in.ctx, STATUS_MEMORY,
                    "no memory for the tables of '%s'", t->in.path);
    return 0;
}

/* ---- funcfl ---- */

static int read_funcfl(struct text *t, struct md_eam_file *f)
{
    f->n_elements = 1;
    TRY(read_comment(t));
    TRY(read_mass(t, &f->mass[0]));
    TRY(read_grids(t, f));
    TRY(allocate(t, f, 0));
    TRY(want_line(t, "F(rho)"));
    TRY(numbers(t, "F(rho)", "", f->n_rho, f->embedding));
    TRY(numbers(t, "Z(r)", "", f->n_r, f->charge));
    return numbers(t, "rho(r)", "", f->n_r, f->density);
}

/* ---- setfl ---- */

static int read_elements(struct text *t, struct md_eam_file *f)
{
    TRY(want_line(t, "the elements' names"));
    f->elements_line = (int)t->in.number;
    TRY(count(t, "the number of elements", 1, MD_EAM_ELEMENTS_MAX,
              &f->n_elements));
    for (int e = 0; e < f->n_elements; e++) {
        int length;
        char *word = next_word(t, &length);
        if (!word)
            return md_text_fail(&t->in, "%d elements, but only %d names",
                                f->n_elements, e);
        if (length >= MD_NAME_MAX)
            return md_text_fail(
                &t->in, "the name of element %d is longer than %d characters",
                e + 1, MD_NAME_MAX - 1);
        snprintf(f->element[e], sizeof f->element[e], "%.*s", length, word);
        for (int k = 0; k < e; k++)
            if (strcmp(f->element[k], f->element[e]) == 0)
                return md_text_fail(&t->in, "element '%s' stands there twice",
                                    f->element[e]);
    }
    int length;
    return next_word(t, &length)
               ? md_text_fail(&t->in, "%d elements, but more names",
                              f->n_elements)
               : 0;
}

static int read_setfl(struct text *t, struct md_eam_file *f)
{
    TRY(read_comment(t));
    TRY(want_line(t, "its second line"));
    TRY(want_line(t, "its third line"));
    TRY(read_elements(t, f));
    TRY(read_grids(t, f));
    TRY(allocate(t, f, 1));
    for (int e = 0; e < f->n_elements; e++) {
        size_t n_rho = (size_t)f->n_rho, n_r = (size_t)f->n_r;
        TRY(read_mass(t, &f->mass[e]));
        TRY(want_line(t, "F(rho)"));
        TRY(numbers(t, "F(rho) of ", f->element[e], f->n_rho,
                    f->embedding + (size_t)e * n_rho));
        TRY(numbers(t, "rho(r) of ", f->element[e], f->n_r,
                    f->density + (size_t)e * n_r));
    }
    for (int a = 0; a < f->n_elements; a++)
        for (int b = 0; b <= a; b++) {
            char pair[2 * MD_NAME_MAX];
            snprintf(pair, sizeof pair, "%s-%s", f->element[a], f->element[b]);
            TRY(numbers(t, "r phi(r) of ", pair, f->n_r,
                        f->pair + eam_pair_index(a, b) * (size_t)f->n_r));
        }
    return 0;
}

/* What follows the last table may be a comment, but no number: then there were
 * more than the head of the file says. */
static int check_end(struct text *t)
{
    int there, length;
    for (;;) {
        TRY(next_line(t, &there));
        if (!there)
            return 0;
        const char *word = next_word(t, &length);
        if (!word)
            continue;
        return numeral_length(word) == (size_t)length
                   ? md_text_fail(
                         &t->in,
                         "numbers behind the last table: the head of the "
                         "file announces fewer")
                   : 0;
    }
}

int md_eam_parse(struct ctx *ctx, const char *path, int is_setfl,
                 struct md_eam_file *out)
{
    struct text t = {
        .in = {.ctx = ctx, .path = path, .file = fopen(path, "r")}};
    *out = (struct md_eam_file){.path = path};
    if (!t.in.file)
        return FAIL(ctx, STATUS_INPUT, "cannot read '%s': %s", path,
                    strerror(errno));
    int status = is_setfl ? read_setfl(&t, out) : read_funcfl(&t, out);
    if (status == 0)
        status = check_end(&t);
    md_text_close(&t.in);
    return status;
}

void md_eam_file_free(struct md_eam_file *f)
{
    free(f->embedding);
    free(f->density);
    free(f->charge);
    free(f->pair);
    f->embedding = f->density = f->charge = f->pair = NULL;
}
