/* eam.h: the embedded-atom method's functions as tables, and cubics through
 * them.
 *
 *     U = sum_i F_a(rho_i) + sum_{i<j} phi_ab(r_ij),   rho_i = sum_j f_b(r_ij)
 *
 * with a, b the species of i, j (Daw and Baskes 1984, Phys. Rev. B 29, 6443;
 * Foiles, Baskes and Daw 1986, Phys. Rev. B 33, 7983).
 */
#ifndef WARPDECK_KERNELS_MD_EAM_H
#define WARPDECK_KERNELS_MD_EAM_H

#include <stddef.h>

/* All functions on even grids that begin at 0; lengths and energies in the
 * deck's units. */
struct md_eam {
    int n_species;
    int n_rho, n_r; /* points of the grids, at least EAM_POINTS_MIN */
    double rho_step, r_step;
    double cutoff;           /* pairs farther apart do not interact */
    const double *embedding; /* [n_species][n_rho]: F */
    const double *density;   /* [n_species][n_r]: f, what one particle gives */
    const double *pair;      /* [eam_pairs(n_species)][n_r]: r phi */
};

enum { EAM_POINTS_MIN = 5 };

/* Pairs of species stand as (0,0), (1,0), (1,1), (2,0), ... */
static inline size_t eam_pairs(int n_species)
{
    return (size_t)n_species * ((size_t)n_species + 1) / 2;
}

static inline size_t eam_pair_index(int a, int b)
{
    int high = a > b ? a : b, low = a > b ? b : a;
    return eam_pairs(high) + (size_t)low;
}

/* The slope at point k, per step of the grid: fourth order inside, lower at the
 * ends, as LAMMPS has it, so that energies agree to all digits. */
static inline double eam_slope(const double *f, int n, int k)
{
    if (k == 0 || k == n - 1)
        return k == 0 ? f[1] - f[0] : f[k] - f[k - 1];
    if (k == 1 || k == n - 2)
        return 0.5 * (f[k + 1] - f[k - 1]);
    return (f[k - 2] - f[k + 2] + 8 * (f[k + 1] - f[k - 1])) / 12;
}

/* The cubic between points k and k + 1 with the values and slopes there:
 * c[0] + c[1] p + c[2] p^2 + c[3] p^3 for p = 0 .. 1. */
static inline void eam_cubic(const double *f, int n, int k, double c[4])
{
    double rise = f[k + 1] - f[k];
    double s0 = eam_slope(f, n, k), s1 = eam_slope(f, n, k + 1);
    c[0] = f[k];
    c[1] = s0;
    c[2] = 3 * rise - 2 * s0 - s1;
    c[3] = s0 + s1 - 2 * rise;
}

#endif
