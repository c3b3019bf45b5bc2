/* A bot for any of the games: any legal move. Better ideas go into `choose`.
 *
 * QUINTAIN_URL says where the host is, QUINTAIN_NAME what the bot is called; an argument names another game. */
#include "quintain.h"

#include "legal_moves.h"

/* Writes one of the moves, which are all that may be played; json_get(turn, "state") is the position. */
static void choose(const char *game, const char *turn, const char *you, char *move)
{
    static struct legal_moves legal;
    legal_moves(&legal, game, turn, you);
    strcpy(move, legal.moves[rand() % legal.count]);
}

int main(int count, char **arguments)
{
    srand((unsigned)time(NULL) ^ (unsigned)getpid());
    return quintain_play(count > 1 ? arguments[1] : "connect-4", choose, false);
}
