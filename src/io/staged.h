/* staged.h: copies of frames, to be written while the run goes on.
 *
 * A solver's frame is borrowed until its next one. A copy stands in one piece
 * of memory, with all that it points to, and is freed with free().
 */
#ifndef WARPDECK_IO_STAGED_H
#define WARPDECK_IO_STAGED_H

#include <stddef.h>

#include "domain/field.h"
#include "io/vtkhdf.h"

/* `constants` = 0: the values of constant fields are left out (NULL), since
 * only the first frame of a file is asked for them. NULL: no memory. */
struct field_frame *staged_frame(const struct field_frame *frame,
                                 int constants);
/* Bytes of the copy on this rank. */
size_t staged_frame_bytes(const struct field_frame *frame, int constants);

/* Of a frame on a grid, the fields named in a part of it (NULL: all): as much
 * as vtkhdf_write() of that part needs, in the precision of the file. All
 * fields named exist. */
struct grid_frame *staged_grid(const struct grid_frame *frame,
                               const struct vtkhdf_box *box, int n_names,
                               const char *const *names, enum field_type type);
size_t staged_grid_bytes(const struct grid_frame *frame,
                         const struct vtkhdf_box *box, int n_names,
                         const char *const *names, enum field_type type);

#endif
