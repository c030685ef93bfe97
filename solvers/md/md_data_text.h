/* md_data_text.h: the text of a LAMMPS data file as it is read.
 *
 * Private to md_data_text.c (the header, and sections by name) and
 * md_data_atoms.c.
 */
#ifndef WARPDECK_SOLVERS_MD_DATA_TEXT_H
#define WARPDECK_SOLVERS_MD_DATA_TEXT_H

#include "md_data.h"
#include "md_text.h"

struct text {
    struct md_text in;
    int q, molecule;     /* columns of the atom style */
    unsigned char *seen; /* a bit for each atom of the section */
};

/* The comment behind a section's name, as a style. */
void md_data_hint(const struct text *t, char *hint);

/* The columns of Atoms: `style`, or with "auto" that of the section's comment.
 * Errors of these: STATUS_INPUT. */
int md_data_set_style(struct text *t, const char *style, struct md_data *data);
/* A line of Atoms, the row-th; and once all are there, by their ids. */
int md_data_read_atom(struct text *t, struct md_data *data, int64_t row);
void md_data_sort_atoms(struct md_data *data);
/* A line of Velocities. */
int md_data_read_velocity(struct text *t, struct md_data *data);

#endif
