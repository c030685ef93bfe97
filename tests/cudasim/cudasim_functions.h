/* cudasim_functions.h: CUDA's device functions as functions of the host:
 * shuffles and votes on top of cudasim::warp(), atomics, and arithmetic.
 *
 * Part of cudasim.h. Approximate functions give the accurate result, so what is
 * compared with a card needs a tolerance.
 */
#ifndef WARPDECK_TESTS_CUDASIM_FUNCTIONS_H
#define WARPDECK_TESTS_CUDASIM_FUNCTIONS_H

#include <climits>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace cudasim
{

template <class T> uint64_t bits(T v)
{
    static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8),
                  "warp functions take numbers of 32 or 64 bits");
    uint64_t u = 0;
    memcpy(&u, &v, sizeof v);
    return u;
}

template <class T> T unbits(uint64_t u)
{
    T v;
    memcpy(&v, &u, sizeof v);
    return v;
}

inline void sync_warp(site where, unsigned mask = 0xffffffffu)
{
    warp(OP_SYNCWARP, mask, 0, 0, where);
}

template <class R>
R vote(site where, operation op, unsigned mask, uint64_t value)
{
    return static_cast<R>(warp(op, mask, value, 0, where));
}

enum shuffle_kind { FROM_LANE, FROM_BELOW, FROM_ABOVE, FROM_XOR };

// A source outside of the segment gives the lane's own value.
inline int shuffle_source(shuffle_kind kind, int mine, int d, int width)
{
    int first = mine & ~(width - 1);
    switch (kind) {
    case FROM_LANE:
        return first + (d & (width - 1));
    case FROM_BELOW:
        return mine - d < first ? mine : mine - d;
    case FROM_ABOVE:
        return mine + d >= first + width ? mine : mine + d;
    case FROM_XOR:
        return (mine ^ d) >= first + width ? mine : mine ^ d;
    }
    return mine;
}

template <class T, class D>
T shuffle(site where, shuffle_kind kind, unsigned mask, T v, D d,
          int width = 32)
{
    int source = shuffle_source(kind, lane(), static_cast<int>(d), width);
    return unbits<T>(warp(OP_SHFL, mask, bits(v), source, where, kind));
}

template <class T>
T reduce(site where, operation op, operation unsigned_op, unsigned mask, T v)
{
    static_assert(std::is_integral_v<T> && sizeof(T) == 4,
                  "__reduce_*_sync takes integers of 32 bits");
    return unbits<T>(
        warp(std::is_signed_v<T> ? op : unsigned_op, mask, bits(v), 0, where));
}

// To an integer as on the card: too large saturates, not a number gives 0.
template <class T> T saturate(double x)
{
    constexpr T most = std::is_same_v<T, int> ? INT_MAX : T(LLONG_MAX);
    constexpr T least = std::is_same_v<T, int> ? INT_MIN : T(LLONG_MIN);
    if (x != x)
        return 0;
    if (x >= static_cast<double>(most))
        return most;
    return x <= static_cast<double>(least) ? least : static_cast<T>(x);
}

inline float inverse_root(float x)
{
    return 1.0f / sqrtf(x);
}
inline double inverse_root(double x)
{
    return 1.0 / sqrt(x);
}

// Rounded before the next operation, never fused with it.
template <class T> T rounded(T x)
{
    volatile T r = x;
    return r;
}

} // namespace cudasim

// ---- atomics: a thread is interrupted at barriers only ----------------------
#define CUDASIM_ATOMIC(name, T, expression) \
    inline T name(T *p, T v)                \
    {                                       \
        T old = *p;                         \
        *p = (expression);                  \
        return old;                         \
    }
#define CUDASIM_ATOMICS(T)                          \
    CUDASIM_ATOMIC(atomicMin, T, v < old ? v : old) \
    CUDASIM_ATOMIC(atomicMax, T, v > old ? v : old) \
    CUDASIM_ATOMIC(atomicExch, T, v)                \
    CUDASIM_ATOMIC(atomicAnd, T, old &v)            \
    CUDASIM_ATOMIC(atomicOr, T, old | v)            \
    inline T atomicCAS(T *p, T compare, T v)        \
    {                                               \
        T old = *p;                                 \
        if (old == compare)                         \
            *p = v;                                 \
        return old;                                 \
    }
CUDASIM_ATOMICS(int)
CUDASIM_ATOMICS(unsigned)
CUDASIM_ATOMICS(unsigned long long)
CUDASIM_ATOMIC(atomicAdd, int,
               static_cast<int>(static_cast<unsigned>(old) +
                                static_cast<unsigned>(v)))
CUDASIM_ATOMIC(atomicAdd, unsigned, old + v)
CUDASIM_ATOMIC(atomicAdd, unsigned long long, old + v)
CUDASIM_ATOMIC(atomicAdd, float, old + v)
CUDASIM_ATOMIC(atomicAdd, double, old + v)

