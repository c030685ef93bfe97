/* comm_shared.h: messages between ranks of one host through memory that both
 * see. For comm_mpi_exchange.c alone.
 *
 * Each rank of an exchange owns an area with room for two sets of messages,
 * which its peers map: a message is there as soon as it has been written, while
 * MPI copies it twice and in pieces, each when both ranks happen to be inside
 * of MPI: one who computes meanwhile keeps the other waiting.
 */
#ifndef WARPDECK_BASE_COMM_SHARED_H
#define WARPDECK_BASE_COMM_SHARED_H

#include <stddef.h>
#include <stdint.h>

struct ctx;
struct comm_shared;

/* What a rank tells a peer, so that this one can find its area. */
struct comm_greeting {
    int tag;      /* of the MPI messages that it sends */
    int node;     /* its host; areas are for ranks of one host */
    int index;    /* the peer's place in the rank's list */
    int process;  /* the rank's process, and the area as that names it; -1: */
    int area;     /* there is none */
    uint64_t key; /* stands at the area's beginning */
};

/* Messages longer than this are MPI's: copies through one more piece of memory
 * cost more than waiting then. */
enum { COMM_SHARED_LONGEST = 1 << 18 };

/* An area for n peers; NULL where the system has none to give, or where
 * WARPDECK_SHARED_MEMORY=0 stands in the environment. */
struct comm_shared *comm_shared_create(int n);
void comm_shared_destroy(struct comm_shared *s);

/* Add what peer p must know; s may be NULL. */
void comm_shared_greet(const struct comm_shared *s, int p,
                       struct comm_greeting *greeting);

/* Map the area of peer p. Returns 1, or 0 where it can't be had; the peer must
 * be told before the first message. */
int comm_shared_open(struct comm_shared *s, int p,
                     const struct comm_greeting *theirs);

/* Where the next messages are to be written, n bytes in all, back to back;
 * waits for the last but one to be taken by all. They are found there once
 * posted. Errors: STATUS_MEMORY. */
int comm_shared_room(struct ctx *ctx, struct comm_shared *s, size_t n,
                     void **room);

/* Tell peer p that its message stands at `at`, in the room that was given
 * last. */
void comm_shared_post(struct comm_shared *s, int p, const void *at);

/* Where the next message of peer p stands, of n bytes, if it is *there by now;
 * valid until comm_shared_taken(). Errors: STATUS_MEMORY. */
int comm_shared_find(struct ctx *ctx, struct comm_shared *s, int p, size_t n,
                     const void **at, int *there);
void comm_shared_taken(struct comm_shared *s, int p);

/* A moment of waiting, the count-th in a row: soon the core is left to others.
 */
void comm_shared_pause(unsigned count);

#endif
