/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results as text: table, CSV, JSON. */
#ifndef GSIM_STUDY_OUTPUT_H
#define GSIM_STUDY_OUTPUT_H

#include <stdio.h>

#include "gsim/result.h"
#include "sim/study/stats.h"

enum gsim_output_format { GSIM_OUTPUT_TABLE = 0, GSIM_OUTPUT_CSV, GSIM_OUTPUT_JSON };

/* The shortest decimal that reads back as the same double; "null" for NaN. */
int gsim_format_real(char *buffer, double value);
/* "1.5 h", "250 s", "3.2 ms": three digits and a unit for human readers. */
int gsim_format_humane(char *buffer, double seconds);
/* "17.4 [14.2, 20.5] h", or the value alone if there are no limits. The buffer holds at least 64
 * bytes. */
int gsim_format_between(char *buffer, double seconds, double low, double high);

/* These write a quoted string, a field, a number: NaN is null in JSON and an empty field in CSV. */
void gsim_put_json_text(FILE *out, const char *text);
void gsim_put_csv_text(FILE *out, const char *text);
/* Writes a text for a terminal, which takes control characters for orders: ? in their place. At
 * least `width` characters, with blanks behind; a text of no width keeps the ends of its lines. */
void gsim_put_plain(FILE *out, int width, const char *text);
/* Writes ,"name":{"mean":...,"low":...,"high":...}. */
void gsim_put_json_interval(FILE *out, const char *name, const struct gsim_interval *interval);
/* A cell of a table, with a blank before it: "-" where the value is not known. */
void gsim_put_cell(FILE *out, int width, int digits, double value);
void gsim_put_real(FILE *out, double value, bool is_json);

/* Writes a result's object without its closing brace and without a line end: more fields may
 * follow. */
void gsim_write_json_fields(FILE *out, const struct gsim_summary *summary);
void gsim_write_csv_names(FILE *out);
void gsim_write_csv_fields(FILE *out, const struct gsim_summary *summary);
void gsim_write_summary_table(FILE *out, const struct gsim_summary *summary,
                              const char *cluster_note, bool is_verbose);
/* The number of items in a result's list "a, b, c". */
int64_t gsim_count_listed(const char *list);
/* Whether a result's durations are taken as those of its device, by its list `assumed`. */
bool gsim_takes_durations(const char *assumed);
/* The width of a column of policy names. */
int gsim_name_width(const struct gsim_summary *const *summaries, int n);
/* Writes one row for each result; ratios are of the mean JCT to that of the first. */
void gsim_write_comparison(FILE *out, const struct gsim_summary *const *summaries, int n);
/* Writes one row of request latencies for each result, if there are requests; ratios are of the
 * p99. */
void gsim_write_latencies(FILE *out, const struct gsim_summary *const *summaries, int n);

#endif
