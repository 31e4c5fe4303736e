/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a trace that are fitted, and how:
 * - a batch is a user's jobs that follow each other within a minute; its size, and the gaps in it,
 *   are as they were. Of the limits between 10 s and the 20 minutes of sessions (Zakay and
 *   Feitelson, "On identifying user session boundaries in parallel workload logs", JSSPP 2012) one
 *   or two minutes keep most of the bursts of Philly's trace, in which a virtual cluster stands for
 *   its users;
 * - jobs come at the rate of their hour of the day, their day of the week, and their week of the
 *   trace, in which surges are; the gaps, on a clock that runs at that rate, are as they were;
 * - each width is a kind of jobs with durations of its own, which keeps the dependence of duration
 *   on width;
 * - in a batch, the width repeats as often as it did, and the duration as often as gives the
 *   covariance of the logarithms that neighbours of one width had;
 * - users have their shares of the jobs.
 * Distributions are written as quantiles, so no family is assumed. */
#include "sim/app/workload/fit_spec.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "sim/base/sort.h"
#include "sim/study/facts.h"
#include "traces/cells.h"

enum { QUANTILES = 2049, MOST_KINDS = 16, HOURS = 24, DAYS = 7, WEEK = HOURS * DAYS, LINE = 96 };
static const double BATCH_GAP_S = 60, HOUR_S = 3600;

struct job {
    double submit_s, duration_s, width;
    int64_t owner;
    int kind;
    int64_t before; /* the job of its batch before it, in the order of arrival; -1: it begins one */
    uint32_t batch; /* of the job that begins it: the number of its jobs */
};

struct fitting {
    const struct gsim_trace *trace;
    struct gsim_arena *arena;
    FILE *out;
    enum gsim_column owner; /* user, or else virtual cluster */
    uint32_t n, n_batches;
    struct job *job; /* in the order of arrival */
    double width[MOST_KINDS]; /* of each kind; the last kind may be all rarer widths */
    uint32_t n_of_kind[MOST_KINDS];
    int n_kinds;
    bool has_rest; /* the last kind has several widths */
    double hours[HOURS], days[DAYS];
    double *weeks, *clock_s; /* the clock at each hour of n_weeks; one: there is no profile */
    uint32_t n_weeks;
};

/* --- taking the trace apart ------------------------------------------------------------------- */

static bool take_jobs(struct fitting *f) {
    const struct gsim_trace *trace = f->trace;
    f->n = trace->n_jobs;
    f->owner = trace->column[GSIM_COL_USER] ? GSIM_COL_USER : GSIM_COL_VC;
    f->job = gsim_arena_array(f->arena, f->n, sizeof *f->job);
    if (!f->job)
        return false;
    double first_s = (double)trace->submit_ns[gsim_trace_arrival(trace, 0)] / 1e9;
    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t job = gsim_trace_arrival(trace, i);
        double share = (double)gsim_trace_share(trace, job) / GSIM_PPM;
        f->job[i] = (struct job){.submit_s = (double)trace->submit_ns[job] / 1e9 - first_s,
                                 .duration_s = (double)trace->service_ns[job] / 1e9,
                                 .width = gsim_trace_gpus(trace, job) * share,
                                 .owner = gsim_trace_get(trace, f->owner, job)};
    }
    return true;
}

/* Finds for each job the one of its user before it, and the sizes of batches. */
static bool find_batches(struct fitting *f) {
    size_t n_owners = f->trace->column[f->owner] ? f->trace->names[f->owner].n : 0;
    int64_t *last = gsim_arena_array(f->arena, n_owners + 1, sizeof *last);
    uint32_t *first_of = gsim_arena_array(f->arena, f->n, sizeof *first_of);
    for (size_t i = 0; last && i <= n_owners; i++)
        last[i] = -1;
    for (uint32_t i = 0; last && first_of && i < f->n; i++) {
        struct job *job = &f->job[i];
        int64_t *before = &last[job->owner >= 0 ? job->owner + 1 : 0];
        bool goes_on = *before >= 0 && job->submit_s - f->job[*before].submit_s <= BATCH_GAP_S;
        job->before = goes_on ? *before : -1;
        first_of[i] = goes_on ? first_of[*before] : i;
        f->job[first_of[i]].batch++;
        f->n_batches += !goes_on;
        *before = i;
    }
    return last && first_of;
}

