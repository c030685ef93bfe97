// Settings, the random order, error messages, and the end of a run.
#include "sim.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <execinfo.h>
#include <unistd.h>

namespace cudasim
{

settings option;
counts asked;
cudaError_t last_error, broken;
bool launch_error_unread;
int error_count;

namespace
{
bool started;
uint64_t random_state;

uint64_t setting(const char *name, uint64_t standard)
{
    const char *text = getenv(name);
    return text ? strtoull(text, nullptr, 0) : standard;
}

void say_list(const char *format, va_list arguments)
{
    fflush(stdout);
    fputs("cudasim: ERROR: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    error_count++;
}

uint64_t common_divisor(uint64_t p, uint64_t q)
{
    while (q) {
        uint64_t rest = p % q;
        p = q;
        q = rest;
    }
    return p;
}
} // namespace

void start()
{
    if (started)
        return;
    started = true;
    option.seed = setting("CUDASIM_SEED", 1);
    option.memory = setting("CUDASIM_MEM", 1ull << 34);
    option.stack_bytes = setting("CUDASIM_STACK", 256 << 10) / PAGE * PAGE;
    option.protect = setting("CUDASIM_PROTECT", 1) != 0;
    option.trap_nan = setting("CUDASIM_TRAP", 0) != 0;
    option.devices = static_cast<int>(setting("CUDASIM_DEVICES", 1));
    option.mpi_takes_memory = setting("CUDASIM_MPI", 0) != 0;
    option.lost_after = setting("CUDASIM_LOST", 0);
    option.tell_counts = setting("CUDASIM_COUNT", 0) != 0;
    const char *error = getenv("CUDASIM_ERROR");
    option.return_errors = error && strcmp(error, "return") == 0;
    random_state = option.seed * 0x9e3779b97f4a7c15ull + 0x1234567;
    for (int k = 0; k < 4; k++)
        random_bits();
    catch_faults();
}

uint64_t random_bits() // xorshift64*
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 2685821657736338717ull;
}

unsigned random_below(unsigned n)
{
    return static_cast<unsigned>(((random_bits() >> 32) * n) >> 32);
}

bool coin()
{
    return option.seed != 0 && (random_bits() >> 63) != 0;
}

permutation::permutation(uint64_t n) : n_(n)
{
    if (option.seed == 0 || n < 2)
        return;
    do
        step_ = 1 + (n > 2 ? random_bits() % (n - 1) : 0);
    while (common_divisor(step_, n) != 1);
    next_ = random_bits() % n;
}

uint64_t permutation::next()
{
    uint64_t result = next_;
    next_ += step_;
    if (next_ >= n_)
        next_ -= n_;
    return result;
}

void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say_list(format, arguments);
    va_end(arguments);
}

cudaError_t fail(cudaError_t error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say_list(format, arguments);
    va_end(arguments);
    return last_error = error;
}

void device_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say_list(format, arguments);
    va_end(arguments);
    if (!option.return_errors || this_fiber() == main_fiber()) {
        fflush(nullptr);
        _exit(EXIT_FAULT);
    }
    broken = last_error = cudaErrorLaunchFailure;
    switch_to(main_fiber()); // never resumed: see run_kernel()
    _exit(EXIT_FAULT);
}

std::string whereabouts()
{
    if (!present_launch)
        return on_card ? "queued work" : "host code";
    char text[512];
    const launch_info &l = *present_launch;
    snprintf(text, sizeof text,
             "kernel '%s' launched at %s:%d, block (%u,%u,%u), thread "
             "(%u,%u,%u)",
             l.name, l.where.file, l.where.line, block_index.x, block_index.y,
             block_index.z, thread_index.x, thread_index.y, thread_index.z);
    return text;
}

void show_backtrace()
{
    void *frames[16];
    int n = backtrace(frames, 16);
    backtrace_symbols_fd(frames + 1, n - 1, STDERR_FILENO);
}

namespace
{
// After all other destructors: what was left open or never looked at.
__attribute__((destructor(101))) void at_exit()
{
    if (!started)
        return;
    if (!broken) {
        report_queues();
        report_leaks();
    }
    if (launch_error_unread)
        say("the program never read an error of a launch: %s",
            cudaGetErrorString(last_error));
    if (option.tell_counts)
        fprintf(stderr, "cudasim: %llu launches, %llu copies, %llu waits\n",
                static_cast<unsigned long long>(asked.launches),
                static_cast<unsigned long long>(asked.copies),
                static_cast<unsigned long long>(asked.waits));
    if (error_count > 0) {
        fflush(nullptr);
        _exit(EXIT_FAULT);
    }
}
} // namespace

} // namespace cudasim
