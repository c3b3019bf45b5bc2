package main

import (
	"encoding/json"
	"fmt"
)

// LegalMoves returns the legal moves of any of the five games, from the turn that a bot is given.
func LegalMoves(game string, turn Message) []any {
	return map[string]func(Message) []any{
		"tic-tac-toe":  ticTacToe,
		"connect-4":    connect4,
		"santorini":    santorini,
		"quoridor":     quoridor,
		"hexagon-dots": hexagonDots,
	}[game](turn)
}

type point struct{ x, y int }

func (p point) plus(other point) point {
	return point{p.x + other.x, p.y + other.y}
}

func ticTacToe(turn Message) (moves []any) {
	var state struct{ Board []*string }
	read(turn.State, &state)
	for field, name := range []string{"NW", "N", "NE", "W", "C", "E", "SW", "S", "SE"} {
		if state.Board[field] == nil {
			moves = append(moves, name)
		}
	}
	return moves
}

func connect4(turn Message) (moves []any) {
	var cells []int
	read(turn.State, &cells)
	for column := 0; column < 7; column++ {
		if cells[6*column+5] == 0 { // its top is empty
			moves = append(moves, column)
		}
	}
	return moves
}

// To build, the worker that has just moved is needed: turn.Last says where it stands.
func santorini(turn Message) (moves []any) {
	var status, name string
	var floors [6][6]int
	var workers [2][]int
	read(turn.State, &[]any{&status, &name, &floors, &[]any{&name, &workers[0]}, &[]any{&name, &workers[1]}})
	near := func(from point, most int, how string) {
		for x := 0; x < 6; x++ {
			for y := 0; y < 6; y++ {
				far := (x-from.x)*(x-from.x) + (y-from.y)*(y-from.y)
				if (from.x < 0 || far == 1 || far == 2) && floors[y][x] <= most && !stands(workers, x, y) {
					moves = append(moves, fmt.Sprintf("%s%d %d", how, x, y))
				}
			}
		}
	}
	switch status {
	case "placeWorker":
		near(point{-1, -1}, 3, "")
	case "build":
		var last [3]int
		read(turn.Last, &last)
		near(point{last[1], last[2]}, 3, "")
	default:
		mine := workers[seat(turn)]
		for worker := 1; worker <= 2; worker++ {
			x, y := mine[2*worker-2], mine[2*worker-1]
			most := floors[y][x] + 1
			if most > 3 {
				most = 3
			}
			near(point{x, y}, most, fmt.Sprintf("%d ", worker))
		}
	}
	return moves
}

func stands(workers [2][]int, x, y int) bool {
	for _, numbers := range workers {
		for n := 0; n < len(numbers); n += 2 {
			if numbers[n] == x && numbers[n+1] == y {
				return true
			}
		}
	}
	return false
}

// A wall is named by the square that it begins at; it stands upright between columns, or lies between rows.
type wall struct {
	point
	upright bool
}

type walls map[wall]bool

var sides = []point{{0, 1}, {1, 0}, {0, -1}, {-1, 0}}

// Steps, and every wall that overlaps and crosses none and leaves both pawns a way.
func quoridor(turn Message) (moves []any) {
	var state struct {
		Pawns, Walls []string
		Left         []int
	}
	read(turn.State, &state)
	there := walls{}
	for _, name := range state.Walls {
		there[wall{place(name), name[2] == 'v'}] = true
	}
	first, second, seat := place(state.Pawns[0]), place(state.Pawns[1]), seat(turn)
	mine, other := first, second
	if seat == 1 {
		mine, other = second, first
	}
	for _, to := range there.steps(mine, other) {
		moves = append(moves, to.name())
	}
	for n := 0; n < 128 && state.Left[seat] > 0; n++ {
		each := wall{point{n / 16, n / 2 % 8}, n%2 == 1}
		if there.clashWith(each) {
			continue
		}
		there[each] = true
		if there.arrives(first, 8) && there.arrives(second, 0) {
			moves = append(moves, each.name()+map[bool]string{false: "h", true: "v"}[each.upright])
		}
		delete(there, each)
	}
	return moves
}

