/* Numbers in texts: what counts as one, and what is said of the rest. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/numeral.h"
#include "tests/tap.h"

static void real(const char *text, double want)
{
    double value = -7;
    const char *wrong = numeral_real(text, strlen(text), &value);
    if (!tap_ok(!wrong && value == want, "'%s' is %g", text, want))
        tap_note("%.17g, %s", value, wrong ? wrong : "taken");
}

static void no_real(const char *text, const char *words)
{
    double value = -7;
    const char *wrong = numeral_real(text, strlen(text), &value);
    if (!tap_ok(wrong && strstr(wrong, words) && value == 0, "'%s' %s", text,
                words))
        tap_note("%.17g, %s", value, wrong ? wrong : "taken");
}

static void whole(const char *text, int64_t want)
{
    int64_t value = -7;
    const char *wrong = numeral_whole(text, strlen(text), &value);
    tap_ok(!wrong && value == want, "'%s' is the whole number %lld", text,
           (long long)want);
}

static void no_whole(const char *text, const char *words)
{
    int64_t value = -7;
    const char *wrong = numeral_whole(text, strlen(text), &value);
    if (!tap_ok(wrong && strstr(wrong, words) && value == 0, "whole: '%s' %s",
                text, words))
        tap_note("%s", wrong ? wrong : "taken");
}

static void test_reals(void)
{
    static const struct {
        const char *text;
        double value;
    } good[] = {{"0", 0},           {"-0.5", -0.5},     {"+1.5", 1.5},
                {"5.", 5},          {".5", 0.5},        {"1e3", 1000},
                {"1.5E-2", 0.015},  {"007", 7},         {"1e+2", 100},
                {"1e150", 1e150},   {"-1e150", -1e150}, {"1e-400", 0},
                {"4e-320", 4e-320}, {"0.1", 0.1}};
    for (size_t k = 0; k < sizeof good / sizeof good[0]; k++)
        real(good[k].text, good[k].value);
    static const char *const none[] = {
        "",   ".",   "-",   "+.",   "e5",    "1e", "1e+", "1.2.3",
        "1x", "x",   "--1", "1 2",  " 1",    "1 ", "1_0", "1.0d",
        "1,", "1,a", "0,x", "1e5.", "1\xc2", "1-2"};
    for (size_t k = 0; k < sizeof none / sizeof none[0]; k++)
        no_real(none[k], "is not a number");
    static const char *const hex[] = {"0x10", "-0X1p3", "0xg", "+0x"};
    for (size_t k = 0; k < sizeof hex / sizeof hex[0]; k++)
        no_real(hex[k], "hexadecimal");
    static const char *const infinite[] = {"inf",  "-Inf",     "nan",
                                           "-NaN", "infinity", "nan(1)"};
    for (size_t k = 0; k < sizeof infinite / sizeof infinite[0]; k++)
        no_real(infinite[k], "not a finite number");
    no_real("1e151", "too large");
    no_real("-1e308", "too large");
    no_real("1e999", "too large");
    no_real("1.0D+00", "Fortran");
    no_real("1d5", "Fortran");
    no_real("1,5", "comma");
}

static void test_wholes(void)
{
    whole("0", 0);
    whole("-12", -12);
    whole("+3", 3);
    whole("9223372036854775807", INT64_MAX);
    whole("-9223372036854775808", INT64_MIN);
    no_whole("9223372036854775808", "64 bits");
    no_whole("-99999999999999999999", "64 bits");
    no_whole("1.0", "not a whole number");
    no_whole("1e3", "not a whole number");
    no_whole("0x10", "hexadecimal");
    no_whole("one", "not a number");
    no_whole("", "not a number");
    no_whole("nan", "not a finite number");
}

static void test_lengths(void)
{
    static const struct {
        const char *text;
        size_t n;
    } some[] = {{"2 fs", 1}, {"1.5h", 3}, {"1e3x", 3}, {"1em", 1}, {"eV", 0},
                {"-.5K", 3}, {"-K", 0},   {"0x1", 1},  {"", 0}};
    for (size_t k = 0; k < sizeof some / sizeof some[0]; k++)
        tap_is_int((long long)numeral_length(some[k].text),
                   (long long)some[k].n, "'%s' begins with so long a number",
                   some[k].text);
}

int main(void)
{
    test_reals();
    test_wholes();
    test_lengths();
    return tap_done();
}
