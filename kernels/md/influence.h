/* influence.h: what the modes of a mesh of charges, or waves one by one, make
 * of Ewald's smooth part: formulas of one mode, for every loop.
 *
 * A mesh knows a wave only up to its aliases, k + 2 pi m / h. The function that
 * multiplies the modes is the one that makes the mean square error of forces
 * least, when they are the gradient by i k: Hockney and Eastwood (1988), eq.
 * 8-22,
 *
 *     G(k) = k . sum_m R(k_m) U(k_m)^2 / (k^2 (sum_m U(k_m)^2)^2),
 *     R(k) = 4 pi k / k^2 exp(-k^2 / (4 alpha^2)),
 *
 * with U the Fourier transform of the weights of a charge, a product over
 * directions of (sin(k h / 2) / (k h / 2))^order.
 *
 * A CUDA file defines INFLUENCE_FN, and CELL_FN of cell.h, before it includes
 * this one.
 */
#ifndef WARPDECK_KERNELS_MD_INFLUENCE_H
#define WARPDECK_KERNELS_MD_INFLUENCE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/md/cell.h"

#ifndef INFLUENCE_FN
#define INFLUENCE_FN static inline __attribute__((unused))
#endif

/* One direction of a mesh: wave numbers and weights of index k of n and of its
 * aliases. Entry [k][alias + aliases], n (2 aliases + 1) of them; the arrays
 * stand one behind the other, from `wave` on. */
struct md_alias {
    int aliases;
    double *wave;   /* 2 pi (k + n alias) / L, k in [-n/2, n/2) */
    double *weight; /* of charges, squared */
    double *gauss;  /* exp(-wave^2 / (4 alpha^2)) */
    double *whole;  /* [k]: weights of all aliases there are */
};

/* Numbers of such an array for n cells. */
INFLUENCE_FN size_t md_alias_numbers(int64_t n, int aliases)
{
    return (size_t)n * (3 * (2 * (size_t)aliases + 1) + 1);
}

/* Where the arrays are that begin at `wave`. */
INFLUENCE_FN void md_alias_place(struct md_alias *a, int64_t n, int aliases,
                                 double *wave)
{
    size_t all = (size_t)n * (2 * (size_t)aliases + 1);
    a->aliases = aliases;
    a->wave = wave;
    a->weight = wave + all;
    a->gauss = a->weight + all;
    a->whole = a->gauss + all;
}

/* The wave number and the Gaussian of alias m of index k, of n cells along an
 * edge of this length. */
INFLUENCE_FN double md_alias_entry(int64_t n, double length, double alpha,
                                   int64_t k, int m, double *gauss)
{
    const double two_pi = 6.283185307179586476925;
    int64_t base = k - n * (2 * k / n); /* in [-n/2, n/2) */
    double wave = two_pi * (double)(base + n * m) / length;
    *gauss = exp(-0.25 * wave * wave / (alpha * alpha));
    return wave;
}

/* The influence function of the mode with these indices; 0 of k = 0. */
INFLUENCE_FN double md_influence(const struct md_alias a[3], const int64_t k[3])
{
    const double four_pi = 12.566370614359172954;
    int width[3];
    size_t first[3];
    double k2 = 0, base[3], sum = 0, whole = 1;
    for (int d = 0; d < 3; d++) {
        width[d] = 2 * a[d].aliases + 1;
        first[d] = (size_t)k[d] * (size_t)width[d];
        base[d] = a[d].wave[first[d] + (size_t)a[d].aliases];
        k2 += base[d] * base[d];
        whole *= a[d].whole[k[d]];
    }
    if (!(k2 > 0))
        return 0;
    for (int z = 0; z < width[2]; z++)
        for (int y = 0; y < width[1]; y++)
            for (int x = 0; x < width[0]; x++) {
                size_t at[3] = {first[0] + (size_t)x, first[1] + (size_t)y,
                                first[2] + (size_t)z};
                double dot = 0, q2 = 0, part = 1;
                for (int d = 0; d < 3; d++) {
                    double q = a[d].wave[at[d]];
                    dot += base[d] * q;
                    q2 += q * q;
                    part *= a[d].weight[at[d]] * a[d].gauss[at[d]];
                }
                sum += dot / q2 * part;
            }
    return four_pi / k2 * sum / (whole * whole);
}

/* In a tilted box, whose tables are those of edges of length 1, wave numbers
 * are phases along the edges: those of these entries as a wave; returns its
 * Gaussian. */
