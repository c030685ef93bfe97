/* md_pair_text.c: files with tables of pair forces, LAMMPS's pair_style table.
 *
 *     # comments and blank lines
 *     KEYWORD
 *     N 500 [R lo hi | RSQ lo hi] [FPRIME inner outer]
 *
 *     1 1.00 25.5 102.3      number, distance, energy, force
 */
#define _POSIX_C_SOURCE 200809L /* getline */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "md_pair.h"

static const char blanks[] = " \t\r\n\f\v";

enum { WORDS_MAX = 16, POINTS_LEAST = 4, POINTS_MOST = 10000000 };

struct text {
    struct ctx *ctx;
    const char *path;
    FILE *file;
    char *line;
    size_t capacity;
    int64_t number;
    int n_words; /* of the present line, comments left out */
    char *word[WORDS_MAX];
};

static int fail(struct text *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static int fail(struct text *t, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    text_hide_control(text);
    return FAIL(t->ctx, STATUS_INPUT, "%s:%" PRId64 ": error: %s", t->path,
                t->number, text);
}

/* The words of the next line; *there = 0 at the end of the file. */
static int next_line(struct text *t, int *there)
{
    errno = 0;
    ssize_t n = getline(&t->line, &t->capacity, t->file);
    *there = n >= 0;
    t->n_words = 0;
    if (n < 0)
        return ferror(t->file)
                   ? FAIL(t->ctx, STATUS_INPUT, "cannot read '%s': %s", t->path,
                          strerror(errno))
                   : 0;
    t->number++;
    if (strlen(t->line) != (size_t)n)
        return fail(t, "a zero byte: this is not a text file");
    t->line[strcspn(t->line, "#")] = '\0';
    char *at = t->line + strspn(t->line, blanks);
    while (*at && t->n_words < WORDS_MAX) {
        size_t length = strcspn(at, blanks);
        char *next = at + length + strspn(at + length, blanks);
        at[length] = '\0';
        t->word[t->n_words++] = at;
        at = next;
    }
    return 0;
}

static int number(struct text *t, int k, const char *what, double *value)
{
    char *end = NULL;
    if (k >= t->n_words)
        return fail(t, "%s is missing", what);
    *value = strtod(t->word[k], &end);
    if (*end != '\0' || !isfinite(*value))
        return fail(t, "%s: '%.40s' is no finite number", what, t->word[k]);
    return 0;
}

/* Go on to the line behind the keyword; others' sections are passed over. */
static int find_section(struct text *t, const char *keyword)
{
    char names[256] = "";
    int there, n_names = 0;
    for (;;) {
        TRY(next_line(t, &there));
        if (!there)
            break;
        if (t->n_words == 0)
            continue;
        if (strcmp(t->word[0], keyword) == 0)
            return next_line(t, &there);
        char *end = NULL;
        (void)strtod(t->word[0], &end);
        if (*end == '\0' || strcmp(t->word[0], "N") == 0)
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
static int read_head(struct text *t, struct md_pair_file *f,
                     enum spacing *spacing, double range[2])
{
    double n = 0;
    f->head_line = t->number;
    *spacing = AS_LISTED;
    for (int k = 0; k < t->n_words;) {
        const char *word = t->word[k++];
        int is_rsq = strcmp(word, "RSQ") == 0;
        if (strcmp(word, "N") == 0) {
            TRY(number(t, k++, "N, the number of points", &n));
        } else if (is_rsq || strcmp(word, "R") == 0) {
            *spacing = is_rsq ? EVEN_SQUARES : EVEN;
            TRY(number(t, k++, "the first distance", &range[0]));
            TRY(number(t, k++, "the last distance", &range[1]));
            if (!(range[0] > 0) || !(range[1] > range[0]))
                return fail(t,
                            "distances from %g to %g: they are above 0 and "
                            "ascend",
                            range[0], range[1]);
        } else if (strcmp(word, "FPRIME") == 0) {
            f->has_slopes = 1;
            TRY(number(t, k++, "the slope of the first force", &f->slope[0]));
            TRY(number(t, k++, "the slope of the last force", &f->slope[1]));
        } else {
            return fail(t,
                        "'%.40s': behind the keyword stands N with the number "
                        "of points, and R, RSQ or FPRIME with two numbers",
                        word);
        }
    }
    if (n < POINTS_LEAST || n > POINTS_MOST || fabs(n - rint(n)) > 0)
        return fail(t, "N, the number of points, is whole, %d to %d",
                    POINTS_LEAST, POINTS_MOST);
    f->n = (int)n;
    return 0;
}

/* A listed distance has few digits; the range says what is meant. */
static int place(struct text *t, struct md_pair_file *f, int k,
                 enum spacing spacing, const double range[2])
{
    double part = (double)k / (f->n - 1), step;
    double lo = range[0], hi = range[1], r = f->r[k];
    if (spacing == AS_LISTED) {
        if (!(r > 0))
            return fail(t, "distance %g is not above 0", r);
        return k > 0 && !(r > f->r[k - 1])
                   ? fail(t, "distance %g does not follow %g", r, f->r[k - 1])
                   : 0;
    }
    f->r[k] = spacing == EVEN ? lo + part * (hi - lo)
                              : sqrt(lo * lo + part * (hi * hi - lo * lo));
    step = spacing == EVEN ? (hi - lo) / (f->n - 1)
                           : (hi * hi - lo * lo) / (f->n - 1) / (2 * f->r[k]);
    if (fabs(r - f->r[k]) > 0.1 * step)
        return fail(t, "point %d is at %g, but line %" PRId64 " says %g", k + 1,
                    r, f->head_line, f->r[k]);
    return 0;
}

static int read_points(struct text *t, struct md_pair_file *f,
                       enum spacing spacing, const double range[2])
{
    int there;
    for (int k = 0; k < f->n;) {
        double index = 0;
        TRY(next_line(t, &there));
        if (!there)
            return fail(t, "the file ends behind point %d of the %d of '%s'", k,
                        f->n, f->keyword);
        if (t->n_words == 0)
            continue;
        if (t->n_words != 4)
            return fail(t,
                        "%d words; a point has four: number, distance, energy, "
                        "force (this is point %d of %d)",
                        t->n_words, k + 1, f->n);
        TRY(number(t, 0, "the number of the point", &index));
        if (fabs(index - (k + 1)) > 0)
            return fail(t, "number %g instead of %d", index, k + 1);
        TRY(number(t, 1, "the distance", &f->r[k]));
        TRY(number(t, 2, "the energy", &f->energy[k]));
        TRY(number(t, 3, "the force", &f->force[k]));
        TRY(place(t, f, k++, spacing, range));
    }
    return 0;
}

/* No further point: the head would have announced fewer. */
static int check_end(struct text *t, const struct md_pair_file *f)
{
    int there = 1;
    while (there) {
        char *end = NULL;
        TRY(next_line(t, &there));
        if (t->n_words == 0)
            continue;
        (void)strtod(t->word[0], &end);
        return *end == '\0' ? fail(t,
                                   "more points than the %d that line %" PRId64
                                   " announces",
                                   f->n, f->head_line)
                            : 0;
    }
    return 0;
}

static int read_section(struct text *t, struct md_pair_file *f)
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
    struct text t = {.ctx = ctx, .path = path};
    *out = (struct md_pair_file){.path = path, .keyword = keyword};
    t.file = fopen(path, "r");
    if (!t.file)
        return FAIL(ctx, STATUS_INPUT, "cannot read '%s': %s", path,
                    strerror(errno));
    int status = read_section(&t, out);
    fclose(t.file);
    free(t.line);
    return status;
}

void md_pair_file_free(struct md_pair_file *f)
{
    free(f->r);
    free(f->force);
    free(f->energy);
    f->r = f->force = f->energy = NULL;
}
