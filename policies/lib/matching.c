/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Vertices are numbered from 1, blossoms follow them, and 0 is none. A tree grows from each single
 * vertex; its nodes are outer and inner in turn. An edge is tight when the labels of its ends are
 * twice its weight together; where no tight edge is left to look at, labels change by what makes
 * the next one tight, or a blossom's label 0. */
#include "policies/lib/matching.h"

#include <float.h>
#include <string.h>

enum side { FREE = -1, OUTER = 0, INNER = 1 };

struct edge {
    uint32_t u, v; /* vertices */
    double w;
};

struct search {
    uint32_t n, n_x, room; /* vertices; vertices and blossoms; that there is memory for */
    struct edge *edge;
    const double *weight; /* of vertices alone, as the caller gave it */
    double *label, tolerance;
    uint32_t *match, *parent, *top, *slack, *seen, n_seen;
    double *apart; /* the distance of the edge from slack; DBL_MAX where there is none */
    int8_t *side;
    uint32_t **flower, *n_flower; /* the ring of a blossom, by number */
    uint32_t *from; /* by blossom and vertex: the member of the ring that has the vertex */
    uint32_t *queue, first, last, *walk;
};

static struct edge *edge_of(const struct search *s, uint32_t u, uint32_t v) {
    return &s->edge[(size_t)u * s->room + v];
}

static uint32_t *from_of(const struct search *s, uint32_t b, uint32_t x) {
    return &s->from[(size_t)b * (s->n + 1) + x];
}

static double distance(const struct search *s, const struct edge *e) {
    return s->label[e->u] + s->label[e->v] - edge_of(s, e->u, e->v)->w * 2.0;
}

static void forget_slack(struct search *s, uint32_t x) {
    s->slack[x] = 0;
    s->apart[x] = DBL_MAX;
}

static void update_slack(struct search *s, uint32_t u, uint32_t x) {
    double apart = distance(s, edge_of(s, u, x));
    if (apart < s->apart[x]) {
        s->slack[x] = u;
        s->apart[x] = apart;
    }
}

static void set_slack(struct search *s, uint32_t x) {
    forget_slack(s, x);
    for (uint32_t u = 1; u <= s->n; u++)
        if (edge_of(s, u, x)->w > 0 && s->top[u] != x && s->side[s->top[u]] == OUTER)
            update_slack(s, u, x);
}

/* Queues the vertices of a blossom, ring by ring. */
static void push(struct search *s, uint32_t x) {
    uint32_t first = 0, last = 0;
    s->walk[last++] = x;
    while (first < last) {
        uint32_t at = s->walk[first++];
        if (at <= s->n)
            s->queue[s->last++] = at;
        for (uint32_t i = 0; at > s->n && i < s->n_flower[at]; i++)
            s->walk[last++] = s->flower[at][i];
    }
}

/* Members of a blossom have no slack of their own. */
static void set_top(struct search *s, uint32_t x, uint32_t b) {
    s->top[x] = b;
    if (x != b)
        forget_slack(s, x);
    for (uint32_t i = 0; x > s->n && i < s->n_flower[x]; i++)
        set_top(s, s->flower[x][i], b);
}

static void reverse(uint32_t *ring, uint32_t n) {
    for (uint32_t i = 0, j = n; i + 1 < j; i++) {
        j--;
        uint32_t other = ring[i];
        ring[i] = ring[j];
        ring[j] = other;
    }
}

/* The place of a member in its ring, which is turned round so that the place is even. */
static uint32_t place_in(struct search *s, uint32_t b, uint32_t member) {
    uint32_t at = 0;
    while (s->flower[b][at] != member)
        at++;
    if (at % 2 == 0)
        return at;
    reverse(s->flower[b] + 1, s->n_flower[b] - 1);
    return s->n_flower[b] - at;
}

