/* Bots of Hexagon Dots: two play each other again and again, each time at a new address.

   A move is made when its request is answered, which is the bot's next turn. */

#include "load.h"

#include <stdio.h>
#include <string.h>

#define BOARD "{\"rows\":5,\"cols\":5}"
#define AT_ONCE 50 /* games that nobody has joined: a host does not keep hundreds of them */

struct hexagon_bot {
    struct talk talk;
    struct hexagon_bot *other;
    unsigned number;
    uint64_t random;
    char game[64]; /* its address */
    const struct node *position;
    double asked; /* when it sent the move that it waits to hear of; 0: it waits for none */
    bool is_joining, is_free; /* it waits for its first turn; its game is over */
};

/* One of each pair that needs a game, in a ring, from the one that has waited longest. */
static struct hexagon_bot **waiting;
static unsigned pairs, oldest, waiting_count, unjoined;

static void make_games(void)
{
    for (; waiting_count > 0 && unjoined < AT_ONCE; waiting_count--, unjoined++) {
        post(&waiting[oldest]->talk, "/", "", BOARD, strlen(BOARD));
        oldest = (oldest + 1) % pairs;
    }
}

static void want_game(struct hexagon_bot *bot)
{
    waiting[(oldest + waiting_count++) % pairs] = bot;
    make_games();
}

static void join(struct hexagon_bot *bot, const char *game, size_t length)
{
    char path[96], body[64];
    snprintf(bot->game, sizeof bot->game, "%.*s", (int)length, game);
    bot->position = &start;
    bot->is_free = false;
    bot->is_joining = true;
    snprintf(path, sizeof path, "%s/players", bot->game);
    int count = snprintf(body, sizeof body, "{\"name\":\"bot%04u\"}", bot->number);
    post(&bot->talk, path, "", body, (size_t)count);
}

/* Follow the lines that an answer says are new. */
static void follow(struct hexagon_bot *bot, const struct answer *answer)
{
    const char *at = answer->body, *ends = at + answer->length, *line;
    size_t length;
    while ((line = between(at, (size_t)(ends - at), "\"endpoints\":[", ']', &length)) != NULL) {
        bot->position = after(bot->position, line, length);
        if (bot->position == NULL)
            fail("a bot was told of a line that nobody drew: %.*s", (int)length, line);
        at = line + length;
    }
}

static void move(struct hexagon_bot *bot, const char *token, size_t length)
{
    char path[96], headers[128];
    const struct move *chosen = any_option(bot->position, &bot->random);
    snprintf(path, sizeof path, "%s/moves", bot->game);
    snprintf(headers, sizeof headers, "X-Turn-Token: %.*s\r\n", (int)length, token);
    bot->asked = now();
    post(&bot->talk, path, headers, chosen->said, chosen->said_length);
}

static void answered(void *owner, const struct answer *answer)
{
    struct hexagon_bot *bot = owner;
    size_t length;
    const char *game = header(answer, "Location", &length);
    if (game != NULL) {
        join(bot, game, length);
        join(bot->other, game, length);
        return;
    }
    if (bot->is_joining && bot->other->is_joining) {
        unjoined--; /* both have: whoever begins is answered first */
        make_games();
    }
    bot->is_joining = false;
    if (bot->asked != 0) {
        made(bot->asked);
        bot->asked = 0;
    }
    follow(bot, answer);
    const char *token = header(answer, "X-Turn-Token", &length);
    bool is_over = bot->position->option_count == 0;
    if (is_over != (token == NULL))
        unexpected(answer->body, answer->length);
    if (token != NULL) {
        move(bot, token, length);
        return;
    }
    bot->is_free = true;
    if (bot->other->is_free)
        want_game(bot);
}

void gather_hexagons(unsigned matches)
{
    struct hexagon_bot *bots = room(2 * matches * sizeof *bots);
    waiting = room(matches * sizeof *waiting);
    pairs = matches;
    for (unsigned number = 0; number < 2 * matches; number++) {
        struct hexagon_bot *bot = &bots[number];
        bot->number = number;
        bot->random = seed(number);
        bot->other = &bots[number ^ 1];
        bot->is_free = true;
        prepare_talk(&bot->talk, number, bot);
        bot->talk.answered = answered;
    }
    for (unsigned number = 0; number < 2 * matches; number += 2)
        want_game(&bots[number]);
}
