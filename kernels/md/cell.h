/* cell.h: a periodic box with any angles, and its waves.
 *
 * Edges are a = (l0, 0, 0), b = (xy, l1, 0), c = (xz, yz, l2), with tilt = {xy,
 * xz, yz}; those of a box with right angles have a tilt of 0, of which nothing
 * is left in the last digit. A CUDA file defines CELL_FN before it includes
 * this one.
 */
#ifndef WARPDECK_KERNELS_MD_CELL_H
#define WARPDECK_KERNELS_MD_CELL_H

#ifndef CELL_FN
#define CELL_FN static inline __attribute__((unused))
#endif

/* The way x from the corner as parts of the edges: x = s0 a + s1 b + s2 c. */
CELL_FN void cell_parts(const double length[3], const double tilt[3],
                        const double x[3], double s[3])
{
    s[2] = x[2] / length[2];
    s[1] = (x[1] - tilt[2] * s[2]) / length[1];
    s[0] = (x[0] - tilt[0] * s[1] - tilt[1] * s[2]) / length[0];
}

/* The wave vector whose phase grows by phase[d] along edge d. */
CELL_FN void cell_wave(const double length[3], const double tilt[3],
                       const double phase[3], double k[3])
{
    k[0] = phase[0] / length[0];
    k[1] = (phase[1] - tilt[0] * k[0]) / length[1];
    k[2] = (phase[2] - tilt[1] * k[0] - tilt[2] * k[1]) / length[2];
}

#endif
