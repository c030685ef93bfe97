/* grid.h: a Cartesian box cut into one block a rank.
 *
 * Rank r has coordinates (cx, cy, cz), r = (cz * ny + cy) * nx + cx, and owns
 * the half-open block [lo, hi) of the box [box_lo, box_hi). Blocks have equal
 * size, unless somebody moves the faces (grid_cut()): these are planes through
 * the whole box. Any rank count works: the block may be thinner than a cutoff.
 *
 * A tilted box repeats along a = (lx, 0, 0), b = (xy, ly, 0), c = (xz, yz, lz).
 * The right-angled box of its lengths holds each particle once, too, and tiles
 * space in rows that are shifted against one another; so blocks stay bricks,
 * and only the way to a block beyond a face is another one.
 */
#ifndef WARPDECK_DOMAIN_GRID_H
#define WARPDECK_DOMAIN_GRID_H

struct grid {
    double box_lo[3], box_length[3];
    int dims[3];   /* ranks in x, y, z; their product is the rank count */
    int coords[3]; /* of this rank */
    int rank, size;
    double lo[3], hi[3]; /* this rank's block */
    int walled[3];  /* the box ends here; 0 after grid_init(): it repeats */
    int open[3];    /* it ends, and follows the particles; else 0 */
    int tilted;     /* 0 after grid_init() */
    double tilt[3]; /* xy, xz, yz */
    const double *cuts[3]; /* [dims + 1] faces of direction d, as parts of the
                            * box: from 0 to 1, ascending. Borrowed; NULL: at
                            * equal distances */
};

/* Choose dims with the least total surface between blocks; where several are
 * equal, x is cut first, then y. Directions of zero length are not cut. */
void grid_choose(int size, const double length[3], int dims[3]);

/* Fill in a grid. dims: from grid_choose() or the deck; product = size. */
void grid_init(struct grid *g, const double box_lo[3],
               const double box_length[3], const int dims[3], int rank,
               int size);

/* From here on the box is one with this tilt, be it 0. */
void grid_set_tilt(struct grid *g, const double tilt[3]);

/* The block that stands `delta` blocks from this rank's, beyond faces of the
 * box as well. image: how many edges away that is; shift: how far these lean
 * along x, y, z. Exactly the opposite as seen from there. */
void grid_image(const struct grid *g, const int delta[3], int image[3],
                double shift[3]);
/* Faces at cuts[d] of each direction from now on (see above); to be called
 * again whenever they have changed. */
void grid_cut(struct grid *g, const double *const cuts[3]);
/* The width of block c (taken modulo dims) along d. */
double grid_width(const struct grid *g, int d, int c);
/* How wide the gap is between block c and the one `delta` from it along d,
 * which is shifted by `shift` beside; 0 where they touch or stand side by side.
 * The very same number as from there, of - delta and - shift. */
double grid_gap(const struct grid *g, int d, int c, int delta, double shift);
/* The narrowest one. */
double grid_narrowest(const struct grid *g, int d);

/* The block of the rank with the given coordinates (taken modulo dims). The
 * upper end of the last block is exactly box_lo + box_length. */
void grid_block(const struct grid *g, const int coords[3], double lo[3],
                double hi[3]);
int grid_rank(const struct grid *g, const int coords[3]);
void grid_coords(const struct grid *g, int rank, int coords[3]);

/* The rank that owns a position inside the box [box_lo, box_hi). Consistent
 * with lo <= x < hi of every block, to the last bit. */
int grid_owner(const struct grid *g, const double position[3]);

#endif
