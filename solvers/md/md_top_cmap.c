/* md_top_cmap.c: correction maps of a GROMACS topology: [ cmaptypes ], a map
 * for five bonded types in their order, and [ cmap ], the atoms that have one.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "md_top_build.h"

/* The map of these types, or -1. */
static int find_map(const struct top *top, const int *type)
{
    for (int32_t k = 0; k < top->maps.n; k++)
        if (memcmp(top->cmaps[k].type, type, sizeof top->cmaps[k].type) == 0)
            return k;
    return -1;
}

/* The energies behind the types, the function and both numbers of points. */
static int read_energies(struct top *top, int first, int points)
{
    struct top_text *t = &top->text;
    int n = points * points, given = t->n_words - first, status = 0;
    if (given != n)
        return top_fail(t,
                        "%d energies, but a map of %d x %d has %d; lines that "
                        "go on end in a backslash",
                        given, points, points, n);
    double *energy = malloc((size_t)n * sizeof *energy);
    if (!energy)
        return FAIL(t->ctx, STATUS_MEMORY, "no memory for correction maps");
    for (int k = 0; k < n && status == 0; k++)
        status = top_real(t, first + k, "an energy of the map", &energy[k]);
    if (status == 0)
        status = md_maps_add(t->ctx, &top->maps, points, energy, 1);
    free(energy);
    return status;
}

int top_read_cmaptype(struct top *top)
{
    enum { FUNCTION = TOP_CMAP_ATOMS, POINTS, ENERGIES = POINTS + 2 };
    struct top_text *t = &top->text;
    struct top_cmaptype cmap = {.place = t->place};
    int64_t funct, points[2];
    for (int k = 0; k < TOP_CMAP_ATOMS; k++)
        TRY(top_read_name(top, k, 0, &cmap.type[k]));
    TRY(top_whole(t, FUNCTION, 1, 100, "the function", &funct));
    if (funct != 1)
        return top_fail(t, "function %" PRId64 " is not computed here", funct);
    for (int k = 0; k < 2; k++)
        TRY(top_whole(t, POINTS + k, MD_MAP_POINTS_MIN, MD_MAP_POINTS_MAX,
                      "the number of points along an angle", &points[k]));
    if (points[0] != points[1])
        return top_fail(t,
                        "%" PRId64 " x %" PRId64 " points: a map has as many "
                        "along one angle as along the other",
                        points[0], points[1]);
    int known = find_map(top, cmap.type);
    if (known >= 0)
        return top_fail(t,
                        "the map of these types stands in line %" PRId32
                        " of '%s' already",
                        top->cmaps[known].place.line,
                        t->files[top->cmaps[known].place.file]);
    TRY(top_grow(t, &top->cmaps, &top->cap_cmaps, (size_t)top->maps.n,
                 sizeof cmap));
    top->cmaps[top->maps.n] = cmap;
    return read_energies(top, ENERGIES, (int)points[0]);
}

int top_make_cmap(struct top_build *b, const struct top_term *term)
{
    struct top *top = b->top;
    int type[TOP_CMAP_ATOMS];
    for (int k = 0; k < TOP_CMAP_ATOMS; k++)
        type[k] =
            top_find_type(top, b->molecule->atoms[term->atom[k]].type)->bonded;
    int map = find_map(top, type);
    if (map >= 0)
        return top_add_term(b, MD_TERM_CMAP, map, term->atom);
    const char(*name)[TOP_NAME_MAX] =
        (const char(*)[TOP_NAME_MAX])top->names.name;
    return top_fail_at(&top->text, term->place, top_sections[TOP_CMAPS],
                       "[ cmaptypes ] has no map for the types %s %s %s %s %s "
                       "in this order",
                       name[type[0]], name[type[1]], name[type[2]],
                       name[type[3]], name[type[4]]);
}

int top_make_maps(const struct top_build *b)
{
    const struct md_maps *from = &b->top->maps;
    const double *energy = from->energy;
    for (int32_t k = 0; b->data->n_crossterms > 0 && k < from->n; k++) {
        TRY(md_maps_add(b->top->text.ctx, &b->data->maps, from->points[k],
                        energy, b->scale->energy));
        energy += (size_t)from->points[k] * (size_t)from->points[k];
    }
    return 0;
}
