// The legal moves of the five games, in their short form, from the turn that a bot is given and the bot's seat.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "json.hpp"

namespace quintain {

using Moves = std::vector<std::string>;

struct Place {
  int x, y;
  bool operator==(const Place& other) const { return x == other.x && y == other.y; }
  Place operator+(const Place& side) const { return {x + side.x, y + side.y}; }
  std::string with(const char* between) const { return std::to_string(x) + between + std::to_string(y); }
};

inline Moves tic_tac_toe(const Json& state) {
  Moves moves;
  const auto board = state["board"].members();
  const std::array names{"NW", "N", "NE", "W", "C", "E", "SW", "S", "SE"};
  for (std::size_t field = 0; field < names.size(); field++)
    if (board[field].second.text == "null") moves.push_back(names[field]);
  return moves;
}

inline Moves connect_4(const Json& state) {
  Moves moves;
  const auto cells = state.members();
  for (int column = 0; column < 7; column++)
    if (cells[6 * column + 5].second.number() == 0) moves.push_back(std::to_string(column));  // its top is empty
  return moves;
}

/// To build, the worker that has just moved is needed: the last move says where it stands.
inline Moves santorini(const Json& state, const Json& last, int seat) {
  const auto parts = state.members();
  const std::string status = parts[0].second.string();
  int floors[6][6];
  for (int y = 0; y < 6; y++)
    for (int x = 0; x < 6; x++) floors[y][x] = parts[2].second.members()[y].second.members()[x].second.number();
  std::array<std::vector<Place>, 2> workers;
  for (int each = 0; each < 2; each++) {
    const auto numbers = parts[3 + each].second.members()[1].second.members();
    for (std::size_t n = 0; n < numbers.size(); n += 2)
      workers[each].push_back({numbers[n].second.number(), numbers[n + 1].second.number()});
  }
  Moves moves;
  const auto add = [&](const std::string& worker, const Place* from, int highest) {
    for (int n = 0; n < 36; n++) {
      const Place to{n / 6, n % 6};
      const int far = from ? std::max(std::abs(from->x - to.x), std::abs(from->y - to.y)) : 1;
      const auto stands = [&](const auto& places) { return std::count(places.begin(), places.end(), to) > 0; };
      const bool is_free = !stands(workers[0]) && !stands(workers[1]) && floors[to.y][to.x] < 4;
      if (far == 1 && is_free && floors[to.y][to.x] <= highest) moves.push_back(worker + to.with(" "));
    }
  };
  if (status == "placeWorker") {
    add("", nullptr, 3);
  } else if (status == "build") {
    const auto numbers = last.members();
    const Place builder{numbers[1].second.number(), numbers[2].second.number()};
    add("", &builder, 3);
  } else {
    for (int n = 0; n < 2; n++) {
      const Place& from = workers[seat][n];
      add(std::to_string(n + 1) + " ", &from, floors[from.y][from.x] + 1);
    }
  }
  return moves;
}

/// Where walls are in Quoridor: `lying` are those between rows, `upright` those between columns, by their squares.
struct Walls {
  bool there[2][10][10] = {};  // [upright][column + 1][row + 1]: a rim of one on the low sides

  bool& at(bool upright, int x, int y) { return there[upright][x + 1][y + 1]; }

  /// Whether a step leads to the next square on a side: neither the rim nor a wall is between.
  bool is_open(Place from, Place side) {
    const Place to = from + side;
    if (to.x < 0 || to.x > 8 || to.y < 0 || to.y > 8) return false;
    const int x = std::min(from.x, to.x), y = std::min(from.y, to.y);
    return side.x ? !at(true, x, y) && !at(true, x, y - 1) : !at(false, x, y) && !at(false, x - 1, y);
  }

