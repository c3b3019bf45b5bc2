/* Two who post by turns what a bot of the Arena would, for as long as they are let: for a server that does not play. */

#include "load.h"

#include <stdio.h>

struct poster {
    struct talk talk;
    struct poster *other;
    double asked;
    char path[96];
};

static void post_move(struct poster *poster)
{
    const struct move *move = start.options[0];
    poster->asked = now();
    post(&poster->talk, poster->path, "", move->said, move->said_length);
}

static void answered(void *owner, const struct answer *answer)
{
    struct poster *poster = owner;
    (void)answer;
    made(poster->asked);
    post_move(poster->other);
}

void gather_posters(unsigned matches)
{
    struct poster *posters = room(2 * matches * sizeof *posters);
    for (unsigned number = 0; number < 2 * matches; number++) {
        struct poster *poster = &posters[number];
        snprintf(poster->path, sizeof poster->path, "/tic-tac-toe/play/1b4e28ba-2fa1-11d2-883f-%012u", number);
        poster->other = &posters[number ^ 1];
        prepare_talk(&poster->talk, number, poster);
        poster->talk.answered = answered;
    }
    for (unsigned number = 0; number < 2 * matches; number += 2)
        post_move(&posters[number]);
}
