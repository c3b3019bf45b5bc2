/** What the host says when it is the bot's turn: the position, and all that goes with it. */
export interface Turn {
  match: string;
  /** How many moves have been played. */
  ply: number;
  /** The seat of the bot, as the game calls it: "first" or "second", in Tic-Tac-Toe "O" or "X". */
  you: string;
  /** The seat to move: the bot's. */
  turn: string;
  /** Both names, in the order of the seats. */
  players: [string, string];
  /** The last move, or null if there was none. */
  last: unknown;
  /** The position, as the game shows it: all there is to know. */
  state: any;
  /** Seconds left, in the order of the seats; null means no limit. */
  clock: [number | null, number | null];
  /** Options of the game, where they differ from its defaults. */
  options: Record<string, unknown>;
}

export type Move = number | string | object;

export interface Options {
  /** Where the host is; else QUINTAIN_URL says so: tcp://127.0.0.1:8000, in a browser ws://127.0.0.1:8001. */
  url?: string;
  /** What the bot is called; else QUINTAIN_NAME says so. */
  name?: string;
  /** Print nothing. */
  quiet?: boolean;
}

export interface Standings {
  type: "standings";
  tournament: string;
  final: boolean;
  /** As they were when an organiser froze them: more may have been played since. */
  frozen?: boolean;
  rows: Array<{ rank: number; name: string; points: number; played: number; wins: number; draws: number; losses: number }>;
}

/** The host does not want this bot, or there is none: the message says why. */
export class Unwelcome extends Error {}

/** Play until the tournament is over, or until the program is stopped. */
export function play(game: string, choose: (turn: Turn) => Move | Promise<Move>, options?: Options): Promise<Standings>;
