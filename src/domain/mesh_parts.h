/* mesh_parts.h: what mesh.c and mesh_fft.c share. Private to src/domain. */
#ifndef WARPDECK_DOMAIN_MESH_PARTS_H
#define WARPDECK_DOMAIN_MESH_PARTS_H

#include "domain/mesh.h"

struct comm_exchange;
struct fft_lines;

/* Rows along x that a brick and the lines of a rank have in common. */
struct mesh_share {
    size_t ny, nz;
    int64_t *y, *z;    /* [ny], [nz]: rows of the brick or of the lines */
    int64_t first, nx; /* points along x, of the brick */
};

/* Messages to and from a fixed set of ranks. */
struct mesh_messages {
    int n, self; /* self: which of them is this rank, or -1 */
    int *rank;
    struct comm_exchange *peers; /* without this rank */
    size_t *send, *recv;         /* numbers to and from each */
    const void **send_at;
    void **recv_at;
    size_t *send_bytes, *recv_bytes;
    double *out, *in; /* back to back, in the order of ranks */
};

struct mesh_parts {
    int dims[2]; /* ranks along y and z of lines: (kx and ky of modes) */
    int at[2];   /* this rank's place */
    int64_t y, ny, z, nz; /* lines along x: [nz][ny][cells[0]] */
    double *lines[3];
    double *along_x, *along_y;    /* modes between transforms */
    struct mesh_share *to, *from; /* of each rank of `bricks` */
    struct mesh_messages bricks;  /* rows of bricks to their lines */
    struct mesh_messages turn[2]; /* among ranks along y, and along z */
    struct fft_lines *fft[3];
    double bytes;
};

/* Where piece c of `cells` in n pieces begins. */
static inline int64_t mesh_cut(int64_t cells, int n, int c)
{
    return cells * c / n;
}

/* For the members in m->rank, with m->send[] and m->recv[] numbers of each,
 * `most` times; those of this rank itself become 0, since what stays here goes
 * straight from array to array. Collective. */
int mesh_connect(struct ctx *ctx, struct mesh_messages *m, int rank,
                 size_t most);
/* Room for the members of a set of at most n ranks; 0 or -1. */
int mesh_members(struct mesh_messages *m, size_t n);
/* Send what stands in `out`, `times` as much as send[] says. Collective. */
int mesh_send(struct ctx *ctx, struct mesh_messages *m, int times);
/* The other way from now on: what was received is sent. */
void mesh_reverse(struct mesh_messages *m);
/* The message from member i. */
const double *mesh_message(const struct mesh_messages *m, int i, int times);
void mesh_messages_free(struct mesh_messages *m);

/* Transforms, and the transpositions between them (mesh_fft.c). */
int mesh_fft_create(struct ctx *ctx, struct mesh *m);
void mesh_fft_destroy(struct mesh_parts *p);
/* From lines[0] to the modes; from the modes to lines. Collective. */
int mesh_fft_forward(struct ctx *ctx, struct mesh *m);
int mesh_fft_back(struct ctx *ctx, struct mesh *m, double *lines);

#endif
