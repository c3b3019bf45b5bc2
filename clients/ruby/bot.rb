# frozen_string_literal: true

# A bot for any of the games: any legal move. Better ideas go into `choose`.
#
#     ruby bot.rb              against a host on this machine
#     ruby bot.rb santorini    another game
#
# QUINTAIN_URL says where the host is, QUINTAIN_NAME what the bot is called.

require_relative "quintain"
require_relative "legal_moves"

GAME = ARGV.fetch(0, "connect-4")

# turn["state"] is the position, moves are all that may be played: return one of them.
def choose(_turn, moves)
  moves.sample
end

begin
  Quintain.play(GAME) { |turn| choose(turn, LegalMoves.of(GAME, turn)) }
rescue Quintain::Unwelcome => e
  abort e.message
rescue Interrupt
  exit 130
end
