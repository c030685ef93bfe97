/* md_read_xyz.c: particles from an XYZ file. Rank 0 reads and sends the rows
 * around piece by piece; each rank keeps those of its block.
 */
#define _POSIX_C_SOURCE 200809L /* fileno */

#include "md.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "md_h5md.h"
#include "md_xyz_text.h"

enum { PIECE = 16384 }; /* particles sent at once */

/* What a look through the file tells everybody. */
struct scan {
    int64_t n_particles;
    int64_t count[MD_SPECIES_MAX];
    double box[3], tilt[3];
    double charges[2]; /* sums of q and q^2 */
    int has_box;
};

/* Remember an id; a second time is an error. */
static int mark_id(struct xyz_text *x, unsigned char *seen, int64_t id)
{
    unsigned char bit = (unsigned char)(1u << (id % 8));
    if (seen[id / 8] & bit)
        return xyz_fail(x, NULL, "id %" PRId64 " stands twice", id);
    seen[id / 8] |= bit;
    return 0;
}

static int scan_rows(struct xyz_text *x, struct scan *scan)
{
    struct md_particle p;
    unsigned char *seen = NULL;
    int status = 0;
    struct stat file;
    /* Before memory is asked for on the word of the first line. */
    if (x->has_ids && fstat(fileno(x->in.file), &file) == 0 &&
        S_ISREG(file.st_mode) && x->n_particles > file.st_size)
        return xyz_fail(x, NULL,
                        "the first line promises %" PRId64
                        " particles, more than the file has bytes",
                        x->n_particles);
    if (x->has_ids) {
        seen = calloc((size_t)x->n_particles / 8 + 1, 1);
        if (!seen)
            return FAIL(x->in.ctx, STATUS_MEMORY,
                        "no memory for the ids of %" PRId64 " particles",
                        x->n_particles);
    }
    for (int64_t i = 0; i < x->n_particles; i++) {
        TRY_CLEANUP(xyz_row(x, &p));
        if (seen)
            TRY_CLEANUP(mark_id(x, seen, p.id));
        scan->count[p.species]++;
        scan->charges[0] += p.charge;
        scan->charges[1] += p.charge * p.charge;
    }
    status = xyz_end(x);
cleanup:
    free(seen);
    return status;
}

static int scan_file(struct ctx *ctx, const struct md *md, struct scan *scan)
{
    struct xyz_text x;
    int status = xyz_open(ctx, md, md->initial.read, &x);
    if (status == 0)
        status = scan_rows(&x, scan);
    scan->n_particles = x.n_particles;
    scan->has_box = x.has_box;
    memcpy(scan->box, x.box, sizeof scan->box);
    memcpy(scan->tilt, x.tilt, sizeof scan->tilt);
    xyz_close(&x);
    return status;
}

int md_xyz_scan(struct ctx *ctx, struct md *md, int *has_box,
                double box_length[3], double tilt[3])
{
    struct scan scan = {0};
    int status = 0;
    if (md_h5md_is(md->initial.read))
        return md_h5md_scan(ctx, md, has_box, box_length, tilt);
    if (comm_rank(ctx->comm) == 0)
        status = scan_file(ctx, md, &scan);
    TRY(comm_agree(ctx, status));
    TRY(comm_bcast(ctx, &scan, sizeof scan));
    md->n_particles = scan.n_particles;
    for (int s = 0; s < md->n_species; s++)
        md->species[s].count = scan.count[s];
    for (int d = 0; d < 3; d++) {
        box_length[d] = scan.box[d];
        tilt[d] = scan.tilt[d];
    }
    for (int k = 0; k < 2; k++)
        md->initial.charge_sums[k] = scan.charges[k];
    *has_box = scan.has_box;
    return 0;
}

int md_xyz_look(struct ctx *ctx, struct md *md)
{
    struct xyz_text x = {0};
    if (!md->initial.read)
        return 0;
    if (md_h5md_is(md->initial.read))
        return md_h5md_look(ctx, md);
    if (comm_rank(ctx->comm) == 0) {
        int failed = xyz_open(ctx, md, md->initial.read, &x);
        if (failed) /* said when the file is scanned */
            error_clear(ctx);
        md->initial.has_charges = failed ? -1 : x.has_charges;
        xyz_close(&x);
    }
    TRY(comm_bcast(ctx, &md->initial.has_charges,
                   sizeof md->initial.has_charges));
    md->charged |= md->initial.has_charges != 0;
    return 0;
}

/* Images are counted in 32 bits, and such a position has lost its digits. */
static int check_distance(struct xyz_text *x, const struct md *md,
                          const struct md_particle *p)
{
    for (int d = 0; d < 3; d++)
        if (fabs(p->position[d] - md->box_lo[d]) > 1e9 * md->box_length[d])
            return xyz_fail(x, NULL,
                            "%c = %g is more than 10^9 boxes away from the box",
                            "xyz"[d], p -> position[d]);
    return 0;
}

/* Rank 0 fills a piece; *n = 0: the end. */
static int fill_piece(struct xyz_text *x, const struct md *md,
                      struct md_particle *piece, int64_t *n)
{
    for (*n = 0; *n < PIECE && x->n_rows < x->n_particles; ++*n) {
        TRY(xyz_row(x, &piece[*n]));
        TRY(check_distance(x, md, &piece[*n]));
    }
    return 0;
}

/* One piece from rank 0 to its owners; *n is what it held. A rank without
 * memory fails at the agreement at the end of the piece. */
static int send_piece(struct ctx *ctx, struct md *md, struct xyz_text *x,
                      struct md_particle *piece, struct md_list *list,
                      int64_t *n)
{
    int status = 0;
    if (x)
        status = fill_piece(x, md, piece, n);
    TRY(comm_agree(ctx, status));
    TRY(comm_bcast(ctx, n, sizeof *n));
    TRY(comm_bcast(ctx, piece, (size_t)*n * sizeof *piece));
    return comm_agree(ctx, md_replicate_keep(ctx, md, piece, *n, list));
}

int md_xyz_read(struct ctx *ctx, struct md *md, struct md_list *list)
{
    struct xyz_text text = {0};
    int is_reader = comm_rank(ctx->comm) == 0, status = 0;
    if (md_h5md_is(md->initial.read))
        return md_h5md_read(ctx, md, list);
    struct md_particle *piece = malloc(PIECE * sizeof *piece);
    int64_t n = 0;
    if (!piece)
        status = FAIL(ctx, STATUS_MEMORY, "no memory to read particles");
    else if (is_reader)
        status = xyz_open(ctx, md, md->initial.read, &text);
    text.in.told_open = 1; /* by md_xyz_scan() */
    TRY_CLEANUP(comm_agree(ctx, status));
    if (is_reader &&
        text.n_particles * md_replicate_copies(md) != md->n_particles)
        status = FAIL(ctx, STATUS_INPUT, "'%s' changed while it was read",
                      md->initial.read);
    TRY_CLEANUP(comm_agree(ctx, status));
    do
        TRY_CLEANUP(
            send_piece(ctx, md, is_reader ? &text : NULL, piece, list, &n));
    while (n > 0);
cleanup:
    xyz_close(&text);
    free(piece);
    return status;
}
