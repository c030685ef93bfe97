// The functions of the CUDA runtime for streams, events and graphs.
#include "queue.h"

#include <cstring>

using namespace cudasim;

namespace
{
cudaError_t make_stream(cudaStream_t *out, bool blocking)
{
    start();
    if (broken)
        return broken;
    streams.push_back(new CUstream_st(blocking));
    *out = streams.back();
    return cudaSuccess;
}

cudaError_t make_event(cudaEvent_t *out, bool timing)
{
    start();
    if (broken)
        return broken;
    events.push_back(new CUevent_st(timing));
    *out = events.back();
    return cudaSuccess;
}

cudaError_t known_event(const CUevent_st *e)
{
    for (const CUevent_st *known : events)
        if (known == e && !known->dead)
            return cudaSuccess;
    return fail(cudaErrorInvalidResourceHandle,
                "no such event, or destroyed: %p",
                static_cast<const void *>(e));
}

// As on a card, "not ready" is the last error until somebody asks for that.
cudaError_t told(bool done)
{
    if (!broken && !done)
        last_error = cudaErrorNotReady;
    return broken ? broken : done ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t refuse_wait(const CUstream_st *s, const char *call)
{
    if (s->capture)
        return fail(cudaErrorStreamCaptureUnsupported,
                    "%s of a stream that is captured", call);
    return cudaSuccess;
}
} // namespace

// The stream of a handle, or return upward.
#define FIND_STREAM(s, handle)                  \
    CUstream_st *const s = find_stream(handle); \
    if (!s)                                     \
        return last_error;                      \
    if (broken)                                 \
    return broken
#define CHECK(call)                   \
    do {                              \
        if (cudaError_t error = call) \
            return error;             \
    } while (0)

extern "C" {

// ---- streams ----------------------------------------------------------------
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags)
{
    return make_stream(out, !(flags & cudaStreamNonBlocking));
}

cudaError_t cudaStreamCreate(cudaStream_t *out)
{
    return make_stream(out, true);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    CUstream_st *s = find_stream(stream);
    if (!s)
        return last_error;
    s->dead = true; // what it holds still runs
    return broken;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    FIND_STREAM(s, stream);
    CHECK(refuse_wait(s, "cudaStreamSynchronize"));
    asked.waits++;
    wait_for(s->last);
    return broken;
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    FIND_STREAM(s, stream);
    CHECK(refuse_wait(s, "cudaStreamQuery"));
    bool done = poll(s->last);
    return told(done);
}

cudaError_t cudaDeviceSynchronize(void)
{
    start();
    CHECK(refuse_in_capture("cudaDeviceSynchronize"));
    asked.waits++;
    if (!broken)
        wait_for_all();
    return broken;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function,
                               void *user)
{
    FIND_STREAM(s, stream);
    task what{[=] { function(user); }, "host function"};
    what.host_code = true;
    push(s, what);
    return cudaSuccess;
}

// ---- events -----------------------------------------------------------------
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
    return make_event(out, !(flags & cudaEventDisableTiming));
}

cudaError_t cudaEventCreate(cudaEvent_t *out)
{
    return make_event(out, true);
}

cudaError_t cudaEventDestroy(cudaEvent_t e)
{
    CHECK(known_event(e));
    e->dead = true;
    return broken;
}

cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t stream)
{
    FIND_STREAM(s, stream);
    CHECK(known_event(e));
    e->captured = is_capturing(s);
    e->at = push(s, {[] {}, "event"});
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t e, unsigned)
{
    FIND_STREAM(s, stream);
    CHECK(known_event(e));
    if (e->captured != is_capturing(s))
        return fail(cudaErrorStreamCaptureIsolation,
                    "an event and the stream that waits for it are not in one "
                    "capture (a graph of several streams is not simulated)");
    if (pending(e->at)) // one that was never recorded has no effect
        push(s, {[] {}, "wait for an event"})->after.push_back(e->at);
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t e)
{
    CHECK(known_event(e));
    asked.waits++;
    wait_for(e->at);
    return broken;
}

cudaError_t cudaEventQuery(cudaEvent_t e)
{
    CHECK(known_event(e));
    bool done = poll(e->at);
    return told(done);
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    CHECK(known_event(from));
    CHECK(known_event(to));
    if (!from->timing || !to->timing || !from->at || !to->at)
        return fail(cudaErrorInvalidResourceHandle,
                    "the time between events that have none");
    if (!from->at->done || !to->at->done)
        return last_error = cudaErrorNotReady;
    std::chrono::duration<float, std::milli> way =
        to->at->finished - from->at->finished;
    *ms = way.count();
    return broken;
}

// ---- graphs: what was captured, queued again --------------------------------
cudaError_t cudaStreamBeginCapture(cudaStream_t stream,
                                   cudaStreamCaptureMode mode)
{
    FIND_STREAM(s, stream);
    if (s == &default_stream || s->capture)
        return fail(s->capture ? cudaErrorIllegalState
                               : cudaErrorStreamCaptureUnsupported,
                    "capture of %s stream",
                    s->capture ? "an already captured" : "the default");
    graphs.push_back(new CUgraph_st);
    s->capture = graphs.back();
    s->capture_relaxed = mode == cudaStreamCaptureModeRelaxed;
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *out)
{
    *out = nullptr;
    start();
    for (CUstream_st *s : streams)
        if (s == stream && s->capture) {
            *out = s->capture;
            s->capture = nullptr;
            return broken;
        }
    return fail(cudaErrorIllegalState, "end of a capture that did not begin");
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph,
                                 unsigned long long)
{
    if (broken)
        return broken;
    execs.push_back(new CUgraphExec_st{graph->nodes});
    *out = execs.back();
    return cudaSuccess;
}

// As on a card, an update needs the same work in the same order.
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo *info)
{
    *info = {};
    if (broken)
        return broken;
    if (exec->dead || graph->dead)
        return fail(cudaErrorInvalidValue, "update of a destroyed graph");
    bool same = exec->nodes.size() == graph->nodes.size();
    for (size_t k = 0; same && k < graph->nodes.size(); k++)
        same = strcmp(exec->nodes[k].name, graph->nodes[k].name) == 0;
    if (!same) {
        info->result = cudaGraphExecUpdateErrorTopologyChanged;
        return last_error = cudaErrorGraphExecUpdateFailure;
    }
    exec->nodes = graph->nodes;
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    FIND_STREAM(s, stream);
    if (exec->dead)
        return fail(cudaErrorInvalidResourceHandle,
                    "launch of a destroyed graph");
    asked.launches++;
    for (const task &node : exec->nodes)
        push(s, node);
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    graph->dead = true;
    return broken;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    exec->dead = true;
    return broken;
}

} // extern "C"