template <class T> T __ldg(const T *p)
{
    return *p;
}

// ---- arithmetic -------------------------------------------------------------
#define rsqrtf(x) cudasim::inverse_root(static_cast<float>(x))
#define rsqrt(x) cudasim::inverse_root(x)
#define __frsqrt_rn(x) cudasim::inverse_root(static_cast<float>(x))
#define __frcp_rn(x) (1.0f / static_cast<float>(x))
#define __fdividef(a, b) (static_cast<float>(a) / static_cast<float>(b))
#define __expf(x) expf(x)
#define __logf(x) logf(x)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __sincosf(x, s, c) sincosf(x, s, c)
#define sincospif(x, s, c) sincosf((x)*3.14159265358979f, s, c)
#define sincospi(x, s, c) sincos((x)*M_PI, s, c)
#define __fmaf_rn(a, b, c) fmaf(a, b, c)
#define __fma_rn(a, b, c) fma(a, b, c)
#define __fmul_rn(a, b) cudasim::rounded<float>((a) * (b))
#define __fadd_rn(a, b) cudasim::rounded<float>((a) + (b))
#define __dmul_rn(a, b) cudasim::rounded<double>((a) * (b))
#define __dadd_rn(a, b) cudasim::rounded<double>((a) + (b))

#define __float2int_rn(x) cudasim::saturate<int>(rintf(x))
#define __float2int_rz(x) cudasim::saturate<int>(truncf(x))
#define __float2int_rd(x) cudasim::saturate<int>(floorf(x))
#define __float2int_ru(x) cudasim::saturate<int>(ceilf(x))
#define __double2int_rn(x) cudasim::saturate<int>(rint(x))
#define __double2int_rd(x) cudasim::saturate<int>(floor(x))
#define __float2ll_rn(x) cudasim::saturate<long long>(rintf(x))
#define __double2ll_rn(x) cudasim::saturate<long long>(rint(x))

#define __float_as_int(x) cudasim::unbits<int>(cudasim::bits<float>(x))
#define __float_as_uint(x) cudasim::unbits<unsigned>(cudasim::bits<float>(x))
#define __int_as_float(x) cudasim::unbits<float>(cudasim::bits<int>(x))
#define __uint_as_float(x) cudasim::unbits<float>(cudasim::bits<unsigned>(x))
#define __double_as_longlong(x) \
    cudasim::unbits<long long>(cudasim::bits<double>(x))
#define __longlong_as_double(x) \
    cudasim::unbits<double>(cudasim::bits<long long>(x))

inline int __popc(unsigned x)
{
    return __builtin_popcount(x);
}
inline int __popcll(unsigned long long x)
{
    return __builtin_popcountll(x);
}
inline int __ffs(int x)
{
    return __builtin_ffs(x);
}
inline int __clz(int x)
{
    return x ? __builtin_clz(static_cast<unsigned>(x)) : 32;
}
inline unsigned __umulhi(unsigned a, unsigned b)
{
    return static_cast<unsigned>((static_cast<uint64_t>(a) * b) >> 32);
}

#define CUDASIM_MIN_MAX(T)    \
    inline T min(T a, T b)    \
    {                         \
        return b < a ? b : a; \
    }                         \
    inline T max(T a, T b)    \
    {                         \
        return a < b ? b : a; \
    }
CUDASIM_MIN_MAX(int)
CUDASIM_MIN_MAX(unsigned)
CUDASIM_MIN_MAX(long)
CUDASIM_MIN_MAX(long long)
CUDASIM_MIN_MAX(unsigned long)
CUDASIM_MIN_MAX(unsigned long long)
inline float min(float a, float b)
{
    return fminf(a, b);
}
inline float max(float a, float b)
{
    return fmaxf(a, b);
}
inline double min(double a, double b)
{
    return fmin(a, b);
}
inline double max(double a, double b)
{
    return fmax(a, b);
}

// ---- templates that NVIDIA's headers declare for nvcc alone -----------------
template <class T>
cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes,
                               size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    return ::cudaMemcpyToSymbol(static_cast<const void *>(&symbol), from, bytes,
                                offset, kind);
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(
    const T &symbol, const void *from, size_t bytes, size_t offset = 0,
    cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = nullptr)
{
    return ::cudaMemcpyToSymbolAsync(static_cast<const void *>(&symbol), from,
                                     bytes, offset, kind, stream);
}
template <class F>
cudaError_t cudaFuncSetAttribute(F *function, cudaFuncAttribute attribute,
                                 int value)
{
    return ::cudaFuncSetAttribute(reinterpret_cast<const void *>(function),
                                  attribute, value);
}

#endif
