// Streams: what is queued, and what a wait runs.
//
// Nothing runs before the host waits for it. By the seed a wait then runs only
// what it needs, or at random also what other streams hold.
#include "queue.h"

namespace cudasim
{

CUstream_st default_stream{true};
std::vector<CUstream_st *> &streams =
    *new std::vector<CUstream_st *>{&default_stream};
std::vector<CUevent_st *> &events = *new std::vector<CUevent_st *>;
std::vector<CUgraph_st *> &graphs = *new std::vector<CUgraph_st *>;
std::vector<CUgraphExec_st *> &execs = *new std::vector<CUgraphExec_st *>;

bool pending(const queued_ptr &op)
{
    return op && !op->done;
}

namespace
{
uint64_t run_count;

bool may_run(const queued &op)
{
    for (const queued_ptr &other : op.after)
        if (!other->done)
            return false;
    return true;
}

void lose_card()
{
    if (option.lost_after == 0 || ++run_count <= option.lost_after || broken)
        return;
    broken = last_error = cudaErrorECCUncorrectable;
}

void run_first(CUstream_st *s)
{
    queued_ptr op = s->waiting.front();
    s->waiting.pop_front();
    lose_card();
    if (!broken && op->what.host_code) {
        as_host(op->what.run);
    } else if (!broken) {
        on_card = true;
        op->what.run();
        on_card = false;
        check_canaries(op->what.name);
    }
    op->finished = std::chrono::steady_clock::now();
    op->done = true;
    op->what.run = nullptr;
    op->after.clear();
}

bool run_any()
{
    std::vector<CUstream_st *> able;
    for (CUstream_st *s : streams)
        if (!s->waiting.empty() && may_run(*s->waiting.front()))
            able.push_back(s);
    if (able.empty())
        return false;
    unsigned k = 0;
    if (option.seed != 0)
        k = random_below(static_cast<unsigned>(able.size()));
    run_first(able[k]);
    return true;
}

// A stream whose first operation op needs and may run.
CUstream_st *needed_stream(const queued &op)
{
    CUstream_st *s = op.stream;
    for (bool again = true; again;) {
        again = false;
        for (const queued_ptr &other : s->waiting.front()->after)
            if (!other->done) {
                s = other->stream;
                again = true;
                break;
            }
    }
    return s;
}

bool blocking_capture()
{
    for (const CUstream_st *s : streams)
        if (s->capture && s->blocking)
            return true;
    return false;
}

bool still_read(const unsigned char *p, size_t n)
{
    for (const CUstream_st *s : streams)
        for (const queued_ptr &op : s->waiting) {
            const unsigned char *source = op->what.host_source;
            if (source && source < p + n && p < source + op->what.host_bytes)
                return true;
        }
    return false;
}
} // namespace

CUstream_st *find_stream(cudaStream_t s)
{
    start();
    if (!s || s == cudaStreamLegacy) {
        if (!blocking_capture())
            return &default_stream;
        fail(cudaErrorStreamCaptureImplicit,
             "the default stream is used while a stream that it waits for is "
             "captured");
        return nullptr;
    }
    for (CUstream_st *known : streams)
        if (known == s && !known->dead)
            return known;
    fail(cudaErrorInvalidResourceHandle, "no such stream, or destroyed: %p",
         static_cast<void *>(s));
    return nullptr;
}

bool is_capturing(const CUstream_st *s)
{
    return s->capture != nullptr;
}

queued_ptr push(CUstream_st *s, task what)
{
    if (s->capture) {
        s->capture->nodes.push_back(std::move(what));
        return nullptr;
    }
    // What a copy is going to write stays junk until it has run, unless
    // something before it still reads that.
    if (what.host_target && !still_read(what.host_target, what.host_bytes))
        fill_junk(what.host_target, what.host_bytes);
    auto op = std::make_shared<queued>();
    op->what = std::move(what);
    op->stream = s;
    if (s == &default_stream) {
        for (const CUstream_st *other : streams)
            if (other->blocking && other != s && pending(other->last))
                op->after.push_back(other->last);
    } else if (s->blocking && pending(default_stream.last)) {
        op->after.push_back(default_stream.last);
    }
    s->waiting.push_back(op);
    s->last = op;
    return op;
}

void wait_for(const queued_ptr &op)
{
    if (!pending(op))
        return;
    bool needed_only = !coin();
    open_memory();
    while (!op->done)
        if (!needed_only && coin())
            run_any();
        else
            run_first(needed_stream(*op));
    close_memory();
}

void wait_for_all()
{
    open_memory();
    while (run_any())
        ;
    close_memory();
}

bool poll(const queued_ptr &op)
{
    if (!pending(op))
        return true;
    open_memory();
    run_any();
    close_memory();
    return op->done;
}

cudaError_t refuse_in_capture(const char *call)
{
    for (const CUstream_st *s : streams)
        if (s->capture && !s->capture_relaxed)
            return fail(cudaErrorStreamCaptureUnsupported,
                        "%s while a stream is captured", call);
    return cudaSuccess;
}

void report_queues()
{
    size_t n = 0;
    for (const CUstream_st *s : streams) {
        n += s->waiting.size();
        if (s != &default_stream && !s->dead)
            say("leak: a stream");
    }
    if (n > 0)
        say("%zu queued operations were never waited for", n);
    for (const CUevent_st *e : events)
        if (!e->dead)
            say("leak: an event");
    for (const CUgraph_st *g : graphs)
        if (!g->dead)
            say("leak: a graph");
    for (const CUgraphExec_st *g : execs)
        if (!g->dead)
            say("leak: an executable graph");
}

cudaError_t queue_work(cudaStream_t stream, const char *name,
                       std::function<void()> work)
{
    CUstream_st *s = find_stream(stream);
    if (!s)
        return last_error;
    if (broken)
        return broken;
    asked.launches += !is_capturing(s);
    push(s, {std::move(work), name});
    return broken;
}

} // namespace cudasim
