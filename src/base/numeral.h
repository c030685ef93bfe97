/* numeral.h: decimal numbers in texts, read in one way by all that reads some:
 * data files, tables, topologies, portfolios, and values of decks and options
 * that are given as text.
 *
 * [+-]digits[.digits][e[+-]digits], with a digit before or behind the point.
 * What strtod() takes besides, "0x1p3", "inf", "nan" and a decimal comma of
 * some locales, is told by name: in a file it is a program that failed.
 */
#ifndef WARPDECK_BASE_NUMERAL_H
#define WARPDECK_BASE_NUMERAL_H

#include <stddef.h>
#include <stdint.h>

/* No number of an input is larger: products of two, and squares of three added
 * up, are numbers still. */
#define NUMERAL_MOST 1e150

/* The bytes of the decimal number that `text` begins with; 0: it begins with
 * none. */
size_t numeral_length(const char *text);

/* The number that `length` bytes of text are, all of them; text[length] is
 * looked at, too, a NUL or what ends the word. NULL; or what is wrong, to go
 * behind the word in a message, "is hexadecimal; ...": then *value is 0. */
const char *numeral_real(const char *text, size_t length, double *value);
/* The same of a whole number, [+-]digits. */
const char *numeral_whole(const char *text, size_t length, int64_t *value);

/* Whether the last line of a file, of `length` bytes, ends in a number and has
 * no end of its own. It may be whole, or be what an interrupted copy left;
 * nothing but a warning can tell that digits may be missing. */
int numeral_may_be_cut(const char *line, size_t length);
#define NUMERAL_CUT                                                \
    "the file ends with a number and no end of the line; were it " \
    "cut there, digits would be missing"

#endif
