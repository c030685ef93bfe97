/* vtkhdf.h: frames of a grid, files that ParaView opens.
 *
 * A frame is a file, STEM_000100.hdf for step 100, in the VTKHDF 1.0 layout of
 * an ImageData, and STEM.hdf.series lists the frames with their times; that is
 * the file to open. A frame is made beside its place, as .tmp, and takes its
 * name when it is on the disk; then the list is replaced. So a reader finds
 * whole files at any moment, and a run that is killed, or finds the disk full,
 * leaves all frames before.
 *
 *     /                    suite, version, format_version
 *     /run                 where the file comes from, see provenance.h
 *     /VTKHDF              Version, Type, WholeExtent, Origin, Spacing,
 *                          Direction; step, time, time_unit
 *     /VTKHDF/PointData    NAME [nz][ny][nx] or [nz][ny][nx][components]
 *     /coordinates         x, y, z: centers of the cells; x_faces, y_faces,
 *                          z_faces: one more each; first_cell, grid_cells
 *
 * The values stand at the centers of the cells, which are the points of the
 * ImageData: ParaView 5.11 shows no CellData of such files. Where the grid is
 * stretched in z, Spacing is the mean one and the picture is even; the true
 * heights stand in /coordinates, and `warpdeck-post export` makes a
 * RectilinearGrid of it. Every dataset has `unit` and `description`.
 */
#ifndef WARPDECK_IO_VTKHDF_H
#define WARPDECK_IO_VTKHDF_H

#include <stdint.h>

#include "domain/field.h"

struct ctx;
struct provenance;
struct vtkhdf;

/* A part of the whole grid, in cells. */
struct vtkhdf_box {
    int64_t first[3], count[3];
};

/* Begin a row of frames, or go on with one: the list keeps the frames with
 * steps up to `keep` (-1: none), and later ones are deleted. Values are written
 * as `type`, FIELD_DOUBLE or FIELD_FLOAT. `from` is borrowed until
 * vtkhdf_close(). The caller owns *out. Errors: STATUS_IO. Collective. */
int vtkhdf_open(struct ctx *ctx, const char *stem,
                const struct provenance *from, enum field_type type,
                int64_t keep, struct vtkhdf **out);

/* Write the fields named of a frame, in a part of the grid (NULL: all of it).
 * Errors: STATUS_IO, the frames before stay; STATUS_INTERNAL where the frame
 * has no such field. Collective, also for ranks that have nothing of it. */
int vtkhdf_write(struct ctx *ctx, struct vtkhdf *v,
                 const struct grid_frame *frame, const struct vtkhdf_box *box,
                 int n_names, const char *const *names);
void vtkhdf_close(struct vtkhdf *v); /* NULL is fine */

enum field_type vtkhdf_type(const struct vtkhdf *v);
int64_t vtkhdf_frames(const struct vtkhdf *v); /* by this run */
int64_t vtkhdf_last(const struct vtkhdf *v);   /* step; -1: none */
/* Bytes of the numbers written by this run, all ranks. */
uint64_t vtkhdf_bytes(const struct vtkhdf *v);

/* The field of that name, or NULL. */
const struct grid_field *grid_field_find(const struct grid_frame *frame,
                                         const char *name);

/* What a frame takes beside its numbers, about: metadata, deck, coordinates. */
enum { VTKHDF_OVERHEAD = 48 * 1024 };

#endif
