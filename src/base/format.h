/* format.h: numbers as people read them. Each writes into buf and returns it.
 */
#ifndef WARPDECK_BASE_FORMAT_H
#define WARPDECK_BASE_FORMAT_H

#include <stddef.h>

enum { FORMAT_MAX = 32 };

/* "512 bytes", "1.5 MB", "12 GB" (powers of 1000). */
const char *format_bytes(double bytes, char buf[FORMAT_MAX]);
/* "312", "10.2 M", "281 M", "4.1 G": three digits and a factor of 1000. */
const char *format_count(double n, char buf[FORMAT_MAX]);
/* "00:07", "12:30", "3:04:05", "2 d 03:04"; "-" where not finite. */
const char *format_duration(double seconds, char buf[FORMAT_MAX]);
/* "0.31 s", "12.4 s", "3:04:05" */
const char *format_seconds(double seconds, char buf[FORMAT_MAX]);
/* Right-justified in `width` with `decimals` after the point, or as many as
 * there is room for; with an exponent where a great number would not fit, or a
 * small one would be read as 0. */
const char *format_column(double value, int width, int decimals,
                          char buf[FORMAT_MAX]);
/* `path` as it can be typed into a shell. */
const char *format_path(const char *path, char *buf, size_t size);

#endif
