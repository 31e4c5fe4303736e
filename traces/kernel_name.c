/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/kernel_name.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/text.h"

void gsim_kernel_name_shorten(const char *name, char out[GSIM_KERNEL_NAME_SHORT]) {
    static const char anonymous[] = "(anonymous namespace)";
    const char *begin = name, *end = name;
    while (*end && *end != '<' && (*end != '(' || gsim_text_begins(end, anonymous))) {
        end += *end == '(' ? sizeof anonymous - 1 : 1;
        if (end > name && (end[-1] == ':' || end[-1] == ' '))
            begin = end;
    }
    if (begin == end) { /* such as "f (...)", or a name that was cut */
        begin = name;
        end = name + strlen(name);
    }
    (void)snprintf(out, GSIM_KERNEL_NAME_SHORT, "%.*s", (int)(end - begin), begin);
    for (char *c = out; *c; c++)
        if (strchr(",\"# ", *c))
            *c = '_';
}
