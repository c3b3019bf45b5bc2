"""Attendance: the table, and what a real host makes of it on a virtual clock."""

import re
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import pytest
import trio
import trio.testing
from structlog.testing import capture_logs
from trio.testing import MockClock

from server.host.host import Host
from server.host.unwelcome import Unwelcome
from server.host.visits import Visit
from server.net.guard import Severed
from server.net.limits import Limits
from server.protocols.common import states as machine
from server.protocols.common.attendance import Attendance
from server.protocols.common.states import TABLE, Happening, Impossible, State
from server.protocols.common.talk_budget import TalkBudget
from tests.server.protocols.room import SlowToEnter
from tests.server.transcripts import hosting
from tournament import facts
from tournament.desk import Desk
from tournament.events import AnyEvent, Began, Ended, Moved
from tournament.facts import AnyFact, Seated, Turned
from tournament.player import Seat
from tournament.store import Memory
from tournament.tournament import Tournament

GAME = "tic-tac-toe"
CUP = {"tournament": "cup", "game": GAME, "format": "round-robin", "entrants": "2"}
GOING = (Happening.CUT, Happening.STOPPING, Happening.LOST)  # which may happen to anybody at any time
STEP = re.compile(r"(?=\b(\w+) ──([\w ]+)──▶ (\w+))")  # of the drawing, from left to right

states = pytest.mark.parametrize("state", State, ids=lambda state: state.value)


# The table


@states
@pytest.mark.parametrize("happening", Happening, ids=lambda happening: happening.value)
async def test_whatever_happens_stands_in_the_table_or_is_impossible_and_changes_nothing(
    state: State, happening: Happening
) -> None:
    async with hosting({}) as (host, _):
        here = Attendance(host, "", tell=lambda event: None)
        here.state = state
        if happening in TABLE[state]:
            here.happens(happening)
            assert here.state is TABLE[state][happening]
        else:
            with pytest.raises(Impossible, match=f"{happening.value} cannot happen to .* {state.value}"):
                here.happens(happening)
            assert here.state is state


def test_every_state_is_in_the_table_and_every_happening_can_happen() -> None:
    assert set(TABLE) == set(State)
    assert {happening for row in TABLE.values() for happening in row} == set(Happening)


def test_what_is_over_stays_over() -> None:
    assert set(TABLE[State.OVER].values()) == {State.OVER}


@states
def test_from_everywhere_the_end_is_one_step_away(state: State) -> None:
    assert {TABLE[state].get(going) for going in GOING} == {State.OVER}


def test_every_state_can_be_come_to_from_silence() -> None:
    reached, before = {State.SILENT}, set[State]()
    while reached != before:
        before = set(reached)
        reached |= {after for state in before for after in TABLE[state].values()}
    assert reached == set(State)


def test_the_drawing_is_one_of_the_table() -> None:
    """Each arrow that is drawn from left to right is a row, and whatever leads to another state is in it."""
    drawing = "\n".join(re.findall(r"^    .*", machine.__doc__ or "", re.MULTILINE))
    steps = STEP.findall(drawing)
    assert len(steps) >= 3
    for state, happening, after in steps:
        assert TABLE[State(state)][Happening(happening)] is State(after)
    ways = {
        happening.value
        for state, row in TABLE.items()
        for happening, after in row.items()
        if after not in (state, State.OVER)
    }
    assert not {word for word in ways | {state.value for state in State} if word not in drawing}


# At a host


class SlowToSeat(Memory):
    """A store that takes twelve seconds to keep to whom the name of an entrant belongs."""

    async def keep(self, tournament: str, when: float, facts: Sequence[AnyFact]) -> Sequence[str]:
        if isinstance(facts[0], Seated):
            await trio.sleep(12.0)
        return await super().keep(tournament, when, facts)