  bool arrives(Place pawn, int goal) {
    bool seen[9][9] = {};
    seen[pawn.x][pawn.y] = true;
    for (std::vector<Place> look{pawn}; !look.empty();) {
      const Place here = look.back();
      look.pop_back();
      if (here.y == goal) return true;
      for (const Place side : {Place{0, 1}, Place{1, 0}, Place{0, -1}, Place{-1, 0}}) {
        const Place to = here + side;
        if (!is_open(here, side) || seen[to.x][to.y]) continue;
        seen[to.x][to.y] = true;
        look.push_back(to);
      }
    }
    return false;
  }
};

inline std::string square(Place place) { return {static_cast<char>('a' + place.x), static_cast<char>('1' + place.y)}; }

/// Steps, and every wall that overlaps and crosses none and leaves both pawns a way.
inline Moves quoridor(const Json& state, int seat) {
  Walls walls;
  for (const auto& [_, wall] : state["walls"].members()) {
    const std::string name = wall.string();
    walls.at(name[2] == 'v', name[0] - 'a', name[1] - '1') = true;
  }
  std::vector<Place> pawns;
  for (const auto& [_, pawn] : state["pawns"].members()) pawns.push_back({pawn.string()[0] - 'a', pawn.string()[1] - '1'});
  const Place mine = pawns[seat], other = pawns[1 - seat];
  Moves moves;
  for (const Place side : {Place{0, 1}, Place{1, 0}, Place{0, -1}, Place{-1, 0}}) {
    if (!walls.is_open(mine, side)) continue;
    if (!(mine + side == other)) {
      moves.push_back(square(mine + side));
    } else if (walls.is_open(other, side)) {  // straight over the other pawn …
      moves.push_back(square(other + side));
    } else {  // … or past it, where that is shut
      for (const Place turned : {Place{side.y, side.x}, Place{-side.y, -side.x}})
        if (walls.is_open(other, turned)) moves.push_back(square(other + turned));
    }
  }
  if (state["left"].members()[seat].second.number() == 0) return moves;
  for (int n = 0; n < 128; n++) {
    const bool upright = n % 2;
    const int x = n / 16, y = n / 2 % 8, dx = !upright, dy = upright;
    if (walls.at(upright, x, y) || walls.at(!upright, x, y)) continue;
    if (walls.at(upright, x - dx, y - dy) || walls.at(upright, x + dx, y + dy)) continue;
    walls.at(upright, x, y) = true;
    if (walls.arrives(pawns[0], 8) && walls.arrives(pawns[1], 0)) moves.push_back(square({x, y}) + (upright ? 'v' : 'h'));
    walls.at(upright, x, y) = false;
  }
  return moves;
}

/// Lines that are not drawn yet and end at no captured centre.
inline Moves hexagon_dots(const Json& state) {
  const int rows = state["rows"].number(), cols = state["cols"].number();
  const auto point = [](const Json& each) { return each["row"].text + "," + each["col"].text; };
  std::set<std::string> drawn, shut;
  for (const auto& [_, line] : state["lines"].members()) {
    const auto ends = line["endpoints"].members();
    drawn.insert(point(ends[0].second) + " " + point(ends[1].second));
  }
  for (const auto& [_, hexagon] : state["hexagons"].members()) shut.insert(point(hexagon["center"]));
  const auto is_there = [&](Place at) {
    return at.x < rows && at.y >= 0 && at.y < cols - 1 + at.x % 2 && !shut.count(at.with(","));
  };
  Moves moves;
  for (int n = 0; n < rows * cols; n++) {
    const Place from{n / cols, n % cols};
    const int below = from.y - from.x % 2;
    for (const Place to : {Place{from.x, from.y + 1}, Place{from.x + 1, below}, Place{from.x + 1, below + 1}}) {
      const std::string line = from.with(",") + " " + to.with(",");
      if (is_there(from) && is_there(to) && !drawn.count(line)) moves.push_back(line);
    }
  }
  return moves;
}

inline Moves legal_moves(const std::string& game, const Json& turn, const std::string& you) {
  const Json state = turn["state"];
  const int seat = you == "second";
  if (game == "tic-tac-toe") return tic_tac_toe(state);
  if (game == "connect-4") return connect_4(state);
  if (game == "santorini") return santorini(state, turn["last"], seat);
  if (game == "quoridor") return quoridor(state, seat);
  if (game == "hexagon-dots") return hexagon_dots(state);
  throw std::runtime_error("there are no legal moves of " + game + " here");
}

}  // namespace quintain
