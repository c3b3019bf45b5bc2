/* The legal moves of the five games, in their short form, from the turn that a bot is given and the bot's seat. */
#ifndef LEGAL_MOVES_H
#define LEGAL_MOVES_H

#include <stdbool.h>
#include <stdio.h>

#include "json.h"

enum { LEGAL_MOVES = 4096, LEGAL_MOVE = 64 }; /* the largest board of Hexagon Dots has some 2,800 lines */

struct legal_moves {
    int count;
    char moves[LEGAL_MOVES][LEGAL_MOVE];
};

#define LEGAL_ADD(legal, ...) snprintf((legal)->moves[(legal)->count++], LEGAL_MOVE, __VA_ARGS__)

static inline void tic_tac_toe_moves(struct legal_moves *legal, const char *state)
{
    static const char *const names[] = {"NW", "N", "NE", "W", "C", "E", "SW", "S", "SE"};
    for (int field = 0; field < 9; field++)
        if (json_is(json_at(json_get(state, "board"), field), "null"))
            LEGAL_ADD(legal, "%s", names[field]);
}

static inline void connect_4_moves(struct legal_moves *legal, const char *state)
{
    for (int column = 0; column < 7; column++)
        if (json_number(json_at(state, 6 * column + 5)) == 0) /* its top is empty */
            LEGAL_ADD(legal, "%d", column);
}

/* To build, the worker that has just moved is needed: `last` says where it stands. */
static inline void santorini_moves(struct legal_moves *legal, const char *state, const char *last, int seat)
{
    int floors[6][6], workers[2][4], count[2] = {0, 0};
    bool taken[6][6] = {{false}};
    for (int n = 0; n < 36; n++)
        floors[n / 6][n % 6] = json_number(json_at(json_at(json_at(state, 2), n / 6), n % 6));
    for (int each = 0; each < 2; each++) {
        const char *numbers = json_at(json_at(state, 3 + each), 1);
        for (; json_at(numbers, count[each]); count[each]++)
            workers[each][count[each]] = json_number(json_at(numbers, count[each]));
        for (int n = 0; n < count[each]; n += 2)
            taken[workers[each][n + 1]][workers[each][n]] = true;
    }
    const bool places = json_is(json_at(state, 0), "placeWorker"), builds = json_is(json_at(state, 0), "build");
    for (int worker = 1; worker <= (places || builds ? 1 : 2); worker++) {
        const int from_x = builds ? json_number(json_at(last, 1)) : workers[seat][2 * worker - 2];
        const int from_y = builds ? json_number(json_at(last, 2)) : workers[seat][2 * worker - 1];
        for (int n = 0; n < 36; n++) {
            const int x = n / 6, y = n % 6;
            if (taken[y][x] || floors[y][x] == 4)
                continue;
            const bool near = !places && abs(x - from_x) <= 1 && abs(y - from_y) <= 1;
            if (places || (near && builds))
                LEGAL_ADD(legal, "%d %d", x, y);
            else if (near && floors[y][x] <= floors[from_y][from_x] + 1)
                LEGAL_ADD(legal, "%d %d %d", worker, x, y);
        }
    }
}

/* Walls of Quoridor: [0] lie between rows, [1] stand between columns; by column and row, with a rim of one. */
struct walls {
    bool at[2][11][11];
};

static const int quoridor_sides[4][2] = {{0, 1}, {1, 0}, {0, -1}, {-1, 0}};

/* Whether a step leads to the next square on that side: neither the rim nor a wall is between. */
static inline bool is_open(const struct walls *walls, int x, int y, const int side[2])
{
    const int low_x = x + (side[0] < 0 ? -1 : 0), low_y = y + (side[1] < 0 ? -1 : 0);
    if (x + side[0] < 1 || x + side[0] > 9 || y + side[1] < 1 || y + side[1] > 9)
        return false;
    if (side[0])
        return !walls->at[1][low_x][low_y] && !walls->at[1][low_x][low_y - 1];
    return !walls->at[0][low_x][low_y] && !walls->at[0][low_x - 1][low_y];
}

static inline bool arrives(const struct walls *walls, const int pawn[2], int goal)
{
    bool seen[11][11] = {{false}};
    int look[81][2], count = 1;
    look[0][0] = pawn[0], look[0][1] = pawn[1];
    seen[pawn[0]][pawn[1]] = true;
    while (count--) {
        const int x = look[count][0], y = look[count][1];
        if (y == goal)
            return true;
        for (int n = 0; n < 4; n++) {
            const int to_x = x + quoridor_sides[n][0], to_y = y + quoridor_sides[n][1];
            if (seen[to_x][to_y] || !is_open(walls, x, y, quoridor_sides[n]))
                continue;
            seen[to_x][to_y] = true;
            look[count][0] = to_x, look[count++][1] = to_y;
        }
    }
    return false;
}

static inline void add_square(struct legal_moves *legal, int x, int y, const char *way)
{
    LEGAL_ADD(legal, "%c%d%s", 'a' + x - 1, y, way);
}

