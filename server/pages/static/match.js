// A match: the board at any ply, by scrubber, buttons, arrow keys or the list of moves. At the last ply of a
// live match it follows what comes, and after its end what becomes known of it.

import { take } from "./live.js";
import "./over.js";
import { put, show, whole } from "./parts.js";

const PACE = 700; // ms between two moves while it plays
const SPREAD = 1000; // ms within which spectators ask for the page again: not all at the same time
const STAYS = 400; // ms for which an address stays: Safari raises at the hundredth change in half a minute
const SLOW = 1_000; // ms after which somebody who has asked for a move wonders whether it comes
const KEPT = 400; // frames that are kept: of large boards these are megabytes
const main = document.querySelector("[data-match]");
const name = main.dataset.match;
const board = document.getElementById("board");
const moves = document.getElementById("moves");
const graph = document.getElementById("graph");
const scrubber = document.querySelector("[data-scrubber]");
const where = document.querySelector("[data-where]");
const button = document.querySelector('[data-to="play"]');
const still = matchMedia("(prefers-reduced-motion: reduce)");

let ply = Number(main.dataset.ply);
let last = Number(main.dataset.plies);
const streamed = main.dataset.live !== undefined;
let following = streamed && main.dataset.pinned === undefined;
let timer;
let wanted = ply;
const frames = new Map();
let asked; // the answer that is under way: it has many frames, and nobody asks for more until it is here

/** The board after so many plies; undefined if another was wanted before it came. */
async function frame(number) {
  while (asked && !frames.has(number)) await asked.catch(() => {});
  if (!frames.has(number) && number === wanted) {
    asked = more(number).finally(() => { asked = undefined; });
    await asked;
  }
  return frames.get(number);
}

async function more(number) {
  const response = await fetch(`/matches/${name}/frames?from=${number}`);
  if (!response.ok) throw new Error(response.statusText);
  const answer = await response.json();
  for (const each of answer.frames) frames.set(each.ply, each);
  for (const key of frames.keys()) {
    if (frames.size <= KEPT) break;
    if (Math.abs(key - number) > KEPT / 2) frames.delete(key);
  }
  if (answer.plies > last) grow(answer.plies);
}

async function go(number) {
  wanted = Math.min(Math.max(number, 0), last);
  const target = wanted;
  following = main.dataset.live !== undefined && target === last;
  const waiting = setTimeout(() => { where.textContent = `move ${target} is being loaded`; }, SLOW);
  const found = await frame(target).catch(() => null);
  clearTimeout(waiting);
  if (target !== wanted) return; // another step was asked for meanwhile
  if (!found) return stay();
  ply = target;
  put(board, found.board);
  mark(found);
  locate();
}

/** Where the host gives no board, what was shown stays, and says so. */
function stay() {
  play(false);
  where.textContent = `move ${wanted} cannot be loaded just now; try again`;
  scrubber.value = wanted = ply;
  following = main.dataset.live !== undefined && ply === last;
}

let located; // until the address may change again

/** Have the address lead to the ply that is shown, at the latest when it has rested there. */
function locate() {
  const search = following ? "" : `?ply=${ply}`;
  if (located || location.search === search) return;
  history.replaceState(null, "", location.pathname + search);
  located = setTimeout(() => { located = undefined; locate(); }, STAYS);
}

function mark(found) {
  scrubber.value = ply;
  count(found);
  document.querySelector("[data-permalink]").href = `?ply=${ply}`;
  document.querySelector("[data-picture]").href = `/matches/${name}/board.svg?ply=${ply}`;
  document.querySelector('[data-to="back"]').href = `?ply=${Math.max(0, ply - 1)}`;
  document.querySelector('[data-to="on"]').href = `?ply=${Math.min(last, ply + 1)}`;
  if (found) document.querySelector("[data-incidents]").replaceChildren(...(found.incidents ?? []).map((words) => Object.assign(document.createElement("li"), { textContent: words })));
  think(found);
  light();
  point();
}

/** Which move of how many it is. */
function count(found) {
  where.textContent = ply === 0 ? "the beginning" : `move ${ply} of ${last}: ${found?.move ?? ""}`;
}

/** How long both had thought by then. */
function think(found) {
  for (const [seat, used] of (found?.used ?? []).entries()) {
    const cell = document.querySelector(`[data-used="${seat}"]`);
    if (cell) cell.textContent = used;
  }
}

/** Where the graph of the clocks stands at this move. */
function point() {
  const picture = graph.querySelector("svg");
  if (!picture) return;
  const { plies, left, right } = picture.dataset;
  const x = Number(left) + ((Math.max(0, ply - 0.5)) / Number(plies)) * (Number(right) - Number(left));
  const cursor = picture.querySelector("[data-cursor]");
  cursor.setAttribute("transform", `translate(${x - Number(left)} 0)`);
}

