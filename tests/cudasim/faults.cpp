// Signals: what touched memory that it must not, by name.
#include "sim.h"

#include <csignal>
#include <cstdio>
#include <execinfo.h>
#include <unistd.h>

namespace cudasim
{

namespace
{
struct sigaction before_segv, before_fpe;

void explain(const allocation &a, const unsigned char *p)
{
    ptrdiff_t offset = p - a.user;
    std::string who = whereabouts(), what = describe(a);
    if (a.freed)
        say("%s uses %s, offset %td", who.c_str(), what.c_str(), offset);
    else if (offset < 0)
        say("out of bounds: %s accesses %td bytes before %s", who.c_str(),
            -offset, what.c_str());
    else if (static_cast<size_t>(offset) >= a.bytes)
        say("out of bounds: %s accesses %zu bytes past the end of %s",
            who.c_str(), static_cast<size_t>(offset) - a.bytes, what.c_str());
    else
        say("%s dereferences a device pointer: offset %td of %s", who.c_str(),
            offset, what.c_str());
}

void explain_address(const unsigned char *p)
{
    const unsigned char *shared_end = dynamic_shared_end();
    if (const allocation *a = find_allocation(p))
        explain(*a, p);
    else if (is_stack(p))
        say("stack overflow (CUDASIM_STACK=%zu) in %s", option.stack_bytes,
            whereabouts().c_str());
    else if (shared_end && p >= shared_end && p < shared_end + PAGE)
        say("out of bounds: %s accesses %td bytes past the end of dynamic "
            "shared memory",
            whereabouts().c_str(), p - shared_end);
    else if (on_card)
        say("invalid address %p in %s", static_cast<const void *>(p),
            whereabouts().c_str());
}

void on_signal(int number, siginfo_t *info, void *)
{
    auto *p = static_cast<unsigned char *>(info->si_addr);
    if (number == SIGSEGV && memory_is_open() && option.protect) {
        allocation *a = find_allocation(p);
        if (a && a->kind == MEMORY_DEVICE && !a->freed && p >= a->first() &&
            p < a->end()) {
            open_allocation(a);
            return;
        }
    }
    if (number == SIGFPE)
        say("invalid arithmetic (on memory that nobody wrote to?) in %s",
            whereabouts().c_str());
    else
        explain_address(p);
    show_backtrace();
#if defined(__SANITIZE_ADDRESS__)
    // It comes again, and gets the sanitizer's report.
    sigaction(number, number == SIGFPE ? &before_fpe : &before_segv, nullptr);
#else
    fflush(nullptr);
    _exit(EXIT_FAULT);
#endif
}
} // namespace

void catch_faults()
{
    void *frames[2]; // loads what backtrace() needs, outside of a handler
    backtrace(frames, 2);
    static unsigned char stack[1 << 16];
    stack_t other{};
    other.ss_sp = stack;
    other.ss_size = sizeof stack;
    sigaltstack(&other, nullptr);
    struct sigaction action {
    };
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, &before_segv);
    sigaction(SIGFPE, &action, &before_fpe);
}

} // namespace cudasim
