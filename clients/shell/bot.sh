#!/bin/sh
# A bot for any of the games: any legal move. One line comes in for each of its turns, one line goes out.
#
#     quintain play --game connect-4 --bot ./bot.sh
#
# An argument names another game. Better ideas go into `choose`, which is given the legal moves, one a line.
game=${1:-connect-4}
folder=$(dirname "$0")

choose() {
    awk -v seed="$(od -An -N4 -tu4 /dev/urandom)" 'BEGIN { srand(seed) } { move[NR] = $0 }
        END { print move[int(rand() * NR) + 1] }'
}

while read -r turn; do
    printf '%s\n' "$turn" | awk -v game="$game" -f "$folder/legal_moves.awk" | choose
done