INFLUENCE_FN double md_tilted_wave(const double length[3], const double tilt[3],
                                   double alpha, const struct md_alias a[3],
                                   const size_t at[3], double q[3])
{
    double phase[3];
    for (int d = 0; d < 3; d++)
        phase[d] = a[d].wave[at[d]];
    cell_wave(length, tilt, phase, q);
    double q2 = q[0] * q[0] + q[1] * q[1] + q[2] * q[2];
    return exp(-0.25 * q2 / (alpha * alpha));
}

/* md_influence() there, where no Gaussian is a product over edges. */
INFLUENCE_FN double md_tilted_influence_of(const double length[3],
                                           const double tilt[3], double alpha,
                                           const struct md_alias a[3],
                                           const int64_t k[3])
{
    const double four_pi = 12.566370614359172954;
    int n[3], all = 1;
    double base[3], sum = 0, whole = 1;
    size_t at[3];
    for (int d = 0; d < 3; d++) {
        n[d] = 2 * a[d].aliases + 1;
        all *= n[d];
        at[d] = (size_t)(k[d] * n[d] + a[d].aliases);
        whole *= a[d].whole[k[d]];
    }
    md_tilted_wave(length, tilt, alpha, a, at, base);
    double k2 = base[0] * base[0] + base[1] * base[1] + base[2] * base[2];
    if (!(k2 > 0))
        return 0;
    for (int m = 0; m < all; m++) {
        const int of[3] = {m % n[0], m / n[0] % n[1], m / n[0] / n[1]};
        double q[3], weight = 1;
        for (int d = 0; d < 3; d++) {
            at[d] = (size_t)(k[d] * n[d] + of[d]);
            weight *= a[d].weight[at[d]];
        }
        double gauss = md_tilted_wave(length, tilt, alpha, a, at, q);
        double q2 = q[0] * q[0] + q[1] * q[1] + q[2] * q[2];
        sum += (base[0] * q[0] + base[1] * q[1] + base[2] * q[2]) / q2 *
               weight * gauss;
    }
    return four_pi / k2 * sum / (whole * whole);
}

/* The same of the mode of both ways of the highest of an even number of cells,
 * which are not as long: the mean. */
INFLUENCE_FN double md_tilted_influence(const double length[3],
                                        const double tilt[3], double alpha,
                                        const struct md_alias a[3],
                                        const int64_t cells[3],
                                        const int64_t k[3])
{
    int64_t back[3];
    int highest = 0;
    double g = md_tilted_influence_of(length, tilt, alpha, a, k);
    for (int d = 0; d < 3; d++) {
        back[d] = k[d] > 0 ? cells[d] - k[d] : 0;
        highest |= 2 * k[d] == cells[d];
    }
    return highest
               ? 0.5 *
                     (g + md_tilted_influence_of(length, tilt, alpha, a, back))
               : g;
}

/* Index k of n cells as a wave number: of the gradient, where the highest of an
 * even number has none, being its own conjugate (gradient = 1), or of the mode.
 */
INFLUENCE_FN double md_wave_number(int64_t k, int64_t n, double length,
                                   int gradient)
{
    const double two_pi = 6.283185307179586476925;
    int64_t base = k - n * (2 * k / n);
    return gradient && 2 * k == n ? 0 : two_pi * (double)base / length;
}

/* The energy of a wave and its conjugate by the square of its sum. scale:
 * Coulomb's constant over the volume. */
INFLUENCE_FN double md_wave_influence(double k2, double alpha2, double scale)
{
    const double four_pi = 12.566370614359172954;
    return scale * four_pi / k2 * exp(-0.25 * k2 / alpha2);
}

/* What a wave of this energy adds to the virial, minus the derivative by strain
 * of the box; in all, and by directions: xx, yy, zz, xy, xz, yz. */
INFLUENCE_FN double md_wave_virial(double energy, const double k[3], double k2,
                                   double alpha2, double tensor[6])
{
    double f = 2 * (1 / k2 + 0.25 / alpha2);
    for (int d = 0; d < 3; d++)
        tensor[d] = energy * (1 - f * k[d] * k[d]);
    tensor[3] = energy * (0 - f * k[0] * k[1]);
    tensor[4] = energy * (0 - f * k[0] * k[2]);
    tensor[5] = energy * (0 - f * k[1] * k[2]);
    return energy * (3 - f * k2);
}

#endif
