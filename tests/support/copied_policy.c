/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A policy that is built in, COPIED, as one from outside that is called "copy". */
#include COPIED

static struct gsim_policy copy;

__attribute__((constructor)) static void make(void) {
    copy = ORIGINAL;
    copy.name = "copy";
    copy.alias = NULL;
}
GSIM_POLICY_EXPORT(copy)
