/* risk_dates.c: years between two dates. Nothing is rounded: a fraction is what
 * the day count says of whole days, and times that are numbers never meet it.
 *
 * Day counts: 2006 ISDA Definitions, section 4.16.
 */
#include "solvers/risk/risk_dates.h"

#include <stdio.h>
#include <string.h>

#include "base/param.h"
#include "solvers/risk/risk.h"

const char *const risk_day_count_names[RISK_DAY_COUNTS + 1] = {
    "ACT/365F", "ACT/360", "30/360", "ACT/ACT ISDA", NULL};

static int leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_of(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && leap(year) ? 29 : days[month - 1];
}

int risk_date_read(const char *text, struct risk_date *out)
{
    static const char form[] = "dddd-dd-dd";
    int part[3] = {0, 0, 0}, at = 0;
    if (strlen(text) != sizeof form - 1)
        return -1;
    for (size_t i = 0; form[i] != '\0'; i++) {
        if (form[i] == '-' ? text[i] != '-' : text[i] < '0' || text[i] > '9')
            return -1;
        if (form[i] == '-')
            at++;
        else
            part[at] = 10 * part[at] + (text[i] - '0');
    }
    if (part[0] < 1900 || part[0] > 2999 || part[1] < 1 || part[1] > 12 ||
        part[2] < 1 || part[2] > days_of(part[0], part[1]))
        return -1;
    *out = (struct risk_date){part[0], part[1], part[2]};
    return 0;
}

/* Years begin in March, so that the leap day is their last; months from there
 * have 153 days in five. */
long risk_date_number(struct risk_date d)
{
    const long y = d.month > 2 ? d.year : d.year - 1, m = (d.month + 9) % 12;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + d.day - 1;
}

static double thirty(struct risk_date a, struct risk_date b)
{
    if (a.day == 31)
        a.day = 30;
    if (b.day == 31 && a.day == 30)
        b.day = 30;
    return (360 * (b.year - a.year) + 30 * (b.month - a.month) +
            (b.day - a.day)) /
           360.0;
}

/* Whole years between count 1 each, whatever their days. */
static double actual(struct risk_date a, struct risk_date b)
{
    const struct risk_date first = {a.year, 1, 1}, last = {b.year, 1, 1};
    const double before =
                     (double)(risk_date_number(a) - risk_date_number(first)) /
                     (leap(a.year) ? 366 : 365),
                 after =
                     (double)(risk_date_number(b) - risk_date_number(last)) /
                     (leap(b.year) ? 366 : 365);
    return b.year - a.year + after - before;
}

double risk_year_fraction(enum risk_day_count count, struct risk_date from,
                          struct risk_date to)
{
    const double days = (double)(risk_date_number(to) - risk_date_number(from));
    switch (count) {
    case RISK_ACT_360:
        return days / 360;
    case RISK_30_360:
        return thirty(from, to);
    case RISK_ACT_ACT_ISDA:
        return actual(from, to);
    default:
        return days / 365;
    }
}

void risk_dates_read(struct params *p, struct risk_market *m)
{
    const int today = params_is_set(p, "risk", "valuation_date"),
              count = params_is_set(p, "risk", "day_count");
    if (today != count) {
        params_error(p, "risk", today ? "valuation_date" : "day_count",
                     "dates need both risk.valuation_date and risk.day_count");
        return;
    }
    if (!today)
        return;
    const char *text = params_string(p, "risk", "valuation_date");
    if (risk_date_read(text, &m->today) != 0)
        params_error(p, "risk", "valuation_date",
                     "'%.40s' is no date; expected one like \"2027-01-15\"",
                     text);
    text = params_string(p, "risk", "day_count");
    for (int i = 0; i < RISK_DAY_COUNTS; i++)
        if (strcmp(text, risk_day_count_names[i]) == 0)
            m->day_count = (enum risk_day_count)i;
}

/* One complaint is enough: the maturity then counts as given. */
static void wrong(struct risk_entry *e, const char *text)
{
    e->failed = 1;
    e->complain(e->user, RISK_FIELD_MATURITY_DATE, text);
    e->given[RISK_FIELD_MATURITY] = 1;
    e->given[RISK_FIELD_MATURITY_DATE] = 0;
}

void risk_date_of_maturity(const struct risk_market *m, struct risk_entry *e)
{
    struct risk_date end;
    char text[160];
    if (!e->given[RISK_FIELD_MATURITY_DATE])
        return;
    if (e->given[RISK_FIELD_MATURITY]) {
        wrong(e, "either maturity or maturity_date is given, not both");
    } else if (m->today.year == 0) {
        wrong(e, "maturity_date needs risk.valuation_date and risk.day_count "
                 "in the deck");
    } else if (risk_date_read(e->text[RISK_FIELD_MATURITY_DATE], &end) != 0) {
        snprintf(text, sizeof text,
                 "'%.40s' is no date; expected one like 2027-01-15",
                 e->text[RISK_FIELD_MATURITY_DATE]);
        wrong(e, text);
    } else if (risk_date_number(end) < risk_date_number(m->today)) {
        snprintf(text, sizeof text,
                 "maturity_date = %.40s is before the valuation date, "
                 "%04d-%02d-%02d",
                 e->text[RISK_FIELD_MATURITY_DATE], m->today.year,
                 m->today.month, m->today.day);
        wrong(e, text);
    } else {
        e->number[RISK_FIELD_MATURITY] =
            risk_year_fraction(m->day_count, m->today, end);
        e->given[RISK_FIELD_MATURITY] = 1;
        e->given[RISK_FIELD_MATURITY_DATE] = 0;
    }
}
