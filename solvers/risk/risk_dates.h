/* risk_dates.h: dates, and the years between two of them by an explicit day
 * count. */
#ifndef WARPDECK_SOLVERS_RISK_RISK_DATES_H
#define WARPDECK_SOLVERS_RISK_RISK_DATES_H

/* Of the Gregorian calendar; year 0: none. */
struct risk_date {
    int year, month, day;
};

enum risk_day_count {
    RISK_ACT_365F,     /* days / 365 */
    RISK_ACT_360,      /* days / 360 */
    RISK_30_360,       /* bond basis: ISDA 2006, section 4.16(f) */
    RISK_ACT_ACT_ISDA, /* section 4.16(b): leap years' days / 366 */
    RISK_DAY_COUNTS
};

/* As decks write them: "ACT/365F", "ACT/360", "30/360", "ACT/ACT ISDA". */
extern const char *const risk_day_count_names[RISK_DAY_COUNTS + 1];

/* "2027-01-15", and nothing else: 0, or -1 where it is no date of the years
 * 1900 to 2999. */
int risk_date_read(const char *text, struct risk_date *out);
/* Days since the first of March of year 0. */
long risk_date_number(struct risk_date d);
double risk_year_fraction(enum risk_day_count count, struct risk_date from,
                          struct risk_date to);

struct params;
struct risk_entry;
struct risk_market;
/* risk.valuation_date and risk.day_count. Complaints go to p. */
void risk_dates_read(struct params *p, struct risk_market *m);
/* A maturity given as a date becomes years; complaints go to the entry's. */
void risk_date_of_maturity(const struct risk_market *m, struct risk_entry *e);

#endif
