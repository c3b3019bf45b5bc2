//! Play on a Quintain host: the house protocol over TCP, with nothing but the standard library, on Unix.
//!
//!     quintain::play("connect-4", |turn, you| "3".to_string(), |line| println!("{line}"))
//!
//! The function is given the host's message and the bot's seat ("first" or "second", in Tic-Tac-Toe "O" or "X"). It
//! returns a move in its short form: "3", "SE", "e3h", "1 2 3" or "0,0 0,1". After a lost connection, or if it is
//! started again within half a minute, the bot goes on with its match.

use crate::json::Json;
use crate::tokens::{random, remembered};
use std::io::{self, BufRead, BufReader, LineWriter, Write};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::{env, thread, time::Duration, time::Instant};

struct Bot<Choose> {
    choose: Choose,
    say: fn(&str),
    url: String,
    name: String,
    hello: String,
    tournament: String, // where it comes back to, as JSON
    inside: bool,       // on this connection
}

/// Plays until the tournament is over; the error says why it cannot. `say` is told what happens.
pub fn play(game: &str, choose: impl FnMut(Json, &str) -> String, say: fn(&str)) -> io::Result<()> {
    let url = env::var("QUINTAIN_URL").unwrap_or("tcp://127.0.0.1:8000".to_string());
    let name = env::var("QUINTAIN_NAME").unwrap_or("rust-bot".to_string());
    let address = url.strip_prefix("tcp://").unwrap_or_default().trim_end_matches('/');
    let address = address.to_string() + if address.rfind(':') > address.rfind(']') { "" } else { ":8000" };
    let host = address.rsplit_once(':').map_or("", |(host, _)| host);
    let (token, place) = remembered(&format!("{}-{game}-{name}", host.trim_matches(['[', ']'])))?;
    say(&format!("the token is kept in {place}"));
    let quoted = name.replace('\\', r"\\").replace('"', r#"\""#);
    let hello = format!(r#""type":"hello","name":"{quoted}","game":"{game}","token":"{token}""#);
    let mut bot = Bot { choose, say, url, name, hello, tournament: "null".to_string(), inside: false };
    let (mut lost, mut wait): (Option<Instant>, u64) = (None, 250); // milliseconds
    loop {
        bot.inside = false;
        let Err(error) = TcpStream::connect(&address).and_then(|stream| bot.visit(stream)) else { return Ok(()) };
        if bot.inside {
            (lost, wait) = (Some(Instant::now()), 250);
        }
        let why = if host.is_empty() { "expected an address like tcp://127.0.0.1:8000".to_string() } else { error.to_string() };
        let has = |words: &str| why.contains(words);
        let is_over = has("has taken over") || has("ask its organiser") || lost.map_or(true, |at| at.elapsed().as_secs() > 120);
        if is_over && !has("come again later") && !has("wait for a minute") {
            return Err(io::Error::new(error.kind(), format!("cannot play on {}: {why}", bot.url)));
        }
        say(&format!("the connection is lost ({why}): trying again"));
        thread::sleep(Duration::from_millis(wait / 2 + random() % (wait / 2)));
        wait = (2 * wait).min(15_000);
    }
}

impl<Choose: FnMut(Json, &str) -> String> Bot<Choose> {
    /// Plays from the hello to the standings; an error says why the connection ended before.
    fn visit(&mut self, stream: TcpStream) -> io::Result<()> {
        let say = self.say;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(15)))?; // to say welcome
        look_for_the_host(&stream);
        let mut out = LineWriter::new(stream.try_clone()?); // where it fails, what is read next says why
        writeln!(out, r#"{{{},"tournament":{}}}"#, self.hello, self.tournament)?;
        let (mut you, mut answered, mut reason) = (String::new(), String::new(), "the host hung up".to_string());
        let (mut lines, mut line) = (BufReader::new(stream), String::new());
        loop {
            match lines.read_line(&mut line) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(io::Error::other("the host does not answer")),
                Ok(_) if line.ends_with('\n') => {}
                _ => return Err(io::Error::other(reason)),
            }
            let told = Json(line.trim_end());
            reason = "the host hung up".to_string(); // it may do so next, or say why it does
            let (game, ply) = (told.get("match").string(), told.get("ply").0);
            let question = format!("{game} {ply}");
            match told.get("type").string().as_str() {
                "welcome" => {
                    lines.get_ref().set_read_timeout(None)?; // it may be long until the first match
                    let tournament = told.get("tournament");
                    (self.inside, self.tournament) = (true, tournament.0.to_string());
                    let place = if tournament.is_null() { "the open table".to_string() } else { tournament.string() };
                    say(&format!("{} is connected to {}: {place}", self.name, self.url));
                }
                "begin" => {
                    you = told.get("you").string();
                    let players: Vec<String> = told.get("players").items().into_iter().map(Json::string).collect();
                    say(&format!("{game} from ply {}: {}", told.get("moves").items().len(), players.join(" against ")));
                }
                "turn" if told.get("turn").string() == you && answered != question => {
                    answered = question;
                    let choice: String = (self.choose)(told, &you).chars().take(300).collect(); // no move is as long
                    let is_number = choice.parse::<u8>().is_ok(); // as Connect-4's are
                    let choice = if is_number { choice } else { format!("{choice:?}") };
                    let _ = writeln!(out, r#"{{"type":"move","match":"{game}","ply":{ply},"move":{choice}}}"#);
                }
                "refused" if !self.inside => return Err(io::Error::other(told.get("reason").string())),
                "refused" => {
                    let why = told.get("reason").string();
                    (ply != "null" || !answered.is_empty()).then(|| say(&format!("refused: {why}")));
                    if ply == "null" {
                        reason = why;
                    }
                    if answered == question {
                        answered.clear();
                        let _ = writeln!(out, r#"{{"type":"state"}}"#); // asks again, unless this has lost the match
                    }
                }
                "end" => {
                    let result = match told.get("winner").string() {
                        winner if winner == you => "won",
                        winner if winner == "draw" => "drawn",
                        winner if winner == "null" => "void",
                        _ => "lost",
                    };
                    say(&format!("{game}: {result} ({})", told.get("why").string()));
                }
                "standings" => {
                    let (rows, frozen) = (told.get("rows").items(), told.get("frozen").0 == "true");
                    let own = rows.iter().find(|row| row.get("name").string() == self.name);
                    let place = own.map_or("this bot is not in its standings".to_string(), |row| {
                        format!("rank {} of {}, {} points", row.get("rank").0, rows.len(), row.get("points").0)
                    });
                    let over = if frozen { "over (its standings are frozen)" } else { "over" };
                    say(&format!("{} is {over}: {place}", told.get("tournament").string()));
                    return writeln!(out, r#"{{"type":"bye"}}"#);
                }
                _ => {}
            }
            line.clear();
        }
    }
}

extern "C" {
    fn setsockopt(socket: i32, level: i32, name: i32, value: *const i32, size: u32) -> i32;
}

/// Have the system notice, after 40 seconds of silence, that the host is no more: Rust's own library cannot say so.
fn look_for_the_host(stream: &TcpStream) {
    let [level, on, idle, gap, tries] = if cfg!(target_os = "linux") { [1, 9, 4, 5, 6] } else { [0xffff, 8, 16, 257, 258] };
    for (level, name, value) in [(level, on, 1), (6, idle, 20), (6, gap, 5), (6, tries, 4)] {
        unsafe { setsockopt(stream.as_raw_fd(), level, name, &value, 4) };
    }
}
