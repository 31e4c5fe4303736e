/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/memory/remote.h"

#include "gsim/units.h"

struct gsim_remote gsim_remote_of(const struct gsim_profile *profile) {
    return (struct gsim_remote){.is_on = profile->value[GSIM_KEY_UVM_REMOTE] != 0,
                                .evicts = profile->value[GSIM_KEY_UVM_REMOTE_EVICTS] != 0,
                                .bytes_per_s = profile->value[GSIM_KEY_UVM_REMOTE_RATE]};
}

/* Chunks on the host move in behind the reads of them. */
static struct gsim_moved move_in(const struct gsim_remote *remote, struct gsim_residency *residency,
                                 struct gsim_range range, bool is_write) {
    uint32_t room = gsim_residency_free(residency);
    if (remote->evicts)
        return gsim_residency_access(residency, range, is_write);
    range.n = range.n < room ? range.n : room;
    struct gsim_moved moved = gsim_residency_populate(residency, range);
    if (is_write)
        (void)gsim_residency_touch(residency, range, true);
    return moved;
}

static void read_on_host(const struct gsim_remote *remote, const struct gsim_uvm *uvm,
                         struct gsim_residency *residency, struct gsim_range range, bool is_write,
                         struct gsim_remote_bytes *sum) {
    struct gsim_moved moved = move_in(remote, residency, range, is_write);
    int64_t out = moved.out_dirty + (uvm->copies_clean ? moved.out_clean : 0);
    sum->read += range.n * uvm->chunk_bytes;
    sum->in += moved.in * uvm->chunk_bytes;
    sum->out += out * uvm->chunk_bytes;
}

bool gsim_remote_access(const struct gsim_remote *remote, struct gsim_uvm *uvm,
                        struct gsim_residency *residency, struct gsim_range range,
                        struct gsim_touches how, struct gsim_paging *faulted,
                        struct gsim_remote_bytes *sum) {
    bool is_fine = !residency->has_failed;
    while (range.n > 0 && is_fine) {
        enum gsim_content content;
        struct gsim_range part = range;
        part.n = gsim_residency_alike(residency, range, &content);
        uint32_t room = gsim_residency_free(residency);
        if (content == GSIM_UNTOUCHED && !remote->evicts && room == 0)
            gsim_residency_write_host(residency, part); /* the next step reads it there */
        else if (content == GSIM_UNTOUCHED && !remote->evicts && room < part.n)
            part.n = room;
        if (gsim_residency_content(residency, part.buffer, part.first) == GSIM_ON_HOST)
            read_on_host(remote, uvm, residency, part, how.is_write, sum);
        else
            is_fine = gsim_uvm_access(uvm, residency, part, how, faulted);
        range.first += part.n;
        range.n -= part.n;
        is_fine &= !residency->has_failed;
    }
    return is_fine;
}

static int64_t bytes_ns(int64_t bytes, int64_t bytes_per_s) {
    return bytes_per_s == INT64_MAX ? 0 : gsim_muldiv_ceil(bytes, GSIM_NS_PER_S, bytes_per_s);
}

int64_t gsim_remote_ns(const struct gsim_remote *remote, const struct gsim_copy_rates *rates,
                       const struct gsim_remote_bytes *bytes) {
    int64_t in_ns = bytes_ns(bytes->read, remote->bytes_per_s) +
                    bytes_ns(bytes->in, rates->bytes_per_s[GSIM_H2D]);
    int64_t out_ns = bytes_ns(bytes->out, rates->bytes_per_s[GSIM_D2H]);
    int64_t both_ns = bytes_ns(bytes->read + bytes->in + bytes->out, rates->both_bytes_per_s);
    int64_t longer_ns = in_ns > out_ns ? in_ns : out_ns;
    return longer_ns > both_ns ? longer_ns : both_ns;
}
