/* md_data_atoms.c: what a LAMMPS data file says of its atoms. */
#include "md_data_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"

void md_data_hint(const struct text *t, char *hint)
{
    hint[0] = '\0';
    if (t->in.comment && sscanf(t->in.comment, " %31s", hint) != 1)
        hint[0] = '\0';
}

int md_data_set_style(struct text *t, const char *style, struct md_data *data)
{
    static const struct {
        const char *name;
        int molecule, q;
    } styles[] = {{"atomic", 0, 0}, {"charge", 0, 1},    {"bond", 1, 0},
                  {"angle", 1, 0},  {"molecular", 1, 0}, {"full", 1, 1}};
    char hint[MD_DATA_LABEL_MAX];
    md_data_hint(t, hint);
    const char *name = strcmp(style, "auto") != 0 ? style : hint;
    for (size_t k = 0; k < sizeof styles / sizeof styles[0]; k++)
        if (strcmp(name, styles[k].name) == 0) {
            t->molecule = styles[k].molecule;
            t->q = styles[k].q;
            data->charged = t->q;
            return 0;
        }
    if (name[0] == '\0')
        return md_text_fail(&t->in,
                            "the section does not say its atom style ('Atoms # "
                            "full'); set md.initial.atom_style");
    return md_text_fail(
        &t->in,
        "atom style '%.30s' is not read; there are atomic, charge, "
        "bond, angle, molecular and full",
        name);
}

static int mark_id(struct text *t, int64_t id)
{
    unsigned char bit = (unsigned char)(1u << (id % 8));
    if (t->seen[id / 8] & bit)
        return md_text_fail(&t->in, "atom %" PRId64 " stands twice", id);
    t->seen[id / 8] |= bit;
    return 0;
}

int md_data_read_atom(struct text *t, struct md_data *data, int64_t row)
{
    struct md_particle *p = &data->atoms[row];
    int64_t id, type, image;
    int w = 0, x = 2 + t->molecule + t->q;
    if (t->in.n_words != x + 3 && t->in.n_words != x + 6)
        return md_text_fail(&t->in, "%d columns instead of %d or %d",
                            t->in.n_words, x + 3, x + 6);
    TRY(md_text_whole(&t->in, w++, 1, data->n_atoms, "the atom's id", &id));
    TRY(mark_id(t, id));
    w += t->molecule;
    TRY(md_text_whole(&t->in, w++, 1, data->n_types, "the atom's type", &type));
    if (t->q)
        TRY(md_text_real(&t->in, w++, "the charge", &p->charge));
    p->id = id;
    p->species = (int32_t)type - 1;
    data->count[type - 1]++;
    for (int d = 0; d < 3; d++) {
        TRY(md_text_real(&t->in, x + d, "the position", &p->position[d]));
        if (fabs(p->position[d] - data->lo[d]) >
            1e9 * (data->hi[d] - data->lo[d]))
            return md_text_fail(
                &t->in, "%c = %g is more than 10^9 boxes away from the box",
                "xyz"[d], p -> position[d]);
        if (t->in.n_words == x + 6) {
            TRY(md_text_whole(&t->in, x + 3 + d, -1000000000, 1000000000,
                              "the image", &image));
            p->image[d] = (int32_t)image;
        }
    }
    return 0;
}

static int by_id(const void *a, const void *b)
{
    const struct md_particle *p = a, *q = b;
    return p->id < q->id ? -1 : p->id > q->id;
}

void md_data_sort_atoms(struct md_data *data)
{
    qsort(data->atoms, (size_t)data->n_atoms, sizeof *data->atoms, by_id);
}

int md_data_read_velocity(struct text *t, struct md_data *data)
{
    int64_t id;
    if (t->in.n_words != 4)
        return md_text_fail(&t->in, "%d columns instead of 4", t->in.n_words);
    TRY(md_text_whole(&t->in, 0, 1, data->n_atoms, "the atom's id", &id));
    TRY(mark_id(t, id));
    for (int d = 0; d < 3; d++)
        TRY(md_text_real(&t->in, 1 + d, "the velocity",
                         &data->atoms[id - 1].velocity[d]));
    return 0;
}