class Bot:
    """A dialect that says everything by heart: what it was told is kept as it came."""

    def __init__(self, host: Host, *, resumes: bool = False) -> None:
        self.told: list[object] = []
        self.early: list[bytes] = []
        self.here = Attendance(
            host,
            "",
            tell=self._tell,
            resumed=self._resumed if resumes else None,
            replaced=lambda why: self.told.append("replaced"),
            tournament_over=self._tournament_over,
            taken_out=self._taken_out,
        )

    async def come(self, name: str, *, wait: bool = True, **wishes: object) -> "Bot":
        early: Callable[[bytes, float], None] = lambda message, at: self.early.append(message)  # noqa: E731
        authenticated = partial(self.told.append, "authenticated")
        self.here.come(name, GAME, authenticated, self._admitted, self._refused, early, **wishes)  # type: ignore[arg-type]
        if wait:
            await trio.testing.wait_all_tasks_blocked()
        return self

    def play(self, move: str) -> None:
        assert self.here.seat is not None
        self.here.seat.play(move)

    def of(self, kind: type[AnyEvent]) -> list[AnyEvent]:
        return [event for event in self.told if isinstance(event, kind)]

    def _admitted(self, visit: Visit) -> None:
        self.told.append("admitted")

    def _refused(self, why: Unwelcome) -> None:
        self.told.append(str(why))

    def _resumed(self, seat: Seat) -> None:
        self.told.append("resumed")

    def _tell(self, event: AnyEvent) -> None:
        self.told.append(event)
        if isinstance(event, Ended):
            self.here.ended()

    def _tournament_over(self, tournament: Tournament, fact: AnyFact) -> None:
        self.told.append(f"{tournament.record.name} is over")

    def _taken_out(self, why: str) -> None:
        self.told.append(why)
        self.here.hang_up()


async def pair(host: Host) -> tuple[Bot, Bot]:
    ann, bob = await Bot(host).come("ann"), await Bot(host).come("bob")
    assert ann.here.state is bob.here.state is State.PLAYING
    return ann, bob


async def into(state: State, host: Host) -> Bot:
    """Somebody called ann in that state, with bob on the other side where there is one."""
    ann = Bot(host)
    match state:
        case State.SILENT:
            pass
        case State.ARRIVING:
            await ann.come("ann", wait=False)
        case State.IN:
            await ann.come("ann")
        case State.OVER:
            await ann.come("ann")
            ann.here.hang_up()
        case _:
            await ann.come("ann")
            await Bot(host).come("bob")
            if state is not State.PLAYING:
                ann.here.away()
    assert ann.here.state is state
    return ann


async def test_the_channel_knows_whom_it_carries_before_the_bot_is_told_and_of_nobody_who_is_refused(
    autojump_clock: MockClock,
) -> None:
    async with hosting({}) as (host, _):
        ann, draw = await Bot(host).come("ann"), await Bot(host).come("Draw")
        assert ann.told == ["authenticated", "admitted"]
        assert "authenticated" not in draw.told


async def test_the_log_says_who_was_turned_away_and_why(autojump_clock: MockClock) -> None:
    """Catches an author who asks the organiser why the bot does not come: old clients swallow the reason."""
    async with hosting({}) as (host, _):
        with capture_logs() as logs:
            draw, _ = await Bot(host).come("Draw"), await Bot(host).come("ann")
        away = [line for line in logs if line["event"] == "turned away"]
        assert [(line["player"], line["why"]) for line in away] == [("Draw", *draw.told)]


@states
async def test_whoever_has_lost_its_connection_holds_nothing(state: State, autojump_clock: MockClock) -> None:
    async with hosting({}) as (host, _):
        ann = await into(state, host)
        ann.here.lost()
        told = [*ann.told]
        await trio.sleep(60.0)
        here = ann.here
        assert (here.state, here.seat, here.visit) == (State.OVER, None, None)
        assert ann.told == told, "something was told after the end"
        assert not [each for each in host.lobby.players() if each.name == "ann" and each.present]
        again = await Bot(host).come("ann")
        assert again.here.visit is not None, "the name is not free again"


@states
async def test_whoever_has_hung_up_is_told_nothing_more(state: State, autojump_clock: MockClock) -> None:
    """Between the hanging up and the loss of the connection, its match may begin, go on and end."""
    async with hosting({}) as (host, _):
        ann = await into(state, host)
        ann.here.hang_up()
        told = [*ann.told]
        await Bot(host).come("cas")
        await trio.sleep(60.0)
        assert ann.told == told
        assert ann.here.state is State.OVER
        ann.here.lost()
        assert (ann.here.seat, ann.here.visit) == (None, None)


