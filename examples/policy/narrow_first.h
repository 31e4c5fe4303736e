/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef NARROW_FIRST_H
#define NARROW_FIRST_H

#include <gsim/policy.h>

extern const struct gsim_policy narrow_first;

#endif
