/* Bots that play Connect-4 in the c4-arena's JSON over a websocket. */

#include "load.h"

#include <stdio.h>
#include <string.h>

#define REQUEST                                                                                                        \
    "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"                               \
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
#define SHORT 126 /* a payload that is shorter has its length in one byte */

struct frame_bot {
    struct connection connection;
    unsigned number;
    bool is_open; /* the handshake is over */
    double asked; /* when it sent the move that it waits to hear of; 0: it waits for none */
    uint64_t random;
};

static void say_frame(struct frame_bot *bot, const char *payload, size_t length)
{
    static const unsigned char mask[4] = {0x37, 0xfa, 0x21, 0x3d};
    char frame[6 + SHORT];
    frame[0] = (char)0x81;
    frame[1] = (char)(0x80 | length);
    memcpy(frame + 2, mask, 4);
    for (size_t at = 0; at < length; at++)
        frame[6 + at] = (char)(payload[at] ^ mask[at % 4]);
    say(&bot->connection, frame, 6 + length);
}

static void say_start(struct frame_bot *bot)
{
    char start[64];
    int count = snprintf(start, sizeof start, "{\"type\":\"start\",\"id\":\"bot%04u\"}", bot->number);
    say_frame(bot, start, (size_t)count);
}

/* Where the moves of a state have led; NULL where nobody has drawn them. */
static const struct node *position(const char *message, size_t length)
{
    size_t count;
    const char *moves = between(message, length, "\"moves\":[", ']', &count);
    if (moves == NULL)
        unexpected(message, length);
    const struct node *node = &start;
    for (const char *ends = moves + count; node != NULL && moves < ends;) {
        const char *comma = memchr(moves, ',', (size_t)(ends - moves));
        const char *end = comma ? comma : ends;
        node = after(node, moves, (size_t)(end - moves));
        moves = end + 1;
    }
    return node;
}

static void hear(struct frame_bot *bot, const char *message, size_t length)
{
    if (bot->asked != 0) {
        made(bot->asked);
        bot->asked = 0;
    }
    if (begins_with(message, length, "{\"type\":\"state\",\"turn\":1,\"you\":1,")
        || begins_with(message, length, "{\"type\":\"state\",\"turn\":2,\"you\":2,")) {
        const struct node *node = position(message, length);
        if (node == NULL || node->option_count == 0)
            node = &start; /* a relay's match stands still */
        const struct move *move = any_option(node, &bot->random);
        bot->asked = now();
        say_frame(bot, move->said, move->said_length);
    } else if (begins_with(message, length, "{\"type\":\"state\",\"turn\":0,")) {
        const struct node *node = position(message, length);
        if (node == NULL || node->option_count != 0)
            fail("a match ended before it was over: %.*s", (int)length, message);
    } else if (begins_with(message, length, "{\"type\":\"end\"}"))
        say_start(bot);
    else if (!begins_with(message, length, "{\"type\":\"state\""))
        unexpected(message, length);
}

static size_t take_frames(void *owner, char *bytes, size_t count)
{
    struct frame_bot *bot = owner;
    size_t at = 0;
    if (!bot->is_open) {
        const char *end = memmem(bytes, count, "\r\n\r\n", 4);
        if (end == NULL)
            return 0;
        if (!begins_with(bytes, count, "HTTP/1.1 101 "))
            unexpected(bytes, count);
        bot->is_open = true;
        say_start(bot);
        at = (size_t)(end + 4 - bytes);
    }
    while (count - at >= 2) {
        const unsigned char *frame = (const unsigned char *)bytes + at;
        size_t length = frame[1], head = 2;
        if (length > SHORT || frame[0] != 0x81)
            fail("a bot was sent a frame that is no text, or too long: %02x %02x", frame[0], frame[1]);
        if (length == SHORT) {
            if (count - at < 4)
                break;
            length = (size_t)frame[2] << 8 | frame[3];
            head = 4;
        }
        if (count - at < head + length)
            break;
        hear(bot, bytes + at + head, length);
        at += head + length;
    }
    return at;
}

void gather_frames(unsigned matches)
{
    for (unsigned number = 0; number < 2 * matches; number++) {
        struct frame_bot *bot = room(sizeof *bot);
        bot->number = number;
        bot->random = seed(number);
        prepare(&bot->connection, number, take_frames, bot);
        say(&bot->connection, REQUEST, strlen(REQUEST));
    }
}
