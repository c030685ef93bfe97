/* ctx.h: what every function of a run may need, in one struct and no globals.
 *
 * One per process, made by main(), passed to everything that can fail or talk.
 * All pointers are borrowed: main() owns what they point to.
 */
#ifndef WARPDECK_BASE_CTX_H
#define WARPDECK_BASE_CTX_H

#include "base/error.h"

struct comm;
struct log;
struct timers;
struct device;
struct frames;

struct ctx {
    struct comm *comm;     /* the ranks */
    struct log *log;       /* terminal and log file */
    struct timers *timers; /* time by phase */
    struct device *device; /* the backend; NULL until a run has chosen one */
    const struct frames *frames; /* reader of particles; NULL: none */
    struct error error;          /* the first failure of this rank */
};

#endif