function light() {
  moves.querySelector("[aria-current]")?.removeAttribute("aria-current");
  const current = moves.querySelector(`li[value="${ply}"] a`);
  rove(current ?? moves.querySelector("a"));
  if (!current) return;
  current.setAttribute("aria-current", "true");
  const item = current.parentElement;
  if (item.offsetTop < moves.scrollTop + moves.offsetTop || item.offsetTop > moves.scrollTop + moves.offsetTop + moves.clientHeight - 30) {
    moves.scrollTop = item.offsetTop - moves.offsetTop - moves.clientHeight / 2;
  }
}

/** The tab key stops at one move of the list; from there the arrow keys reach all others. */
function rove(stop) {
  for (const link of moves.querySelectorAll('a:not([tabindex="-1"])')) link.tabIndex = -1;
  if (!stop) return;
  stop.tabIndex = 0;
  if (moves.contains(document.activeElement)) stop.focus({ preventScroll: true });
}

function grow(plies) {
  last = Math.max(last, plies);
  scrubber.max = last;
  document.querySelector('[data-to="last"]').href = `?ply=${last}`;
  document.querySelector('[data-to="on"]').href = `?ply=${Math.min(last, ply + 1)}`;
}

function play(on) {
  clearInterval(timer);
  timer = undefined;
  button.textContent = on ? "❚❚" : "▶\ufe0e"; // a triangle of text, no emoji
  button.setAttribute("aria-label", on ? "Pause" : "Play");
  if (!on) return;
  if (ply === last) go(0);
  timer = setInterval(() => (wanted < last ? go(wanted + 1) : play(false)), PACE);
}

const had = new Set([main.dataset.edition]); // editions of this page that were fetched

/** What can be had of this page, by its stream or, where it has none, as was heard last. */
const edition = () => (streamed ? document.getElementById("edition")?.textContent : main.dataset.edition);

/** Once there is another edition of this page, replace what it has beyond what the stream sends. */
async function renew() {
  const told = edition();
  if (told === undefined || had.has(told)) return;
  had.add(told);
  await new Promise((later) => setTimeout(later, SPREAD * Math.random()));
  try {
    const answer = await fetch(`/matches/${name}?ply=${ply}`, { headers: { Accept: "text/html" } });
    if (!answer.ok) throw new Error(answer.statusText);
    const fresh = whole(await answer.text());
    if (told !== edition()) return; // a later one is on its way
    had.add(fresh.querySelector("[data-match]").dataset.edition);
    for (const place of document.querySelectorAll(streamed ? "[data-renewed]" : "[data-renewed], #state")) {
      const found = fresh.getElementById(place.id);
      show(place, found.innerHTML);
      if (found.dataset.first) place.dataset.first = found.dataset.first;
    }
    light();
  } catch {
    had.delete(told); // and try again when the host is there again
  }
}

const steps = {
  first: () => go(0),
  back: () => go(wanted - 1),
  on: () => go(wanted + 1),
  last: () => go(last),
  play: () => play(!timer),
};

function step(event, what) {
  event.preventDefault();
  if (what !== "play") play(false);
  steps[what]();
}

document.querySelector("[data-replay]").addEventListener("click", (event) => {
  const what = event.target.closest("[data-to]")?.dataset.to;
  if (what && !event.ctrlKey && !event.metaKey && !event.shiftKey) step(event, what);
});
scrubber.addEventListener("input", () => { play(false); go(Number(scrubber.value)); });
moves.addEventListener("click", (event) => {
  const item = event.target.closest("a")?.parentElement;
  if (!item || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  play(false);
  go(item.value);
});
graph.addEventListener("click", (event) => {
  const picture = graph.querySelector("svg");
  if (!picture) return;
  const place = picture.getBoundingClientRect();
  const { plies, left, right } = picture.dataset;
  const x = ((event.clientX - place.left) / place.width) * picture.viewBox.baseVal.width;
  play(false);
  go(Math.ceil(((x - Number(left)) / (Number(right) - Number(left))) * Number(plies)));
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input")) return;
  const listed = moves.contains(event.target) ? { ArrowUp: "back", ArrowDown: "on" } : {};
  const what = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last", " ": "play", ...listed }[event.key];
  if (what && !(event.key === " " && event.target.closest("a, button"))) step(event, what);
});

take("board", (html) => {
  if (following) put(board, html);
});
document.addEventListener("edition", renew);
document.addEventListener("live", () => {
  renew();
  point();
  const latest = moves.lastElementChild;
  if (!latest) return;
  grow(latest.value);
  rove(moves.querySelector('[tabindex="0"]') ?? latest.querySelector("a"));
  if (!following) {
    frame(ply).then((found) => {
      if (found?.ply !== ply) return;
      count(found);
      think(found); // the stream says how long by now
    }, () => {});
    return;
  }
  ply = wanted = last;
  locate(); // this came before the answer to a step
  mark({ move: latest.querySelector("a").textContent });
});

moves.removeAttribute("tabindex"); // one of its moves has it
scrubber.hidden = false;
button.hidden = still.matches;
point();
document.querySelector("[data-keys]").hidden = false;
light();
renew(); // its end may have been kept while the page was made
