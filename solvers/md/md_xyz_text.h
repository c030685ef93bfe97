/* md_xyz_text.h: the text of an XYZ file, row by row.
 *
 * Three dialects, told apart by their second line:
 *   extended  key=value pairs: Lattice="ax 0 0 bx by 0 cx cy cz", Properties=
 *             species:S:1:pos:R:3[:velo:R:3][:id:I:1][:charge:R:1][:mass:R:1],
 *             pbc="T T T"; type:I:1 in place of species
 *   plain     anything else, rows "species x y z"; three numbers alone are the
 *             edges of the box
 *   numbered  four numbers, the last three the edges of the box; rows
 *             "number x y z [species]", as NIST's sample configurations have
 * Used by one rank; no call here is collective.
 */
#ifndef WARPDECK_SOLVERS_MD_XYZ_TEXT_H
#define WARPDECK_SOLVERS_MD_XYZ_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "md_text.h"

struct ctx;
struct md;
struct md_particle;

enum { XYZ_COLUMNS_MAX = 128 };

enum xyz_column {
    XYZ_IGNORED,
    XYZ_SPECIES,
    XYZ_ID,
    XYZ_X,
    XYZ_Y,
    XYZ_Z,
    XYZ_VX,
    XYZ_VY,
    XYZ_VZ,
    XYZ_CHARGE,
    XYZ_MASS, /* has to be that of the species */
    XYZ_TYPE, /* the species by its number, from 1 */
    XYZ_KINDS
};

struct xyz_text {
    struct md_text in;
    const struct md *md;         /* for the species */
    int64_t n_particles, n_rows; /* promised, read */
    int has_box, has_ids, has_charges;
    double box[3], tilt[3]; /* xy, xz, yz */
    double mass;            /* of this row; 0: not told */
    int n_columns, n_required;
    enum xyz_column columns[XYZ_COLUMNS_MAX];
};

/* Open the file and read its two header lines. Call xyz_close() in any case.
 * Errors: STATUS_INPUT, with line and column. */
int xyz_open(struct ctx *ctx, const struct md *md, const char *path,
             struct xyz_text *x);
/* Read the next row; positions and velocities as the file has them. Ids count
 * up from 1 where the file has none. */
int xyz_row(struct xyz_text *x, struct md_particle *p);
/* After the last row: only blank lines may follow. */
int xyz_end(struct xyz_text *x);
void xyz_close(struct xyz_text *x);

/* A failure at `at` in the present line. */
int xyz_fail(struct xyz_text *x, const char *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
