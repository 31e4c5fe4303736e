/* SPDX-License-Identifier: GPL-3.0-or-later */
/* On how many nodes a job asked to lie. A job asks by --nodes, or for GPUs or tasks by node
 * (--gres, --gpus-per-node, --ntasks-per-node); ReqTRES and ReqNodes have the least number that
 * this comes to, which is 1 where it asked for nothing of the kind. AllocTRES and NNodes have the
 * number that it had: as many as it asked for, of a range (--nodes=2-4) those that its GPUs were
 * on. A job that had several nodes and asked for none may have had them because it is wide, or
 * because Slurm found its GPUs so. Sources: sbatch(1) and sacct(1) of Slurm 23.11. */
#include <string.h>

#include "sim/base/units.h"
#include "traces/sacct_wishes.h"
#include "traces/submit_line.h"

/* A whole number at the front of a text; false: there is none. */
static bool take_count(const char *text, size_t most, int64_t *out) {
    size_t digits = strspn(text, "0123456789");
    digits = digits < most ? digits : most;
    return digits > 0 && gsim_parse_decimal(text, digits, 1, out) == GSIM_PARSE_OK;
}

static bool take_column(struct gsim_builder *b, const char *text, size_t length, int place) {
    return length == 0 || (text[strspn(text, "0123456789")] == '\0' &&
                           take_count(text, length, &b->row.extra[place]));
}

bool gsim_sacct_take_nodes_had(struct gsim_builder *b, const char *text, size_t length) {
    return take_column(b, text, length, GSIM_SACCT_NODES);
}

bool gsim_sacct_take_nodes_asked(struct gsim_builder *b, const char *text, size_t length) {
    return take_column(b, text, length, GSIM_SACCT_LEAST_NODES);
}

bool gsim_sacct_take_node_tres(struct gsim_builder *b, const char *text, int place) {
    static const char name[] = "node=";
    for (const char *at = text; *at; at += strcspn(at, ","), at += *at == ',')
        if (strncmp(at, name, sizeof name - 1) == 0)
            return take_count(at + sizeof name - 1, SIZE_MAX, &b->row.extra[place]);
    return true;
}

/* "2" or "2-4", of which the first is the least. */
void gsim_sacct_take_submitted_nodes(struct gsim_builder *b, const struct gsim_submit_line *line) {
    int64_t *said = &b->row.extra[GSIM_SACCT_SAID_NODES];
    if (line->is_by_node)
        *said = 0;
    if (line->nodes.at)
        (void)take_count(line->nodes.at, line->nodes.length, said);
}

void gsim_sacct_choose_nodes(struct gsim_builder *b) {
    struct gsim_row *row = &b->row;
    int64_t had = row->extra[GSIM_SACCT_NODES], least = row->extra[GSIM_SACCT_LEAST_NODES],
            said = row->extra[GSIM_SACCT_SAID_NODES];
    if (row->gpus <= 1 || (said < 0 && least <= 1))
        return;
    int64_t nodes = had > 0 ? had : said > 0 ? said : least;
    if (nodes > row->gpus)
        row->loss = "they had more nodes than GPUs: nodes without a GPU are no nodes here, and "
                    "the GPUs lie on as few as possible";
    else if (nodes > 0)
        row->cell[GSIM_COL_NUM_NODES] = nodes;
}

/* Parts with other numbers of GPUs on a node lie on no number of nodes evenly. */
void gsim_sacct_join_nodes(struct gsim_builder *b) {
    int64_t own = b->row.cell[GSIM_COL_NUM_NODES], *cells = b->column[GSIM_COL_NUM_NODES];
    int64_t *nodes = cells ? &cells[b->leader] : NULL;
    if (!nodes)
        return;
    bool is_even = own > 0 && *nodes > 0 && b->gpus[b->leader] * own == b->row.gpus * *nodes;
    if (!is_even && (own > 0 || *nodes > 0))
        b->row.loss = "they are parts of heterogeneous jobs with other numbers of GPUs on a node "
                      "than the first part: such a job lies on as few nodes as possible";
    *nodes = is_even ? *nodes + own : -1;
}
