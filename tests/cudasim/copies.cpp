// Copies and fills.
//
// A copy takes effect when it runs, which is when the host waits for it. Of
// what the manual leaves open (pageable memory of the host), the seed chooses.
#include "queue.h"

#include <cstring>

using namespace cudasim;

namespace
{
// Whether [p, p + n) lies inside of its allocation, if it is in any.
bool fits(const void *p, size_t n, const char *what, allocation **out)
{
    allocation *a = find_allocation(p);
    *out = a;
    if (!a)
        return true;
    auto *first = static_cast<const unsigned char *>(p);
    if (!a->freed && first >= a->user && first + n <= a->user + a->bytes)
        return true;
    fail(cudaErrorInvalidValue, "%s of %zu bytes at offset %td does not fit %s",
         what, n, first - a->user, describe(*a).c_str());
    return false;
}

std::string side(const allocation *a)
{
    return a ? describe(*a) : "host memory";
}

struct copy {
    void *to;
    const void *from;
    size_t bytes;
    bool to_card, from_card, to_pageable, from_pageable;
};

bool kind_fits(cudaMemcpyKind kind, const copy &c)
{
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return c.to_card && !c.from_card;
    case cudaMemcpyDeviceToHost:
        return !c.to_card && c.from_card;
    case cudaMemcpyDeviceToDevice:
        return c.to_card && c.from_card;
    case cudaMemcpyHostToHost:
        return !c.to_card && !c.from_card;
    default:
        return true;
    }
}

cudaError_t queue_copy(CUstream_st *s, const copy &c, bool asynchronous)
{
    if (c.bytes == 0)
        return cudaSuccess;
    if (!asynchronous)
        if (cudaError_t error = refuse_in_capture("cudaMemcpy"))
            return error;
    void *to = c.to;
    const void *from = c.from;
    size_t n = c.bytes;
    task what{[=] { memcpy(to, from, n); }, "memcpy"};
    what.host_bytes = n;
    bool on_host = !c.to_card && !c.from_card;
    // Copies on the card never make the host wait.
    bool wait = on_host || (!asynchronous && !(c.to_card && c.from_card));
    bool staged = asynchronous && c.from_pageable && !is_capturing(s);
    if (asynchronous && !wait && (c.from_pageable || c.to_pageable))
        wait = coin();
    if (staged) { // read before the call returns
        auto *first = static_cast<const unsigned char *>(from);
        auto kept =
            std::make_shared<std::vector<unsigned char>>(first, first + n);
        what.run = [=] { memcpy(to, kept->data(), n); };
    } else if (!c.from_card) {
        what.host_source = static_cast<const unsigned char *>(from);
    }
    if (!wait && !c.to_card && !c.to_pageable)
        what.host_target = static_cast<unsigned char *>(to);
    asked.copies += !is_capturing(s);
    asked.waits += wait;
    queued_ptr op = push(s, std::move(what));
    if (wait)
        wait_for(op);
    return broken;
}

cudaError_t copy_memory(void *to, const void *from, size_t n,
                        cudaMemcpyKind kind, cudaStream_t stream,
                        bool asynchronous)
{
    CUstream_st *s = find_stream(stream);
    if (!s)
        return last_error;
    if (broken)
        return broken;
    allocation *a, *b;
    if (!fits(to, n, "copy to", &a) || !fits(from, n, "copy from", &b))
        return last_error;
    copy c{to,
           from,
           n,
           a && a->kind == MEMORY_DEVICE,
           b && b->kind == MEMORY_DEVICE,
           !a,
           !b};
    if (!kind_fits(kind, c))
        return fail(cudaErrorInvalidValue,
                    "cudaMemcpy of kind %d does not fit its pointers: to %s, "
                    "from %s",
                    kind, side(a).c_str(), side(b).c_str());
    return queue_copy(s, c, asynchronous);
}

cudaError_t copy_to_symbol(const void *symbol, const void *from, size_t n,
                           size_t offset, cudaStream_t stream,
                           bool asynchronous)
{
    CUstream_st *s = find_stream(stream);
    if (!s)
        return last_error;
    allocation *b;
    if (broken || !fits(from, n, "copy from", &b))
        return last_error;
    auto *to = static_cast<unsigned char *>(const_cast<void *>(symbol));
    copy c{to + offset, from, n, true, b && b->kind == MEMORY_DEVICE,
           false,       !b};
    return queue_copy(s, c, asynchronous);
}
} // namespace

extern "C" {

cudaError_t cudaMemcpy(void *to, const void *from, size_t n,
                       cudaMemcpyKind kind)
{
    return copy_memory(to, from, n, kind, nullptr, false);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n,
                            cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_memory(to, from, n, kind, stream, true);
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t n,
                               size_t offset, cudaMemcpyKind)
{
    return copy_to_symbol(symbol, from, n, offset, nullptr, false);
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from,
                                    size_t n, size_t offset, cudaMemcpyKind,
                                    cudaStream_t stream)
{
    return copy_to_symbol(symbol, from, n, offset, stream, true);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t n, cudaStream_t stream)
{
    CUstream_st *s = find_stream(stream);
    if (!s)
        return last_error;
    allocation *a;
    if (broken || !fits(to, n, "cudaMemset", &a))
        return last_error;
    if (!a)
        return fail(cudaErrorInvalidValue, "cudaMemset of host memory %p", to);
    asked.copies += !is_capturing(s);
    push(s, {[=] { memset(to, value, n); }, "memset"});
    return cudaSuccess;
}

cudaError_t cudaMemset(void *to, int value, size_t n)
{
    return cudaMemsetAsync(to, value, n, nullptr);
}

} // extern "C"
