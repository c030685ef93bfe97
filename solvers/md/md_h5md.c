/* md_h5md.c: see md_h5md.h. Rank 0 reads and sends the particles around piece
 * by piece; each rank keeps those of its block.
 */
#include "md_h5md.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/param.h"
#include "base/units.h"
#include "domain/frames.h"
#include "md.h"

enum { PIECE = 16384 }; /* particles at once */

/* The file on rank 0. */
struct source {
    struct ctx *ctx;
    const struct md *md;
    void *file;
    struct frame_head head;
    double length, velocity, charge; /* the file's units in the deck's */
    double (*real)[3];               /* [PIECE] */
    int64_t (*whole)[3];
};

/* What a look through the file tells everybody. */
struct scan {
    int64_t n, count[MD_SPECIES_MAX];
    double edge[3], tilt[3], origin[3], charges[2];
    int has_box, has_charges;
};

int md_h5md_is(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".h5") == 0 || strcmp(dot, ".h5md") == 0);
}

void md_h5md_keys(struct params *p, struct md *md)
{
    int group = params_is_set(p, "md.initial", "group");
    int step = params_is_set(p, "md.initial", "step");
    md->initial.file_step = -1;
    if ((group || step) &&
        (!md->initial.read || !md_h5md_is(md->initial.read))) {
        params_error(p, "md.initial", group ? "group" : "step",
                     "it goes with an H5MD file, md.initial.read = "
                     "\"NAME.h5\"");
        return;
    }
    if (step)
        md->initial.file_step = params_int(p, "md.initial", "step");
    if (!group)
        return;
    const char *name = params_string(p, "md.initial", "group");
    if (name[0] == '\0' || strlen(name) >= sizeof md->initial.group)
        params_error(p, "md.initial", "group",
                     "the name of a group has 1 to %zu characters",
                     sizeof md->initial.group - 1);
    snprintf(md->initial.group, sizeof md->initial.group, "%s", name);
}

/* ---- units ---- */

/* The file's unit in the deck's; none told: the same. "nm ps-1" is nm/ps. */
static int factor(const struct source *s, const char *what, const char *unit,
                  struct dimension dim, double *out)
{
    char own[64], text[80], why[200];
    enum unit_system units = s->md->units;
    *out = 1;
    if (unit[0] == '\0' ||
        strcmp(unit_name(units, dim, own, sizeof own), unit) == 0)
        return 0;
    snprintf(text, sizeof text, "1 %s", unit);
    size_t n = strlen(text);
    char *blank = strrchr(text + 2, ' ');
    if (blank && n > 4 && strcmp(text + n - 2, "-1") == 0) {
        *blank = '/';
        text[n - 2] = '\0';
    }
    if (unit_parse_quantity(text, units, dim, out, why, sizeof why) == 0)
        return 0;
    text_hide_control(text);
    return FAIL(s->ctx, STATUS_INPUT,
                "'%s': the unit of %s, '%s', is not "
                "understood: %s",
                s->md->initial.read, what, text + 2, why);
}

/* ---- the file ---- */

static void close_source(struct source *s)
{
    if (s->ctx->frames)
        s->ctx->frames->close(s->file);
    free(s->real);
    free(s->whole);
}

/* Call close_source() in any case. */
static int open_source(struct ctx *ctx, const struct md *md, struct source *s)
{
    const struct md_initial *init = &md->initial;
    struct frame_head *h = &s->head;
    *s = (struct source){.ctx = ctx, .md = md};
    s->real = malloc(PIECE * sizeof *s->real);
    s->whole = malloc(PIECE * sizeof *s->whole);
    if (!s->real || !s->whole)
        return FAIL(ctx, STATUS_MEMORY, "no memory to read particles");
    if (!ctx->frames)
        return FAIL(ctx, STATUS_UNSUPPORTED, "H5MD files cannot be read here");
    TRY(ctx->frames->open(ctx, init->read, init->group[0] ? init->group : NULL,
                          init->file_step, h, &s->file));
    TRY(factor(s, "position", h->unit[FRAME_POSITION], DIM_LENGTH, &s->length));
    TRY(factor(s, "velocity", h->unit[FRAME_VELOCITY], DIM_VELOCITY,
               &s->velocity));
    TRY(factor(s, "charge", h->unit[FRAME_CHARGE], DIM_CHARGE, &s->charge));
    if (!h->has[FRAME_SPECIES] && md->n_species > 1)
        return FAIL(ctx, STATUS_INPUT,
                    "'%s' does not tell the species of its particles, of which "
                    "the deck has %d",
                    init->read, md->n_species);
    return 0;
}

