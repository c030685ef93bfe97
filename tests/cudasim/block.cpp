// Running a kernel: its blocks one by one, the threads of a block as fibers.
//
// A fiber runs one thread after another as plain calls. Only when a thread has
// to wait does it keep its fiber, and a further one goes on: a kernel without
// barriers takes one fiber and no switches.
//
// In a block either all waiting threads have the same chance to go on, or the
// warps have ranks, and one runs as far ahead of the others as barriers let it.
// The former hides what a barrier is missed by only if a warp is far ahead:
// that memory is written again which another one has not read yet.
#include "sim.h"

#include <cstring>
#include <map>

namespace cudasim
{

uint3 thread_index, block_index;
dim3 block_size, grid_size;
thread threads[THREADS_MAX];
int thread_count, this_thread;
int waiting_in_warp[THREADS_MAX / WARP_SIZE];
int gone_in_warp[THREADS_MAX / WARP_SIZE];
const launch_info *present_launch;
bool on_card;

namespace
{
const std::function<void()> *kernel_body;
permutation start_order(1);
int started_count, done_count, barrier_count, ready_count;

// Threads that may go on, by warp.
const int WARPS_MAX = THREADS_MAX / WARP_SIZE;
struct ready_warp {
    int n, thread[WARP_SIZE];
} ready[WARPS_MAX];
bool ranked, fair_next;
int warp_count, rank[WARPS_MAX]; // warps, the first first

void become(int t)
{
    this_thread = t;
    thread_index = threads[t].index;
    threads[t].state = RUNNING;
}

int take_ready(ready_warp *w, int k)
{
    int t = w->thread[k];
    w->thread[k] = w->thread[--w->n];
    ready_count--;
    return t;
}

int below(int n)
{
    return option.seed == 0
               ? 0
               : static_cast<int>(random_below(static_cast<unsigned>(n)));
}

// One of the threads that may go on.
int choose_ready()
{
    bool by_rank = ranked && !fair_next;
    fair_next = false;
    if (by_rank)
        for (int k = 0; k < warp_count; k++)
            if (ready[rank[k]].n > 0)
                return take_ready(&ready[rank[k]], below(ready[rank[k]].n));
    int k = below(ready_count), w = 0;
    while (k >= ready[w].n)
        k -= ready[w++].n;
    return take_ready(&ready[w], k);
}

void rank_warps()
{
    ranked = coin();
    fair_next = false;
    warp_count = (thread_count + WARP_SIZE - 1) / WARP_SIZE;
    for (int w = 0; w < warp_count; w++) {
        int other = below(w + 1);
        ready[w].n = 0;
        rank[w] = rank[other];
        rank[other] = w;
    }
}

// The fiber to go on with: a waiting thread's that may, one for further
// threads, or the host's at the end of the block.
fiber *next_fiber()
{
    bool more = started_count < thread_count;
    if (ready_count > 0 && (!more || coin())) {
        int t = choose_ready();
        become(t);
        return threads[t].fiber;
    }
    if (more)
        return take_fiber();
    if (done_count == thread_count)
        return main_fiber();
    for (int t = 0; t < thread_count; t++)
        if (threads[t].state == AT_WARP_FUNCTION)
            stuck("warp function that not all lanes of its mask reach");
    stuck("divergent barrier");
}

void leave_thread(int t)
{
    threads[t].state = DONE;
    done_count++;
    gone_in_warp[t / WARP_SIZE]++;
    if (waiting_in_warp[t / WARP_SIZE] == 0)
        return;
    // Lanes that left count as arrived: somebody may be able to go on.
    int first = t / WARP_SIZE * WARP_SIZE;
    for (int l = first; l < first + WARP_SIZE && l < thread_count; l++)
        if (threads[l].state == AT_WARP_FUNCTION &&
            (threads[l].mask >> (t % WARP_SIZE) & 1))
            try_warp(first, threads[l].mask, threads[l].op, threads[l].kind);
}

void run_block(const kernel_facts &facts, size_t shared_bytes)
{
    for (const auto &range : facts.shared)
        fill_junk(range.first, range.second);
    fill_junk(dynamic_shared, shared_bytes);
    for (int t = 0; t < thread_count; t++)
        threads[t].state = UNSTARTED;
    memset(waiting_in_warp, 0, sizeof waiting_in_warp);
    memset(gone_in_warp, 0, sizeof gone_in_warp);
    if (thread_count % WARP_SIZE)
        gone_in_warp[thread_count / WARP_SIZE] =
            WARP_SIZE - thread_count % WARP_SIZE;
    started_count = done_count = barrier_count = ready_count = 0;
    start_order = permutation(static_cast<uint64_t>(thread_count));
    rank_warps();
    switch_to(take_fiber());
}

bool same(const site &a, const site &b)
{
    return a.line == b.line &&
           (a.file == b.file || strcmp(a.file, b.file) == 0);
}
} // namespace

void run_kernel(const launch_info &l, const std::function<void()> &body)
{
    present_launch = &l;
    kernel_body = &body;
    block_size = l.block;
    grid_size = l.grid;
    thread_count = static_cast<int>(l.block.x * l.block.y * l.block.z);
    for (int t = 0; t < thread_count; t++) {
        unsigned k = static_cast<unsigned>(t);
        threads[t].index = make_uint3(k % l.block.x, k / l.block.x % l.block.y,
                                      k / (l.block.x * l.block.y));
    }
    prepare_dynamic_shared(l.shared_bytes);
    const kernel_facts &facts = facts_of(l.function);
    uint64_t blocks = uint64_t(l.grid.x) * l.grid.y * l.grid.z;
    permutation order(blocks);
    for (uint64_t k = 0; k < blocks && !broken; k++) {
        uint64_t b = order.next();
        block_index =
            make_uint3(static_cast<unsigned>(b % l.grid.x),
                       static_cast<unsigned>(b / l.grid.x % l.grid.y),
                       static_cast<unsigned>(b / l.grid.x / l.grid.y));
        run_block(facts, l.shared_bytes);
    }
    if (broken)
        renew_fibers();
    present_launch = nullptr;
}

void run_threads()
{
    for (;;) {
        while (started_count < thread_count) {
            started_count++;
            become(static_cast<int>(start_order.next()));
            (*kernel_body)();
            leave_thread(this_thread);
        }
        leave_fiber();
        switch_to(next_fiber());
    }
}

void make_ready(int t)
{
    threads[t].state = READY;
    ready_warp &w = ready[t / WARP_SIZE];
    w.thread[w.n++] = t;
    ready_count++;
}

void wait_here()
{
    int me = this_thread;
    threads[me].fiber = this_fiber();
    switch_to(next_fiber());
    become(me);
}

void let_others_run()
{
    make_ready(this_thread);
    fair_next = true; // who waits for others must not run for ever
    wait_here();
}

void trap(site where)
{
    device_error("__trap() at %s:%d, %s", where.file, where.line,
                 whereabouts().c_str());
}

int barrier(operation op, int predicate, site where)
{
    thread &me = threads[this_thread];
    me.state = AT_BARRIER;
    me.op = op;
    me.kind = predicate;
    me.where = where;
    if (++barrier_count == thread_count) {
        int sum = 0;
        for (int t = 0; t < thread_count; t++) {
            if (threads[t].op != op || !same(threads[t].where, where))
                stuck("divergent barrier");
            sum += threads[t].kind;
        }
        int result = op == OP_SYNCTHREADS_AND  ? sum == thread_count
                     : op == OP_SYNCTHREADS_OR ? sum != 0
                                               : sum;
        barrier_count = 0;
        for (int t = 0; t < thread_count; t++) {
            threads[t].result = static_cast<uint64_t>(result);
            make_ready(t);
        }
    }
    wait_here();
    return static_cast<int>(me.result);
}

namespace
{
std::string doing(const thread &t)
{
    char text[512];
    if (t.state == DONE)
        return "left the kernel";
    if (t.state == AT_WARP_FUNCTION)
        snprintf(text, sizeof text, "wait in %s(mask 0x%08x) at %s:%d",
                 operation_name(t.op), t.mask, t.where.file, t.where.line);
    else
        snprintf(text, sizeof text, "wait in %s at %s:%d", operation_name(t.op),
                 t.where.file, t.where.line);
    return text;
}
} // namespace

void stuck(const char *what)
{
    struct group {
        int n = 0;
        std::string who;
    };
    std::map<std::string, group> groups;
    for (int k = 0; k < thread_count; k++) {
        const uint3 &i = threads[k].index;
        group &g = groups[doing(threads[k])];
        char who[48];
        snprintf(who, sizeof who, " (%u,%u,%u)", i.x, i.y, i.z);
        if (g.n++ < 4)
            g.who += who;
        else if (g.n == 6)
            g.who += " ...";
    }
    std::string lines;
    for (const auto &g : groups)
        lines += "\n  " + std::to_string(g.second.n) + " threads " + g.first +
                 ":" + g.second.who;
    device_error("%s in kernel '%s' launched at %s:%d, block (%u,%u,%u) of %d "
                 "threads:%s",
                 what, present_launch->name, present_launch->where.file,
                 present_launch->where.line, block_index.x, block_index.y,
                 block_index.z, thread_count, lines.c_str());
}

} // namespace cudasim
