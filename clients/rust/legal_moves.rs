//! The legal moves of the five games, in their short form, from the turn that a bot is given and the bot's seat.

use crate::json::Json;
use std::collections::HashSet;

type Place = (i32, i32);

const SIDES: [Place; 4] = [(0, 1), (1, 0), (0, -1), (-1, 0)];

pub fn legal_moves(game: &str, turn: Json, you: &str) -> Vec<String> {
    let (state, seat) = (turn.get("state"), usize::from(you == "second"));
    match game {
        "tic-tac-toe" => tic_tac_toe(&state.get("board").items()),
        "connect-4" => connect_4(&state.numbers()),
        "santorini" => santorini(&state.items(), &turn.get("last").numbers(), seat),
        "quoridor" => quoridor(state, seat),
        "hexagon-dots" => hexagon_dots(state),
        _ => panic!("there are no legal moves of {game} here"),
    }
}

fn tic_tac_toe(board: &[Json]) -> Vec<String> {
    let names = ["NW", "N", "NE", "W", "C", "E", "SW", "S", "SE"];
    let empty = names.iter().zip(board).filter(|(_, symbol)| symbol.is_null());
    empty.map(|(name, _)| name.to_string()).collect()
}

fn connect_4(cells: &[i32]) -> Vec<String> {
    let open = (0..7).filter(|column| cells[6 * column + 5] == 0); // its top is empty
    open.map(|column| column.to_string()).collect()
}

/// To build, the worker that has just moved is needed: the last move says where it stands.
fn santorini(state: &[Json], last: &[i32], seat: usize) -> Vec<String> {
    let floors: Vec<Vec<i32>> = state[2].items().into_iter().map(Json::numbers).collect();
    let height = |(x, y): Place| floors[y as usize][x as usize];
    let standing = |seat: usize| -> Vec<Place> {
        let numbers = state[3 + seat].items()[1].numbers();
        numbers.chunks(2).map(|pair| (pair[0], pair[1])).collect()
    };
    let taken = [standing(0), standing(1)].concat();
    let free: Vec<Place> = all(6, 6).filter(|&to| height(to) < 4 && !taken.contains(&to)).collect();
    let near =
        |from: Place| free.iter().copied().filter(move |to| (to.0 - from.0).abs().max((to.1 - from.1).abs()) == 1);
    let field = |(x, y): Place| format!("{x} {y}");
    match state[0].string().as_str() {
        "placeWorker" => free.iter().copied().map(field).collect(),
        "build" => near((last[1], last[2])).map(field).collect(),
        _ => {
            let mut moves = Vec::new();
            for (worker, from) in (1..).zip(standing(seat)) {
                let low = near(from).filter(|&to| height(to) <= height(from) + 1);
                moves.extend(low.map(|to| format!("{worker} {}", field(to))));
            }
            moves
        }
    }
}

/// Walls by the square that they begin at; `true` for those that stand upright between columns.
type Walls = HashSet<(i32, i32, bool)>;

/// Steps, and every wall that overlaps and crosses none and leaves both pawns a way.
fn quoridor(state: Json, seat: usize) -> Vec<String> {
    let place = |name: &str| (i32::from(name.as_bytes()[0] - b'a'), i32::from(name.as_bytes()[1] - b'1'));
    let square = |(x, y): Place| format!("{}{}", char::from(b'a' + x as u8), y + 1);
    let mut walls = Walls::new();
    for name in state.get("walls").items().into_iter().map(Json::string) {
        let (x, y) = place(&name);
        walls.insert((x, y, name.ends_with('v')));
    }
    let pawns: Vec<Place> = state.get("pawns").items().into_iter().map(|pawn| place(&pawn.string())).collect();
    let mut moves: Vec<String> = steps(&walls, pawns[seat], pawns[1 - seat]).into_iter().map(square).collect();
    if state.get("left").numbers()[seat] == 0 {
        return moves;
    }
    for (x, y) in all(8, 8) {
        for upright in [false, true] {
            let (dx, dy) = if upright { (0, 1) } else { (1, 0) };
            let clashes = [(x, y, upright), (x, y, !upright), (x - dx, y - dy, upright), (x + dx, y + dy, upright)];
            if clashes.iter().any(|wall| walls.contains(wall)) {
                continue;
            }
            walls.insert((x, y, upright));
            if arrives(&walls, pawns[0], 8) && arrives(&walls, pawns[1], 0) {
                moves.push(square((x, y)) + if upright { "v" } else { "h" });
            }
            walls.remove(&(x, y, upright));
        }
    }
    moves
}

/// Whether a step leads to the next square on that side: neither the rim nor a wall is between.
fn is_open(walls: &Walls, from: Place, side: Place) -> bool {
    let to = (from.0 + side.0, from.1 + side.1);
    let (x, y) = (from.0.min(to.0), from.1.min(to.1));
    let between = if side.0 == 0 { [(x, y, false), (x - 1, y, false)] } else { [(x, y, true), (x, y - 1, true)] };
    (0..9).contains(&to.0) && (0..9).contains(&to.1) && !between.iter().any(|wall| walls.contains(wall))
}

fn steps(walls: &Walls, mine: Place, other: Place) -> Vec<Place> {
    let beside = |from: Place, side: Place| (from.0 + side.0, from.1 + side.1);
    let mut steps = Vec::new();
    for side in SIDES.into_iter().filter(|&side| is_open(walls, mine, side)) {
        if beside(mine, side) != other {
            steps.push(beside(mine, side));
        } else if is_open(walls, other, side) {
            steps.push(beside(other, side)); // straight over the other pawn …
        } else {
            let turned = [(side.1, side.0), (-side.1, -side.0)]; // … or past it, where that is shut
            steps.extend(turned.into_iter().filter(|&way| is_open(walls, other, way)).map(|way| beside(other, way)));
        }
    }
    steps
}

fn arrives(walls: &Walls, pawn: Place, goal: i32) -> bool {
    let (mut seen, mut look) = (HashSet::from([pawn]), vec![pawn]);
    while let Some(here) = look.pop() {
        if here.1 == goal {
            return true;
        }
        for side in SIDES.into_iter().filter(|&side| is_open(walls, here, side)) {
            let to = (here.0 + side.0, here.1 + side.1);
            if seen.insert(to) {
                look.push(to);
            }
        }
    }
    false
}

/// Lines that are not drawn yet and end at no captured centre.
fn hexagon_dots(state: Json) -> Vec<String> {
    let (rows, cols) = (state.get("rows").number(), state.get("cols").number());
    let point = |each: Json| (each.get("row").number(), each.get("col").number());
    let ends = |line: Json| line.get("endpoints").items().into_iter().map(point).collect::<Vec<Place>>();
    let drawn: HashSet<Vec<Place>> = state.get("lines").items().into_iter().map(ends).collect();
    let shut: HashSet<Place> =
        state.get("hexagons").items().into_iter().map(|each| point(each.get("center"))).collect();
    let there: HashSet<Place> = all(rows, cols).filter(|at| at.1 < cols - 1 + at.0 % 2 && !shut.contains(at)).collect();
    let mut moves = Vec::new();
    for &(row, col) in &there {
        let below = col - row % 2;
        for to in [(row, col + 1), (row + 1, below), (row + 1, below + 1)] {
            if there.contains(&to) && !drawn.contains(&vec![(row, col), to]) {
                moves.push(format!("{row},{col} {},{}", to.0, to.1));
            }
        }
    }
    moves
}

/// Every pair of numbers below these two.
fn all(width: i32, height: i32) -> impl Iterator<Item = Place> {
    (0..width).flat_map(move |x| (0..height).map(move |y| (x, y)))
}