static int read_reals(struct source *s, enum frame_item item, int64_t first,
                      int64_t n)
{
    return s->head.has[item]
               ? s->ctx->frames->read(s->ctx, s->file, item, first, n, s->real)
               : 0;
}

static int read_wholes(struct source *s, enum frame_item item, int64_t first,
                       int64_t n)
{
    return s->head.has[item]
               ? s->ctx->frames->read(s->ctx, s->file, item, first, n, s->whole)
               : 0;
}

static int check(const struct source *s, const struct md_particle *p,
                 int64_t row, int64_t species)
{
    const char *path = s->md->initial.read;
    if (p->id < 1 || p->id > s->head.n)
        return FAIL(s->ctx, STATUS_INPUT,
                    "'%s': row %" PRId64 " has id %" PRId64
                    "; expected 1 to %" PRId64,
                    path, row, p->id, s->head.n);
    if (species < 0 || species >= s->md->n_species)
        return FAIL(s->ctx, STATUS_INPUT,
                    "'%s': particle %" PRId64 " has species %" PRId64
                    "; the deck's are 0 to %d",
                    path, p->id, species, s->md->n_species - 1);
    for (int d = 0; d < 3; d++)
        if (!isfinite(p->position[d]) || !isfinite(p->velocity[d]) ||
            fabs(p->position[d]) > 1e15)
            return FAIL(s->ctx, STATUS_INPUT,
                        "'%s': the position or velocity of particle %" PRId64
                        " is no finite number",
                        path, p->id);
    return 0;
}

/* Rows [first, first + n), n <= PIECE. */
static int fill(struct source *s, int64_t first, int64_t n,
                struct md_particle *piece)
{
    const double *one = (const double *)s->real;
    const int64_t *number = (const int64_t *)s->whole;
    const int *has = s->head.has;
    memset(piece, 0, (size_t)n * sizeof *piece);
    TRY(read_reals(s, FRAME_POSITION, first, n));
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < 3; d++)
            piece[i].position[d] = s->real[i][d] * s->length;
    TRY(read_reals(s, FRAME_VELOCITY, first, n));
    for (int64_t i = 0; i < n && has[FRAME_VELOCITY]; i++)
        for (int d = 0; d < 3; d++)
            piece[i].velocity[d] = s->real[i][d] * s->velocity;
    TRY(read_reals(s, FRAME_CHARGE, first, n));
    for (int64_t i = 0; i < n && has[FRAME_CHARGE]; i++)
        piece[i].charge = one[i] * s->charge;
    TRY(read_wholes(s, FRAME_IMAGE, first, n));
    for (int64_t i = 0; i < n && has[FRAME_IMAGE]; i++)
        for (int d = 0; d < 3; d++)
            piece[i].image[d] = (int32_t)s->whole[i][d];
    TRY(read_wholes(s, FRAME_ID, first, n));
    for (int64_t i = 0; i < n; i++)
        piece[i].id = has[FRAME_ID] ? number[i] : first + i + 1;
    TRY(read_wholes(s, FRAME_SPECIES, first, n));
    for (int64_t i = 0; i < n; i++) {
        int64_t species = has[FRAME_SPECIES] ? number[i] : 0;
        TRY(check(s, &piece[i], first + i + 1, species));
        piece[i].species = (int32_t)species;
    }
    return 0;
}

/* ---- a look through the file ---- */

static int count_piece(struct source *s, const struct md_particle *piece,
                       int64_t n, unsigned char *seen, struct scan *scan)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t id = piece[i].id;
        unsigned char bit = (unsigned char)(1u << (id % 8));
        if (seen[id / 8] & bit)
            return FAIL(s->ctx, STATUS_INPUT,
                        "'%s': id %" PRId64 " stands twice",
                        s->md->initial.read, id);
        seen[id / 8] |= bit;
        scan->count[piece[i].species]++;
        scan->charges[0] += piece[i].charge;
        scan->charges[1] += piece[i].charge * piece[i].charge;
    }
    return 0;
}