@states
async def test_a_host_that_stops_ends_it_in_every_state(state: State, autojump_clock: MockClock) -> None:
    async with hosting({}) as (host, _):
        ann = await into(state, host)
        await host.stop()
        ann.here.hang_up(Happening.STOPPING)
        told = [*ann.told]
        ann.here.lost()
        await trio.sleep(60.0)
        assert ann.told == told
        assert not any(each.record.matches for each in host.tournaments.values())


@pytest.mark.parametrize(
    "state", [state for state in State if Happening.REPLACED in TABLE[state]], ids=lambda state: state.value
)
async def test_whoever_is_replaced_lets_go_at_once_and_the_other_goes_on(
    state: State, autojump_clock: MockClock
) -> None:
    async with hosting({}) as (host, _):
        ann = await into(state, host)
        assert ann.here.visit is not None
        seat, token = ann.here.seat, ann.here.visit.token
        again = await Bot(host, resumes=True).come("ann", token=token)
        assert (ann.here.state, ann.here.visit, ann.here.seat) == (State.OVER, None, None)
        assert ann.told[-1] == "replaced"
        assert again.here.seat is seat
        assert ("resumed" in again.told) == (seat is not None)
        if seat is not None:
            again.play("C")
            assert len(again.of(Moved)) == 1
            assert not ann.of(Moved)
            assert not again.of(Began), "what had happened before is in what `resumed` tells"


async def test_whoever_does_not_resume_hears_everything_again(autojump_clock: MockClock) -> None:
    async with hosting({}) as (host, _):
        ann, _ = await pair(host)
        ann.play("C")
        assert ann.here.visit is not None
        again = await Bot(host).come("ann", token=ann.here.visit.token)
        assert [*again.of(Began), *again.of(Moved)] == [*ann.of(Began), *ann.of(Moved)]


@pytest.mark.parametrize(
    "state", [state for state in State if Happening.LEFT in TABLE[state]], ids=lambda state: state.value
)
@pytest.mark.parametrize("for_good", [False, True])
async def test_whoever_leaves_may_come_again_on_the_same_connection(
    state: State, for_good: bool, autojump_clock: MockClock
) -> None:
    async with hosting({}) as (host, _):
        ann = await into(state, host)
        assert ann.here.visit is not None
        player = ann.here.visit.player
        ann.here.leave(for_good=for_good)
        assert (ann.here.state, ann.here.visit, ann.here.seat) == (State.SILENT, None, None)
        assert player.retired == (for_good or state is State.IN), "who has finished no match is forgotten"
        told = [*ann.told]
        await trio.sleep(60.0)
        assert ann.told == told
        await ann.come("anna")
        assert ann.here.name == "anna"


async def test_leaving_without_having_come_is_nothing() -> None:
    async with hosting({}) as (host, _):
        ann = Bot(host)
        ann.here.leave()
        assert ann.here.state is State.SILENT


@states
async def test_the_end_of_its_tournament_is_told_once_to_whoever_is_in_and_to_nobody_else(
    state: State, autojump_clock: MockClock
) -> None:
    async with hosting(CUP) as (host, _):
        ann = await into(state, host)

        def end() -> None:
            for tell in tuple(host.on_fact):
                tell(host.tournaments["cup"], Turned(facts.State.RUNNING))
                tell(host.tournaments["cup"], Turned(facts.State.FINISHED))

        end()
        assert ann.told.count("cup is over") == (Happening.TOURNAMENT_OVER in TABLE[state])
        assert ann.here.state is state
        told = [*ann.told]
        if Happening.LEFT in TABLE[state]:
            ann.here.leave()
            end()
        ann.here.lost()
        end()
        assert ann.told == told


def withdrawn(desk: Desk, name: str) -> Awaitable[None]:
    return desk.withdraw(name)


def disqualified(desk: Desk, name: str) -> Awaitable[None]:
    return desk.disqualify(name, "two bots in one")