/* Steps, and every wall that overlaps and crosses none and leaves both pawns a way. */
static inline void quoridor_moves(struct legal_moves *legal, const char *state, int seat)
{
    struct walls walls = {{{{false}}}};
    const char *wall, *text;
    int pawns[2][2];
    for (int n = 0; (wall = json_at(json_get(state, "walls"), n)); n++)
        walls.at[wall[3] == 'v'][wall[1] - 'a' + 1][wall[2] - '0'] = true; /* past the quotation mark */
    for (int n = 0; n < 2; n++) {
        text = json_at(json_get(state, "pawns"), n);
        pawns[n][0] = text[1] - 'a' + 1, pawns[n][1] = text[2] - '0';
    }
    const int *mine = pawns[seat], *other = pawns[1 - seat];
    for (int n = 0; n < 4; n++) {
        const int *side = quoridor_sides[n], x = mine[0] + side[0], y = mine[1] + side[1];
        const int turned[2][2] = {{side[1], side[0]}, {-side[1], -side[0]}};
        if (!is_open(&walls, mine[0], mine[1], side))
            continue;
        if (x != other[0] || y != other[1])
            add_square(legal, x, y, "");
        else if (is_open(&walls, x, y, side)) /* straight over the other pawn … */
            add_square(legal, x + side[0], y + side[1], "");
        else /* … or past it, where that is shut */
            for (int way = 0; way < 2; way++)
                if (is_open(&walls, x, y, turned[way]))
                    add_square(legal, x + turned[way][0], y + turned[way][1], "");
    }
    for (int n = 0; n < 128 && json_number(json_at(json_get(state, "left"), seat)) > 0; n++) {
        const int upright = n % 2, x = n / 16 + 1, y = n / 2 % 8 + 1, dx = !upright, dy = upright;
        bool *place = &walls.at[upright][x][y];
        if (*place || walls.at[!upright][x][y] || walls.at[upright][x - dx][y - dy] || walls.at[upright][x + dx][y + dy])
            continue;
        *place = true;
        if (arrives(&walls, pawns[0], 9) && arrives(&walls, pawns[1], 1))
            add_square(legal, x, y, upright ? "v" : "h");
        *place = false;
    }
}

/* Lines that are not drawn yet and end at no captured centre. */
static inline void hexagon_dots_moves(struct legal_moves *legal, const char *state)
{
    enum { MOST = 33 };
    bool there[MOST][MOST] = {{false}}, drawn[MOST][MOST][3] = {{{false}}};
    const int rows = json_number(json_get(state, "rows")), cols = json_number(json_get(state, "cols"));
    const char *each;
    for (int row = 0; row < rows; row++)
        for (int col = 0; col < cols - 1 + row % 2; col++)
            there[row][col] = true;
    for (int n = 0; (each = json_at(json_get(state, "hexagons"), n)); n++) {
        const char *centre = json_get(each, "center");
        there[json_number(json_get(centre, "row"))][json_number(json_get(centre, "col"))] = false;
    }
    for (each = json_at(json_get(state, "lines"), 0); each; each = json_at(json_end(each), 0)) {
        const char *from = json_at(json_get(each, "endpoints"), 0), *to = json_at(json_get(each, "endpoints"), 1);
        const int row = json_number(json_get(from, "row")), col = json_number(json_get(from, "col"));
        const int is_below = json_number(json_get(to, "row")) > row;
        const int way = is_below ? 1 + json_number(json_get(to, "col")) - (col - row % 2) : 0;
        drawn[row][col][way] = true;
    }
    for (int n = 0; n < rows * cols; n++) {
        const int row = n / cols, col = n % cols, below = col - row % 2;
        const int ends[3][2] = {{row, col + 1}, {row + 1, below}, {row + 1, below + 1}};
        for (int way = 0; way < 3 && there[row][col]; way++)
            if (ends[way][1] >= 0 && there[ends[way][0]][ends[way][1]] && !drawn[row][col][way])
                LEGAL_ADD(legal, "%d,%d %d,%d", row, col, ends[way][0], ends[way][1]);
    }
}

static inline void legal_moves(struct legal_moves *legal, const char *game, const char *turn, const char *you)
{
    const char *state = json_get(turn, "state");
    const int seat = strcmp(you, "second") == 0;
    legal->count = 0;
    if (strcmp(game, "tic-tac-toe") == 0)
        tic_tac_toe_moves(legal, state);
    else if (strcmp(game, "connect-4") == 0)
        connect_4_moves(legal, state);
    else if (strcmp(game, "santorini") == 0)
        santorini_moves(legal, state, json_get(turn, "last"), seat);
    else if (strcmp(game, "quoridor") == 0)
        quoridor_moves(legal, state, seat);
    else if (strcmp(game, "hexagon-dots") == 0)
        hexagon_dots_moves(legal, state);
}

#endif
