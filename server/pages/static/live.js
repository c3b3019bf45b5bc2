// Keeps a page up to date: one event stream, and clocks that tick.
//
// The stream sends parts, which replace what stands at their place, and items of lists. Everything it sends is
// a state, so after any interruption the page is right again with the next that comes.

import { nodes, show } from "./parts.js";

const ASLEEP = 3_000; // ms out of sight after which the stream is closed: a browser allows few of them
const MOST = 250; // items of a list that stay on the page
const PRESS = 2_000; // ms for which a part waits for the end of a click, at most
const ANSWER = 5_000; // ms in which the host answers; whoever waits longer takes a connection from the stream
const AWAY = "The host cannot be reached; trying again.";
const page = document.querySelector("[data-live]");
const QUIET = 1000 * (10 + 2 * page?.dataset.heartbeat); // ms of silence after which the connection counts as dead
const status = document.querySelector("[data-connection]");

const takers = new Map(); // by place: functions that take a part instead of showing it

/** Have `take(html)` called with the part of a place. */
export function take(place, taker) {
  takers.set(place, taker);
}

// A click is one only if what was pressed is still there when it is let go. Boards change many times a second.
let pressed = null; // where the pointer is down
let pressing;
const held = new Map(); // parts that came meanwhile, by the element that they belong in

function press({ target }) {
  clearTimeout(pressing);
  release(); // what came while another finger was down
  pressed = target;
  pressing = setTimeout(release, PRESS);
}

function release() {
  pressed = null;
  held.forEach((html, element) => show(element, html));
  held.clear();
}

let after = page?.dataset.after;
let stream;
let tries = 0;
let heard = 0; // when, by the clock that may stand still while a machine sleeps …
let heardAt = 0; // … and by the clock on the wall, which goes on
let retry;
let ahead = page ? Number(page.dataset.now) - performance.now() / 1000 : 0; // the host's time less ours, in s
let running = true; // whether clocks go on: not where nobody knows whether they do on the host
const hidden = new Set(); // boards that are scrolled out of view
const missed = new Set(); // and those that are in view again, until they have come
let told; // which were hidden when the stream was asked for

function connect() {
  clearTimeout(retry);
  stream?.close();
  const query = new URLSearchParams({ page: page.dataset.live, tournament: page.dataset.tournament, after });
  told = outOfView();
  if (told) query.set("hidden", told);
  if (missed.size) query.set("missed", [...missed].join());
  listen();
  stream = new EventSource(`/live?${query}`);
  stream.addEventListener("open", () => { tries = 0; tell(); });
  stream.addEventListener("error", () => {
    const answered = stream.readyState === EventSource.CLOSED; // with something else than a stream
    if (document.visibilityState === "visible") again(answered);
  });
  stream.addEventListener("part", (event) => {
    const { place, html } = JSON.parse(event.data);
    const element = document.getElementById(place);
    missed.delete(place);
    if (takers.has(place)) takers.get(place)(html);
    else if (element?.contains(pressed)) held.set(element, html);
    else if (element) show(element, html);
  });
  stream.addEventListener("items", (event) => {
    const { place, from, html } = JSON.parse(event.data);
    append(document.getElementById(place), from, html);
  });
  stream.addEventListener("anew", () => location.reload()); // another tournament has the name by now
  stream.addEventListener("alive", hear);
  stream.addEventListener("now", (event) => {
    after = event.lastEventId;
    hear(event);
    document.dispatchEvent(new Event("live"));
  });
}

function listen() {
  heard = performance.now();
  heardAt = Date.now();
}

/** For how long nothing was heard, in ms. */
const silence = () => Math.max(performance.now() - heard, Date.now() - heardAt);

/** The host says what time it is, and that all that was sent is as it is now: clocks go on from there. */
function hear({ data }) {
  listen();
  say("");
  ahead = Number(data) - heard / 1000;
  running = true;
  tick();
}

function close() {
  stream?.close();
  running = false;
}

/** Try again in a while, and not all at the same time: a host that has just started has enough to do. */
function again(answered = false) {
  close();
  say(AWAY);
  if (answered) explain(stream);
  const wait = Math.min(30_000, 1000 * 2 ** tries++) * (0.5 + Math.random());
  clearTimeout(retry);
  retry = setTimeout(connect, wait);
}

/** Say why there is no stream: a proxy answers for a host that is away, or keeps what a stream brings. */
async function explain(ended) {
  const asks = { method: "HEAD", headers: { Accept: "text/html" }, signal: AbortSignal.timeout(ANSWER) };
  const answer = await fetch(page.dataset.live, asks).catch(() => null);
  if (ended !== stream) return;
  if (answer?.status === 404) say("The host does not have this page now; trying again.");
  else if (answer?.ok) say("Updates do not come through; trying again. Load the page again to see what is new.");
}

function append(list, from, html) {
  if (!list) return;
  let first = Number(list.dataset.first) - 1;
  while (list.children.length && first + list.children.length > from) list.lastElementChild.remove();
  if (first + list.children.length !== from) { // the list ends or begins elsewhere: what is between is not here
    list.replaceChildren();
    first = from;
  }
  const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
  list.append(...nodes(html));
  while (list.children.length > MOST) { list.firstElementChild.remove(); first += 1; }
  list.dataset.first = first + 1;
  if (atEnd) list.scrollTop = list.scrollHeight;
}

function say(words) {
  if (status && status.textContent !== words) status.textContent = words;
}

function shown(left) {
  if (left >= 20) return `${Math.floor(left / 60)}:${String(Math.floor(left % 60)).padStart(2, "0")}`;
  return left.toFixed(1);
}

function tick() {
  if (!running) return;
  const now = performance.now() / 1000 + ahead;
  for (const clock of document.querySelectorAll("[data-until]")) {
    const left = Math.max(0, Number(clock.dataset.until) - now);
    const words = shown(left);
    if (clock.textContent !== words) clock.textContent = words;
    clock.classList.toggle("short", left < 5);
  }
}

const outOfView = () => [...hidden].sort().join();

/** Tell the host which boards are in view, if that has changed; while it is being asked, as soon as it answers. */
function tell() {
  if (outOfView() !== told && stream?.readyState === EventSource.OPEN) connect();
}

function watch() {
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting && target.firstElementChild) hidden.add(target.id); // a free place has no board to hide
      else if (hidden.delete(target.id)) missed.add(target.id);
    }
    clearTimeout(watching);
    watching = setTimeout(tell, 300);
  }, { rootMargin: "200px" });
  let watching;
  document.querySelectorAll("[data-board]").forEach((each) => seen.observe(each));
}

let sleep;

/** Have a stream while the page can be seen. One that was opened in a tab behind others has none until then. */
function wake() {
  clearTimeout(sleep);
  if (document.visibilityState === "hidden") sleep = setTimeout(() => { clearTimeout(retry); close(); }, ASLEEP);
  else if (!stream || stream.readyState === EventSource.CLOSED) connect();
}

if (page) {
  wake();
  tick();
  setInterval(tick, 100);
  setInterval(() => { if (stream?.readyState < EventSource.CLOSED && silence() > QUIET) again(true); }, 5000);
  watch();
  document.addEventListener("visibilitychange", wake);
  document.addEventListener("pointerdown", press);
  for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, () => setTimeout(release)); // after the click
  addEventListener("pagehide", close);
  addEventListener("pageshow", (event) => { if (event.persisted) wake(); });
}
