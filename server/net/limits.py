"""What strangers may use up: every limit of a door, its unit, and the reason for it.

Data, and the bucket that counts credits. Each limit is enforced elsewhere, in the
code that it limits. The organiser may set each of them; the defaults are meant to
be wide enough for every honest bot and too narrow for abuse.
"""

from typing import Annotated

from msgspec import Meta, Struct

YEAR = 31_622_400  # seconds of 366 days: whoever means "for ever" is told the longest there is
MOST = (1 << 63) - 1  # of a whole number in TOML; processes cannot tell each other much larger ones
Count = Annotated[int, Meta(ge=0, le=MOST)]  # 0 allows none of what it counts
Seconds = Annotated[float, Meta(gt=0, le=YEAR)]
Pause = Annotated[float, Meta(ge=0, le=YEAR)]  # seconds that may be none at all


class Rate(Struct, frozen=True, forbid_unknown_fields=True):
    """This many credits in this many seconds; they can also be spent all at once."""

    credits: Annotated[int, Meta(ge=1, le=MOST)]  # with none nobody could do anything once
    seconds: Seconds


class Limits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All limits of the doors. A name ends in its unit; without one it is a count."""

    # Who may come in.
    connections_per_address: Count = 64  # an organiser's lab or a university's gateway is one address
    unauthenticated: Count = 256  # connections that have not shown who they are; past it the oldest goes
    spare_files: Count = 128  # of RLIMIT_NOFILE: kept back for the store, logs and house bots
    trust_loopback: bool = True  # 127.0.0.0/8 and ::1 count only as open files: tests and own labs live there
    backlog: Count = 1024  # connections that wait in the kernel: a whole tournament may connect at once

    # What is read.
    line_bytes: Count = 512  # the longest legal line of a seed is some 50 bytes; the rest is slack
    json_line_bytes: Count = 4096  # a house message with everything in it is below 1 KiB
    message_bytes: Count = 65536  # a websocket message
    frames_per_message: Count = 64  # the library bounds neither empty nor tiny fragments
    echo_bytes: Count = 256  # how much of what was sent an `ignored` repeats: the host is no amplifier
    hello_seconds: Seconds = 5.0  # until a bot has said its name, or the house hello, and is in
    handshake_seconds: Seconds = 5.0  # TLS or websocket; half a handshake is held no longer than this

    # How often.
    messages: Rate = Rate(100, 20.0)  # anything a bot says, except for the one answer to each question
    junk: Rate = Rate(20, 10.0)  # what cannot be read or comes out of turn; past it the connection ends
    early_messages: Count = 16  # between a house hello and its welcome, which takes a few milliseconds
    junk_total: Count = 50  # the same, over the life of a connection
    control_frames: Rate = Rate(20, 10.0)  # websocket pings and pongs
    late_answers: Count = 8  # that wait for one c4-arena bot; what comes out of step beyond them gets none
    flood_pause_seconds: Pause = 0.2  # between two reads of 4 KiB from a websocket that floods

    takeovers: Rate = Rate(5, 60.0)  # of one name: two clients with the same token would take turns forever
    new_names: Rate = Rate(2000, 100.0)  # from one address: an organiser's thousand bots, and as many again
    wrong_tokens: Rate = Rate(10, 60.0)  # from one address
    log_lines: Rate = Rate(200, 60.0)  # for one address; the log says how many more there were

    # In a match.
    away_seconds: Seconds = 30.0  # that a bot may be gone from its match, or when one is due
    # Moves that may be refused; with the last one it has lost.
    refusals: Annotated[int, Meta(ge=1, le=MOST)] = 20

    # After a restart.
    resume_seconds: Pause = 30.0  # that a match which was in play waits for its players; then it is void

    # Opponents of the host's own, for bots that ask for one by name.
    practice: Count = 32  # at once: each may think half a second for every move, in one of two processes
    practice_per_address: Count = 8  # of these, for the bots of one address

    # At open tables and ladders.
    ghost_seconds: Pause = 5.0  # that a bot may be gone before its first move; then its opponent is free
    table_bytes: Rate = Rate(4_000_000, 200.0)  # kept of what bots of one address play: two gigabytes a day
    missed_matches: Rate = Rate(10, 100.0)  # of bots of one address: each binds an opponent for seconds

    # HTTP.
    head_bytes: Count = 16384  # request line and headers; browsers with cookies need some 2 KiB
    headers: Count = 100  # header fields: each costs objects, however short it is
    target_bytes: Count = 2048  # the address in the request line
    body_bytes: Count = 4096  # of a request: the longest move is below 200 bytes
    pipelined_bytes: Count = 16384  # what may come while an earlier request is unanswered, or unread
    head_seconds: Seconds = 5.0  # from the first byte, or the connection, to the end of the headers
    body_seconds: Seconds = 10.0  # from the end of the headers to the end of the body
    idle_seconds: Seconds = 75.0  # between an answer and the next request; nginx has the same
    lent_waiting: Count = 256  # on their way to the process for pages, a quarter for one address; beyond, 503
    linger_seconds: Pause = 2.0  # for the client to take the last answer in before the connection goes

    # The Arena.
    start_seconds: Seconds = 300.0  # until a bot opens the stream of its battle: it may have to wake up
    flip_seconds: Pause = 10.0  # to flip the table at an opponent's fault; the opponent's next match waits
    battles_kept: Count = 1000  # that are over, to be told again; some 10 KB each at most
    called_bots: Count = 1000  # that are present without a connection, because they gave an address
    table_seconds: Seconds = 3600.0  # that a bot is called from an open table before it has to join again
    evaluations: Count = 8  # at once
    evaluations_per_address: Count = 4  # of these, asked for from one address: nobody takes them all
    evaluations_kept: Count = 200  # that are over

    # Calling bots.
    calls_at_once: Count = 8  # each may last `call_seconds`
    call_pause_seconds: Pause = 1.0  # between two calls of one port of an address: the host floods nobody
    connect_seconds: Seconds = 3.0  # for the look-up of a name, and again for the connection
    call_seconds: Seconds = 5.0  # in all: bots that answer only after the match are hung up on
    call_answer_bytes: Count = 1024  # read of an answer, and dropped

    # Hexagon Dots and the house protocol over HTTP, where a bot has no connection of its own.
    games: Count = 256  # of Hexagon Dots, where nobody plays or waits any more: the largest takes 200 kB
    sessions: Count = 4096  # of the house protocol: what a thousand bots have, and some that came back
    session_seconds: Seconds = 60.0  # that a bot may be silent and not listening: it may think that long
    session_begin_seconds: Seconds = 10.0  # from the welcome to the first request, or it was never got
    poll_seconds: Seconds = 25.0  # that a long poll is held: some proxies cut at 30
    model_seconds: Seconds = 600.0  # that a language model may be silent: slow ones think for minutes
    heartbeat_seconds: Seconds = 15.0  # of silence on an event stream before a sign of life, for proxies too

    # Several workers.
    worker_seconds: Seconds = 10.0  # without a sign of life, and it is replaced: no step of play takes that

    # What is written.
    outbox_messages: Count = 256  # kept for a peer that does not read
    outbox_bytes: Count = 1 << 20  # the same in bytes: 100 deaf peers cost 100 MiB at the very worst
    outbox_seconds: Seconds = 10.0  # without a byte taken, and the peer is cut

    # What was said in the latest matches, kept for the bots' authors.
    wire_log_bytes: Count = 32 << 20  # in all; past it the oldest match is forgotten
    wire_log_seat_bytes: Count = 65536  # of one bot in one match: some 200 messages; past it the oldest go
    wire_log_message_bytes: Count = 4096  # of one message: what is longer is cut


class Bucket:
    """Credits that come back evenly. The caller tells the time."""

    __slots__ = ("_at", "_credits", "_rate")

    def __init__(self, rate: Rate, now: float, left: float | None = None) -> None:
        """Full, or with what was `left` of one like it."""
        self._rate = rate
        self._at = now
        self._credits = float(rate.credits if left is None else left)

    @property
    def left(self) -> tuple[float, float]:
        """When the credits were last counted, and how many there were: another bucket goes on from that."""
        return self._at, self._credits

    def has_one(self, now: float) -> bool:
        """Whether there is a credit."""
        return self.take(now, 0.0) and self._credits >= 1.0

    def take(self, now: float, cost: float = 1.0) -> bool:
        """Spend `cost` credits if there are that many; else spend nothing and return False."""
        if now > self._at:  # what came long before it is looked at may come before a bucket was made
            most, seconds = self._rate.credits, self._rate.seconds
            self._credits = min(most, self._credits + (now - self._at) * most / seconds)
            self._at = now
        if self._credits < cost:
            return False
        self._credits -= cost
        return True


class BudgetLeft(Struct, frozen=True, array_like=True):
    """What is left of a bot's budget for talking, for another process to go on from."""

    messages: tuple[float, float] | None  # of a bucket, if one was needed
    junk: tuple[float, float] | None
    junk_left: int
