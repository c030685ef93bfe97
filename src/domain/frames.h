/* frames.h: particles of one moment, from a file whose format a solver need not
 * know. ctx->frames points to the one reader there is (io/h5md_read.h).
 */
#ifndef WARPDECK_DOMAIN_FRAMES_H
#define WARPDECK_DOMAIN_FRAMES_H

#include <stdint.h>

struct ctx;

enum frame_item {
    FRAME_POSITION, /* double [n][3] */
    FRAME_VELOCITY, /* double [n][3] */
    FRAME_IMAGE,    /* int64 [n][3] */
    FRAME_ID,       /* int64 [n] */
    FRAME_SPECIES,  /* int64 [n], from 0 */
    FRAME_CHARGE,   /* double [n] */
    FRAME_ITEMS
};

enum { FRAME_UNIT_MAX = 40 };

/* Numbers are the file's; units as it writes them, "" where it does not. */
struct frame_head {
    int64_t n, step;
    int has[FRAME_ITEMS];
    char unit[FRAME_ITEMS][FRAME_UNIT_MAX];
    int has_box;
    double edge[3], origin[3]; /* of a periodic box with edges (x, 0, 0), */
    double tilt[3];            /* (xy, y, 0), (xz, yz, z) */
    char box_unit[FRAME_UNIT_MAX];
};

/* For one rank; nothing here is collective. */
struct frames {
    /* Open a file at its frame of this step, step < 0: the last one. group: of
     * particles, NULL: the only one, or "all". close() in any case. Errors:
     * STATUS_INPUT with file and dataset. */
    int (*open)(struct ctx *ctx, const char *path, const char *group,
                int64_t step, struct frame_head *head, void **file);
    /* Rows [first, first + n) of an item that there is. */
    int (*read)(struct ctx *ctx, void *file, enum frame_item item,
                int64_t first, int64_t n, void *values);
    void (*close)(void *file); /* NULL is fine */
};

#endif
