// Functions of a warp: shuffles, votes, reductions. All lanes of the mask have
// to wait in the same one; lanes that left the kernel count as arrived.
#include "sim.h"

namespace cudasim
{

namespace
{
// What a shuffle gives from a lane that is not there: signalling NaNs.
const uint64_t JUNK = 0x7ff4dead7ff4deadull;

unsigned bit(int lane)
{
    return 1u << lane;
}

// The waiting lanes of the mask, or 0 where one is on its way.
unsigned arrived(int first, unsigned mask, operation op, int kind)
{
    unsigned live = 0;
    for (unsigned rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest), t = first + l;
        if (t >= thread_count || threads[t].state == DONE)
            continue;
        if (threads[t].state != AT_WARP_FUNCTION)
            return 0;
        if (threads[t].mask != mask || threads[t].op != op ||
            threads[t].kind != kind)
            stuck("lanes of one warp disagree on mask or function");
        live |= bit(l);
    }
    return live;
}

uint64_t combine(operation op, uint64_t a, uint64_t b)
{
    unsigned ua = static_cast<unsigned>(a), ub = static_cast<unsigned>(b);
    int ia = static_cast<int>(ua), ib = static_cast<int>(ub);
    switch (op) {
    case OP_ADD:
        return ua + ub;
    case OP_MIN:
        return static_cast<unsigned>(ib < ia ? ib : ia);
    case OP_MAX:
        return static_cast<unsigned>(ib > ia ? ib : ia);
    case OP_UNSIGNED_MIN:
        return ub < ua ? ub : ua;
    case OP_UNSIGNED_MAX:
        return ub > ua ? ub : ua;
    case OP_AND:
        return ua & ub;
    case OP_OR:
        return ua | ub;
    case OP_XOR:
        return ua ^ ub;
    default:
        return b;
    }
}

unsigned equal_lanes(int first, unsigned live, uint64_t value)
{
    unsigned equal = 0;
    for (unsigned rest = live; rest; rest &= rest - 1)
        if (threads[first + __builtin_ctz(rest)].value == value)
            equal |= rest & -rest;
    return equal;
}
} // namespace

void try_warp(int first, unsigned mask, operation op, int kind)
{
    unsigned live = arrived(first, mask, op, kind), ballot = 0;
    if (live == 0)
        return;
    uint64_t all = 0;
    for (unsigned rest = live; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        uint64_t v = threads[first + l].value;
        ballot |= static_cast<unsigned>(v & 1) << l;
        all = rest == live ? v : combine(op, all, v);
    }
    for (unsigned rest = live; rest; rest &= rest - 1) {
        thread &t = threads[first + __builtin_ctz(rest)];
        switch (op) {
        case OP_SHFL:
            t.result =
                live & bit(t.source) ? threads[first + t.source].value : JUNK;
            break;
        case OP_BALLOT:
            t.result = ballot;
            break;
        case OP_ANY:
            t.result = ballot != 0;
            break;
        case OP_ALL:
            t.result = ballot == live;
            break;
        case OP_MATCH:
            t.result = equal_lanes(first, live, t.value);
            break;
        default:
            t.result = all;
        }
    }
    for (unsigned rest = live; rest; rest &= rest - 1) {
        make_ready(first + __builtin_ctz(rest));
        waiting_in_warp[first / WARP_SIZE]--;
    }
}

uint64_t warp(operation op, unsigned mask, uint64_t value, int source,
              site where, int kind)
{
    thread &me = threads[this_thread];
    unsigned mine = static_cast<unsigned>(this_thread) % WARP_SIZE;
    if (!(mask >> mine & 1))
        device_error("%s at %s:%d: the calling lane %d is not in its mask "
                     "0x%08x, %s",
                     operation_name(op), where.file, where.line, lane(), mask,
                     whereabouts().c_str());
    me.state = AT_WARP_FUNCTION;
    me.op = op;
    me.mask = mask;
    me.value = value;
    me.source = source;
    me.where = where;
    me.kind = kind;
    int w = static_cast<int>(static_cast<unsigned>(this_thread) / WARP_SIZE);
    // Where too few lanes wait, somebody of the mask is on the way.
    int wanted = mask == ~0u ? WARP_SIZE : __builtin_popcount(mask);
    if (++waiting_in_warp[w] + gone_in_warp[w] >= wanted)
        try_warp(w * WARP_SIZE, mask, op, kind);
    wait_here();
    return me.result;
}

int lane()
{
    return static_cast<int>(static_cast<unsigned>(this_thread) % WARP_SIZE);
}

unsigned active_mask()
{
    unsigned mask = 0;
    int first = this_thread / WARP_SIZE * WARP_SIZE;
    for (int t = first; t < thread_count && t < first + WARP_SIZE; t++)
        if (threads[t].state != DONE)
            mask |= bit(t - first);
    return mask;
}

const char *operation_name(operation op)
{
    static const char *const names[] = {
        "__syncthreads",     "__syncthreads_count", "__syncthreads_and",
        "__syncthreads_or",  "__syncwarp",          "__shfl_sync",
        "__ballot_sync",     "__any_sync",          "__all_sync",
        "__match_any_sync",  "__reduce_add_sync",   "__reduce_min_sync",
        "__reduce_max_sync", "__reduce_min_sync",   "__reduce_max_sync",
        "__reduce_and_sync", "__reduce_or_sync",    "__reduce_xor_sync"};
    return names[op];
}

} // namespace cudasim
