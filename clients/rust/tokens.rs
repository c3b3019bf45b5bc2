//! Where the token of a bot is kept: whoever has it is the bot, and may come back to its match.

use std::collections::hash_map::RandomState;
use std::fs::{self, OpenOptions};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write};
use std::{env, os::unix::fs::OpenOptionsExt};

/// The token of a name on a host, and its file: the same each time, and readable for nobody else.
pub fn remembered(key: &str) -> io::Result<(String, String)> {
    let states = env::var("XDG_STATE_HOME").ok().filter(|states| !states.is_empty());
    let states = states.unwrap_or_else(|| env::var("HOME").unwrap_or(".".to_string()) + "/.local/state");
    let place = format!("{states}/quintain-bot/{}", key.replace('/', "_"));
    fs::create_dir_all(format!("{states}/quintain-bot")).map_err(|error| io::Error::other(format!("{place}: {error}")))?;
    if fs::metadata(&place).map_or(true, |kept| kept.len() == 0) {
        write!(OpenOptions::new().write(true).create(true).mode(0o600).open(&place)?, "{:016x}{:016x}", random(), random())?;
    }
    Ok((fs::read_to_string(&place)?.trim().to_string(), place))
}

/// A number that nobody can guess: the standard library seeds its hashes with what the system draws.
pub fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}
