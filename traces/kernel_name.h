/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of kernels as profilers write them: with a return type, namespaces and parameters, or
 * without. */
#ifndef GSIM_TRACES_KERNEL_NAME_H
#define GSIM_TRACES_KERNEL_NAME_H

enum { GSIM_KERNEL_NAME_SHORT = 40 };

/* A function's name without its return type, its namespaces, and its parameters: "void
 * at::native::(anonymous namespace)::f<int>(...)" is f. Cut where it is too long, and without signs
 * that a CSV file would quote. */
void gsim_kernel_name_shorten(const char *name, char out[GSIM_KERNEL_NAME_SHORT]);

#endif
