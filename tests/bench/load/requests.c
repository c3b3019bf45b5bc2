/* HTTP as bots speak it: one request after another on a connection, and event streams, which are heard event by event.

   Of an answer only what a bot needs is read. */

#include "load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LAST_CHUNK "\r\n0\r\n\r\n"

/* Take the events that are whole, without a look at the chunks that they come in. */
static size_t take_events(struct talk *talk, char *bytes, size_t count)
{
    char *at = bytes, *ends = bytes + count, *event, *end;
    while ((event = memmem(at, (size_t)(ends - at), "data: ", 6)) != NULL
           && (end = memmem(event, (size_t)(ends - event), "\n\n", 2)) != NULL) {
        talk->told(talk->bot, event + 6, (size_t)(end - event - 6));
        at = end + 2;
    }
    size_t last = strlen(LAST_CHUNK);
    if ((size_t)(ends - at) >= last && memcmp(ends - last, LAST_CHUNK, last) == 0) {
        talk->is_stream = false;
        talk->told(talk->bot, NULL, 0);
        at = ends;
    }
    return (size_t)(at - bytes);
}

static size_t take_answers(void *owner, char *bytes, size_t count)
{
    struct talk *talk = owner;
    size_t at = 0;
    while (!talk->is_stream) { /* a bot that has sent two moves may be answered both at once */
        struct answer answer = {.head = bytes + at};
        const char *end = memmem(answer.head, count - at, "\r\n\r\n", 4);
        if (end == NULL)
            return at;
        answer.head_length = (size_t)(end - answer.head);
        answer.body = end + 4;
        size_t here = (size_t)(bytes + count - answer.body), digits;
        if (begins_with(answer.head, answer.head_length, "HTTP/1.1 410 ")
            || begins_with(answer.head, answer.head_length, "HTTP/1.1 423 "))
            fail("a bot was too slow, because the machine was too busy: %.*s", (int)here, answer.body);
        if (!begins_with(answer.head, answer.head_length, "HTTP/1.1 20"))
            unexpected(answer.head, count - at);
        const char *length = header(&answer, "content-length", &digits);
        if (length == NULL) {
            if (talk->told == NULL)
                unexpected(answer.head, count - at);
            talk->is_stream = true;
            at = (size_t)(answer.body - bytes) - 2; /* so that every chunk has a line's end before it */
            break;
        }
        answer.length = strtoul(length, NULL, 10);
        if (here < answer.length)
            return at;
        at = (size_t)(answer.body + answer.length - bytes);
        if (talk->answered == NULL)
            unexpected(answer.head, answer.head_length);
        talk->answered(talk->bot, &answer);
    }
    return at + take_events(talk, bytes + at, count - at);
}

void prepare_talk(struct talk *talk, unsigned number, void *bot)
{
    talk->bot = bot;
    prepare(&talk->connection, number, take_answers, talk);
}

void get(struct talk *talk, const char *path)
{
    char request[512];
    int count = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", path);
    say(&talk->connection, request, (size_t)count);
}

void post(struct talk *talk, const char *path, const char *headers, const char *body, size_t length)
{
    char request[1024];
    int count = snprintf(request, sizeof request,
                         "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\n%sContent-Type: application/json\r\n"
                         "Content-Length: %zu\r\n\r\n%.*s",
                         path, headers, length, (int)length, body);
    if (count >= (int)sizeof request)
        fail("a request has %d bytes", count);
    say(&talk->connection, request, (size_t)count);
}

const char *header(const struct answer *answer, const char *name, size_t *length)
{
    const char *ends = answer->head + answer->head_length, *line = answer->head, *end;
    size_t count = strlen(name);
    while ((line = memchr(line, '\n', (size_t)(ends - line))) != NULL) {
        line++;
        if ((size_t)(ends - line) > count + 2 && strncasecmp(line, name, count) == 0 && line[count] == ':') {
            const char *value = line + count + 2;
            end = memchr(value, '\r', (size_t)(ends - value));
            *length = (size_t)((end ? end : ends) - value);
            return value;
        }
    }
    return NULL;
}
