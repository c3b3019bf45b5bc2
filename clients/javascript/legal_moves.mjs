/**
 * The legal moves of the five games, in their short form, from the `turn` that `choose` is given.
 *
 * Copy it next to your bot, or write your own: `legalMoves("connect-4", turn)` returns `[0, 1, 2, …]`.
 */
const SIDES = [[0, 1], [1, 0], [0, -1], [-1, 0]]; // prettier-ignore

export function legalMoves(game, turn) {
  return MOVES[game](turn);
}

function ticTacToe({ state }) {
  return ["NW", "N", "NE", "W", "C", "E", "SW", "S", "SE"].filter((_, field) => state.board[field] === null);
}

function connect4({ state }) {
  return [0, 1, 2, 3, 4, 5, 6].filter((column) => state[6 * column + 5] === 0); // its top is empty
}

/** To build, the worker that has just moved is needed: `last` says where it stands. */
function santorini({ state: [status, , floors, first, second], you, last }) {
  const taken = [...first[1], ...second[1]].flatMap((x, n, all) => (n % 2 ? [] : [`${x} ${all[n + 1]}`]));
  const free = all(6, 6).filter(([x, y]) => !taken.includes(`${x} ${y}`) && floors[y][x] < 4);
  const near = (x, y) => free.filter(([a, b]) => Math.max(Math.abs(a - x), Math.abs(b - y)) === 1);
  if (status === "placeWorker") return free.map((to) => to.join(" "));
  if (status === "build") return near(last[1], last[2]).map((to) => to.join(" "));
  const mine = (you === "second" ? second : first)[1];
  return [1, 2].flatMap((worker) => {
    const [x, y] = mine.slice(2 * worker - 2);
    const low = near(x, y).filter(([a, b]) => floors[b][a] <= floors[y][x] + 1);
    return low.map((to) => `${worker} ${to.join(" ")}`);
  });
}

/** Steps, and every wall that overlaps and crosses none and leaves both pawns a way. */
function quoridor({ state, you }) {
  const seat = you === "second" ? 1 : 0;
  const walls = new Set(state.walls);
  const pawns = state.pawns.map(([column, row]) => [column.charCodeAt(0) - 97, row - 1]);
  const moves = steps(walls, pawns[seat], pawns[1 - seat]).map(square);
  if (state.left[seat] === 0) return moves;
  for (const [column, row] of all(8, 8)) {
    for (const way of ["h", "v"]) {
      const wall = square([column, row]) + way;
      const [dx, dy] = way === "h" ? [1, 0] : [0, 1];
      const along = [-1, 0, 1].map((n) => square([column + n * dx, row + n * dy]) + way);
      if ([...along, square([column, row]) + (way === "h" ? "v" : "h")].some((each) => walls.has(each))) continue;
      const after = new Set(walls).add(wall);
      if (arrives(after, pawns[0], 8) && arrives(after, pawns[1], 0)) moves.push(wall);
    }
  }
  return moves;
}

const square = ([column, row]) => String.fromCharCode(97 + column) + (row + 1);

/** Whether a step leads to the next square on that side: neither the rim nor a wall is between. */
function isOpen(walls, [column, row], [dx, dy]) {
  if (column + dx < 0 || column + dx > 8 || row + dy < 0 || row + dy > 8) return false;
  const [x, y] = [column + Math.min(dx, 0), row + Math.min(dy, 0)];
  const between = dx ? [square([x, y]) + "v", square([x, y - 1]) + "v"] : [square([x, y]) + "h", square([x - 1, y]) + "h"];
  return !between.some((wall) => walls.has(wall));
}

function steps(walls, mine, other) {
  const next = ([x, y], [dx, dy]) => [x + dx, y + dy];
  return SIDES.filter((side) => isOpen(walls, mine, side)).flatMap((side) => {
    const to = next(mine, side);
    if (square(to) !== square(other)) return [to];
    if (isOpen(walls, other, side)) return [next(other, side)]; // straight over the other pawn …
    const [dx, dy] = side; // … or past it, where that is shut
    return [[dy, dx], [-dy, -dx]].filter((turned) => isOpen(walls, other, turned)).map((turned) => next(other, turned)); // prettier-ignore
  });
}

function arrives(walls, pawn, goal) {
  const seen = new Set([square(pawn)]);
  const look = [pawn];
  while (look.length > 0) {
    const here = look.pop();
    if (here[1] === goal) return true;
    for (const [dx, dy] of SIDES) {
      const to = [here[0] + dx, here[1] + dy];
      if (!seen.has(square(to)) && isOpen(walls, here, [dx, dy])) {
        seen.add(square(to));
        look.push(to);
      }
    }
  }
  return false;
}

/** Lines that are not drawn yet and end at no captured centre. */
function hexagonDots({ state: { rows, cols, lines, hexagons } }) {
  const point = ({ row, col }) => `${row},${col}`;
  const drawn = new Set(lines.map(({ endpoints }) => endpoints.map(point).join(" ")));
  const there = new Set(all(rows, cols).filter(([row, col]) => col < cols - 1 + (row % 2)).map((each) => each.join())); // prettier-ignore
  for (const { center } of hexagons) there.delete(point(center));
  return [...there].flatMap((from) => {
    const [row, col] = from.split(",").map(Number);
    const below = col - (row % 2);
    const ends = [`${row},${col + 1}`, `${row + 1},${below}`, `${row + 1},${below + 1}`];
    return ends.filter((to) => there.has(to)).map((to) => `${from} ${to}`).filter((line) => !drawn.has(line)); // prettier-ignore
  });
}

/** Every pair of numbers below these two. */
function all(width, height) {
  return Array.from({ length: width * height }, (_, n) => [Math.floor(n / height), n % height]);
}

const MOVES = {
  "tic-tac-toe": ticTacToe,
  "connect-4": connect4,
  santorini,
  quoridor,
  "hexagon-dots": hexagonDots,
};
