/* Play on a Quintain host: the house protocol over TCP, with nothing but C11 and POSIX. Include this first.
 *
 *     void choose(const char *game, const char *turn, const char *you, char *move) { strcpy(move, "3"); }
 *     int main(void) { return quintain_play("connect-4", choose, false); }
 *
 * The function is given the host's message and the bot's seat ("first" or "second", in Tic-Tac-Toe "O" or "X"), and
 * writes a move in its short form, "3", "SE", "e3h", "1 2 3" or "0,0 0,1", of at most 31 characters. After a lost
 * connection, or if it is started again within half a minute, the bot goes on with its match. */
#pragma once
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include "json.h"
#include "tokens.h"

#ifndef TCP_KEEPIDLE
#define TCP_KEEPIDLE TCP_KEEPALIVE /* as macOS calls it */
#endif

enum { QUINTAIN_TEXT = 512 };
typedef void quintain_choose(const char *game, const char *turn, const char *you, char *move);
struct quintain {
    const char *game, *name, *url;
    quintain_choose *choose;
    FILE *log; /* where it tells what happens */
    char token[TOKEN_TEXT], tournament[QUINTAIN_TEXT], why[QUINTAIN_TEXT]; /* its place, as JSON, and why it was cut off */
    bool inside; /* on this connection */
};

static int quintain_connect(struct quintain *bot, const char *host, const char *port)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    const int error = strtol(port, NULL, 10) > 65535 ? EAI_SERVICE : getaddrinfo(host, port, &hints, &found);
    int connection = socket(AF_INET, SOCK_STREAM, 0), failed = true;
    for (struct addrinfo *each = found; each && failed; each = each->ai_next) { /* a name may have several addresses */
        close(connection);
        connection = socket(each->ai_family, SOCK_STREAM, 0);
        failed = connect(connection, each->ai_addr, each->ai_addrlen);
    }
    const char *why = error ? gai_strerror(error) : failed ? strerror(errno) : "the host hung up";
    snprintf(bot->why, sizeof bot->why, "%s", *host && error != EAI_SERVICE ? why : "expected an address like tcp://127.0.0.1:8000");
    if (found)
        freeaddrinfo(found);
    int is[][3] = {{SOL_SOCKET, SO_KEEPALIVE, true}, {IPPROTO_TCP, TCP_KEEPIDLE, 20}, {IPPROTO_TCP, TCP_KEEPINTVL, 5}, {IPPROTO_TCP, TCP_KEEPCNT, 4}};
    for (int n = 0; n < 4; n++) setsockopt(connection, is[n][0], is[n][1], &is[n][2], sizeof(int)); /* 40 s of silence: it is gone */
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){.tv_sec = 15}, sizeof(struct timeval)); /* to say welcome */
    return connection;
}

