/* fluid_random.c: a random velocity without divergence.
 *
 * A sum of waves along the box, each with a random amplitude across its
 * (discrete) wave vector, so that the field on the faces is free of divergence
 * to round-off. The amplitude depends on the wave and the seed alone: the same
 * field comes out on any grid and any count of ranks. A wave is a product of
 * exponentials of x, y and z, so that the sums are taken one after the other.
 */
#include <complex.h>
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "fluid.h"
#include "kernels/rng.h"

static const double two_pi = 6.28318530717958647693;

/* Greatest wave number along each direction: the spectrum beyond 2.5 peaks
 * holds less than a thousandth, and the grid carries half its cells. */
static void reach(const struct fluid *f, int64_t most[3])
{
    double longest = fmax(f->length[0], fmax(f->length[1], f->length[2]));
    for (int d = 0; d < 3; d++) {
        int64_t n = (int64_t)ceil(2.5 * f->start.peak * f->length[d] / longest);
        int64_t grid = (f->setup.cells[d] - 1) / 2;
        most[d] = n < grid ? n : grid;
    }
}

/* One wave of each pair k, -k. */
static int is_counted(const int64_t n[3])
{
    return n[0] > 0 || (n[0] == 0 && (n[1] > 0 || (n[1] == 0 && n[2] > 0)));
}

/* The amplitude of a wave; 0 for those that do not count. */
static void amplitude(const struct fluid *f, const int64_t n[3],
                      double complex a[3])
{
    double longest = fmax(f->length[0], fmax(f->length[1], f->length[2]));
    double k[3], square = 0, real[3], imaginary[3], grid = 0;
    int dimensions = 0;
    a[0] = a[1] = a[2] = 0;
    if (!is_counted(n))
        return;
    for (int d = 0; d < 3; d++) {
        double h = f->length[d] / (double)f->setup.cells[d];
        double wave = two_pi * (double)n[d] / f->length[d];
        square += pow((double)n[d] * longest / f->length[d], 2);
        k[d] = 2 / h * sin(0.5 * wave * h);
        grid += k[d] * k[d];
        dimensions += f->setup.cells[d] > 1;
    }
    double q = square / (f->start.peak * f->start.peak);
    double size =
        sqrt(q * q * exp(-2 * q) / pow(square, 0.5 * (dimensions - 1)));
    uint64_t index =
        (uint64_t)((n[0] << 40) + ((n[1] + 4096) << 20) + (n[2] + 4096));
    rng_normal3(f->seed, RNG_FLOW, 0, index, real);
    rng_normal3(f->seed, RNG_FLOW, 1, index, imaginary);
    double complex along = 0;
    for (int d = 0; d < 3; d++) {
        a[d] = f->setup.cells[d] > 1 ? size * (real[d] + I * imaginary[d]) : 0;
        along += k[d] * a[d];
    }
    for (int d = 0; d < 3; d++)
        a[d] -= k[d] * along / grid;
}

double fluid_random_scale(const struct fluid *f)
{
    int64_t most[3], n[3];
    double sum = 0;
    int dimensions = 0;
    reach(f, most);
    for (n[2] = -most[2]; n[2] <= most[2]; n[2]++)
        for (n[1] = -most[1]; n[1] <= most[1]; n[1]++)
            for (n[0] = 0; n[0] <= most[0]; n[0]++) {
                double complex a[3];
                amplitude(f, n, a);
                for (int d = 0; d < 3; d++)
                    sum += 0.5 * creal(a[d] * conj(a[d]));
            }
    for (int d = 0; d < 3; d++)
        dimensions += f->setup.cells[d] > 1;
    return sum > 0 ? f->start.amplitude / sqrt(sum / dimensions) : 0;
}

/* Where component c stands along d. */
static double position(const struct fluid *f, int c, int d, int64_t i)
{
    return c == d ? f->face[d][i + 1] : f->center[d][i];
}

/* Sum over waves along x: lines[nz][ny][x]. */
static void sum_x(const struct fluid *f, int c, const int64_t most[3],
                  double complex *lines)
{
    int64_t nx = f->setup.cells[0], n[3];
    for (n[2] = -most[2]; n[2] <= most[2]; n[2]++)
        for (n[1] = -most[1]; n[1] <= most[1]; n[1]++, lines += nx)
            for (n[0] = 0; n[0] <= most[0]; n[0]++) {
                double complex a[3];
                amplitude(f, n, a);
                if (a[0] == 0 && a[1] == 0 && a[2] == 0)
                    continue;
                for (int64_t i = 0; i < nx; i++)
                    lines[i] +=
                        a[c] * cexp(I * two_pi * (double)n[0] *
                                    position(f, c, 0, i) / f->length[0]);
            }
}

/* sum[x] += factor * line[x] */
static void add_line(int64_t n, double complex factor,
                     const double complex *line, double complex *sum)
{
    for (int64_t i = 0; i < n; i++)
        sum[i] += factor * line[i];
}

/* Sum over waves along y and z at the rows of this rank. */
static void sum_rows(const struct fluid *f, int c, double scale,
                     const int64_t most[3], const double complex *lines,
                     double complex *plane, double complex *row, double *block)
{
    const struct block *b = &f->block;
    int64_t nx = f->setup.cells[0], wide = 2 * most[1] + 1;
    for (int64_t k = 0; k < b->local[2]; k++) {
        double z = position(f, c, 2, b->first[2] + k);
        for (int64_t i = 0; i < wide * nx; i++)
            plane[i] = 0;
        for (int64_t n = -most[2]; n <= most[2]; n++)
            add_line(wide * nx, cexp(I * two_pi * (double)n * z / f->length[2]),
                     lines + (n + most[2]) * wide * nx, plane);
        for (int64_t j = 0; j < b->local[1]; j++, block += nx) {
            double y = position(f, c, 1, b->first[1] + j);
            for (int64_t i = 0; i < nx; i++)
                row[i] = 0;
            for (int64_t n = -most[1]; n <= most[1]; n++)
                add_line(nx, cexp(I * two_pi * (double)n * y / f->length[1]),
                         plane + (n + most[1]) * nx, row);
            for (int64_t i = 0; i < nx; i++)
                block[i] += scale * creal(row[i]);
        }
    }
}

int fluid_random_component(struct ctx *ctx, const struct fluid *f, int c,
                           double scale, double *block)
{
    int64_t most[3];
    reach(f, most);
    size_t nx = (size_t)f->setup.cells[0];
    size_t wide = (size_t)(2 * most[1] + 1), deep = (size_t)(2 * most[2] + 1);
    double complex *lines = calloc(deep * wide * nx, sizeof *lines);
    double complex *plane = calloc(wide * nx, sizeof *plane);
    double complex *row = calloc(nx, sizeof *row);
    int status = 0;
    if (lines && plane && row) {
        sum_x(f, c, most, lines);
        sum_rows(f, c, scale, most, lines, plane, row, block);
    } else {
        status = FAIL(ctx, STATUS_MEMORY, "no memory for the random field");
    }
    free(lines);
    free(plane);
    free(row);
    return status;
}
