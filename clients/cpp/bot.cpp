// A bot for any of the games: any legal move. Better ideas go into `choose`.
//
// QUINTAIN_URL says where the host is, QUINTAIN_NAME what the bot is called; an argument names another game.
#include <exception>
#include <iostream>
#include <random>

#include "legal_moves.hpp"
#include "quintain.hpp"

/// Returns one of the moves, which are all that may be played; turn["state"] is the position.
std::string choose([[maybe_unused]] const quintain::Json& turn, const quintain::Moves& moves) {
  static std::mt19937 random{std::random_device{}()};
  return moves[random() % moves.size()];
}

int main(int count, char** arguments) {
  const std::string game = count > 1 ? arguments[1] : "connect-4";
  const auto move = [&](const quintain::Json& turn, const std::string& you) {
    return choose(turn, quintain::legal_moves(game, turn, you));
  };
  try {
    quintain::Bot{game, move}.play();
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 1;
  }
}
