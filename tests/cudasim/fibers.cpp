// Stacks of the threads of a block, and switching between them.
//
// The bare jump of Boost.Context is used, with the sanitizer's annotations made
// here: the library need not be built for it.
#include "sim.h"

#include <boost/context/detail/fcontext.hpp>
#include <cfenv>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

namespace ctx = boost::context::detail;

namespace cudasim
{

struct fiber {
    ctx::fcontext_t context;
    unsigned char *low; // of the stack
    size_t bytes;
    void *fake_stack; // of the address sanitizer
};

namespace
{
fiber host, fibers[THREADS_MAX + 1], *free_fibers[THREADS_MAX + 1];
fiber *present = &host;
int fiber_count, free_count;
unsigned char *stacks;

void arrive(ctx::transfer_t from)
{
    // Whoever jumped here is suspended now.
    static_cast<fiber *>(from.data)->context = from.fctx;
}

void begin(ctx::transfer_t from)
{
    arrive(from);
    const void *low = nullptr;
    size_t bytes = 0;
    WITH_ASAN(__sanitizer_finish_switch_fiber(nullptr, &low, &bytes));
    if (from.data == &host) {
        host.low = const_cast<unsigned char *>(
            static_cast<const unsigned char *>(low));
        host.bytes = bytes;
    }
    if (option.trap_nan) // a fiber has its own floating-point environment
        feenableexcept(FE_INVALID);
    run_threads();
}

void make(fiber *f)
{
    // At equal offsets in every stack the tops would share few cache sets.
    size_t colour = static_cast<size_t>((f - fibers) % 61) * 64;
    WITH_ASAN(__asan_unpoison_memory_region(f->low, f->bytes));
    f->context = ctx::make_fcontext(f->low + f->bytes - colour,
                                    f->bytes - colour, begin);
}

size_t all_stacks()
{
    return option.stack_bytes * (THREADS_MAX + 1);
}
} // namespace

fiber *main_fiber()
{
    return &host;
}

fiber *this_fiber()
{
    return present;
}

fiber *take_fiber()
{
    if (free_count > 0)
        return free_fibers[--free_count];
    if (!stacks) {
        void *p = mmap(nullptr, all_stacks(), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) {
            perror("cudasim: no memory for the stacks of threads");
            _exit(EXIT_FAULT);
        }
        stacks = static_cast<unsigned char *>(p);
    }
    unsigned char *low =
        stacks + option.stack_bytes * static_cast<size_t>(fiber_count);
    mprotect(low, PAGE, PROT_NONE); // a stack that overflows is a fault
    fiber *f = &fibers[fiber_count++];
    f->low = low + PAGE;
    f->bytes = option.stack_bytes - PAGE;
    make(f);
    return f;
}

void leave_fiber()
{
    free_fibers[free_count++] = present;
}

void switch_to(fiber *to)
{
    fiber *from = present;
    if (to == from)
        return;
    present = to;
    WITH_ASAN(
        __sanitizer_start_switch_fiber(&from->fake_stack, to->low, to->bytes));
    arrive(ctx::jump_fcontext(to->context, from));
    WITH_ASAN(
        __sanitizer_finish_switch_fiber(from->fake_stack, nullptr, nullptr));
}

void renew_fibers()
{
    for (free_count = 0; free_count < fiber_count; free_count++) {
        free_fibers[free_count] = &fibers[free_count];
        make(&fibers[free_count]);
    }
}

bool is_stack(const void *p)
{
    auto *byte = static_cast<const unsigned char *>(p);
    return stacks && byte >= stacks && byte < stacks + all_stacks();
}

} // namespace cudasim