static void set_match(struct search *s, uint32_t u, uint32_t v) {
    const struct edge *e = edge_of(s, u, v);
    s->match[u] = e->v;
    if (u <= s->n)
        return;
    uint32_t member = *from_of(s, u, e->u), at = place_in(s, u, member);
    uint32_t *ring = s->flower[u], n = s->n_flower[u];
    for (uint32_t i = 0; i < at; i++)
        set_match(s, ring[i], ring[i ^ 1]);
    set_match(s, member, v);
    reverse(ring, at);
    reverse(ring + at, n - at);
    reverse(ring, n);
}

static void augment(struct search *s, uint32_t u, uint32_t v) {
    for (;;) {
        uint32_t next = s->top[s->match[u]];
        set_match(s, u, v);
        if (next == 0)
            return;
        set_match(s, next, s->top[s->parent[next]]);
        u = s->top[s->parent[next]];
        v = next;
    }
}

/* The root at which two ways meet; 0: they are of two trees. */
static uint32_t meeting(struct search *s, uint32_t u, uint32_t v) {
    s->n_seen++;
    while (u != 0 || v != 0) {
        if (u != 0) {
            if (s->seen[u] == s->n_seen)
                return u;
            s->seen[u] = s->n_seen;
            u = s->top[s->match[u]];
            if (u != 0)
                u = s->top[s->parent[u]];
        }
        uint32_t other = u;
        u = v;
        v = other;
    }
    return 0;
}

static void follow(struct search *s, uint32_t b, uint32_t x, uint32_t root) {
    while (x != root) {
        uint32_t y = s->top[s->match[x]];
        s->flower[b][s->n_flower[b]++] = x;
        s->flower[b][s->n_flower[b]++] = y;
        push(s, y);
        x = s->top[s->parent[y]];
    }
}

