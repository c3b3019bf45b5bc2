/** Where the token of a bot is kept: whoever has it is the bot, and may come back to its match. */
export const isNode = typeof process !== "undefined" && Boolean(process.versions?.node);

/** The token of a name on a host, and where it is kept: the same each time, and readable for nobody else. */
export async function remembered(key) {
  const token = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (!isNode) {
    const kept = storage();
    return kept ? [(kept[`quintain ${key}`] ??= token), "the browser's local storage"] : [token, "this program alone"];
  }
  const [files, os, path] = await Promise.all([import("node:fs"), import("node:os"), import("node:path")]);
  const states = process.env.XDG_STATE_HOME || path.join(home(os), ".local", "state");
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

/** Where a browser keeps things: there is no such place in a worker, or if the browser is told to keep nothing. */
function storage() {
  try {
    return globalThis.localStorage;
  } catch {
    return undefined;
  }
}
