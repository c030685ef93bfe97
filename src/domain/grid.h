/* grid.h: a Cartesian box cut into one block a rank.
 *
 * Rank r has coordinates (cx, cy, cz), r = (cz * ny + cy) * nx + cx, and owns
 * the half-open block [lo, hi) of the box [box_lo, box_hi). Blocks have equal
 * size. Any rank count works: the block may be thinner than a cutoff.
 */
#ifndef WARPDECK_DOMAIN_GRID_H
#define WARPDECK_DOMAIN_GRID_H

struct grid {
    double box_lo[3], box_length[3];
    int dims[3];   /* ranks in x, y, z; their product is the rank count */
    int coords[3]; /* of this rank */
    int rank, size;
    double lo[3], hi[3]; /* this rank's block */
    int walled[3]; /* the box ends here; 0 after grid_init(): it repeats */
};

/* Choose dims with the least total surface between blocks; where several are
 * equal, x is cut first, then y. Directions of zero length are not cut. */
void grid_choose(int size, const double length[3], int dims[3]);

/* Fill in a grid. dims: from grid_choose() or the deck; product = size. */
void grid_init(struct grid *g, const double box_lo[3],
               const double box_length[3], const int dims[3], int rank,
               int size);

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
