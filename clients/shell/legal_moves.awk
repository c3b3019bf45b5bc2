# The legal moves of the five games, one a line, from the turn that a program is given on each line:
#
#     awk -v game=quoridor -f legal_moves.awk

{
    you = $0 ~ /"you":"second"/ ? 2 : 1
    if (game == "tic-tac-toe") tic_tac_toe()
    else if (game == "connect-4") connect_4()
    else if (game == "santorini") santorini()
    else if (game == "quoridor") quoridor()
    else if (game == "hexagon-dots") hexagon_dots()
}

# The items of the array of that name, without their quotation marks; returns how many there are.
function list(name, items,    text) {
    if (!match($0, "\"" name "\":\\[[^]]*\\]")) return 0
    text = substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 5)
    gsub(/"/, "", text)
    return split(text, items, ",")
}

function number(name) {
    match($0, "\"" name "\":[0-9]+")
    return substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) + 0
}

function tic_tac_toe(    n, board, names) {
    list("board", board)
    split("NW N NE W C E SW S SE", names, " ")
    for (n = 1; n <= 9; n++) if (board[n] == "null") print names[n]
}

function connect_4(    n, cells) {
    list("state", cells)
    for (n = 0; n < 7; n++) if (cells[6 * n + 6] == 0) print n # its top is empty
}

# To build, the worker that has just moved is needed: the last move says where it stands.
function santorini(    text, parts, floors, taken, workers, last, status, n, seat, x, y, worker) {
    text = substr($0, index($0, "\"state\":["))
    status = text ~ /^"state":\["placeWorker"/ ? "place" : text ~ /^"state":\["build"/ ? "build" : "move"
    gsub(/"([^"\\]|\\.)*"/, "", text) # no name is taken for a number
    split(text, parts, /\[\[|\]\]|\],\[,\[/) # before the floors, the floors, and the workers of both
    gsub(/[^0-9,]/, "", parts[2])
    split(parts[2], floors, ",") # six a row
    for (seat = 1; seat <= 2; seat++) {
        gsub(/[^0-9,]/, "", parts[2 + seat])
        sub(/^,+/, "", parts[2 + seat])
        sub(/,+$/, "", parts[2 + seat])
        n = split(parts[2 + seat], workers, ",")
        for (; n > 0; n -= 2) {
            taken[workers[n - 1], workers[n]] = 1
            if (seat == you) { own[n / 2, "x"] = workers[n - 1]; own[n / 2, "y"] = workers[n] }
        }
    }
    list("last", last)
    for (worker = 1; worker <= (status == "move" ? 2 : 1); worker++)
        for (n = 0; n < 36; n++) {
            x = int(n / 6); y = n % 6
            if ((x, y) in taken || floors[6 * y + x + 1] == 4) continue
            if (status == "place") print x " " y
            else if (status == "build") { if (near(last[2], last[3], x, y)) print x " " y }
            else if (near(own[worker, "x"], own[worker, "y"], x, y) \
                && floors[6 * y + x + 1] <= floors[6 * own[worker, "y"] + own[worker, "x"] + 1] + 1)
                print worker " " x " " y
        }
}

function near(x, y, other_x, other_y) {
    return (x - other_x) ^ 2 <= 1 && (y - other_y) ^ 2 <= 1 && (x != other_x || y != other_y)
}

# Steps, and every wall that overlaps and crosses none and leaves both pawns a way. Columns and rows count from 1.
function quoridor(    n, side, way, x, y, names, left, dx, dy) {
    split("", walls)
    for (n = list("walls", names); n > 0; n--) walls[column(names[n]), substr(names[n], 2, 1), substr(names[n], 3)] = 1
    list("pawns", names)
    for (n = 1; n <= 2; n++) { pawn_x[n] = column(names[n]); pawn_y[n] = substr(names[n], 2) + 0 }
    split("0 1 0 -1", side_x, " ")
    split("1 0 -1 0", side_y, " ")
    for (side = 1; side <= 4; side++) {
        if (!is_open(pawn_x[you], pawn_y[you], side)) continue
        x = pawn_x[you] + side_x[side]; y = pawn_y[you] + side_y[side]
        if (x != pawn_x[3 - you] || y != pawn_y[3 - you]) print square(x, y)
        else if (is_open(x, y, side)) print square(x + side_x[side], y + side_y[side]) # straight over the other pawn …
        else for (n = 1; n <= 3; n += 2) { # … or past it, where that is shut
            way = (side + n - 1) % 4 + 1
            if (is_open(x, y, way)) print square(x + side_x[way], y + side_y[way])
        }
    }
    list("left", left)
    for (n = 0; n < 128 && left[you] > 0; n++) {
        x = int(n / 16) + 1; y = int(n / 2) % 8 + 1; way = n % 2 ? "v" : "h"; dx = 1 - n % 2; dy = n % 2
        if ((x, y, "h") in walls || (x, y, "v") in walls) continue
        if ((x - dx, y - dy, way) in walls || (x + dx, y + dy, way) in walls) continue
        walls[x, y, way] = 1
        if (arrives(1, 9) && arrives(2, 1)) print square(x, y) way
        delete walls[x, y, way]
    }
}

function column(name) { return index("abcdefghi", substr(name, 1, 1)) }

function square(x, y) { return substr("abcdefghi", x, 1) y }

# Whether a step leads to the next square on that side: neither the rim nor a wall is between.
function is_open(x, y, side,    dx, dy) {
    dx = side_x[side]; dy = side_y[side]
    if (x + dx < 1 || x + dx > 9 || y + dy < 1 || y + dy > 9) return 0
    if (dx < 0) x--
    if (dy < 0) y--
    return dx ? !((x, y, "v") in walls) && !((x, y - 1, "v") in walls) : !((x, y, "h") in walls) && !((x - 1, y, "h") in walls)
}

function arrives(pawn, goal,    seen, look, count, x, y, side, to) {
    count = 1
    look[1] = 10 * pawn_x[pawn] + pawn_y[pawn]
    seen[look[1]] = 1
    while (count > 0) {
        x = int(look[count] / 10); y = look[count--] % 10
        if (y == goal) return 1
        for (side = 1; side <= 4; side++) {
            to = 10 * (x + side_x[side]) + y + side_y[side]
            if (to in seen || !is_open(x, y, side)) continue
            seen[to] = 1
            look[++count] = to
        }
    }
    return 0
}

# Lines that are not drawn yet and end at no captured centre.
function hexagon_dots(    rows, cols, row, col, n, to_row, to_col) {
    rows = number("rows"); cols = number("cols")
    for (row = 0; row < rows; row++)
        for (col = 0; col < cols; col++)
            for (n = 0; n < 3; n++) {
                to_row = row + (n > 0); to_col = n ? col - row % 2 + n - 1 : col + 1
                if (!is_free(row, col, rows, cols) || !is_free(to_row, to_col, rows, cols)) continue
                if (!index($0, "\"endpoints\":[" point(row, col) "," point(to_row, to_col) "]"))
                    print row "," col " " to_row "," to_col
            }
}

function point(row, col) { return "{\"row\":" row ",\"col\":" col "}" }

function is_free(row, col, rows, cols) {
    return row < rows && col >= 0 && col < cols - 1 + row % 2 && !index($0, "\"center\":" point(row, col))
}
