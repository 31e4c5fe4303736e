/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Logarithm, exponential and root for policies that weigh by them. Those of a libm differ between
 * machines in their last bits; these are made of + - * / and comparisons alone, so that every
 * compiler and machine has equal ones. Good to a few units of the last place. */
#ifndef GSIM_POLICIES_LIB_REAL_H
#define GSIM_POLICIES_LIB_REAL_H

#include <stdint.h>

/* x > 0, and not so small that it lost bits. */
double gsim_real_log(double x);
/* 0 below the least number that has all bits; the largest of all beyond it. */
double gsim_real_exp(double x);
/* In place of each number, its own: some at once, where one would wait for its own steps. */
void gsim_real_logs(double *x, uint32_t n);
void gsim_real_exps(double *x, uint32_t n);
/* x >= 0. */
double gsim_real_root(double x);
/* digits * 2^exponent. */
double gsim_real_of(uint64_t digits, int exponent);

#endif
