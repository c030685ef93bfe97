/* charges_cpu.c: the tables of Coulomb's force and energy. */
#include "kernels/md/charged_rows.h"
#include "kernels/md/terms_cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* A table [degree + 1][parts] in the order of charged_rows.h. Returns 0 or -1.
 */
static int keep_table(const double *table, int parts, int degree, scalar **out)
{
    size_t capacity = 0, last = charged_place(parts, degree, parts - 1);
    size_t size = last / SIMD_BYTES * SIMD_BYTES + SIMD_BYTES;
    if (md_grow((void **)out, &capacity, size, sizeof **out) != 0)
        return -1;
    memset(*out, 0, size * sizeof **out);
    for (int d = 0; d <= degree; d++)
        for (int k = 0; k < parts; k++)
            (*out)[charged_place(parts, d, k)] = (scalar)table[d * parts + k];
    return 0;
}

/* Doubles only: floats have segments of so low a degree that no root pays.
 * Returns 0 or -1. */
static int make_smooth(struct md_charges *c, const struct md_coulomb *q)
{
    enum { SIZE = (CHARGED_SMOOTH_DEGREE + 1) * CHARGED_SMOOTH_PARTS };
    double table[2][SIZE];
    scalar **const out[] = {&c->smooth_force, &c->smooth_energy};
    if (KERNEL_SCALAR_BYTES != 8 || q->method != MD_COULOMB_EWALD)
        return 0;
    c->smooth = smooth_tables(q->alpha, q->cutoff, CHARGED_SMOOTH_PARTS,
                              CHARGED_SMOOTH_DEGREE, table[0], table[1]);
    c->constant = q->constant;
    c->parts_per_length2 = CHARGED_SMOOTH_PARTS / c->cutoff2;
    for (int k = 0; k < 2; k++)
        if (keep_table(table[k], CHARGED_SMOOTH_PARTS, CHARGED_SMOOTH_DEGREE,
                       out[k]) != 0)
            return -1;
    return 0;
}

int md_charges_create(struct ctx *ctx, struct md_store *s)
{
    const struct md_force_field none = {0};
    const struct md_force_field *field = s->terms ? &s->terms->field : &none;
    const struct md_coulomb *q = &field->coulomb;
    int n = s->setup.n_species;
    int on = s->setup.charged && q->method != MD_COULOMB_NONE;
    if (!on && !(field->switch_from > 0) && !s->tables)
        return 0;
    struct md_charges *c = s->charges = calloc(1, sizeof *c);
    if (!c)
        return FAIL(ctx, STATUS_MEMORY, "no memory for charges");
    s->masked = 1;
    c->on = on;
    c->from2 = field->switch_from * field->switch_from;
    for (int a = 0; a < n; a++) {
        c->bare[a] = 1;
        for (int b = 0; b < n; b++)
            if (s->tables ? s->coeff[a * n + b].cutoff > 0
                          : fabs(s->coeff[a * n + b].c12) +
                                    fabs(s->coeff[a * n + b].c6) >
                                0)
                c->bare[a] = 0;
    }
    if (!on)
        return 0;
    c->cutoff2 = q->cutoff * q->cutoff;
    enum { SIZE = (CHARGED_DEGREE + 1) * CHARGED_SEGMENTS };
    double force[SIZE], energy[SIZE];
    coulomb_tables(q, CHARGED_BITS, CHARGED_DEGREE, force, energy, &c->least2);
    c->self = coulomb_self_energy(q);
    if (keep_table(force, CHARGED_SEGMENTS, CHARGED_DEGREE, &c->force) != 0 ||
        keep_table(energy, CHARGED_SEGMENTS, CHARGED_DEGREE, &c->energy) != 0 ||
        make_smooth(c, q) != 0)
        return FAIL(ctx, STATUS_MEMORY, "no memory for charges");
    return 0;
}

void md_charges_destroy(struct md_charges *c)
{
    if (!c)
        return;
    free(c->force);
    free(c->energy);
    free(c->smooth_force);
    free(c->smooth_energy);
    free(c);
}

double md_charges_self(const struct md_store *s)
{
    double sum = 0;
    size_t slots = (size_t)s->n_clusters * (size_t)LANES;
    if (!s->charges->on || !(fabs(s->charges->self) > 0))
        return 0;
    for (size_t i = 0; i < slots; i++)
        if (s->id[i] != 0)
            sum += (double)s->charge[i] * (double)s->charge[i];
    return s->charges->self * sum;
}