/* Plays from the hello to the standings, which is true; or `why` says why the connection ended before. */
static bool quintain_visit(struct quintain *bot, int connection)
{
    char *told = NULL, you[32] = "", match[QUINTAIN_TEXT], text[QUINTAIN_TEXT], more[QUINTAIN_TEXT], move[32];
    int answered = -1, over = false; /* the ply of the latest question, and whether nothing is left to play */
    FILE *in = fdopen(connection, "r");
    char *name = json_escape(bot->name, malloc(2 * strlen(bot->name) + 1));
    dprintf(connection, "{\"type\":\"hello\",\"name\":\"%s\",\"game\":\"%s\",\"token\":\"%.*s\",\"tournament\":%s}\n",
            name, bot->game, (int)strcspn(bot->token, "\r\n"), bot->token, bot->tournament); /* as an editor ends its line */
    free(name);
    for (size_t size = 0; !over && getline(&told, &size, in) > 0;) {
        const char *type = json_get(told, "type"), *where = json_get(told, "tournament"), *rows = json_get(told, "rows");
        const int ply = json_get(told, "ply") ? json_number(json_get(told, "ply")) : -1;
        json_copy(json_get(told, "match"), match, sizeof match);
        snprintf(bot->why, sizeof bot->why, "the host hung up"); /* it may do so next, or say why it does */
        if (json_is(type, "welcome")) {
            bot->inside = true;
            setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){0}, sizeof(struct timeval)); /* it may be long now */
            snprintf(bot->tournament, sizeof bot->tournament, "%.*s", where ? (int)(json_end(where) - where) : 4, where ? where : "null");
            fprintf(bot->log, "%s is connected to %s: %s\n", bot->name, bot->url, json_copy(where ? where : "the open table", text, sizeof text));
        } else if (json_is(type, "begin")) {
            answered = -1;
            json_copy(json_get(told, "you"), you, sizeof you);
            json_copy(json_at(json_get(told, "players"), 0), text, sizeof text);
            json_copy(json_at(json_get(told, "players"), 1), more, sizeof more);
            fprintf(bot->log, "%s from ply %d: %s against %s\n", match, json_count(json_get(told, "moves")), text, more);
        } else if (json_is(type, "turn") && json_is(json_get(told, "turn"), you) && ply != answered) {
            answered = ply;
            bot->choose(bot->game, told, you, memset(move, 0, sizeof move));
            snprintf(text, sizeof text, move[0] >= '0' && move[0] <= '9' && !move[1] ? "%s" : "\"%s\"", move); /* Connect-4's are numbers */
            dprintf(connection, "{\"type\":\"move\",\"match\":\"%s\",\"ply\":%d,\"move\":%s}\n", match, ply, text);
        } else if (json_is(type, "refused")) {
            strcpy(ply < 0 ? bot->why : more, json_copy(json_get(told, "reason"), text, sizeof text));
            if (!bot->inside)
                break;
            if ((ply >= 0 || answered >= 0) && fprintf(bot->log, "refused: %s\n", text) && ply >= 0 && ply == answered)
                answered = dprintf(connection, "{\"type\":\"state\"}\n") > 0 ? -1 : ply; /* asks again, if it goes on */
        } else if (json_is(type, "end")) {
            const char *winner = json_get(told, "winner");
            const char *result = !winner ? "void" : json_is(winner, "draw") ? "drawn" : json_is(winner, you) ? "won" : "lost";
            fprintf(bot->log, "%s: %s (%s)\n", match, result, json_copy(json_get(told, "why"), text, sizeof text));
        } else if (json_is(type, "standings")) {
            const char *row = json_at(rows, 0);
            while (row && !json_is(json_get(row, "name"), bot->name))
                row = json_at(json_end(row), 0);
            const char *format = row ? "%s is over%s: rank %d of %d, %s points\n" : "%s is over%s: this bot is not in its standings\n";
            const char *how = json_is(json_get(told, "frozen"), "true") ? " (its standings are frozen)" : "";
            json_copy(json_get(row, "points"), more, sizeof more);
            fprintf(bot->log, format, json_copy(where, text, sizeof text), how, json_number(json_get(row, "rank")), json_count(rows), more);
            over = dprintf(connection, "{\"type\":\"bye\"}\n") > 0;
        }
    }
    if (ferror(in) && errno == EAGAIN)
        snprintf(bot->why, sizeof bot->why, "the host does not answer");
    free(told);
    fclose(in);
    return over;
}

/* Plays until the tournament is over. Returns an exit code: 1 if there is no playing, and standard error says why. */
static int quintain_play(const char *game, quintain_choose *choose, bool quiet)
{
    struct quintain bot = {.game = game, .choose = choose, .log = quiet || fcntl(1, F_GETFD) < 0 ? fopen("/dev/null", "w") : stdout, .tournament = "null"};
    char host[256] = "", port[16] = "8000";
    time_t lost = 0;
    bot.url = getenv("QUINTAIN_URL") ? getenv("QUINTAIN_URL") : "tcp://127.0.0.1:8000";
    bot.name = getenv("QUINTAIN_NAME") ? getenv("QUINTAIN_NAME") : "c-bot";
    (void)(sscanf(bot.url, "tcp://[%255[^]]]:%15[^/]", host, port) || sscanf(bot.url, "tcp://%255[^:/]:%15[^/]", host, port));
    signal(SIGPIPE, SIG_IGN);
    setvbuf(bot.log, NULL, _IOLBF, BUFSIZ);
    token_remember(bot.token, bot.log, host, game, bot.name);
    for (unsigned wait = 250;; wait = wait < 8000 ? 2 * wait : 15000) { /* milliseconds */
        bot.inside = false;
        if (quintain_visit(&bot, quintain_connect(&bot, host, port)))
            return 0;
        wait = bot.inside ? 250 : wait;
        lost = bot.inside ? time(NULL) : lost;
        const bool is_later = strstr(bot.why, "come again later") || strstr(bot.why, "wait for a minute");
        if (!is_later && (time(NULL) - lost > 120 || strstr(bot.why, "has taken over") || strstr(bot.why, "ask its organiser"))) {
            fprintf(stderr, "cannot play on %s: %s\n", bot.url, bot.why);
            return 1;
        }
        fprintf(bot.log, "the connection is lost (%s): trying again\n", bot.why);
        usleep(1000 * (wait / 2 + (unsigned)rand() % (wait / 2)));
    }
}
