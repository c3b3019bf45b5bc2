/* The load of the bench: bots on plain sockets, and as little else as can be.

   It is compiled so that a server which is measured waits for the load as little as possible, and how long a move
   takes is the server's doing. What the bots play was drawn beforehand. `tests/bench/compiled_crowd.py` compiles and
   starts this, and gives the orders, each a line on standard input:

       game NAME SEAT            what is played, and what its first seat is called
       script TOLD TAB SAID ...  a match that was drawn: of each move how it is told, and how it is said
       address HOST PORT         where the server is; bots come to each of several in turn
       timeout SECONDS          how long nobody may be told anything
       come BOTS MATCHES         connect so many pairs of such bots; said when they are here: here
       play SECONDS              said when it is over: played MOVES TIMES CPU, and so many floats, seconds of each move

   Between two orders nobody moves. What goes wrong is said as `error` with the text, and is the end. */

#include "load.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SHOWN 400 /* bytes of an unexpected answer */

char game_name[32], first_seat[16];

static double timeout = 10.0; /* seconds without a word for anybody: then something is wrong */
static double begun;
static unsigned moves;
static float *took; /* seconds from each move to what came of it */
static size_t took_count, took_space;

void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("error ", stdout);
    vprintf(format, arguments);
    va_end(arguments);
    fflush(stdout);
    exit(1);
}

void unexpected(const char *said, size_t length)
{
    fail("a bot that plays by the rules was told %.*s", (int)(length < SHOWN ? length : SHOWN), said);
}

void *room(size_t size)
{
    void *found = calloc(1, size);
    if (found == NULL)
        fail("out of memory");
    return found;
}

static double clock_of(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

double now(void)
{
    return clock_of(CLOCK_MONOTONIC);
}

void made(double asked)
{
    moves++;
    if (asked <= begun)
        return; /* sent in an earlier turn, since when nobody was listening */
    if (took_count == took_space) {
        took_space = took_space ? 2 * took_space : 65536;
        took = realloc(took, took_space * sizeof *took);
        if (took == NULL)
            fail("out of memory");
    }
    took[took_count++] = (float)(now() - asked);
}

static void play(double seconds)
{
    moves = 0;
    took_count = 0;
    double before = clock_of(CLOCK_PROCESS_CPUTIME_ID);
    begun = now();
    while (now() < begun + seconds)
        listen_for(timeout);
    printf("played %u %zu %.9f\n", moves, took_count, clock_of(CLOCK_PROCESS_CPUTIME_ID) - before);
    fwrite(took, sizeof *took, took_count, stdout);
}

static const struct {
    const char *name;
    void (*gather)(unsigned matches);
} BOTS[] = {
    {"memo", gather_memo},   {"house", gather_house},       {"c4-arena", gather_frames},
    {"arena", gather_arena}, {"hexagons", gather_hexagons}, {"posters", gather_posters},
};

static void come(const char *name, unsigned matches)
{
    for (size_t each = 0; each < sizeof BOTS / sizeof *BOTS; each++)
        if (strcmp(BOTS[each].name, name) == 0) {
            BOTS[each].gather(matches);
            puts("here");
            return;
        }
    fail("there are no bots called %s", name);
}

static void obey(const char *order)
{
    char word[64];
    unsigned number;
    double seconds;
    if (strncmp(order, "script ", 7) == 0)
        read_script(order + 7);
    else if (sscanf(order, "address %63s %u", word, &number) == 2)
        add_address(word, number);
    else if (sscanf(order, "timeout %lf", &seconds) == 1)
        timeout = seconds;
    else if (sscanf(order, "come %63s %u", word, &number) == 2)
        come(word, number);
    else if (sscanf(order, "play %lf", &seconds) == 1)
        play(seconds);
    else if (sscanf(order, "game %31s %15s", game_name, first_seat) != 2)
        fail("no such order: %.40s", order);
    fflush(stdout);
}

int main(void)
{
    char *order = NULL;
    size_t space = 0;
    ssize_t length;
    while ((length = getline(&order, &space, stdin)) > 0) {
        if (order[length - 1] == '\n')
            order[length - 1] = '\0';
        obey(order);
    }
    return 0;
}