static int scan_box(struct source *s, struct scan *scan)
{
    double length = 1;
    TRY(factor(s, "box/edges",
               s->head.box_unit[0] ? s->head.box_unit
                                   : s->head.unit[FRAME_POSITION],
               DIM_LENGTH, &length));
    for (int d = 0; d < 3; d++) {
        scan->edge[d] = s->head.edge[d] * length;
        scan->origin[d] = s->head.origin[d] * length;
        scan->tilt[d] = s->head.tilt[d] * length;
        if (s->head.has_box &&
            (!(scan->edge[d] > 0) || !isfinite(scan->edge[d])))
            return FAIL(s->ctx, STATUS_INPUT, "'%s': the box is %g long in %c",
                        s->md->initial.read, scan->edge[d], "xyz"[d]);
    }
    scan->has_box = s->head.has_box;
    return 0;
}

static int scan_file(struct source *s, struct scan *scan)
{
    int64_t n = s->head.n;
    unsigned char *seen = calloc((size_t)n / 8 + 1, 1);
    struct md_particle *piece = malloc(PIECE * sizeof *piece);
    int status = seen && piece ? 0
                               : FAIL(s->ctx, STATUS_MEMORY,
                                      "no memory to read particles");
    scan->n = n;
    if (status == 0)
        status = scan_box(s, scan);
    for (int64_t first = 0; first < n && status == 0; first += PIECE) {
        int64_t m = n - first < PIECE ? n - first : PIECE;
        status = fill(s, first, m, piece);
        if (status == 0)
            status = count_piece(s, piece, m, seen, scan);
    }
    free(seen);
    free(piece);
    return status;
}

int md_h5md_look(struct ctx *ctx, struct md *md)
{
    struct source s;
    if (comm_rank(ctx->comm) == 0) {
        int failed = open_source(ctx, md, &s);
        if (failed) /* said when the file is scanned */
            error_clear(ctx);
        md->initial.has_charges = failed ? -1 : s.head.has[FRAME_CHARGE];
        close_source(&s);
    }
    TRY(comm_bcast(ctx, &md->initial.has_charges,
                   sizeof md->initial.has_charges));
    md->charged |= md->initial.has_charges != 0;
    return 0;
}

int md_h5md_scan(struct ctx *ctx, struct md *md, int *has_box,
                 double box_length[3], double tilt[3])
{
    struct scan scan = {0};
    struct source s;
    int status = 0;
    if (comm_rank(ctx->comm) == 0) {
        status = open_source(ctx, md, &s);
        if (status == 0)
            status = scan_file(&s, &scan);
        close_source(&s);
    }
    TRY(comm_agree(ctx, status));
    TRY(comm_bcast(ctx, &scan, sizeof scan));
    md->n_particles = scan.n;
    for (int k = 0; k < md->n_species; k++)
        md->species[k].count = scan.count[k];
    for (int d = 0; d < 3; d++) {
        box_length[d] = scan.edge[d];
        tilt[d] = scan.tilt[d];
        md->box_lo[d] = scan.has_box ? scan.origin[d] : md->box_lo[d];
    }
    for (int k = 0; k < 2; k++)
        md->initial.charge_sums[k] = scan.charges[k];
    *has_box = scan.has_box;
    return 0;
}

/* ---- particles ---- */

int md_h5md_read(struct ctx *ctx, struct md *md, struct md_list *list)
{
    int is_reader = comm_rank(ctx->comm) == 0, status = 0;
    struct source s = {.ctx = ctx};
    struct md_particle *piece = malloc(PIECE * sizeof *piece);
    if (!piece)
        status = FAIL(ctx, STATUS_MEMORY, "no memory to read particles");
    else if (is_reader)
        status = open_source(ctx, md, &s);
    int64_t all = md->n_particles / md_replicate_copies(md);
    if (status == 0 && is_reader && s.head.n != all)
        status = FAIL(ctx, STATUS_INPUT, "'%s' changed while it was read",
                      md->initial.read);
    TRY_CLEANUP(comm_agree(ctx, status));
    for (int64_t first = 0; first < all; first += PIECE) {
        int64_t left = all - first, n = left < PIECE ? left : PIECE;
        if (is_reader)
            status = fill(&s, first, n, piece);
        TRY_CLEANUP(comm_agree(ctx, status));
        TRY_CLEANUP(comm_bcast(ctx, piece, (size_t)n * sizeof *piece));
        TRY_CLEANUP(
            comm_agree(ctx, md_replicate_keep(ctx, md, piece, n, list)));
    }
cleanup:
    close_source(&s);
    free(piece);
    return status;
}
