/* Bots that talk in lines over TCP: Santorini as the memo has it, and the house protocol.

   Both bots of a match find the same script, by what they are told first of it, and count what they are told. A relay
   is the same to them, but that its matches do not end. */

#include "load.h"

#include <stdio.h>
#include <string.h>

struct line_bot {
    struct connection connection;
    void (*hear)(struct line_bot *bot, const char *line, size_t length);
    const struct script *script;
    unsigned ply;           /* moves of the match so far */
    double asked;           /* when it sent the move that it waits to hear of; 0: it waits for none */
    char question[3][64];   /* how what it has to answer begins, or what is in it */
};

static size_t take_lines(void *owner, char *bytes, size_t count)
{
    struct line_bot *bot = owner;
    char *line = bytes, *end;
    while ((end = memchr(line, '\n', (size_t)(bytes + count - line))) != NULL) {
        if (bot->asked != 0) {
            made(bot->asked);
            bot->asked = 0;
        }
        bot->hear(bot, line, (size_t)(end - line));
        line = end + 1;
    }
    return (size_t)(line - bytes);
}

static const struct move *scripted(const struct line_bot *bot)
{
    return &bot->script->moves[bot->ply % bot->script->plies];
}

static void end_match(struct line_bot *bot, const char *line, size_t length)
{
    if (bot->ply != bot->script->plies)
        fail("a match of %u plies ended after %u: %.*s", bot->script->plies, bot->ply, (int)length, line);
    bot->ply = 0;
    bot->script = NULL;
}

static struct line_bot *gathered(unsigned number, void (*hear)(struct line_bot *, const char *, size_t))
{
    struct line_bot *bot = room(sizeof *bot);
    bot->hear = hear;
    prepare(&bot->connection, number, take_lines, bot);
    return bot;
}

/* The memo: a name, and then moves for states that name it. */

static void hear_memo(struct line_bot *bot, const char *line, size_t length)
{
    if (bot->script == NULL)
        bot->script = script_by(line, length);
    for (unsigned each = 0; each < 3; each++)
        if (begins_with(line, length, bot->question[each])) {
            char said[64];
            const struct move *move = scripted(bot);
            int count = snprintf(said, sizeof said, "%s\n", move->said);
            bot->asked = now();
            say(&bot->connection, said, (size_t)count);
            break;
        }
    if (begins_with(line, length, "[\"gameOver\""))
        end_match(bot, line, length);
    else if (begins_with(line, length, "[\""))
        bot->ply++;
    else
        unexpected(line, length);
}

void gather_memo(unsigned matches)
{
    static const char *const asking[] = {"placeWorker", "moveWorker", "build"};
    for (unsigned number = 0; number < 2 * matches; number++) {
        struct line_bot *bot = gathered(number, hear_memo);
        for (unsigned each = 0; each < 3; each++)
            snprintf(bot->question[each], sizeof *bot->question, "[\"%s\",\"bot%04u\",", asking[each], number);
        char name[16];
        say(&bot->connection, name, (size_t)snprintf(name, sizeof name, "bot%04u\n", number));
    }
}

/* The house protocol: a hello, and then moves for turns that name the seat which the beginning of the match gave. */

static void hear_turn(struct line_bot *bot, const char *line, size_t length)
{
    size_t match_length, ply_length;
    const char *match = between(line, length, "\"match\":\"", '"', &match_length);
    const char *ply = between(line, length, "\"ply\":", ',', &ply_length);
    if (match == NULL || ply == NULL)
        unexpected(line, length);
    if (bot->script == NULL)
        bot->script = script_by(match, match_length);
    else
        bot->ply++;
    if (memmem(line, length, bot->question[0], strlen(bot->question[0])) == NULL)
        return;
    char said[256];
    int count = snprintf(said, sizeof said, "{\"type\":\"move\",\"match\":\"%.*s\",\"ply\":%.*s,\"move\":%s}\n",
                         (int)match_length, match, (int)ply_length, ply, scripted(bot)->said);
    if (count >= (int)sizeof said)
        unexpected(line, length);
    bot->asked = now();
    say(&bot->connection, said, (size_t)count);
}

static void hear_house(struct line_bot *bot, const char *line, size_t length)
{
    size_t seat_length;
    const char *seat;
    if (begins_with(line, length, "{\"type\":\"turn\","))
        hear_turn(bot, line, length);
    else if (begins_with(line, length, "{\"type\":\"end\",") && bot->script != NULL)
        end_match(bot, line, length);
    else if (begins_with(line, length, "{\"type\":\"begin\",")
             && (seat = between(line, length, "\"you\":\"", '"', &seat_length)) != NULL)
        snprintf(bot->question[0], sizeof *bot->question, ",\"turn\":\"%.*s\",", (int)seat_length, seat);
    else if (!begins_with(line, length, "{\"type\":\"welcome\","))
        unexpected(line, length);
}

void gather_house(unsigned matches)
{
    for (unsigned number = 0; number < 2 * matches; number++) {
        struct line_bot *bot = gathered(number, hear_house);
        char hello[128];
        int count = snprintf(hello, sizeof hello, "{\"type\":\"hello\",\"name\":\"bot%04u\",\"game\":\"%s\"}\n",
                             number, game_name);
        say(&bot->connection, hello, (size_t)count);
    }
}
