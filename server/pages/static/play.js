// Playing by hand: the house protocol over websocket, on the board that the host draws.
//
// A click, a tap, or Enter on whatever has `data-move` plays that move; so does typing it. A connection that is
// lost is made again with the token of the last welcome, which this tab remembers, unless the match has ended.

import { show } from "./parts.js";

const MOST = 10_000; // ms between two tries to connect
const LOOKS = 100; // at the board, until the host's pages have heard of a move …
const PAUSE = 100; // … with so many ms in between
const TICK = 200; // ms between two looks at the clock
const ANSWER = 4_000; // ms in which the host answers; a connection over which it has not counts as lost
const QUIET = 10_000; // ms without a word from the host in a match, after which it is asked for one
const TAKEN = "has taken over"; // what the host says when somebody plays on with this tab's token: a copy of the tab
const OUT = "ask its organiser"; // … and when the person was taken out
const LATER = ["come again later", "wait for a minute"]; // … in what is not meant for ever
const SPOTS = ".spot, .choices button"; // whatever a move is played with, also when it has been

const play = document.querySelector("[data-play]");
const board = play.querySelector("[data-board]");
const typed = play.querySelector("[data-typed]");
const { play: game, websocket, against } = play.dataset;
const seats = play.dataset.seats.split(" ");
const before = history.state; // of this entry in the tab's history: whoever played here, and the match
const name = play.dataset.as || before?.name || `guest-${1000 + Math.floor(Math.random() * 9000)}`;
const remembered = `token ${game} ${name}`;

let token = recall();
let socket;
let match; // its name, as `begin` has it
let you;
let players;
let asked = {}; // the latest turn
let heard; // when it came
let waiting; // for an answer
let tries = 0;
let over = false;

/** The token that this tab remembers. A browser that is told to keep nothing raises; then the page has it alone. */
function recall() {
  try {
    return sessionStorage.getItem(remembered);
  } catch {
    return null;
  }
}

function remember() {
  try {
    sessionStorage.setItem(remembered, token);
  } catch {
    // as long as the page is open, it knows
  }
}

function say(words, link) {
  const status = play.querySelector("[data-status]");
  status.replaceChildren(words);
  if (link) {
    const replay = Object.assign(document.createElement("a"), { href: link, textContent: "Look at it again" });
    status.append(" ", replay);
  }
}

/** Say something that the host answers. */
function send(message) {
  if (socket?.readyState !== WebSocket.OPEN) return;
  socket.send(JSON.stringify(message));
  wait(ANSWER, lose);
}

function wait(most, then) {
  clearTimeout(waiting);
  waiting = setTimeout(then, most, socket);
}

function connect() {
  const opened = new WebSocket(websocket);
  socket = opened;
  socket.addEventListener("open", () => {
    const hello = { type: "hello", name, game, tournament: `open-${game}`, person: true, matches: 1 }; // it enters no other
    if (against) hello.against = against;
    if (token) hello.token = token;
    send(hello);
  });
  socket.addEventListener("message", (event) => {
    if (opened !== socket) return;
    wait(QUIET, () => { if (match && !over) send({ type: "state", match }); });
    hear(JSON.parse(event.data));
  });
  socket.addEventListener("close", () => lose(opened));
}

/** Go on over another connection: this one has ended, or is silent, as where a network has gone. */
function lose(lost) {
  if (over || lost !== socket) return;
  socket = undefined;
  lost.close();
  again(match);
}

/** Try again in a while, and in a longer one each time. */
function again(played) {
  say("The connection is lost; trying again.");
  setTimeout(comeBack, Math.min(MOST, 500 * 2 ** tries++), played);
}

function hear(told) {
  switch (told.type) {
    case "welcome":
      tries = 0;
      ({ token } = told);
      remember();
      say(against ? `Waiting for ${against}.` : "Waiting for somebody to play against.");
      break;
    case "begin":
      ({ match, you, players } = told);
      history.replaceState({ name, match }, "");
      typed.hidden = false;
      break;
    case "turn":
      asked = told;
      heard = performance.now();
      clocks();
      if (told.turn !== null) say(told.turn === you ? `Your move: you are ${you}.` : `You are ${you}; it is the other's move.`);
      if (Number(board.dataset.ply) !== told.ply || board.querySelector("[aria-disabled]")) look(told.ply); // not what is there already
      break;
    case "refused":
      say(told.reason.includes(TAKEN) ? "You are playing in another tab now." : told.reason);
      if (isFinal(told.reason)) finish();
      else if (match) look(asked.ply);
      break;
    case "end":
      say(`${result(told)}: ${told.why}.`, told.replay);
      finish();
      break;
  }
}

/** Whether the host, which refuses something, will not have this person back. */
function isFinal(reason) {
  const says = (words) => reason.includes(words);
  return says(TAKEN) || says(OUT) || !(match || LATER.some(says));
}