/* Widths by their number of jobs, the most frequent first; the last kind has those beyond it. */
static bool find_kinds(struct fitting *f) {
    int64_t *key = gsim_arena_array(f->arena, f->n, sizeof *key);
    uint32_t *order = gsim_arena_array(f->arena, f->n, sizeof *order);
    int64_t *count = gsim_arena_array(f->arena, f->n, sizeof *count); /* negative: most first */
    uint32_t *at = gsim_arena_array(f->arena, f->n, sizeof *at), n_widths = 0;
    if (!key || !order || !count || !at)
        return false;
    for (uint32_t i = 0; i < f->n; i++)
        key[i] = (int64_t)llround(f->job[i].width * GSIM_PPM);
    if (!gsim_sort_order(key, order, f->n))
        return false;
    for (uint32_t i = 0, j; i < f->n; i = j, n_widths++) {
        for (j = i; j < f->n && key[order[j]] == key[order[i]]; j++) {
        }
        at[n_widths] = order[i];
        count[n_widths] = -(int64_t)(j - i);
    }
    if (!gsim_sort_order(count, order, n_widths))
        return false;
    f->has_rest = n_widths > MOST_KINDS;
    f->n_kinds = f->has_rest ? MOST_KINDS : (int)n_widths;
    for (int k = 0; k < f->n_kinds; k++)
        f->width[k] = f->job[at[order[k]]].width;
    for (uint32_t i = 0; i < f->n; i++) {
        int k = 0;
        while (k < f->n_kinds - 1 && f->width[k] != f->job[i].width)
            k++;
        f->job[i].kind = k;
        f->n_of_kind[k]++;
    }
    return true;
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* How often something repeats beyond what chance does, from how often it is equal. */
static double beyond_chance(double equal, double chance) {
    double repeat = chance < 1 ? (equal - chance) / (1 - chance) : 0;
    return repeat > 0 ? repeat : 0;
}

static double repeat_of_kind(const struct fitting *f) {
    double equal = 0, n = 0, chance = 0;
    for (uint32_t i = 0; i < f->n; i++)
        if (f->job[i].before >= 0) {
            n++;
            equal += f->job[f->job[i].before].kind == f->job[i].kind;
        }
    for (int k = 0; k < f->n_kinds; k++)
        chance += pow((double)f->n_of_kind[k] / f->n, 2);
    return n > 0 ? beyond_chance(equal / n, chance) : 0;
}

/* The covariance of logarithms over neighbours in a batch that are of one kind, around the mean of
 * that kind, over the variance of all jobs. Draws that repeat so often have it. */
static double repeat_of_duration(const struct fitting *f) {
    double mean[MOST_KINDS] = {0}, products = 0, squares = 0, n = 0;
    for (uint32_t i = 0; i < f->n; i++)
        mean[f->job[i].kind] += log(1 + f->job[i].duration_s) / f->n_of_kind[f->job[i].kind];
    for (uint32_t i = 0; i < f->n; i++) {
        const struct job *job = &f->job[i];
        double a = log(1 + job->duration_s) - mean[job->kind];
        squares += a * a / f->n;
        if (job->before < 0 || f->job[job->before].kind != job->kind)
            continue;
        products += a * (log(1 + f->job[job->before].duration_s) - mean[job->kind]);
        n++;
    }
    return n > 0 && squares > 0 && products > 0 ? fmin(products / n / squares, 1) : 0;
}

/* Jobs that are submitted in each hour of the day and on each day of the week. */
static bool find_rates(struct fitting *f) {
    double span_s = f->job[f->n - 1].submit_s;
    double *since_s = gsim_arena_array(f->arena, f->n, sizeof *since_s);
    if (!since_s)
        return false;
    for (uint32_t i = 0; i < f->n; i++)
        since_s[i] = f->job[i].submit_s;
    gsim_cycle_rates(since_s, f->n, HOUR_S, HOURS, f->hours);
    gsim_cycle_rates(since_s, f->n, HOURS * HOUR_S, DAYS, f->days);
    for (int h = 0; h < HOURS && span_s < HOURS * HOUR_S; h++)
        f->hours[h] = 1; /* no whole day */
    for (int d = 0; d < DAYS && span_s < DAYS * HOURS * HOUR_S; d++)
        f->days[d] = 1; /* no whole week */
    return true;
}

static double sum_of(const double *value, uint32_t n) {
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += value[i];
    return sum;
}

/* The share of a week's jobs that come before an hour of it, by hours and weekdays. */
static double share_until(const struct fitting *f, double until_h) {
    double sum = 0;
    for (int h = 0; h < WEEK && h < until_h; h++)
        sum += fmin(1, until_h - h) * f->hours[h % HOURS] * f->days[h / HOURS];
    return sum / sum_of(f->hours, HOURS) / sum_of(f->days, DAYS);
}

/* Jobs of each week; of the last one, of which the trace has a part, as many as the whole week
 * would have. A part of less than a day says nothing of its week, which goes on as the one before.
 * A trace of less than two weeks has no profile of weeks. */
static bool find_weeks(struct fitting *f) {
    double span_h = f->job[f->n - 1].submit_s / HOUR_S;
    uint32_t last = (uint32_t)(span_h / WEEK);
    f->weeks = gsim_arena_array(f->arena, last + 1u, sizeof *f->weeks);
    if (!f->weeks)
        return false;
    for (uint32_t i = 0; i < f->n; i++)
        f->weeks[(uint32_t)(f->job[i].submit_s / HOUR_S / WEEK)]++;
    double last_h = span_h - last * (double)WEEK, share = share_until(f, last_h);
    if (last > 0 && (last_h < HOURS || share <= 0))
        f->weeks[last] = f->weeks[last - 1];
    else if (last > 0)
        f->weeks[last] /= share;
    f->n_weeks = span_h < 2 * WEEK ? 1 : last + 1;
    return true;
}

/* What a clock shows at the beginning of each hour that runs at the rate of the hour, with a mean
 * of 1 over all weeks. */
static bool find_clock(struct fitting *f) {
    uint32_t n = f->n_weeks * WEEK;
    double all = sum_of(f->hours, HOURS) / HOURS * sum_of(f->days, DAYS) / DAYS *
                 sum_of(f->weeks, f->n_weeks) / f->n_weeks;
    f->clock_s = gsim_arena_array(f->arena, n + 1u, sizeof *f->clock_s);
    for (uint32_t h = 0; f->clock_s && h < n; h++)
        f->clock_s[h + 1] = f->clock_s[h] + f->hours[h % HOURS] * f->days[h / HOURS % DAYS] *
                                                f->weeks[h / WEEK] / all * HOUR_S;
    return f->clock_s;
}

static double clock_of(const struct fitting *f, double time_s) {
    double n = f->n_weeks * (double)WEEK, rounds = floor(time_s / HOUR_S / n);
    double until = time_s / HOUR_S - rounds * n;
    uint32_t h = (uint32_t)until;
    return rounds * f->clock_s[(uint32_t)n] + f->clock_s[h] +
           (until - h) * (f->clock_s[h + 1] - f->clock_s[h]);
}

/* --- writing ---------------------------------------------------------------------------------- */

/* A list may go on in indented lines, which are shorter than what the reader takes. */
struct list {
    FILE *out;
    int width;
    bool is_begun;
};

static struct list begin_list(FILE *out, const char *key) {
    return (struct list){.out = out, .width = fprintf(out, "%s = ", key)};
}

__attribute__((format(printf, 2, 3))) static void put_item(struct list *list, const char *format,
                                                           ...) {
    char text[GSIM_MAX_FIELD_BYTES + 1];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (list->is_begun)
        list->width += fprintf(list->out, ", ");
    if (list->is_begun && list->width + n > LINE)
        list->width = fprintf(list->out, "\n    ") - 1;
    list->width += fprintf(list->out, "%s", text);
    list->is_begun = true;
}

/* Writes a list as `quantiles =`: all values where they are few. Values are sorted. */
static bool put_quantiles(struct fitting *f, double *value, size_t n) {
    size_t most = n < 2 ? 2 : n < QUANTILES ? n : QUANTILES;
    if (!gsim_sort_f64(value, n))
        return false;
    struct list list = begin_list(f->out, "quantiles");
    for (size_t i = 0; i < most; i++) {
        double at = n < 2 ? 0 : (double)i * (double)(n - 1) / (double)(most - 1);
        size_t low = (size_t)at;
        double part = at - (double)low, a = n ? value[low] : 0;
        double x = part > 0 ? a + (value[low + 1] - a) * part : a;
        put_item(&list, "%.7g", x);
    }
    fputc('\n', f->out);
    return true;
}

static void put_weights(const struct fitting *f, const char *key, const double *weight, int n) {
    struct list list = begin_list(f->out, key);
    for (int i = 0; i < n; i++)
        put_item(&list, "%.5g", weight[i]);
    fputc('\n', f->out);
}

static void put_kind_name(const struct fitting *f, int k) {
    char name[32];
    if (f->has_rest && k == f->n_kinds - 1)
        (void)snprintf(name, sizeof name, "gpus_other");
    else
        (void)snprintf(name, sizeof name, "gpus_%g", f->width[k]);
    for (char *p = name; *p; p++)
        *p = *p == '.' ? '_' : *p;
    fputs(name, f->out);
}

static void put_trace(const struct fitting *f) {
    fprintf(f->out, "[trace]\njobs = %u\nkinds = ", f->n);
    for (int k = 0; k < f->n_kinds; k++) {
        fputs(k ? ", " : "", f->out);
        put_kind_name(f, k);
    }
    fputs("\nkind_weights = ", f->out);
    for (int k = 0; k < f->n_kinds; k++)
        fprintf(f->out, "%s%u", k ? ", " : "", f->n_of_kind[k]);
    fprintf(f->out, "\nkind_repeat = %.4f\n", repeat_of_kind(f));
}

static bool put_arrivals(struct fitting *f) {
    double *gap = gsim_arena_array(f->arena, f->n, sizeof *gap), before_s = 0;
    size_t n = 0;
    bool is_begun = false;
    for (uint32_t i = 0; gap && i < f->n; i++) {
        if (f->job[i].before >= 0)
            continue;
        double clock_s = clock_of(f, f->job[i].submit_s);
        if (is_begun)
            gap[n++] = clock_s - before_s;
        is_begun = true;
        before_s = clock_s;
    }
    fputs("\n# batches, on a clock that runs at the rates below\n[arrival]\n", f->out);
    if (!gap || !put_quantiles(f, gap, n))
        return false;
    put_weights(f, "hours", f->hours, HOURS);
    put_weights(f, "weekdays", f->days, DAYS);
    if (f->n_weeks > 1)
        put_weights(f, "weeks", f->weeks, (int)f->n_weeks);
    return true;
}

/* Writes the sizes of batches, each with its number, and the gaps in them. */
static bool put_batches(struct fitting *f) {
    double *size = gsim_arena_array(f->arena, f->n, sizeof *size);
    double *gap = gsim_arena_array(f->arena, f->n, sizeof *gap);
    size_t n = 0, n_gaps = 0;
    for (uint32_t i = 0; size && gap && i < f->n; i++)
        if (f->job[i].before < 0)
            size[n++] = f->job[i].batch;
        else
            gap[n_gaps++] =
                clock_of(f, f->job[i].submit_s) - clock_of(f, f->job[f->job[i].before].submit_s);
    if (!size || !gap || !gsim_sort_f64(size, n))
        return false;
    fputs("\n# jobs of one user within a minute of each other\n[batch_jobs]\n", f->out);
    for (int pass = 0; pass < 2; pass++) {
        struct list list = begin_list(f->out, pass ? "weights" : "choice");
        for (size_t i = 0, j; i < n; i = j) {
            for (j = i; j < n && size[j] == size[i]; j++) {
            }
            put_item(&list, "%.0f", pass ? (double)(j - i) : size[i]);
        }
        fputc('\n', f->out);
    }
    fputs(n_gaps ? "[batch_gap_s]\n" : "", f->out);
    return n_gaps == 0 || put_quantiles(f, gap, n_gaps);
}

static void put_widths(const struct fitting *f, int k) {
    fputs("\n[", f->out);
    put_kind_name(f, k);
    fputs("/gpus]\n", f->out);
    struct list list = begin_list(f->out, "choice");
    bool is_one = !f->has_rest || k < f->n_kinds - 1; /* else each job's width, of equal weight */
    if (is_one)
        put_item(&list, "%.6g", f->width[k]);
    for (uint32_t i = 0; i < f->n && !is_one; i++)
        if (f->job[i].kind == k)
            put_item(&list, "%.6g", f->job[i].width);
    fputc('\n', f->out);
}

static bool put_kinds(struct fitting *f) {
    double *value = gsim_arena_array(f->arena, f->n, sizeof *value);
    double repeat = repeat_of_duration(f);
    for (int k = 0; value && k < f->n_kinds; k++) {
        size_t n = 0;
        for (uint32_t i = 0; i < f->n; i++)
            if (f->job[i].kind == k)
                value[n++] = f->job[i].duration_s;
        put_widths(f, k);
        fputs("[", f->out);
        put_kind_name(f, k);
        fputs("/duration]\n", f->out);
        if (!put_quantiles(f, value, n))
            return false;
        fprintf(f->out, "repeat = %.4f\n", repeat);
    }
    return value;
}

/* Names with a comma or a quote cannot stand in a list. */
static bool can_list(const struct gsim_names *names) {
    for (uint32_t i = 0; i < names->n; i++)
        if (strpbrk(names->name[i], ",\"';#") || !*names->name[i])
            return false;
    return names->n > 0;
}

static bool put_owners(struct fitting *f) {
    const struct gsim_names *names = &f->trace->names[f->owner];
    uint32_t *count = gsim_arena_array(f->arena, names->n + 1u, sizeof *count);
    uint32_t n_named = 0;
    if (!f->trace->column[f->owner])
        return true;
    for (uint32_t i = 0; count && i < f->n; i++)
        if (f->job[i].owner >= 0) {
            count[f->job[i].owner]++;
            n_named++;
        }
    fprintf(f->out, "\n[%s]\n", gsim_columns[f->owner].name);
    bool is_plain = can_list(names);
    struct list list = begin_list(f->out, "choice");
    for (uint32_t i = 0; i < names->n; i++)
        if (is_plain)
            put_item(&list, "%s", names->name[i]);
        else
            put_item(&list, "user%u", i + 1);
    fputc('\n', f->out);
    list = begin_list(f->out, "weights");
    for (uint32_t i = 0; count && i < names->n; i++)
        put_item(&list, "%u", count[i]);
    fputs("\nrepeat = 1\n", f->out);
    if (n_named < f->n)
        fprintf(f->out, "probability = %.6f\n", (double)n_named / f->n);
    return count;
}

/* Limits in units of the duration. */
static bool put_limits(struct fitting *f) {
    const int64_t *limit_ns = f->trace->column[GSIM_COL_LIMIT_NS];
    double *ratio = gsim_arena_array(f->arena, f->n, sizeof *ratio);
    size_t n = 0;
    for (uint32_t job = 0; limit_ns && ratio && job < f->n; job++)
        if (limit_ns[job] >= 0 && f->trace->service_ns[job] > 0)
            ratio[n++] = (double)limit_ns[job] / (double)f->trace->service_ns[job];
    if (n == 0)
        return ratio;
    fputs("\n[limit_s]\ntimes = duration\n", f->out);
    if (n < f->n)
        fprintf(f->out, "probability = %.6f\n", (double)n / f->n);
    return put_quantiles(f, ratio, n);
}

/* --- the whole -------------------------------------------------------------------------------- */

static const char *list_unfitted(const struct fitting *f) {
    const char *list = "";
    for (int c = 0; c < GSIM_COL_COUNT && list; c++)
        if (f->trace->column[c] && c != (int)f->owner && c != GSIM_COL_SHARE_PPM &&
            c != GSIM_COL_LIMIT_NS)
            list = gsim_arena_printf(f->arena, "%s%s%s", list, *list ? ", " : "",
                                     gsim_columns[c].name);
    return list;
}

enum gsim_status gsim_fit_spec(const struct gsim_trace *trace, struct gsim_arena *arena, FILE *out,
                               const char **unfitted, struct gsim_log *log) {
    struct fitting f = {.trace = trace, .arena = arena, .out = out};
    if (trace->n_jobs < 2 || trace->column[GSIM_COL_REQUESTS] || trace->column[GSIM_COL_AFTER])
        return gsim_fail(log, GSIM_BAD_INPUT, trace->path, 0,
                         trace->n_jobs < 2
                             ? "one job shows no times between arrivals"
                             : "jobs with requests, and jobs that come after others, are not "
                               "fitted: write their sections by hand (docs/specs.md)");
    if (!take_jobs(&f) || !find_batches(&f) || !find_kinds(&f) || !find_rates(&f) ||
        !find_weeks(&f) || !find_clock(&f))
        return gsim_no_memory(log, "fitting a spec");
    *unfitted = list_unfitted(&f);
    put_trace(&f);
    bool is_fine = put_arrivals(&f) && put_batches(&f) && put_kinds(&f) && put_owners(&f) &&
                   put_limits(&f) && *unfitted;
    return is_fine ? GSIM_OK : gsim_no_memory(log, "fitting a spec");
}
