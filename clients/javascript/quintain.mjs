/**
 * Play on a Quintain host. One file, nothing to install: Node 20 or later over TCP, a browser over websocket.
 *
 *     import { play } from "./quintain.mjs";
 *     await play("connect-4", (turn) => 3);
 *
 * `play` calls `choose(turn)` at each turn of the bot, and returns the standings when the tournament is over. After a
 * lost connection, or if it is started again within half a minute, the bot goes on with its match. `turn` is the host's message (`state`, `ply`, `last`, `clock`, `match`) with `you`, `players` and `options` added.
 * `choose` returns a move as `last` shows it or in its short form, or a promise of one.
 */
const isNode = typeof process !== "undefined" && Boolean(process.versions?.node);
const environment = isNode ? process.env : {};
const [FIRST_WAIT, LONGEST_WAIT, GIVE_UP] = [250, 15_000, 120_000]; // milliseconds without a host
const ANSWER = 15_000; // milliseconds for the host to say welcome

/** The host does not want this bot, or there is none: the message says why. */
export class Unwelcome extends Error {}

export async function play(game, choose, options = {}) {
  const address = options.url ?? environment.QUINTAIN_URL ?? (isNode ? "tcp://127.0.0.1:8000" : "ws://127.0.0.1:8001");
  const known = typeof WebSocket === "undefined" ? /^tcp:\/\/[^/]/ : /^(tcp|wss?):\/\/[^/]/; // an older Node has none
  if (!known.test(address) || !URL.canParse(address))
    throw new Unwelcome(`cannot play on ${address}: expected an address like tcp://127.0.0.1:8000`);
  const [url, name] = [new URL(address), options.name ?? environment.QUINTAIN_NAME ?? "javascript-bot"];
  const [token, place] = await remembered(`${bare(url.hostname)}-${game}-${name}`);
  const bot = { choose, url, welcomed: false, failures: 0, lost: 0 };
  if (isNode) process.stdout.on("error", () => {}); // a full disk costs no match
  bot.say = options.quiet ? () => {} : (line) => console.log(line);
  bot.say(`the token is kept in ${place}`);
  bot.hello = { type: "hello", protocol: 1, name, game, token };
  for (;;) {
    [bot.here, bot.reason] = [false, ""];
    const connection = await (url.protocol === "tcp:" ? connectTcp(url) : connectWebsocket(url));
    bot.timeout = setTimeout(() => {
      connection.why = "the host does not answer";
      connection.put(null);
    }, ANSWER);
    const standings = await visit(bot, connection).finally(connection.close);
    clearTimeout(bot.timeout);
    if (standings) return standings;
    const why = bot.reason || connection.why;
    if (bot.here) bot.lost = Date.now();
    const isLater = ["come again later", "wait for a minute"].some((words) => why.includes(words));
    const isUseless = !bot.welcomed || /has taken over|ask its organiser/.test(why) || Date.now() - bot.lost > GIVE_UP;
    if (isUseless && !isLater) throw new Unwelcome(`cannot play on ${url}: ${why}`);
    bot.say(`the connection is lost (${why}): trying again`);
    const wait = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** bot.failures++);
    await new Promise((resolve) => setTimeout(resolve, wait * (0.5 + Math.random() / 2)));
  }
}

