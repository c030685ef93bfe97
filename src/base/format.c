#include "base/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Three significant digits of x in [0.1, 1000). */
static int three_digits(double x, char *buf, size_t size)
{
    int decimals = x >= 99.95 ? 0 : x >= 9.995 ? 1 : 2;
    return snprintf(buf, size, "%.*f", decimals, x);
}

static const char *with_factor(double x, const char *const *units, int n,
                               char buf[FORMAT_MAX])
{
    int k = 0;
    while (k + 1 < n && x >= 999.5) {
        x /= 1000;
        k++;
    }
    int used = k == 0 ? snprintf(buf, FORMAT_MAX, "%.0f", x)
                      : three_digits(x, buf, FORMAT_MAX);
    snprintf(buf + used, (size_t)(FORMAT_MAX - used), "%s", units[k]);
    return buf;
}

const char *format_bytes(double bytes, char buf[FORMAT_MAX])
{
    static const char *const units[] = {" bytes", " kB", " MB",
                                        " GB",    " TB", " PB"};
    return with_factor(bytes, units, 6, buf);
}

const char *format_count(double n, char buf[FORMAT_MAX])
{
    static const char *const units[] = {"", " k", " M", " G", " T", " P"};
    if (n < 99.5) { /* small rates keep their digits */
        three_digits(n, buf, FORMAT_MAX);
        return buf;
    }
    return with_factor(n, units, 6, buf);
}

const char *format_duration(double seconds, char buf[FORMAT_MAX])
{
    if (!isfinite(seconds) || seconds > 1e9) {
        snprintf(buf, FORMAT_MAX, "-");
        return buf;
    }
    long s = lround(seconds);
    if (s < 3600)
        snprintf(buf, FORMAT_MAX, "%02ld:%02ld", s / 60, s % 60);
    else if (s < 86400)
        snprintf(buf, FORMAT_MAX, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60,
                 s % 60);
    else
        snprintf(buf, FORMAT_MAX, "%ld d %02ld:%02ld", s / 86400, s / 3600 % 24,
                 s / 60 % 60);
    return buf;
}

const char *format_seconds(double seconds, char buf[FORMAT_MAX])
{
    if (seconds >= 600)
        return format_duration(seconds, buf);
    snprintf(buf, FORMAT_MAX, "%.*f s", seconds < 10 ? 2 : 1, seconds);
    return buf;
}

const char *format_column(double value, int width, int decimals,
                          char buf[FORMAT_MAX])
{
    int room = width - 8; /* sign, digit, point, e+123 */
    int n = FORMAT_MAX;
    int lost = value != 0 && fabs(value) < 0.5 * pow(10, -decimals);
    for (int d = decimals; d >= 0 && n > width && !lost; d--)
        n = snprintf(buf, FORMAT_MAX, "%*.*f", width, d, value);
    if (n > width)
        snprintf(buf, FORMAT_MAX, "%*.*e", width, room > 0 ? room : 0, value);
    return buf;
}

const char *format_path(const char *path, char *buf, size_t size)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz"
                                "0123456789./_-+,:@%";
    size_t n = 0;
    int quote = path[0] == '\0';
    for (const char *c = path; *c != '\0'; c++)
        quote |= (unsigned char)*c < 128 && strchr(plain, *c) == NULL;
    if (!quote || size < 4) {
        snprintf(buf, size, "%s", path);
        return buf;
    }
    buf[n++] = '\'';
    for (const char *c = path; *c != '\0' && n + 6 < size; c++) {
        if (*c == '\'') {
            memcpy(buf + n, "'\\''", 4);
            n += 4;
        } else {
            buf[n++] = *c;
        }
    }
    buf[n++] = '\'';
    buf[n] = '\0';
    return buf;
}
