/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/gpu_type.h"

#include <string.h>

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* "3g.20gb": slices of the GPU, and its memory. */
static bool is_profile(const char *text) {
    const char *at = text + strspn(text, "0123456789");
    return at > text && (*at == 'g' || *at == 'G') && at[1] == '.' && is_digit(at[2]);
}

/* A number stands for itself: that of "a100g.5" is part of a name. */
bool gsim_gpu_type_is_mig(const char *type) {
    size_t length = strcspn(type, ":=,(");
    for (size_t i = 0; i < length; i += strcspn(type + i, "_-.") + 1)
        if (is_profile(type + i))
            return true;
    return false;
}
