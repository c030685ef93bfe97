/* md_h5md.h: particles of a frame of an H5MD file, by chunks. */
#ifndef WARPDECK_SOLVERS_MD_H5MD_H
#define WARPDECK_SOLVERS_MD_H5MD_H

struct ctx;
struct md;
struct md_list;
struct params;

/* Whether a path names such a file: "x.h5", "x.h5md". */
int md_h5md_is(const char *path);
/* md.initial.group and step; errors go to params_error. */
void md_h5md_keys(struct params *p, struct md *md);
/* As md_xyz_look(), md_xyz_scan(), md_xyz_read(). Collective. */
int md_h5md_look(struct ctx *ctx, struct md *md);
int md_h5md_scan(struct ctx *ctx, struct md *md, int *has_box,
                 double box_length[3], double tilt[3]);
int md_h5md_read(struct ctx *ctx, struct md *md, struct md_list *list);

#endif
