/* queue.h: streams, events and graphs behind the handles of CUDA. Streams and
 * events live for ever, so that a late use of one is known as such.
 */
#ifndef WARPDECK_TESTS_CUDASIM_QUEUE_H
#define WARPDECK_TESTS_CUDASIM_QUEUE_H

#include "sim.h"

struct CUgraph_st {
    std::vector<cudasim::task> nodes; // in the order of capture
    bool dead = false;
};

struct CUgraphExec_st {
    std::vector<cudasim::task> nodes;
    bool dead = false;
};

struct CUstream_st {
    explicit CUstream_st(bool blocks) : blocking(blocks)
    {
    }
    bool blocking; // ordered with the default stream
    bool dead = false;
    std::deque<cudasim::queued_ptr> waiting;
    cudasim::queued_ptr last;
    CUgraph_st *capture = nullptr;
    bool capture_relaxed = false;
};

struct CUevent_st {
    explicit CUevent_st(bool times) : timing(times)
    {
    }
    bool timing;
    bool dead = false, captured = false;
    cudasim::queued_ptr at; // what it was recorded behind
};

namespace cudasim
{
extern CUstream_st default_stream;
// All there ever were.
extern std::vector<CUstream_st *> &streams;
extern std::vector<CUevent_st *> &events;
extern std::vector<CUgraph_st *> &graphs;
extern std::vector<CUgraphExec_st *> &execs;

bool pending(const queued_ptr &op);
// Let queued work go on a bit, as time does; whether op is done.
bool poll(const queued_ptr &op);
} // namespace cudasim

#endif
