// Allocations, and who may touch them.
//
// The bytes lie between canaries, these between guard pages; they end as near
// to the upper guard page as the alignment of cudaMalloc (256 bytes) lets them.
// Memory of the card is closed while code of the host runs. While work of the
// card runs, a fault opens the allocation that was touched, and at the end just
// those are closed again: closing is the dearest thing here. Freed addresses
// are never used again, so that a late use is known by name.
#include "sim.h"

#include <cstdio>
#include <map>
#include <sys/mman.h>

namespace cudasim
{

namespace
{
// By the start of the mapping; freed ones stay.
auto &allocations = *new std::map<uintptr_t, allocation>;
auto &open_ones = *new std::vector<allocation *>;
int serial, open_depth;
size_t used;

const unsigned char CANARY = 0xcb;
const size_t ALIGNMENT = 256, CANARY_BEFORE = 64;
// Larger ones take huge pages, since closing and touching cost by the page.
const size_t LARGE = 512 << 10, LARGE_PAGE = 2 << 20;

size_t round_up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

unsigned char *canary_start(const allocation &a)
{
    size_t room = static_cast<size_t>(a.user - a.first());
    return room < CANARY_BEFORE ? a.first() : a.user - CANARY_BEFORE;
}

UNGUARDED void fill_canary(unsigned char *p, const unsigned char *end)
{
    while (p < end)
        *const_cast<volatile unsigned char *>(p++) = CANARY;
}

// The damaged byte nearest to the allocation, or null.
UNGUARDED unsigned char *damage(const allocation &a)
{
    for (unsigned char *p = a.user + a.bytes; p < a.end(); p++)
        if (*p != CANARY)
            return p;
    for (unsigned char *p = a.user; p > canary_start(a);)
        if (*--p != CANARY)
            return p;
    return nullptr;
}

void check_canary(const allocation &a, const char *after)
{
    const unsigned char *bad = damage(a);
    if (!bad)
        return;
    bool before = bad < a.user;
    device_error("out-of-bounds write %td bytes %s of %s, found after '%s'",
                 before ? a.user - bad
                        : bad - a.user - static_cast<ptrdiff_t>(a.bytes),
                 before ? "before the start" : "past the end",
                 describe(a).c_str(), after);
}

void protect(const allocation &a, int rights)
{
    mprotect(a.first(), static_cast<size_t>(a.end() - a.first()), rights);
}

// A mapping of n bytes between guard pages; null where there is none.
unsigned char *map_guarded(size_t n, size_t unit)
{
    void *p = mmap(nullptr, n + 2 * PAGE + unit, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return nullptr;
    uintptr_t start = reinterpret_cast<uintptr_t>(p);
    auto *first =
        reinterpret_cast<unsigned char *>(round_up(start + PAGE, unit));
    if (unit > PAGE)
        madvise(first, n, MADV_HUGEPAGE);
    mprotect(first, n, PROT_READ | PROT_WRITE);
    return first - PAGE;
}
} // namespace

unsigned char *allocation::first() const
{
    return map + PAGE;
}

unsigned char *allocation::end() const
{
    return map + map_bytes - PAGE;
}

allocation *find_allocation(const void *p)
{
    uintptr_t address = reinterpret_cast<uintptr_t>(p);
    auto next = allocations.upper_bound(address);
    if (next == allocations.begin())
        return nullptr;
    allocation &a = (--next)->second;
    return address < next->first + a.map_bytes ? &a : nullptr;
}

std::string describe(const allocation &a)
{
    char text[512];
    snprintf(text, sizeof text, "%s allocation #%d of %zu bytes (%s:%d)%s",
             a.kind == MEMORY_DEVICE ? "device" : "pinned host", a.number,
             a.bytes, a.where.file, a.where.line, a.freed ? ", freed" : "");
    return text;
}

cudaError_t allocate(site where, memory_kind kind, void **out, size_t bytes)
{
    start();
    if (!out)
        return fail(cudaErrorInvalidValue, "allocation to NULL at %s:%d",
                    where.file, where.line);
    *out = nullptr;
    if (broken)
        return broken;
    if (cudaError_t error = refuse_in_capture("an allocation"))
        return error;
    if (bytes == 0)
        return cudaSuccess;
    if (kind == MEMORY_DEVICE && bytes > option.memory - used)
        return last_error = cudaErrorMemoryAllocation;
    size_t unit = bytes >= LARGE ? LARGE_PAGE : PAGE;
    size_t span = round_up(bytes + ALIGNMENT - 1, unit);
    unsigned char *map = map_guarded(span, unit);
    if (!map)
        return last_error = cudaErrorMemoryAllocation;
    unsigned char *user = map + PAGE + span - round_up(bytes, ALIGNMENT);
    allocation &a = allocations[reinterpret_cast<uintptr_t>(map)];
    a = {++serial, kind, bytes, map, span + 2 * PAGE, user, where, false};
    fill_canary(canary_start(a), user);
    fill_canary(user + bytes, a.end());
    fill_junk(user, bytes);
    WITH_ASAN(__asan_poison_memory_region(a.first(), span));
    WITH_ASAN(__asan_unpoison_memory_region(user, bytes));
    if (kind == MEMORY_DEVICE) {
        used += bytes;
        if (option.protect)
            protect(a, PROT_NONE);
        else
            open_ones.push_back(&a);
    }
    *out = user;
    return cudaSuccess;
}

cudaError_t release(void *p, memory_kind kind, const char *call)
{
    start();
    if (broken)
        return broken;
    if (cudaError_t error = refuse_in_capture(call))
        return error;
    if (!p)
        return cudaSuccess;
    wait_for_all(); // as the card does
    allocation *a = find_allocation(p);
    if (!a || a->user != p)
        return fail(cudaErrorInvalidValue,
                    "%s(%p): not the start of any allocation%s%s", call, p,
                    a ? ", inside " : "", a ? describe(*a).c_str() : "");
    if (a->freed)
        return fail(cudaErrorInvalidValue, "%s(%p): double free of %s", call, p,
                    describe(*a).c_str());
    if (kind != a->kind)
        return fail(cudaErrorInvalidValue, "%s(%p): wrong function for %s",
                    call, p, describe(*a).c_str());
    open_memory();
    check_canary(*a, call);
    close_memory();
    for (size_t k = 0; k < open_ones.size(); k++)
        if (open_ones[k] == a)
            open_ones.erase(open_ones.begin() + static_cast<ptrdiff_t>(k--));
    a->freed = true;
    WITH_ASAN(__asan_unpoison_memory_region(
        a->first(), static_cast<size_t>(a->end() - a->first())));
    mmap(a->map, a->map_bytes, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if (kind == MEMORY_DEVICE)
        used -= a->bytes;
    return cudaSuccess;
}

size_t memory_used()
{
    return used;
}

void report_leaks()
{
    for (const auto &a : allocations)
        if (!a.second.freed)
            say("leak: %s", describe(a.second).c_str());
}

void open_memory()
{
    open_depth++;
}

void close_memory()
{
    if (--open_depth > 0 || !option.protect)
        return;
    for (allocation *a : open_ones)
        protect(*a, PROT_NONE);
    open_ones.clear();
}

bool memory_is_open()
{
    return open_depth > 0;
}

void as_host(const std::function<void()> &code)
{
    int depth = open_depth;
    open_depth = 1;
    close_memory();
    code();
    open_depth = depth;
}

void open_allocation(allocation *a)
{
    protect(*a, PROT_READ | PROT_WRITE);
    open_ones.push_back(a);
}

void check_canaries(const char *after)
{
    for (const allocation *a : open_ones)
        check_canary(*a, after);
}

// Doubles and even floats are signalling NaNs, odd floats quiet ones, integers
// are huge. The memory may have red zones in between.
UNGUARDED void fill_junk(unsigned char *p, size_t n)
{
    static const unsigned char pattern[8] = {0xad, 0xde, 0xa0, 0x7f,
                                             0xad, 0xde, 0xf4, 0x7f};
    for (size_t k = 0; k < n;) {
        uintptr_t address = reinterpret_cast<uintptr_t>(p + k);
        if (n - k >= 8 && address % 8 == 0) {
            *reinterpret_cast<volatile uint64_t *>(p + k) =
                0x7ff4dead7fa0deadull;
            k += 8;
        } else {
            p[k++] = pattern[address % 8];
        }
    }
}

} // namespace cudasim