@pytest.mark.parametrize("taken_out", [withdrawn, disqualified])
@pytest.mark.parametrize("state", [State.IN, State.PLAYING, State.AWAY], ids=lambda state: state.value)
async def test_whoever_is_taken_out_is_told_so_after_the_end_of_its_match(
    state: State, taken_out: Callable[[Desk, str], Awaitable[None]], autojump_clock: MockClock
) -> None:
    async with hosting(CUP | {"entrants": "3"}) as (host, _):
        why = f"ann was {taken_out.__name__} from cup: ask its organiser why"
        ann = await into(State.IN, host)
        others = [await Bot(host).come(name) for name in ("bob", "cas")[: 0 if state is State.IN else 2]]
        while state is not State.IN and ann.here.state is not State.PLAYING:
            for seat in [each.here.seat for each in others if each.here.seat is not None][:1]:
                seat.resign()
            await trio.testing.wait_all_tasks_blocked()
        if state is State.AWAY:
            ann.here.away()
        before = [*ann.told]
        await taken_out(Desk(host.tournaments["cup"]), "ann")
        await trio.testing.wait_all_tasks_blocked()
        *rest, last = ann.told[len(before) :]
        assert (last, [type(each) for each in rest]) == (why, [] if state is State.IN else [Ended])
        assert not [bot for bot in others if why in bot.told]


@pytest.mark.parametrize("away", [True, False])
async def test_whoever_is_away_when_it_is_taken_out_has_yet_to_hear_of_it(
    away: bool, autojump_clock: MockClock
) -> None:
    async with hosting(CUP) as (host, _):
        ann = await into(State.IN, host)
        if away:
            ann.here.away()
        await Desk(host.tournaments["cup"]).withdraw("ann")
        await trio.testing.wait_all_tasks_blocked()
        assert [*host.untold.heard()] == [("cup", "ann")] * (not away)


async def test_whoever_is_taken_out_while_it_comes_in_is_told_so(autojump_clock: MockClock) -> None:
    async with hosting(CUP, store=SlowToSeat()) as (host, _):
        (await Bot(host).come("ann")).here.lost()
        desk = Desk(host.tournaments["cup"])
        await desk.release("ann")
        ann = await Bot(host).come("ann")
        await desk.withdraw("ann")
        assert ann.told == []
        await trio.sleep(20.0)
        assert ann.told == ["authenticated", "admitted", "ann was withdrawn from cup: ask its organiser why"]


async def test_whoever_was_taken_out_is_told_so_when_it_comes_after_a_restart(
    autojump_clock: MockClock,
) -> None:
    store = Memory()
    async with hosting(CUP, store=store) as (host, _):
        ann = await Bot(host).come("ann", token="a-token-of-20-letters")
        await Desk(host.tournaments["cup"]).withdraw("ann")
        await trio.testing.wait_all_tasks_blocked()
        why = ann.told[-1]
    async with hosting(CUP, store=store) as (host, _):
        again = await Bot(host).come("ann", tournament="cup", token="a-token-of-20-letters")
        assert again.told == [why] == ["ann was withdrawn from cup: ask its organiser why"]


async def test_at_an_open_table_whoever_is_taken_out_is_told_so_and_not_let_in_again(
    autojump_clock: MockClock,
) -> None:
    """Catches a bot that was let in, and waited for ever."""
    async with hosting({}) as (host, _):
        ann = await into(State.IN, host)
        await Desk(host.tournaments[f"open-{GAME}"]).withdraw("ann")
        await trio.testing.wait_all_tasks_blocked()
        assert ann.told[-1] == f"ann was withdrawn from open-{GAME}: ask its organiser why"
        ann.here.lost()
        again = await Bot(host).come("ann")
        assert again.told == [f"ann was withdrawn from open-{GAME}: ask its organiser why"]


async def test_whoever_is_disqualified_when_all_is_over_has_nothing_to_wait_for(
    autojump_clock: MockClock,
) -> None:
    async with hosting(CUP) as (host, _):
        ann, _ = await pair(host)
        assert ann.here.seat is not None
        ann.here.seat.resign()
        await trio.testing.wait_all_tasks_blocked()
        told = [*ann.told]
        assert told[-1] == "cup is over"
        await Desk(host.tournaments["cup"]).disqualify("ann", "two bots in one")
        await trio.testing.wait_all_tasks_blocked()
        assert ann.told == told


