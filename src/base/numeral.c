/* numeral.c: see numeral.h. */
#include "base/numeral.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static size_t digits(const char *s)
{
    size_t n = 0;
    while (s[n] >= '0' && s[n] <= '9')
        n++;
    return n;
}

static size_t sign(const char *s)
{
    return *s == '-' || *s == '+';
}

size_t numeral_length(const char *text)
{
    const char *s = text + sign(text);
    size_t whole = digits(s), part = 0;
    s += whole;
    if (*s == '.') {
        part = digits(s + 1);
        s += 1 + part;
    }
    if (whole + part == 0)
        return 0;
    if (*s == 'e' || *s == 'E') {
        size_t n = digits(s + 1 + sign(s + 1));
        if (n > 0)
            s += 1 + sign(s + 1) + n;
    }
    return (size_t)(s - text);
}

/* Of what is no decimal number. */
static const char *why_not(const char *text, size_t length)
{
    const char *s = text + (length > 0 ? sign(text) : 0);
    size_t left = length - (size_t)(s - text), n = numeral_length(text);
    if (left > 1 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
        return "is hexadecimal; write it with decimal digits";
    if (left >= 3 &&
        (strncasecmp(s, "inf", 3) == 0 || strncasecmp(s, "nan", 3) == 0))
        return "is not a finite number";
    if (n > 0 && n + 1 < length && (text[n] == 'd' || text[n] == 'D'))
        return "has Fortran's exponent; write e in place of d";
    if (n > 0 && n + 1 < length && text[n] == ',' &&
        isdigit((unsigned char)text[n + 1]))
        return "has a comma; numbers have a decimal point and no other sign";
    return "is not a number";
}

const char *numeral_real(const char *text, size_t length, double *value)
{
    *value = 0;
    if (length == 0 || numeral_length(text) != length)
        return why_not(text, length);
    double v = strtod(text, NULL);
    if (!(fabs(v) <= NUMERAL_MOST))
        return "is too large; the largest number of an input is 1e150";
    *value = v;
    return NULL;
}

const char *numeral_whole(const char *text, size_t length, int64_t *value)
{
    *value = 0;
    if (length == 0 || numeral_length(text) != length)
        return why_not(text, length);
    if (sign(text) + digits(text + sign(text)) != length)
        return "is not a whole number";
    errno = 0;
    long long v = strtoll(text, NULL, 10);
    if (errno != 0)
        return "is too large; whole numbers have 64 bits, up to "
               "9223372036854775807";
    *value = v;
    return NULL;
}

int numeral_may_be_cut(const char *line, size_t length)
{
    return length > 0 && memchr("0123456789.+-", line[length - 1], 13) != NULL;
}
