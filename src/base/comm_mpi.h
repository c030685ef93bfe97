/* comm_mpi.h: what comm_mpi.c and comm_mpi_exchange.c share; for nobody else.
 */
#ifndef WARPDECK_BASE_COMM_MPI_H
#define WARPDECK_BASE_COMM_MPI_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "base/comm.h"

/* MPI counts in int, so larger messages go in pieces of this size (a test uses
 * a small one). */
#ifndef COMM_PIECE
#define COMM_PIECE ((size_t)1 << 30)
#endif

enum {
    COMM_TAG_GREET = 1,
    COMM_TAG_ALLTOALL = 2,
    COMM_TAG_SMALL = 3,
    COMM_TAG_FIRST = 16,
    COMM_TAG_COUNT = 30000 /* MPI promises tags up to 32767 */
};

/* A reduction of a few numbers that is under way, of COMM_FEW ranks by messages
 * from each to each. n: how many numbers; 0: there is none. */
#ifndef COMM_FEW /* a test uses fewer */
#define COMM_FEW 16
#endif
struct comm_small {
    int n, n_requests;
    enum comm_reduction how;
    double mine[COMM_SMALL], all[COMM_SMALL], from[COMM_FEW][COMM_SMALL];
    MPI_Request request[2 * COMM_FEW];
};

struct comm {
    int started; /* MPI is running */
    MPI_Comm world, farewell;
    int rank, size; /* as told to the caller */
    int alone;      /* nobody to talk to */
    int threads;    /* more than one may call MPI */
    int left;       /* the failure of this rank that others can't learn of */
    int node_rank, node_size, node_count;
    int node; /* a number of this host's own: a rank there, of all */
    int next_tag;
    uint64_t bytes_sent;
    struct comm_small small;
};

struct ctx;

/* 0, or the failure of an MPI call: "MPI could not WHAT: ...". */
int comm_check(struct ctx *ctx, int rc, const char *what);

/* comm_bcast() from another root, over another communicator. */
int comm_bcast_from(struct ctx *ctx, MPI_Comm comm, int root, void *bytes,
                    size_t n);

#endif
