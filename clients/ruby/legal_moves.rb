# frozen_string_literal: true

# The legal moves of the five games, in their short form, from the turn that a bot is given.
#
# Copy it next to your bot, or write your own: LegalMoves.of("connect-4", turn) returns [0, 1, 2, …].
module LegalMoves
  SIDES = [[0, 1], [1, 0], [0, -1], [-1, 0]].freeze

  module_function

  def of(game, turn)
    public_send(game.tr("-", "_"), turn)
  end

  def tic_tac_toe(turn)
    names = %w[NW N NE W C E SW S SE]
    names.reject.with_index { |_, field| turn["state"]["board"][field] }
  end

  def connect_4(turn)
    (0..6).select { |column| turn["state"][6 * column + 5].zero? } # its top is empty
  end

  # To build, the worker that has just moved is needed: "last" says where it stands.
  def santorini(turn)
    status, _, floors, first, second = turn["state"]
    taken = [first, second].flat_map { |_, numbers| numbers.each_slice(2).to_a }
    free = all(6, 6).select { |x, y| floors[y][x] < 4 } - taken
    return free.map { |to| to.join(" ") } if status == "placeWorker"
    return near(turn["last"].last(2), free).map { |to| to.join(" ") } if status == "build"

    mine = (turn["you"] == "second" ? second : first).last
    mine.each_slice(2).with_index(1).flat_map do |(x, y), worker|
      low = near([x, y], free).select { |a, b| floors[b][a] <= floors[y][x] + 1 }
      low.map { |to| "#{worker} #{to.join(" ")}" }
    end
  end

  def near(field, others)
    others.select { |x, y| [(x - field[0]).abs, (y - field[1]).abs].max == 1 }
  end

  # Steps, and every wall that overlaps and crosses none and leaves both pawns a way.
  def quoridor(turn)
    state = turn["state"]
    seat = turn["you"] == "second" ? 1 : 0
    walls = state["walls"].to_h { |wall| [wall, true] }
    pawns = state["pawns"].map { |name| [name.ord - "a".ord, name[1].to_i - 1] }
    moves = steps(walls, pawns[seat], pawns[1 - seat]).map { |to| square(*to) }
    return moves if state["left"][seat].zero?

    moves + all(8, 8).product(%w[h v]).filter_map do |(column, row), way|
      wall = square(column, row) + way
      next if clashes(column, row, way).any? { |other| walls[other] }

      after = walls.merge(wall => true)
      wall if arrives?(after, pawns[0], 8) && arrives?(after, pawns[1], 0)
    end
  end

  def square(column, row)
    "#{("a".ord + column).chr}#{row + 1}"
  end

  def clashes(column, row, way)
    across, along = way == "h" ? [1, 0] : [0, 1]
    same = [-1, 0, 1].select { |n| column + n * across >= 0 }
    same.map { |n| square(column + n * across, row + n * along) + way } << square(column, row) + (way == "h" ? "v" : "h")
  end

  # Whether a step leads to the next square on that side: neither the rim nor a wall is between.
  def open?(walls, (column, row), (across, along))
    return false unless (0..8).cover?(column + across) && (0..8).cover?(row + along)

    column += [across, 0].min
    row += [along, 0].min
    return !walls["#{square(column, row)}v"] && !walls["#{square(column, row - 1)}v"] unless across.zero?

    !walls["#{square(column, row)}h"] && !walls["#{square(column - 1, row)}h"]
  end

  def steps(walls, mine, other)
    SIDES.select { |side| open?(walls, mine, side) }.flat_map do |side|
      to = beside(mine, side)
      next [to] if to != other
      next [beside(other, side)] if open?(walls, other, side) # straight over the other pawn …

      turned = [side.reverse, side.reverse.map(&:-@)] # … or past it, where that is shut
      turned.select { |way| open?(walls, other, way) }.map { |way| beside(other, way) }
    end
  end

  def beside(place, side)
    [place[0] + side[0], place[1] + side[1]]
  end

  def arrives?(walls, pawn, goal)
    seen = { pawn => true }
    look = [pawn]
    while (here = look.pop)
      return true if here[1] == goal

      SIDES.each do |side|
        to = beside(here, side)
        next if seen[to] || !open?(walls, here, side)

        seen[to] = true
        look << to
      end
    end
    false
  end

  # Lines that are not drawn yet and end at no captured centre.
  def hexagon_dots(turn)
    state = turn["state"]
    drawn = state["lines"].map { |line| line["endpoints"].map { |point| point.values_at("row", "col") } }
    shut = state["hexagons"].map { |hexagon| hexagon["center"].values_at("row", "col") }
    there = all(state["rows"], state["cols"]).select { |row, col| col < state["cols"] - 1 + row % 2 } - shut
    lines = there.flat_map do |row, col|
      below = col - row % 2
      ends = [[row, col + 1], [row + 1, below], [row + 1, below + 1]]
      (ends & there).map { |to| [[row, col], to] }
    end
    (lines - drawn).map { |line| line.map { |point| point.join(",") }.join(" ") }
  end

  # Every pair of numbers below these two.
  def all(width, height)
    (0...width).to_a.product((0...height).to_a)
  end
end
