/* sim.h: what the files of the simulator know of one another.
 *
 * report.cpp   settings, the random order, error messages, the end of a run
 * fibers.cpp   stacks and switching between them
 * block.cpp    running a kernel: blocks, their threads, barriers
 * warp.cpp     functions of a warp
 * shared.cpp   where the shared memory of a kernel lies
 * memory.cpp   allocations, and who may touch them
 * faults.cpp   signals: accesses that must not be
 * queue.cpp    what streams hold, and what a wait runs
 * streams.cpp  the runtime's functions for streams, events and graphs
 * copies.cpp   copies and fills
 * api.cpp      the functions of the CUDA runtime that remain
 */
#ifndef WARPDECK_TESTS_CUDASIM_SIM_H
#define WARPDECK_TESTS_CUDASIM_SIM_H

#include "cudasim.h"

// The functions themselves are defined here.
#undef cudaMalloc
#undef cudaMallocHost
#undef cudaHostAlloc

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define WITH_ASAN(statement) statement
#else
#define WITH_ASAN(statement) ((void)0)
#endif
// Reads and writes what the sanitizers guard.
#define UNGUARDED __attribute__((no_sanitize("address", "undefined"), noinline))

namespace cudasim
{

enum {
    EXIT_FAULT = 86,
    THREADS_MAX = 1024,
    WARP_SIZE = 32,
    SHARED_STATIC_MAX = 48 << 10,
    SHARED_DYNAMIC_MAX = 227 << 10
};

const size_t PAGE = 4096;

// ---- report.cpp -------------------------------------------------------------
struct settings {
    uint64_t seed;
    bool return_errors, trap_nan, protect;
    size_t memory, stack_bytes;
    int devices;
    bool mpi_takes_memory;
    uint64_t lost_after; // operations; 0: never
    bool tell_counts;
};
extern settings option;

// What the host has asked for; what is captured counts when its graph does, as
// one launch.
struct counts {
    uint64_t launches, copies, waits;
};
extern counts asked;

void start(); // once, before anything else; called by every function of the API

uint64_t random_bits();
unsigned random_below(unsigned n);
bool coin(); // never heads with seed 0

// A random permutation of 0 to n - 1 that takes no memory: a i + b modulo n.
class permutation
{
  public:
    explicit permutation(uint64_t n);
    uint64_t next();

  private:
    uint64_t n_, step_ = 1, next_ = 0;
};

// last_error is what cudaGetLastError() gives; broken is set for good when a
// kernel or the card failed.
extern cudaError_t last_error, broken;
extern bool launch_error_unread;
extern int error_count;

void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
// A wrong call: said, remembered, returned.
cudaError_t fail(cudaError_t error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// A fault of the work on the card.
[[noreturn]] void device_error(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
std::string whereabouts(); // "kernel 'k' launched at f.cu:3, block ..."
void show_backtrace();

// ---- fibers.cpp -------------------------------------------------------------
struct fiber;
fiber *main_fiber();
fiber *this_fiber();
fiber *take_fiber();      // a free one
void leave_fiber();       // this one becomes free, and goes on being used
void switch_to(fiber *f); // returns when somebody switches back
void renew_fibers();      // none of them is going to be resumed
bool is_stack(const void *p);
[[noreturn]] void run_threads(); // what a fiber does; in block.cpp

// ---- block.cpp, warp.cpp ----------------------------------------------------
enum thread_state : unsigned char {
    UNSTARTED,
    RUNNING,
    READY,
    AT_BARRIER,
    AT_WARP_FUNCTION,
    DONE
};
struct thread {
    thread_state state;
    operation op;
    int kind; // of a shuffle; predicate of a barrier
    unsigned mask;
    int source;
    site where;
    uint64_t value, result;
    cudasim::fiber *fiber;
    uint3 index;
};
extern thread threads[THREADS_MAX];
extern int thread_count, this_thread;
// Lanes that wait in a function of their warp; that have left or never were.
extern int waiting_in_warp[THREADS_MAX / WARP_SIZE];
extern int gone_in_warp[THREADS_MAX / WARP_SIZE];
extern const launch_info *present_launch; // the kernel that runs, or null
extern bool on_card;                      // work of the card runs

void run_kernel(const launch_info &l, const std::function<void()> &body);
void make_ready(int t);
void wait_here(); // the state says what for
const char *operation_name(operation op);
[[noreturn]] void stuck(const char *what);
// Ends a warp function for which all lanes of the mask are waiting, if so.
void try_warp(int first, unsigned mask, operation op, int kind);

// ---- shared.cpp -------------------------------------------------------------
struct kernel_facts {
    std::vector<std::pair<unsigned char *, size_t>> shared;
    size_t static_bytes = 0, dynamic_max = SHARED_STATIC_MAX;
};
kernel_facts &facts_of(const void *kernel);
void prepare_dynamic_shared(size_t bytes); // of the next kernel
unsigned char *dynamic_shared_end();

// ---- memory.cpp, faults.cpp -------------------------------------------------
struct allocation {
    int number;
    memory_kind kind;
    size_t bytes;
    unsigned char *map; // guard, canary, bytes, canary, guard
    size_t map_bytes;
    unsigned char *user;
    site where;
    bool freed;
    unsigned char *first() const; // between the guard pages
    unsigned char *end() const;
};
allocation *find_allocation(const void *p); // guard pages included
std::string describe(const allocation &a);
cudaError_t release(void *p, memory_kind kind, const char *call);
size_t memory_used();
void report_leaks();

// While memory is open, faults of device memory open what was touched.
void open_memory();
void close_memory();
bool memory_is_open();
void open_allocation(allocation *a);
void check_canaries(const char *after); // of what is open
// Close everything for as long as the host runs code of its own.
void as_host(const std::function<void()> &code);

void fill_junk(unsigned char *p, size_t n); // as memory nobody wrote to
void catch_faults();

// ---- queue.cpp --------------------------------------------------------------
// What a stream holds, and a node of a graph.
struct task {
    std::function<void()> run;
    const char *name;
    bool host_code = false;
    const unsigned char *host_source = nullptr; // read when it runs
    unsigned char *host_target = nullptr;       // junk until it has run
    size_t host_bytes = 0;
};
struct queued {
    task what;
    cudaStream_t stream;
    bool done = false;
    std::vector<std::shared_ptr<queued>> after;
    std::chrono::steady_clock::time_point finished;
};
using queued_ptr = std::shared_ptr<queued>;

// What a library does on the card: queued, and run with the card's rights.
cudaError_t queue_work(cudaStream_t stream, const char *name,
                       std::function<void()> work);

// Null and last_error where the stream is none.
CUstream_st *find_stream(cudaStream_t s);
bool is_capturing(const CUstream_st *s);
// Null where the stream is being captured: the task became part of the graph.
queued_ptr push(CUstream_st *s, task what);
void wait_for(const queued_ptr &op);
void wait_for_all();
// While a stream is captured some calls must not be made.
cudaError_t refuse_in_capture(const char *call);
void report_queues();

} // namespace cudasim

#endif
