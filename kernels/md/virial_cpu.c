/* virial_cpu.c: the virial of pairs from their forces, as the sum of place
 * times force.
 *
 * Where both particles of each pair get its force in the same array, and i's
 * place is shifted in the rows of a neighboring image,
 *     sum over pairs (x_i + shift - x_j) f_ij
 *         = sum over particles x f + sum over rows shift f_row,
 * so that loops of pairs need not look at it. All forces together are 0: places
 * count from the middle, where rounding of large ones does least. Forces of
 * terms along bonds go to the same array: it is looked at before and after the
 * pairs of each part.
 */
#include "kernels/md/store_cpu.h"

#include <string.h>

/* Sums in double over the lanes, in the order of struct md_sums.tensor. */
struct moments {
    double of[6][LANES];
};

static void add_clusters(const struct md_store *s, const scalar *f,
                         int32_t first, int32_t last, const double middle[3],
                         struct moments *m)
{
    for (int32_t c = first; c < last; c++) {
        const scalar *x = s->pair_x + CLUSTER(c), *fc = f + CLUSTER(c);
        for (int l = 0; l < LANES; l++) {
            double f0 = (double)fc[l], f1 = (double)fc[LANES + l];
            double f2 = (double)fc[2 * LANES + l];
            double x0 = (double)x[l] - middle[0];
            double x1 = (double)x[LANES + l] - middle[1];
            double x2 = (double)x[2 * LANES + l] - middle[2];
            m->of[0][l] += x0 * f0;
            m->of[1][l] += x1 * f1;
            m->of[2][l] += x2 * f2;
            m->of[3][l] += x0 * f1;
            m->of[4][l] += x0 * f2;
            m->of[5][l] += x1 * f2;
        }
    }
}

void md_add_places(const struct md_store *s, struct md_worker *w,
                   const scalar *f, double sign)
{
    struct moments m;
    double middle[3];
    int32_t n = md_clusters_pushed(s);
    memset(&m, 0, sizeof m);
    for (int d = 0; d < 3; d++)
        middle[d] = 0.5 * (s->setup.lo[d] + s->setup.hi[d]) - s->origin[d];
    for (int32_t c = 0; c < n; c += TOUCH_BLOCK)
        if (s->n_workers == 1 || w->touched[c / TOUCH_BLOCK])
            add_clusters(s, f, c, n - c > TOUCH_BLOCK ? c + TOUCH_BLOCK : n,
                         middle, &m);
    for (int t = 0; t < 6; t++)
        for (int l = 0; l < LANES; l++)
            w->tensor[t] += sign * m.of[t][l];
}

void md_add_shifts(const struct md_store *s, struct md_worker *w)
{
    static const int a[6] = {0, 1, 2, 0, 0, 1}, b[6] = {0, 1, 2, 1, 2, 2};
    for (int k = 0; k < SHIFTS; k++)
        for (int t = 0; t < 6; t++)
            w->tensor[t] += (double)s->shift[k][a[t]] * w->shifted[k][b[t]];
    w->virial = w->tensor[0] + w->tensor[1] + w->tensor[2];
}