/** From the hello to the standings, or null if the connection ends before. */
async function visit(bot, { send, heard }) {
  let [begun, answered] = [{}, ""];
  send(bot.hello);
  for await (const message of heard) {
    bot.reason = ""; // why the host may hang up next
    switch (message.type) {
      case "welcome":
        bot.say(`${bot.hello.name} is connected to ${bot.url}: ${message.tournament ?? "the open table"}`);
        bot.welcomed = bot.here = true;
        clearTimeout(bot.timeout); // it may be long until the first match
        Object.assign(bot.hello, { name: message.name, tournament: message.tournament }); // where it comes back to
        break;
      case "begin":
        [begun, answered, bot.failures] = [message, "", 0];
        bot.say(`${message.match} from ply ${message.moves?.length ?? 0}: ${message.players.join(" against ")}`);
        break;
      case "turn":
        if (message.turn === begun.you && answered !== question(message)) {
          answered = question(message);
          const { you, players, options = {} } = begun;
          const move = (await bot.choose({ ...message, you, players, options })) ?? null;
          const text = JSON.stringify(move); // of one that is no move, the host is told the beginning
          send({ type: "move", match: message.match, ply: message.ply, move: text.length > 1000 ? [...text].slice(0, 300).join("") : move });
        }
        break;
      case "refused":
        if (!bot.here || message.ply === undefined) bot.reason = message.reason;
        if (!bot.here) return null;
        if (message.ply !== undefined || answered) bot.say(`refused: ${message.reason}`);
        if (answered === question(message)) {
          answered = "";
          send({ type: "state" }); // asks for the turn again, unless this has lost the match
        }
        break;
      case "end":
        bot.say(`${message.match}: ${result(message, begun)} (${message.why})`);
        break;
      case "standings": {
        const own = message.rows.find((row) => row.name === bot.hello.name), of = message.rows.length;
        const how = message.frozen ? " (its standings are frozen)" : "";
        bot.say(`${message.tournament} is over${how}: ${own ? `rank ${own.rank} of ${of}, ${own.points} points` : "this bot is not in its standings"}`);
        send({ type: "bye" });
        return message;
      }
    }
  }
  return null;
}

const question = ({ match, ply }) => `${match} ${ply}`;
const result = ({ winner }, { you }) =>
  winner === null ? "void" : winner === "draw" ? "drawn" : winner === you ? "won" : "lost";

/** The token of a name on a host, and where it is kept: the same each time, and readable for nobody else. */
async function remembered(key) {
  const token = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (!isNode) return [(localStorage[`quintain ${key}`] ??= token), "the browser's local storage"];
  const [files, os, path] = await Promise.all([import("node:fs"), import("node:os"), import("node:path")]);
  const states = environment.XDG_STATE_HOME || path.join(home(os), ".local", "state");
  const file = path.join(states, "quintain-bot", key.replaceAll("/", "_"));
  files.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  if (!files.existsSync(file) || !files.statSync(file).size) files.writeFileSync(file, token, { mode: 0o600 });
  return [files.readFileSync(file, "utf8").trim(), file];
}

/** Where the user's own files are; in some containers there is no such place. */
function home(os) {
  try {
    return os.homedir();
  } catch {
    return ".";
  }
}

/** A connection: `send` says a message, `heard` are the host's until it is over, and then `why` says why it is. */
async function connectTcp(url) {
  const net = await import("node:net");
  const [socket, connection] = [net.connect(Number(url.port) || 8000, bare(url.hostname)), mailbox()];
  let rest = "";
  socket.setNoDelay(true).setKeepAlive(true, 20_000).setEncoding("utf8");
  socket.on("data", (piece) => {
    const lines = (rest + piece).split("\n");
    rest = lines.pop();
    lines.forEach(connection.put);
  });
  socket.on("error", (error) => (connection.why = error.message || error.code)).on("close", () => connection.put(null));
  for (const write of ["_write", "_writev"]) // one that fails must not end the reading: the host's last words may be there
    socket[write] = (...given) => net.Socket.prototype[write].call(socket, ...given.slice(0, -1), () => given.at(-1)());
  const send = (message) => socket.write(JSON.stringify(message) + "\n");
  return Object.assign(connection, { send, close: () => socket.destroySoon() });
}

function connectWebsocket(url) {
  const [socket, connection] = [new WebSocket(new URL("/play", url)), mailbox()];
  const opened = new Promise((resolve) => (socket.onopen = resolve));
  socket.onmessage = (event) => connection.put(event.data);
  socket.onclose = () => connection.put(null);
  const send = (message) => opened.then(() => socket.send(JSON.stringify(message)));
  return Object.assign(connection, { send, close: () => socket.close() });
}

/** What has come and was not read yet: `put` adds a text, or null at the end; `heard` yields them as messages. */
function mailbox() {
  let [waiting, wake] = [[], () => {}];
  async function* heard() {
    for (;;) {
      while (waiting.length === 0) await new Promise((resolve) => (wake = resolve));
      const message = await Promise.resolve(waiting.shift()).then(JSON.parse).catch(() => void (box.why = "it said no message"));
      if (!message) return;
      yield message;
    }
  }
  const box = { put: (text) => wake(waiting.push(text)), heard: heard(), why: "the host hung up" };
  return box;
}

const bare = (hostname) => hostname.replace(/^\[|\]$/g, ""); // an IPv6 address has brackets in a URL
