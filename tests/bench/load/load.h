/* What the files of the load generator have in common. `load.c` says what it is for. */

#ifndef LOAD_H
#define LOAD_H

#define _GNU_SOURCE /* memmem, getline, strncasecmp */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* load.c: the orders, the clock, and what is counted. */

/* What the bots play, and what its first seat is called. */
extern char game_name[32], first_seat[16];

/* Tell whoever gave the orders what went wrong, and end. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Fail, because the server said what no bot expects. */
_Noreturn void unexpected(const char *said, size_t length);

/* Seconds of the monotonic clock. */
double now(void);

/* A move was sent at that time, and its mover has just been told what came of it. */
void made(double asked);

/* So many zeroed bytes, which are never freed: bots live as long as the process. */
void *room(size_t size);

/* connections.c */

/* Take what has come, and return how many bytes were taken: the rest is offered again with what comes next. */
typedef size_t Take(void *bot, char *bytes, size_t count);

struct connection {
    int socket;
    unsigned number; /* of its bot: who comes to which address depends on it */
    bool is_open;
    Take *take;
    void *bot;
    char *rest; /* what has come and was not taken */
    size_t held, space;
};

void add_address(const char *host, unsigned port);
void prepare(struct connection *connection, unsigned number, Take *take, void *bot);

/* Send all of it. The first thing to send opens the connection: a server hangs up on whoever comes and is silent. */
void say(struct connection *connection, const char *bytes, size_t count);

/* Wait until something comes, and have it taken; fail after so many seconds without a word for anybody. */
void listen_for(double timeout);

/* scripts.c */

struct move {
    const char *told; /* as a bot is told of it */
    const char *said; /* as a bot says it */
    size_t told_length, said_length;
};

struct script {
    struct move *moves;
    unsigned plies;
};

/* All matches that begin with the same moves: what was played after them, and what that led to. */
struct node {
    struct node *child, *sibling;
    const char *told; /* the move that led here */
    size_t told_length;
    const struct move **options;
    unsigned option_count; /* 0: the match is over */
};

extern struct node start;

void read_script(const char *line);
const struct script *script_by(const char *text, size_t length);
struct node *after(const struct node *node, const char *told, size_t length);
const struct move *any_option(const struct node *node, uint64_t *random);
uint64_t seed(unsigned number);

/* text.c: within bytes that end where they end. */

bool begins_with(const char *text, size_t length, const char *with);

/* What follows `mark` up to the byte `end`; NULL where it is not there. */
const char *between(const char *text, size_t length, const char *mark, char end, size_t *found);

/* requests.c: HTTP as a bot speaks it. */

struct answer {
    const char *head, *body;
    size_t head_length, length;
};

struct talk {
    struct connection connection;
    void *bot;
    void (*answered)(void *bot, const struct answer *answer);
    void (*told)(void *bot, const char *event, size_t length); /* of an event stream; NULL at its end */
    bool is_stream; /* its head has come */
};

void prepare_talk(struct talk *talk, unsigned number, void *bot);
void get(struct talk *talk, const char *path);
void post(struct talk *talk, const char *path, const char *headers, const char *body, size_t length);
const char *header(const struct answer *answer, const char *name, size_t *length);

/* The bots: so many matches of them. */

void gather_memo(unsigned matches);
void gather_house(unsigned matches);
void gather_frames(unsigned matches);
void gather_arena(unsigned matches);
void gather_hexagons(unsigned matches);
void gather_posters(unsigned matches);

#endif
