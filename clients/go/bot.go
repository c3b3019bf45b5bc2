// A bot for any of the games: any legal move. Better ideas go into choose. QUINTAIN_URL says where the host is,
// QUINTAIN_NAME what the bot is called.
//
//	go run .              against a host on this machine
//	go run . santorini    another game
package main

import (
	"log"
	"math/rand"
	"os"
	"time"
)

// choose returns one of the moves, which are all that may be played; turn.State is the position.
func choose(turn Message, moves []any) any {
	return moves[rand.Intn(len(moves))]
}

func main() {
	game := "connect-4"
	if len(os.Args) > 1 {
		game = os.Args[1]
	}
	rand.Seed(time.Now().UnixNano())
	log.SetFlags(0)
	if err := Play(game, func(turn Message) any { return choose(turn, LegalMoves(game, turn)) }); err != nil {
		log.Fatal(err)
	}
}