/** Whoever comes back sees how the match that was played here ended, and no other begins. */
async function comeBack(played) {
  const ended = played ? await ending(played) : null;
  if (ended === undefined) again(played);
  else if (ended) showEnd(played, ended);
  else connect();
}

/** How a match ended; null if it has not, undefined if the host cannot say just now. */
async function ending(played) {
  try {
    const answer = await fetch(`/api/matches/${encodeURIComponent(played)}`);
    if (answer.status === 404) return null;
    if (!answer.ok) return undefined;
    const told = await answer.json();
    return told.ending === null ? null : told;
  } catch {
    return undefined;
  }
}

function showEnd(played, told) {
  match = played;
  you = seats[told.players.indexOf(name)];
  const undecided = told.ending === "played" ? "draw" : null;
  const winner = told.winner === null ? undecided : seats[told.winner];
  say(`${result({ winner })}: ${told.why}.`, `/matches/${encodeURIComponent(match)}`);
  finish();
  asked = { ply: told.plies };
  look(told.plies);
}

function result(end) {
  if (end.winner === "draw") return "A draw";
  if (end.winner === null) return "Nobody has won";
  return end.winner === you ? "You have won" : "You have lost";
}

function removeSpots() {
  const focused = board.contains(document.activeElement);
  board.querySelectorAll(SPOTS).forEach((each) => each.remove());
  if (focused) keepFocus();
}

/** Whoever plays by keyboard goes on from the board: at its first spot, or at the board itself until there is one. */
function keepFocus() {
  const spot = board.querySelector("[data-move]");
  if (spot) spot.focus();
  else board.focus({ preventScroll: true });
}

function finish() {
  over = true;
  typed.hidden = true;
  removeSpots();
  socket?.close();
}

/** What both have left by now: the clock of whoever is to move runs. */
function clocks() {
  if (over || !asked.clock) return;
  const spent = (performance.now() - heard) / 1000;
  const shown = asked.clock.flatMap((seconds, seat) => {
    const name = Object.assign(document.createElement("bdi"), { textContent: players[seat] });
    if (seconds === null) return [" · ", name, " ∞"];
    const left = seats[seat] === asked.turn ? Math.max(0, seconds - spent) : seconds;
    return [" · ", name, ` ${Math.ceil(left)} s`];
  });
  play.querySelector("[data-clocks]").replaceChildren(...shown.slice(1));
}

/** Show the board after so many plies, as soon as the pages have it. */
async function look(ply) {
  const query = new URLSearchParams({ ply, seat: you });
  for (let n = 0; n < LOOKS && ply === asked.ply; n += 1) {
    const answer = await fetch(`/matches/${encodeURIComponent(match)}/hand?${query}`).catch(() => null);
    const drawn = answer?.ok ? (await answer.json()).board : null;
    if (ply !== asked.ply) return;
    if (drawn !== null) {
      const focused = board.contains(document.activeElement);
      show(board, drawn);
      if (over) removeSpots();
      if (focused) keepFocus();
      board.dataset.ply = ply;
      return;
    }
    await new Promise((resolve) => { setTimeout(resolve, PAUSE); });
  }
}

function move(short) {
  if (!match || over || asked.turn !== you) return;
  board.querySelectorAll("[data-move]").forEach((each) => { // a second click is no answer to the next question
    each.setAttribute("aria-disabled", "true");
    each.removeAttribute("data-move");
  });
  send({ type: "move", match, ply: asked.ply, move: short });
}

board.addEventListener("click", (event) => {
  const chosen = event.target.closest("[data-move]");
  if (chosen) move(chosen.dataset.move);
});
board.addEventListener("keydown", (event) => {
  const chosen = event.target.closest("[data-move]");
  if (chosen && (event.key === "Enter" || event.key === " ")) {
    event.preventDefault();
    move(chosen.dataset.move);
  }
});
typed.addEventListener("submit", (event) => {
  event.preventDefault();
  const field = typed.querySelector("input");
  const short = field.value.trim().replace(/\s+/g, " ");
  if (!short) return;
  const marked = [...board.querySelectorAll("[data-move]")].map((each) => each.dataset.move);
  if (marked.length && !marked.includes(short)) { // in some games the host would take it for a move that loses
    say(`"${short}" is not among the moves that are marked on the board; nothing was played.`);
    return;
  }
  move(short);
  field.value = "";
});
play.querySelector("[data-resign]").addEventListener("click", () => send({ type: "resign", match }));

document.querySelector("[data-name]").value = name;
if (against !== undefined) {
  say("Connecting …");
  const [arrival] = performance.getEntriesByType("navigation");
  if (before?.match && arrival?.type === "back_forward") comeBack(before.match);
  else connect();
  setInterval(clocks, TICK);
}