async def test_what_is_said_while_arriving_is_bounded_and_heard_afterwards_in_order(
    autojump_clock: MockClock,
) -> None:
    async with hosting({}, Limits(early_messages=3)) as (host, _):
        ann = await Bot(host).come("ann", wait=False)
        kept = [ann.here.put_off(message, 0.0) for message in (b"1", b"2", b"3", b"4")]
        assert kept == [True, True, True, False]
        assert ann.early == []
        await trio.testing.wait_all_tasks_blocked()
        assert ann.told == ["authenticated", "admitted"]
        assert ann.early == [b"1", b"2", b"3"]


async def test_what_was_put_off_is_heard_after_a_refusal_too_but_not_after_the_end(
    autojump_clock: MockClock,
) -> None:
    async with hosting({}) as (host, _):
        refused, lost = await Bot(host).come("Draw", wait=False), await Bot(host).come("ann", wait=False)
        for bot in (refused, lost):
            assert bot.here.put_off(b"1", 0.0)
        lost.here.lost()
        await trio.testing.wait_all_tasks_blocked()
        assert refused.told == ["Draw is a reserved word"]
        assert (refused.here.state, refused.early) == (State.SILENT, [b"1"])
        assert (lost.told, lost.early) == ([], [])


@pytest.mark.parametrize("name", ["ann", "Draw"])
async def test_whoever_goes_while_it_is_being_let_in_is_not_let_in(
    name: str, autojump_clock: MockClock
) -> None:
    async with hosting({}, store=SlowToEnter()) as (host, _):
        ann = await Bot(host).come(name, wait=False)
        ann.here.hang_up()
        await trio.sleep(20.0)
        ann.here.lost()
        assert ann.told == []
        assert not [each for each in host.lobby.players() if each.present]


async def test_a_seat_that_is_dealt_between_the_hanging_up_and_the_loss_does_no_harm(
    autojump_clock: MockClock,
) -> None:
    async with hosting({}) as (host, _):
        ann = await Bot(host).come("ann")
        ann.here.hang_up()
        bob = await Bot(host).come("bob")
        assert bob.here.state is State.PLAYING
        assert (ann.here.state, ann.here.seat, ann.of(Began)) == (State.OVER, None, [])
        ann.here.lost(for_good=True)
        await trio.testing.wait_all_tasks_blocked()
        (ended,) = bob.of(Ended)
        assert isinstance(ended, Ended)
        assert (ended.winner, ended.why) == (None, "ann left before both had moved")


async def test_a_question_is_counted_and_its_answer_costs_nothing(autojump_clock: MockClock) -> None:
    limits = Limits()
    async with hosting({}, limits) as (host, _):
        here = Bot(host).here
        while here.budget.message(0.0):
            pass
        here.ask()
        assert here.asked == 1
        assert [here.budget.message(0.0), here.budget.message(0.0)] == [True, False]


@pytest.mark.parametrize("to_move", [True, False])
async def test_a_link_that_is_lost_ends_no_match_and_its_silence_is_given_back_to_whoever_was_to_move_over_it(
    to_move: bool, autojump_clock: MockClock
) -> None:
    async with hosting({}) as (host, _):
        for bot in await pair(host):
            if (seat := bot.here.seat) is not None and seat.to_move is to_move:
                await trio.sleep(3.0)
                before = seat.match.left(trio.current_time())
                bot.here.failed(Severed(silent=2.0))
                assert seat.match.verdict is None
                given = [
                    round(after - left)
                    for after, left in zip(seat.match.left(trio.current_time()), before, strict=True)
                    if after is not None and left is not None
                ]
                assert sum(given) == (2 if to_move else 0)


def test_a_budget_goes_on_from_what_another_process_has_left_of_it() -> None:
    """Catches a bot that has all of it again with each match that another worker plays."""
    limits = Limits()
    for spend in (TalkBudget.unasked, TalkBudget.junk):
        here, there = TalkBudget(limits, 0.0), TalkBudget(limits, 0.0)
        while spend(here, 0.0):
            pass
        there.go_on(here.left)
        assert not spend(there, 0.0)
    here, there = TalkBudget(limits, 0.0), TalkBudget(limits, 0.0)
    for number in range(limits.junk_total):
        assert here.junk(number * limits.junk.seconds)
    there.go_on(here.left)
    assert not there.junk((limits.junk_total + 1) * limits.junk.seconds)
