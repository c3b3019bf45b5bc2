/* Bots of the Arena, whose moves are requests: each plays one match after another, and joins for each.

   What both sides do comes on a stream of events, for which a bot has a second connection. */

#include "load.h"

#include <stdio.h>
#include <string.h>

#define MOST_ASKED 8 /* a bot may have read of its move before the answer to it; it is one or two ahead */

struct arena_bot {
    struct talk talk, stream;
    unsigned number;
    uint64_t random;
    char token[64]; /* as JSON: what the last answer to joining said, to come under the same name */
    char path[128]; /* where it moves */
    bool is_first, is_over;
    const struct node *position;
    unsigned ply;
    double asked[MOST_ASKED]; /* when it sent the moves that it waits to hear of */
    unsigned oldest, waiting;
};

static void join(struct arena_bot *bot)
{
    char path[64], body[128];
    bot->position = &start;
    bot->ply = 0;
    snprintf(path, sizeof path, "/%s/join", game_name);
    int count = snprintf(body, sizeof body, "{\"name\":\"bot%04u\",\"token\":%s}", bot->number, bot->token);
    post(&bot->talk, path, "", body, (size_t)count);
}

/* Once the stream has ended and the last move is answered. */
static void join_again(struct arena_bot *bot)
{
    if (bot->is_over && bot->waiting == 0) {
        bot->is_over = false;
        join(bot);
    }
}

static void answered(void *owner, const struct answer *answer)
{
    struct arena_bot *bot = owner;
    if (bot->waiting != 0) {
        made(bot->asked[bot->oldest]);
        bot->oldest = (bot->oldest + 1) % MOST_ASKED;
        bot->waiting--;
        join_again(bot);
        return;
    }
    size_t battle_length, token_length;
    const char *battle = between(answer->body, answer->length, "\"battleId\":\"", '"', &battle_length);
    const char *token = between(answer->body, answer->length, "\"token\":\"", '"', &token_length);
    if (battle == NULL || token == NULL || token_length > sizeof bot->token - 3)
        unexpected(answer->body, answer->length);
    char path[128];
    snprintf(bot->token, sizeof bot->token, "\"%.*s\"", (int)token_length, token);
    snprintf(bot->path, sizeof bot->path, "/%s/play/%.*s", game_name, (int)battle_length, battle);
    snprintf(path, sizeof path, "/%s/start/%.*s", game_name, (int)battle_length, battle);
    get(&bot->stream, path);
}

static void move(struct arena_bot *bot)
{
    const struct move *chosen = any_option(bot->position, &bot->random);
    if (bot->waiting == MOST_ASKED)
        fail("%d moves of a bot were not answered", MOST_ASKED);
    bot->asked[(bot->oldest + bot->waiting++) % MOST_ASKED] = now();
    post(&bot->talk, bot->path, "", chosen->said, chosen->said_length);
}

static void told(void *owner, const char *event, size_t length)
{
    struct arena_bot *bot = owner;
    size_t count;
    const char *found;
    if (event == NULL) {
        bot->is_over = true;
        join_again(bot);
        return;
    }
    if (begins_with(event, length, "{\"winner\":")) {
        if (bot->position->option_count != 0)
            fail("a match ended after %u plies, before it was over: %.*s", bot->ply, (int)length, event);
        return;
    }
    if ((found = between(event, length, "{\"youAre\":\"", '"', &count)) != NULL)
        bot->is_first = count == strlen(first_seat) && memcmp(found, first_seat, count) == 0;
    else if (begins_with(event, length, "{\"player\":")
             && (found = between(event, length, "\"position\":\"", '"', &count)) != NULL) {
        bot->position = after(bot->position, found, count);
        bot->ply++;
    } else
        unexpected(event, length);
    if (bot->position == NULL)
        fail("a bot was told of a move that nobody made: %.*s", (int)length, event);
    if (bot->position->option_count != 0 && bot->is_first == (bot->ply % 2 == 0))
        move(bot);
}

void gather_arena(unsigned matches)
{
    for (unsigned number = 0; number < 2 * matches; number++) {
        struct arena_bot *bot = room(sizeof *bot);
        bot->number = number;
        bot->random = seed(number);
        strcpy(bot->token, "null");
        prepare_talk(&bot->talk, number, bot);
        prepare_talk(&bot->stream, number, bot);
        bot->talk.answered = answered;
        bot->stream.told = told;
        join(bot);
    }
}
