/* md_gro.h: a system from a .gro file and a topology of GROMACS. */
#ifndef WARPDECK_SOLVERS_MD_GRO_H
#define WARPDECK_SOLVERS_MD_GRO_H

struct ctx;
struct md_data;
struct params;

/* Whether a path names such a file: "x.gro". */
int md_gro_is(const char *path);
/* Keys that only such a file has, against md.initial.read; errors go to
 * params_error. */
void md_gro_check(struct params *p);
/* Read data->path and the topology of the deck, md.initial.topology, in units
 * of the deck. Not collective. Errors: STATUS_INPUT with file and line. */
int md_gro_parse(struct ctx *ctx, const struct params *p, struct md_data *data);

#endif
