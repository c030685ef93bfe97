/* md_pair_text.c: files with tables of pair forces, LAMMPS's pair_style table.
 *
 *     # comments and blank lines
 *     KEYWORD
 *     N 500 [R lo hi | RSQ lo hi] [FPRIME inner outer]
 *
 *     1 1.00 25.5 102.3      number, distance, energy, force
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "base/numeral.h"
#include "md_pair.h"
#include "md_text.h"

enum { POINTS_LEAST = 4, POINTS_MOST = 10000000 };

static int is_number(const char *word)
{
    return numeral_length(word) == strlen(word);
}

/* Go on to the line behind the keyword; others' sections are passed over. */
static int find_section(struct md_text *t, const char *keyword)
{
    char names[256] = "";
    int there, n_names = 0;
    for (;;) {
        TRY(md_text_words(t, &there));
        if (!there)
            break;
        if (t->n_words == 0)
            continue;
        if (strcmp(t->word[0], keyword) == 0)
            return md_text_words(t, &there);
        if (is_number(t->word[0]) || strcmp(t->word[0], "N") == 0)
            continue;
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s",
                 n_names++ ? ", " : "", t->word[0]);
    }
    text_hide_control(names);
    return FAIL(t->ctx, STATUS_INPUT,
                "'%s' has no section '%s'%s%s; name one with keyword", t->path,
                keyword, names[0] ? "; there are " : "", names);
}

enum spacing { AS_LISTED, EVEN, EVEN_SQUARES };

/* "N 500 R 1.0 10.0 FPRIME -100 0". */
static int read_head(struct md_text *t, struct md_pair_file *f,
                     enum spacing *spacing, double range[2])
{
    double n = 0;
    f->head_line = t->number;
    *spacing = AS_LISTED;
    for (int k = 0; k < t->n_words;) {
        const char *word = t->word[k++];
        int is_rsq = strcmp(word, "RSQ") == 0;
        if (strcmp(word, "N") == 0) {
            TRY(md_text_real(t, k++, "N, the number of points", &n));
        } else if (is_rsq || strcmp(word, "R") == 0) {
            *spacing = is_rsq ? EVEN_SQUARES : EVEN;
            TRY(md_text_real(t, k++, "the first distance", &range[0]));
            TRY(md_text_real(t, k++, "the last distance", &range[1]));
            if (!(range[0] > 0) || !(range[1] > range[0]))
                return md_text_fail(
                    t,
                    "distances from %g to %g: they are above 0 and "
                    "ascend",
                    range[0], range[1]);
        } else if (strcmp(word, "FPRIME") == 0) {
            f->has_slopes = 1;
            TRY(md_text_real(t, k++, "the slope of the first force",
                             &f->slope[0]));
            TRY(md_text_real(t, k++, "the slope of the last force",
                             &f->slope[1]));
        } else {
            return md_text_fail(
                t,
                "'%.40s': behind the keyword stands N with the number "
                "of points, and R, RSQ or FPRIME with two numbers",
                word);
        }
    }
    if (n < POINTS_LEAST || n > POINTS_MOST || fabs(n - rint(n)) > 0)
        return md_text_fail(t, "N, the number of points, is whole, %d to %d",
                            POINTS_LEAST, POINTS_MOST);
    f->n = (int)n;
    return 0;
}

/* A listed distance has few digits; the range says what is meant. */
static int place(struct md_text *t, struct md_pair_file *f, int k,
                 enum spacing spacing, const double range[2])
{
    double part = (double)k / (f->n - 1), step;
    double lo = range[0], hi = range[1], r = f->r[k];
    if (spacing == AS_LISTED) {
        if (!(r > 0))
            return md_text_fail(t, "distance %g is not above 0", r);
        return k > 0 && !(r > f->r[k - 1])
                   ? md_text_fail(t, "distance %g does not follow %g", r,
                                  f->r[k - 1])
                   : 0;
    }
    f->r[k] = spacing == EVEN ? lo + part * (hi - lo)
                              : sqrt(lo * lo + part * (hi * hi - lo * lo));
    step = spacing == EVEN ? (hi - lo) / (f->n - 1)
                           : (hi * hi - lo * lo) / (f->n - 1) / (2 * f->r[k]);
    if (!(fabs(r - f->r[k]) <= 0.1 * step)) /* NaN of a huge range, too */
        return md_text_fail(t,
                            "point %d is at %g, but line %" PRId64 " says %g",
                            k + 1, r, f->head_line, f->r[k]);
    return 0;
}

static int read_points(struct md_text *t, struct md_pair_file *f,
                       enum spacing spacing, const double range[2])
{
    int there;
    for (int k = 0; k < f->n;) {
        double index = 0;
        TRY(md_text_words(t, &there));
        if (!there)
            return md_text_fail(
                t, "the file ends behind point %d of the %d of '%s'", k, f->n,
                f->keyword);
        if (t->n_words == 0)
            continue;
        if (t->n_words != 4)
            return md_text_fail(
                t,
                "%d words; a point has four: number, distance, energy, "
                "force (this is point %d of %d)",
                t->n_words, k + 1, f->n);
        TRY(md_text_real(t, 0, "the number of the point", &index));
        if (fabs(index - (k + 1)) > 0)
            return md_text_fail(t, "number %g instead of %d", index, k + 1);
        TRY(md_text_real(t, 1, "the distance", &f->r[k]));
        TRY(md_text_real(t, 2, "the energy", &f->energy[k]));
        TRY(md_text_real(t, 3, "the force", &f->force[k]));
        TRY(place(t, f, k++, spacing, range));
    }
    return 0;
}

/* No further point: the head would have announced fewer. */
static int check_end(struct md_text *t, const struct md_pair_file *f)
{
    int there = 1;
    while (there) {
        TRY(md_text_words(t, &there));
        if (t->n_words == 0)
            continue;
        return is_number(t->word[0])
                   ? md_text_fail(t,
                                  "more points than the %d that line %" PRId64
                                  " announces",
                                  f->n, f->head_line)
                   : 0;
    }
    return 0;
}

static int read_section(struct md_text *t, struct md_pair_file *f)
{
    enum spacing spacing;
    double range[2] = {0, 0};
    TRY(find_section(t, f->keyword));
    TRY(read_head(t, f, &spacing, range));
    size_t n = (size_t)f->n;
    f->r = malloc(n * sizeof *f->r);
    f->force = malloc(n * sizeof *f->force);
    f->energy = malloc(n * sizeof *f->energy);
    if (!f->r || !f->force || !f->energy)
        return FAIL(t->ctx, STATUS_MEMORY, "no memory for the table of '%s'",
                    t->path);
    TRY(read_points(t, f, spacing, range));
    return check_end(t, f);
}

int md_pair_parse(struct ctx *ctx, const char *path, const char *keyword,
                  struct md_pair_file *out)
{
    struct md_text t = {.ctx = ctx, .path = path};
    *out = (struct md_pair_file){.path = path, .keyword = keyword};
    t.file = fopen(path, "r");
    if (!t.file)
        return FAIL(ctx, STATUS_INPUT, "cannot read '%s': %s", path,
                    strerror(errno));
    int status = read_section(&t, out);
    md_text_close(&t);
    return status;
}

void md_pair_file_free(struct md_pair_file *f)
{
    free(f->r);
    free(f->force);
    free(f->energy);
    f->r = f->force = f->energy = NULL;
}