func (there walls) clashWith(new wall) bool {
	along := point{1, 0}
	if new.upright {
		along = point{0, 1}
	}
	before, after := point{new.x - along.x, new.y - along.y}, new.plus(along)
	crossing := wall{new.point, !new.upright}
	return there[new] || there[crossing] || there[wall{before, new.upright}] || there[wall{after, new.upright}]
}

// isOpen tells whether a step leads to the next square on a side: neither the rim nor a wall is between.
func (there walls) isOpen(from, side point) bool {
	to := from.plus(side)
	if to.x < 0 || to.x > 8 || to.y < 0 || to.y > 8 {
		return false
	}
	low := from
	if side.x+side.y < 0 {
		low = to
	}
	if side.x != 0 {
		return !there[wall{low, true}] && !there[wall{point{low.x, low.y - 1}, true}]
	}
	return !there[wall{low, false}] && !there[wall{point{low.x - 1, low.y}, false}]
}

func (there walls) steps(mine, other point) (to []point) {
	for _, side := range sides {
		if !there.isOpen(mine, side) {
			continue
		}
		if next := mine.plus(side); next != other {
			to = append(to, next)
		} else if there.isOpen(other, side) { // straight over the other pawn …
			to = append(to, other.plus(side))
		} else { // … or past it, where that is shut
			for _, turned := range []point{{side.y, side.x}, {-side.y, -side.x}} {
				if there.isOpen(other, turned) {
					to = append(to, other.plus(turned))
				}
			}
		}
	}
	return to
}

func (there walls) arrives(pawn point, goal int) bool {
	seen := map[point]bool{pawn: true}
	for look := []point{pawn}; len(look) > 0; {
		here := look[len(look)-1]
		look = look[:len(look)-1]
		if here.y == goal {
			return true
		}
		for _, side := range sides {
			if to := here.plus(side); !seen[to] && there.isOpen(here, side) {
				seen[to] = true
				look = append(look, to)
			}
		}
	}
	return false
}

func place(name string) point {
	return point{int(name[0] - 'a'), int(name[1] - '1')}
}

func (p point) name() string {
	return fmt.Sprintf("%c%d", 'a'+p.x, p.y+1)
}

// Lines that are not drawn yet and end at no captured centre.
func hexagonDots(turn Message) (moves []any) {
	type dot struct{ Row, Col int }
	var state struct {
		Rows, Cols int
		Lines      []struct{ Endpoints [2]dot }
		Hexagons   []struct{ Center dot }
	}
	read(turn.State, &state)
	drawn, shut := map[[2]dot]bool{}, map[dot]bool{}
	for _, line := range state.Lines {
		drawn[line.Endpoints] = true
	}
	for _, hexagon := range state.Hexagons {
		shut[hexagon.Center] = true
	}
	isFree := func(p dot) bool {
		return p.Row < state.Rows && p.Col >= 0 && p.Col < state.Cols-1+p.Row%2 && !shut[p]
	}
	for n := 0; n < state.Rows*state.Cols; n++ {
		from := dot{n / state.Cols, n % state.Cols}
		below := from.Col - from.Row%2
		for _, to := range []dot{{from.Row, from.Col + 1}, {from.Row + 1, below}, {from.Row + 1, below + 1}} {
			if isFree(from) && isFree(to) && !drawn[[2]dot{from, to}] {
				moves = append(moves, fmt.Sprintf("%d,%d %d,%d", from.Row, from.Col, to.Row, to.Col))
			}
		}
	}
	return moves
}

func seat(turn Message) int {
	if turn.You == "second" {
		return 1
	}
	return 0
}

func read(from json.RawMessage, to any) {
	if err := json.Unmarshal(from, to); err != nil {
		panic(err)
	}
}
