/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/calendar.h"

/* Days from 1970-01-01 in the proleptic Gregorian calendar. */
static int64_t days_of(int64_t year, int64_t month, int64_t day) {
    year -= month <= 2;
    int64_t era = year / 400, of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool digits(const char *text, size_t n, int64_t low, int64_t high, int64_t *out) {
    *out = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *out = *out * 10 + (text[i] - '0');
    }
    return *out >= low && *out <= high;
}

static int64_t days_in_month(int64_t year, int64_t month) {
    int64_t next = month < 12 ? days_of(year, month + 1, 1) : days_of(year + 1, 1, 1);
    return next - days_of(year, month, 1);
}

bool gsim_calendar_parse(const char *text, size_t length, int64_t *seconds) {
    int64_t year, month, day, hour, minute, second;
    if (length != 19 || text[4] != '-' || text[7] != '-' || (text[10] != ' ' && text[10] != 'T') ||
        text[13] != ':' || text[16] != ':')
        return false;
    if (!digits(text, 4, 1970, 2099, &year) || !digits(text + 5, 2, 1, 12, &month) ||
        !digits(text + 8, 2, 1, days_in_month(year, month), &day) ||
        !digits(text + 11, 2, 0, 23, &hour) || !digits(text + 14, 2, 0, 59, &minute) ||
        !digits(text + 17, 2, 0, 60, &second))
        return false;
    *seconds = days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    return true;
}
