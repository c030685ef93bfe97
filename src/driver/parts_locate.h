/* parts_locate.h: parts on the grid. Private to src/driver/parts*.c. */
#ifndef WARPDECK_DRIVER_PARTS_LOCATE_H
#define WARPDECK_DRIVER_PARTS_LOCATE_H

#include "driver/parts.h"

struct ctx;
struct grid_field;
struct grid_frame;

/* Find the cells of a part. Errors: STATUS_DECK, a box without cells. */
int part_locate(struct ctx *ctx, struct part *part, const struct grid_frame *g);

/* The values of a probe, on all ranks, in part->values: fields[n_fields], one
 * after the other, linear in each direction. Collective. */
int part_interpolate(struct ctx *ctx, struct part *part,
                     const struct grid_frame *g,
                     const struct grid_field *const *fields);

#endif