/* Gives a blossom the least slack edges of its members. */
static void take_edges(struct search *s, uint32_t b) {
    for (uint32_t x = 1; x <= s->n_x; x++)
        edge_of(s, b, x)->w = edge_of(s, x, b)->w = 0;
    memset(from_of(s, b, 0), 0, (s->n + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < s->n_flower[b]; i++) {
        uint32_t member = s->flower[b][i];
        for (uint32_t x = 1; x <= s->n_x; x++)
            if (edge_of(s, b, x)->w <= 0 ||
                distance(s, edge_of(s, member, x)) < distance(s, edge_of(s, b, x))) {
                *edge_of(s, b, x) = *edge_of(s, member, x);
                *edge_of(s, x, b) = *edge_of(s, x, member);
            }
        for (uint32_t x = 1; x <= s->n; x++)
            if (*from_of(s, member, x) != 0)
                *from_of(s, b, x) = member;
    }
}

static void add_blossom(struct search *s, uint32_t u, uint32_t root, uint32_t v) {
    uint32_t b = s->n + 1;
    while (b <= s->n_x && s->top[b] != 0)
        b++;
    s->n_x = b > s->n_x ? b : s->n_x;
    s->label[b] = 0;
    s->side[b] = OUTER;
    s->match[b] = s->match[root];
    s->flower[b][0] = root;
    s->n_flower[b] = 1;
    follow(s, b, u, root);
    reverse(s->flower[b] + 1, s->n_flower[b] - 1);
    follow(s, b, v, root);
    set_top(s, b, b);
    take_edges(s, b);
    set_slack(s, b);
}

/* An inner blossom with the label 0 falls into its members. */
static void expand(struct search *s, uint32_t b) {
    for (uint32_t i = 0; i < s->n_flower[b]; i++)
        set_top(s, s->flower[b][i], s->flower[b][i]);
    uint32_t member = *from_of(s, b, edge_of(s, b, s->parent[b])->u), at = place_in(s, b, member);
    for (uint32_t i = 0; i < at; i += 2) {
        uint32_t inner = s->flower[b][i], outer = s->flower[b][i + 1];
        s->parent[inner] = edge_of(s, outer, inner)->u;
        s->side[inner] = INNER;
        s->side[outer] = OUTER;
        forget_slack(s, inner);
        set_slack(s, outer);
        push(s, outer);
    }
    s->side[member] = INNER;
    s->parent[member] = s->parent[b];
    for (uint32_t i = at + 1; i < s->n_flower[b]; i++) {
        s->side[s->flower[b][i]] = FREE;
        set_slack(s, s->flower[b][i]);
    }
    s->top[b] = 0;
}

/* A tight edge: true where it makes one more pair. */
static bool find_edge(struct search *s, const struct edge *e) {
    uint32_t u = s->top[e->u], v = s->top[e->v];
    if (s->side[v] == FREE) {
        uint32_t next = s->top[s->match[v]];
        s->parent[v] = e->u;
        s->side[v] = INNER;
        forget_slack(s, v);
        forget_slack(s, next);
        s->side[next] = OUTER;
        push(s, next);
    } else if (s->side[v] == OUTER) {
        uint32_t root = meeting(s, u, v);
        if (root == 0) {
            augment(s, u, v);
            augment(s, v, u);
            return true;
        }
        add_blossom(s, u, root, v);
    }
    return false;
}

/* --- one more pair ---------------------------------------------------------------------------- */

static bool look_at_edges(struct search *s, uint32_t u) {
    const double *weight = s->weight + (size_t)(u - 1) * s->n, *label = s->label, *least = s->apart;
    double own = label[u]; /* labels change in change_labels alone */
    for (uint32_t v = 1, n = s->n; v <= n; v++) {
        double apart = own + label[v] - weight[v - 1] * 2.0;
        bool is_known = apart > 0 && apart >= least[v]; /* which is most common */
        if (is_known || weight[v - 1] <= 0 || s->top[u] == s->top[v])
            continue;
        if (apart > 0)
            update_slack(s, u, s->top[v]);
        else if (find_edge(s, edge_of(s, u, v)))
            return true;
    }
    return false;
}

static double lesser(double a, double b) {
    return b < a ? b : a;
}

/* The change of labels that makes the next edge tight, or a blossom's label 0. */
static double step_of(const struct search *s) {
    double step = DBL_MAX;
    for (uint32_t b = s->n + 1; b <= s->n_x; b++)
        if (s->top[b] == b && s->side[b] == INNER)
            step = lesser(step, s->label[b] / 2.0);
    for (uint32_t x = 1; x <= s->n_x; x++) {
        if (s->top[x] != x || s->slack[x] == 0 || s->side[x] == INNER)
            continue;
        step = lesser(step, s->side[x] == FREE ? s->apart[x] : s->apart[x] / 2.0);
    }
    return step;
}

static bool is_used_up(const struct search *s, double label, double step) {
    double larger = label > step ? label : step, apart = label > step ? label - step : step - label;
    return label <= step || apart <= s->tolerance * larger;
}

/* false: a single vertex's label would fall to 0, so that it stays single in the optimum. */
static bool change_labels(struct search *s, double step) {
    for (uint32_t u = 1; u <= s->n; u++) {
        int8_t side = s->side[s->top[u]];
        if (side == OUTER && is_used_up(s, s->label[u], step))
            return false;
        if (side != FREE)
            s->label[u] += side == OUTER ? -step : step;
    }
    for (uint32_t b = s->n + 1; b <= s->n_x; b++)
        if (s->top[b] == b && s->side[b] != FREE)
            s->label[b] += s->side[b] == OUTER ? step * 2 : -(step * 2);
    for (uint32_t x = 1; x <= s->n_x; x++)
        if (s->top[x] == x && s->slack[x] != 0)
            s->apart[x] = distance(s, edge_of(s, s->slack[x], x));
    return true;
}

static bool look_at_slack(struct search *s) {
    s->first = s->last = 0;
    for (uint32_t x = 1; x <= s->n_x; x++) {
        if (s->top[x] != x || s->slack[x] == 0 || s->top[s->slack[x]] == x)
            continue;
        if (s->apart[x] <= 0 && find_edge(s, edge_of(s, s->slack[x], x)))
            return true;
    }
    for (uint32_t b = s->n + 1; b <= s->n_x; b++)
        if (s->top[b] == b && s->side[b] == INNER && s->label[b] <= 0)
            expand(s, b);
    return false;
}

static bool has_roots(struct search *s) {
    s->first = s->last = 0;
    for (uint32_t x = 1; x <= s->n_x; x++) {
        s->side[x] = FREE;
        forget_slack(s, x);
    }
    for (uint32_t x = 1; x <= s->n_x; x++) {
        if (s->top[x] != x || s->match[x] != 0)
            continue;
        s->parent[x] = 0;
        s->side[x] = OUTER;
        push(s, x);
    }
    return s->last > 0;
}

static bool add_pair(struct search *s) {
    if (!has_roots(s))
        return false;
    for (;;) {
        while (s->first < s->last) {
            uint32_t u = s->queue[s->first++];
            if (s->side[s->top[u]] != INNER && look_at_edges(s, u))
                return true;
        }
        if (!change_labels(s, step_of(s)))
            return false;
        if (look_at_slack(s))
            return true;
    }
}

/* --- room ------------------------------------------------------------------------------------- */

static bool open_search(struct search *s, struct gsim_arena *arena) {
    size_t room = s->room, n = s->n + 1;
    s->edge = gsim_arena_array(arena, room * room, sizeof *s->edge);
    s->label = gsim_arena_array(arena, room, sizeof *s->label);
    uint32_t **lists[] = {&s->match, &s->parent, &s->top, &s->slack, &s->seen, &s->n_flower};
    s->apart = gsim_arena_array(arena, room, sizeof *s->apart);
    bool is_done = s->edge && s->label && s->apart;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        *lists[i] = gsim_arena_array(arena, room, sizeof **lists[i]);
        is_done = is_done && *lists[i];
    }
    s->side = gsim_arena_array(arena, room, sizeof *s->side);
    s->flower = gsim_arena_array(arena, room, sizeof *s->flower);
    uint32_t *rings = gsim_arena_array(arena, (room - s->n) * n, sizeof *rings);
    s->from = gsim_arena_array(arena, room * n, sizeof *s->from);
    /* a vertex enters the queue once, when it becomes outer */
    s->queue = gsim_arena_array(arena, 2 * room, sizeof *s->queue);
    s->walk = gsim_arena_array(arena, 2 * room, sizeof *s->walk);
    if (!is_done || !s->side || !s->flower || !rings || !s->from || !s->queue || !s->walk)
        return false;
    for (size_t b = n; b < room; b++)
        s->flower[b] = rings + (b - n) * n;
    return true;
}

static void fill(struct search *s) {
    double most = 0;
    for (uint32_t u = 1; u <= s->n; u++)
        for (uint32_t v = 1; v <= s->n; v++) {
            double w = s->weight[(size_t)(u - 1) * s->n + v - 1];
            *edge_of(s, u, v) = (struct edge){u, v, u != v && w > 0 ? w : 0};
            most = u != v && w > most ? w : most;
        }
    for (uint32_t u = 1; u <= s->n; u++) {
        s->label[u] = most;
        s->top[u] = u;
        *from_of(s, u, u) = u;
    }
}

bool gsim_matching_solve(struct gsim_matching *matching, struct gsim_arena *arena) {
    uint32_t n = matching->n;
    struct search s = {.n = n, .n_x = n, .room = n + n / 2 + 2, .tolerance = matching->tolerance};
    if (!open_search(&s, arena))
        return false;
    s.weight = matching->weight;
    fill(&s);
    while (add_pair(&s))
        continue;
    for (uint32_t u = 1; u <= n; u++)
        matching->mate[u - 1] = s.match[u] > 0 ? s.match[u] - 1 : GSIM_MATCHING_ALONE;
    return true;
}
