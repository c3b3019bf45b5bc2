//! A bot for any of the games: any legal move. Better ideas go into `choose`.
//!
//! QUINTAIN_URL says where the host is, QUINTAIN_NAME what the bot is called; an argument names another game.

mod json;
mod legal_moves;
mod quintain;
mod tokens;

use json::Json;
use std::io::Write;

/// Returns one of the moves, which are all that may be played; `turn.get("state")` is the position.
fn choose(_turn: Json, moves: &[String]) -> String {
    moves[tokens::random() as usize % moves.len()].clone()
}

fn main() {
    let game = std::env::args().nth(1).unwrap_or("connect-4".to_string());
    let choice = |turn: Json, you: &str| choose(turn, &legal_moves::legal_moves(&game, turn, you));
    let say = |line: &str| drop(writeln!(std::io::stdout(), "{line}")); // a full disk costs no match
    if let Err(error) = quintain::play(&game, choice, say) {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
