// Play on a Quintain host. Nothing but the standard library: Go 1.19 or later, over TCP. After a lost connection, or
// if it is started again within half a minute, the bot goes on with its match.
//
//	err := Play("connect-4", func(turn Message) any { return 3 })
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand"
	"net"
	"os"
	"strings"
	"time"
)

// Message is what the host says. What is null there is "" or nil here.
type Message struct {
	Type, Match, You, Turn, Winner, Why, Name, Tournament, Reason string

	Ply          *int
	Players      []string
	State, Last  json.RawMessage // the position, and the move that led to it
	Clock        json.RawMessage // of a turn: seconds left, in the order of the seats; null means no limit
	Moves        []any
	Rows         []Message // of the standings, which have a name and these two:
	Rank, Points float64
	Frozen       bool // as they were when an organiser froze them, and not the last ones
}

var Say = log.New(os.Stdout, "", 0) // prints what happens; to be quiet, set its output to io.Discard

type bot struct {
	hello    map[string]any
	choose   func(turn Message) any
	lost     time.Time // when it was inside last; zero if it never was
	failures int
}

// Play calls choose at each turn, until the tournament is over. A move is a number in Connect-4, else "SE", "e3h" or "1 2 3".
func Play(game string, choose func(turn Message) any) error {
	url, name := setting("QUINTAIN_URL", "tcp://127.0.0.1:8000"), setting("QUINTAIN_NAME", "go-bot")
	address := strings.TrimSuffix(strings.TrimPrefix(url, "tcp://"), "/")
	if strings.LastIndex(address, ":") <= strings.LastIndex(address, "]") { // which is around an IPv6 address
		address += ":8000"
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil || host == "" || !strings.HasPrefix(url, "tcp://") {
		return fmt.Errorf("cannot play on %s: expected an address like tcp://127.0.0.1:8000", url)
	}
	if _, closed := os.Stdout.Stat(); closed != nil && Say.Writer() == os.Stdout {
		Say.SetOutput(io.Discard) // its number will be that of the connection, and the host would read all lines
	}
	token, err := remembered(host + "-" + game + "-" + name)
	hello := map[string]any{"type": "hello", "protocol": 1, "name": name, "game": game, "token": token}
	for player := (bot{hello: hello, choose: choose}); err == nil; player.failures++ {
		why := player.visit(address)
		if why == nil {
			return nil
		}
		has := func(words string) bool { return strings.Contains(why.Error(), words) }
		isUseless := has("has taken over") || has("ask its organiser") || time.Since(player.lost) > 2*time.Minute
		if isUseless && !has("come again later") && !has("wait for a minute") {
			return fmt.Errorf("cannot play on %s: %w", url, why)
		}
		Say.Printf("the connection is lost (%v): trying again", why)
		time.Sleep(time.Duration(math.Min(15e9, 250e6*math.Pow(2, float64(player.failures))) * (0.5 + rand.Float64()/2)))
	}
	return err
}

// visit plays from the hello to the standings; an error says why the connection ended before.
func (b *bot) visit(address string) error {
	connection, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer connection.Close()
	out, in, reason := json.NewEncoder(connection), json.NewDecoder(connection), "the host hung up"
	begun, answered, isInside, place := Message{}, -1, false, "this bot is not in its standings"
	connection.SetReadDeadline(time.Now().Add(15 * time.Second)) // to say welcome
	out.Encode(b.hello)                                          // an error shows in what is read next; `answered` is the ply of the latest question
	for told := (Message{}); ; told = (Message{}) {
		if err := in.Decode(&told); errors.Is(err, os.ErrDeadlineExceeded) {
			return errors.New("the host does not answer")
		} else if err != nil {
			return errors.New(reason)
		}
		if reason = "the host hung up"; told.Reason != "" && told.Ply == nil {
			reason = told.Reason // it may hang up next
		}
		switch told.Type {
		case "welcome":
			where := "the open table"
			if told.Tournament != "" {
				where, b.hello["tournament"] = told.Tournament, told.Tournament // where it comes back to
			}
			isInside, b.hello["name"] = true, told.Name
			connection.SetReadDeadline(time.Time{}) // it may be long until the first match
			defer func() { b.lost = time.Now() }()
			Say.Printf("%s is connected to tcp://%s: %s", told.Name, address, where)
		case "begin":
			begun, answered, b.failures = told, -1, 0
			Say.Printf("%s from ply %d: %s against %s", told.Match, len(told.Moves), told.Players[0], told.Players[1])
		case "turn":
			if told.Turn == begun.You && *told.Ply != answered {
				answered, told.You, told.Players = *told.Ply, begun.You, begun.Players
				move := b.choose(told)
				if text, _ := json.Marshal(move); len(text) > 3500 { // of what is no move, the host is told the beginning
					move = string(text[:300])
				}
				out.Encode(map[string]any{"type": "move", "match": told.Match, "ply": told.Ply, "move": move})
			}
		case "refused":
			if !isInside {
				return errors.New(told.Reason)
			}
			if told.Ply != nil || answered >= 0 {
				Say.Println("refused:", told.Reason)
			}
			if told.Ply != nil && told.Match == begun.Match && *told.Ply == answered {
				answered = -1
				out.Encode(map[string]string{"type": "state"}) // asks again, unless this has lost the match
			}
		case "end":
			result, known := map[string]string{"": "void", "draw": "drawn", begun.You: "won"}[told.Winner]
			if !known {
				result = "lost"
			}
			Say.Printf("%s: %s (%s)", told.Match, result, told.Why)
		case "standings":
			for _, row := range told.Rows {
				if row.Name == b.hello["name"] {
					place = fmt.Sprintf("rank %v of %d, %v points", row.Rank, len(told.Rows), row.Points)
				}
			}
			Say.Printf("%s is over%s: %s", told.Tournament, map[bool]string{true: " (its standings are frozen)"}[told.Frozen], place)
			out.Encode(map[string]string{"type": "bye"})
			return nil
		}
	}
}
