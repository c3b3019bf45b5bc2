"""Who may come in under which name, and who may come back."""

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from server.host.look_alikes import alike
from server.host.names import key
from server.host.reception import AT_A_TIME, Reception
from server.host.roll import Roll
from server.host.secrets import token_digest
from server.host.unwelcome import Unwelcome
from server.host.visits import REPLACED, Present, Visit
from server.net.limits import Limits
from tournament.facts import Called, Entered, Opened
from tournament.lobby import Lobby
from tournament.player import NOWHERE
from tournament.record import Record

GAME = "connect-4"
OWN = "a token of sixteen and more"


@pytest.fixture
def lobby() -> Lobby:
    return Lobby()


@pytest.fixture
def reception(lobby: Lobby) -> Reception:
    return Reception(lobby, Limits())


def connected(visit: Visit) -> Visit:
    """As a bot that has got its token and said something since."""
    visit.acknowledge()
    return visit


async def test_whoever_comes_is_a_player(reception: Reception, lobby: Lobby) -> None:
    visit = reception.arrive(" ann ", GAME)
    assert visit.player.name == "ann"
    assert lobby.find("ann", GAME) is visit.player
    assert visit.current


def test_what_looks_like_what_is_known_before_anybody_comes(lobby: Lobby) -> None:
    """Catches a file that is opened for the first bot, when the host may have no more files to open."""
    alike.cache_clear()
    Reception(lobby, Limits())
    assert alike.cache_info().currsize == 1


async def test_a_name_is_taken_while_somebody_is_here_under_it_or_one_that_looks_like_it(
    reception: Reception,
) -> None:
    reception.arrive("ann", GAME, keeps=False)
    for name in ("ann", "Ann", "ａｎｎ"):
        with pytest.raises(Unwelcome, match="taken"):
            reception.arrive(name, GAME)
    reception.arrive("ann", "quoridor")


@pytest.mark.parametrize("keeps", [True, False])
async def test_whoever_spells_a_taken_name_differently_is_told_that_another_looks_like_it(
    keeps: bool, reception: Reception
) -> None:
    """Catches somebody who looks for a bot of that name, and finds none."""
    reception.arrive("Mía", GAME, keeps=keeps)
    for name, differs in (("Mía", False), ("Mia", True)):
        with pytest.raises(Unwelcome, match="^the name " + name) as refused:
            reception.arrive(name, GAME)
        assert ("looks like it" in str(refused.value)) is differs


async def test_a_bot_without_a_token_is_gone_with_its_connection(reception: Reception, lobby: Lobby) -> None:
    visit = reception.arrive("ann", GAME, keeps=False)
    assert visit.token is None
    visit.leave()
    assert visit.player.retired
    assert lobby.find("ann", GAME) is None
    assert reception.arrive("ann", GAME, keeps=False).player is not visit.player


async def test_an_entrant_keeps_a_name_that_was_reserved_after_it_had_come(lobby: Lobby) -> None:
    """But nobody else gets it, nor what the host's own players were always called."""
    record, roll = Record("cup", Opened(GAME, "round-robin")), Roll()
    for name in ("greedy", "random"):
        record.add(Entered(name))
    roll.add(record)
    reception = Reception(lobby, Limits(), roll)
    assert reception.arrive("greedy", GAME).player.name == "greedy"
    for name, game in (("Greedy", GAME), ("greedy", "quoridor"), ("first", GAME), ("random", GAME)):
        with pytest.raises(Unwelcome, match=r"reserved|taken"):
            reception.arrive(name, game)


async def test_with_its_token_a_bot_comes_back_to_the_same_player(reception: Reception) -> None:
    visit = connected(reception.arrive("ann", GAME))
    visit.leave()
    assert not visit.player.present
    again = reception.arrive("ann", GAME, token=visit.token)
    assert again.player is visit.player
    assert again.player.present
    assert again.token == visit.token


async def test_a_token_takes_over_at_once_and_the_old_connection_can_clear_nothing(
    reception: Reception,
) -> None:
    """Catches the cleanup of the old connection that throws out the new one."""
    old = connected(reception.arrive("ann", GAME))
    told: list[str] = []
    old.replaced = told.append
    new = reception.arrive("ann", GAME, token=old.token)
    assert len(told) == 1
    assert not old.current
    old.leave()
    old.leave(for_good=True)
    assert new.current
    assert new.player.present


async def test_without_the_token_a_claimed_name_cannot_be_had_and_nothing_is_told_of_it(
    reception: Reception,
) -> None:
    visit = connected(reception.arrive("ann", GAME))
    assert visit.token is not None
    reasons: set[str] = set()
    for token in (None, "", "x" * 22, visit.token[:-1], "\ud800"):
        with pytest.raises(Unwelcome) as refused:
            reception.arrive("ann", GAME, token=token)
        reasons.add(str(refused.value))
    visit.leave()
    with pytest.raises(Unwelcome) as refused:
        reception.arrive("ann", GAME, keeps=False)
    assert reasons | {str(refused.value)} == {
        "the name ann is taken, and this is not its token: come under another name, or bring its token"
    }
    assert visit.token not in repr(vars(reception))


async def test_a_token_that_never_arrived_locks_nobody_out(reception: Reception) -> None:
    """The connection broke between the making of the token and its arrival."""
    lost = reception.arrive("ann", GAME)
    lost.leave()
    again = reception.arrive("ann", GAME)
    assert again.token != lost.token
    assert lost.player.retired
    with pytest.raises(Unwelcome):
        reception.arrive("ann", GAME, token=lost.token)


async def test_a_visit_stands_for_a_token_only_while_it_lasts_and_that_may_not_have_arrived(
    reception: Reception,
) -> None:
    first = reception.arrive("ann", GAME)
    second = reception.arrive("ann", GAME, unheard=first)
    assert second.player is first.player
    assert second.token != first.token
    with pytest.raises(Unwelcome, match="this is not its token"):
        reception.arrive("ann", GAME, unheard=first)
    with pytest.raises(Unwelcome, match="this is not its token"):
        reception.arrive("ann", GAME, unheard=connected(second))


async def test_whoever_brings_its_token_has_its_name_whether_it_says_anything_or_not(
    reception: Reception,
) -> None:
    visit = reception.arrive("ann", GAME)
    visit.leave()
    reception.arrive("ann", GAME, token=visit.token).leave()
    with pytest.raises(Unwelcome, match="this is not its token"):
        reception.arrive("ann", GAME)


async def test_a_bot_without_a_token_is_not_driven_out_by_one_whose_token_never_arrived(
    reception: Reception, lobby: Lobby
) -> None:
    """It would be here for ever: nothing told it, and its leaving cleared nothing."""
    lost = reception.arrive("ann", GAME)
    lost.leave()
    visit = reception.arrive("ann", GAME, keeps=False)
    assert lost.player.retired
    with pytest.raises(Unwelcome, match="somebody is here"):
        reception.arrive("ann", GAME, token=lost.token)
    assert visit.current
    visit.leave()
    assert not [*lobby.players()]


async def test_a_token_from_before_a_restart_is_taken_as_it_is(reception: Reception) -> None:
    visit = reception.arrive("ann", GAME, token="kept-from-the-last-time")
    assert visit.token == "kept-from-the-last-time"
    assert reception.arrive("bob", GAME, token="short").token != "short"


async def test_two_clients_with_one_token_do_not_kick_each_other_for_ever(
    reception: Reception, autojump_clock: MockClock
) -> None:
    visit = connected(reception.arrive("ann", GAME))
    for _ in range(5):
        visit = reception.arrive("ann", GAME, token=visit.token)
    with pytest.raises(Unwelcome, match="too often"):
        reception.arrive("ann", GAME, token=visit.token)
    assert visit.current
    await trio.sleep(60.0)
    assert reception.arrive("ann", GAME, token=visit.token).current


async def test_coming_back_after_having_gone_is_no_takeover(reception: Reception) -> None:
    visit = connected(reception.arrive("ann", GAME))
    for _ in range(20):
        visit.leave()
        visit = reception.arrive("ann", GAME, token=visit.token)


async def test_guessing_tokens_ends_soon(reception: Reception) -> None:
    connected(reception.arrive("ann", GAME))
    reasons = []
    for guess in range(12):
        with pytest.raises(Unwelcome) as refused:
            reception.arrive("ann", GAME, token=f"guess {guess:020}", peer="192.0.2.1")
        reasons.append(str(refused.value))
    assert "too many wrong tokens" in reasons[-1]
    assert "too many wrong tokens" not in reasons[9]


async def test_a_shared_name_may_be_here_twice(reception: Reception, lobby: Lobby) -> None:
    one = reception.arrive("ann", GAME, keeps=False, shared=True)
    other = reception.arrive("ann", GAME, keeps=False, shared=True)
    assert one.player is not other.player
    one.leave()
    assert other.current
    assert lobby.find("ann", GAME) is other.player
    assert reception.arrive("ann", GAME, keeps=False, shared=True).current


@pytest.mark.parametrize("name", ["Bobl", "B0b1", "bob1", "BOB1"])
async def test_a_name_is_shared_with_those_alone_who_spell_it_alike(reception: Reception, name: str) -> None:
    """Bob1 would meet Bobl in a match of their own."""
    reception.arrive("Bob1", GAME, keeps=False, shared=True)
    with pytest.raises(Unwelcome):
        reception.arrive(name, GAME, keeps=False, shared=True)


@pytest.mark.parametrize("shared", [True, False])
async def test_a_name_is_shared_with_those_alone_who_share_it(reception: Reception, shared: bool) -> None:
    first = reception.arrive("ann", GAME, keeps=False, shared=shared)
    with pytest.raises(Unwelcome, match="the name ann is taken: somebody is here under it"):
        reception.arrive("ann", GAME, keeps=False, shared=not shared)
    first.leave()
    reception.arrive("ann", GAME, keeps=False, shared=not shared)


async def test_names_of_bots_that_nobody_waits_for_are_free_again_after_a_while(
    reception: Reception, autojump_clock: MockClock
) -> None:
    here, gone, awaited = (connected(reception.arrive(name, GAME)) for name in ("here", "gone", "awaited"))
    gone.leave()
    awaited.leave()
    await trio.sleep(100.0)
    reception.forget(lambda player: player is awaited.player, 60.0)
    assert gone.player.retired
    assert not awaited.player.retired
    assert here.current
    reception.arrive("gone", GAME, keeps=False)
    with pytest.raises(Unwelcome):
        reception.arrive("awaited", GAME)


@pytest.mark.parametrize("name", ["", "Draw", "a\u202eb"])
async def test_a_bad_name_is_unwelcome_in_words(reception: Reception, name: str) -> None:
    with pytest.raises(Unwelcome, match=r"a name|reserved"):
        reception.arrive(name, GAME)


@pytest.mark.parametrize("keeps", [True, False], ids=["with a token", "without"])
@pytest.mark.parametrize("here", [True, False], ids=["here", "gone"])
async def test_a_name_that_an_organiser_gives_away_is_had_with_the_new_token_alone(
    here: bool, keeps: bool, reception: Reception
) -> None:
    first = reception.arrive("ann", GAME, keeps=keeps)
    if not here:
        first.leave()
    token = reception.bind("ann", GAME, "cup")
    first.leave()
    for other in (None, first.token or OWN):
        with pytest.raises(Unwelcome, match="this is not its token"):
            reception.arrive("ann", GAME, token=other)
    assert reception.arrive("ann", GAME, token=token).current


async def test_a_bot_that_is_called_to_its_matches_keeps_its_name(
    reception: Reception, autojump_clock: MockClock
) -> None:
    called = Called("ann", "http://192.0.2.7/", token_digest(OWN).hex())
    reception.restore("ann", GAME, called.digest, "cup")
    visit = reception.recall("ann", GAME, called, "cup", arrived=True)
    await trio.sleep(100.0)
    reception.forget(lambda player: False, 60.0)
    assert visit is not None
    assert visit.current
    assert not visit.player.retired
    assert reception.arrive("ann", GAME, token=OWN).player is visit.player


async def test_nobody_is_called_under_a_name_that_another_has_by_now(reception: Reception) -> None:
    visit = connected(reception.arrive("ann", GAME))
    visit.leave()
    called = Called("ann", "http://192.0.2.7/", token_digest(OWN).hex())
    assert reception.recall("ann", GAME, called, "cup", arrived=True) is None
    assert reception.arrive("ann", GAME, token=visit.token).player.place == NOWHERE


@pytest.mark.parametrize("here", [True, False], ids=["its bot is here", "another has it"])
async def test_a_name_is_given_back_to_no_bot_that_was_away_where(here: bool, reception: Reception) -> None:
    visit = connected(reception.arrive("ann", GAME, token=OWN))
    if not here:
        visit.leave()
    digest = token_digest(OWN if here else f"not {OWN}").hex()
    reception.restore("ann", GAME, digest, "monday")
    assert not visit.player.retired
    assert reception.arrive("ann", GAME, token=OWN).player is visit.player


async def test_a_bot_that_came_in_vain_is_awaited_where_it_has_to_play(reception: Reception) -> None:
    """Before this process held its tournament."""
    visit = connected(reception.arrive("ann", GAME, token=OWN))
    visit.leave()
    reception.restore("ann", GAME, token_digest(OWN).hex(), "monday")
    assert reception.arrive("ann", GAME, token=OWN).player.place == "monday"


async def test_names_that_are_awaited_are_looked_at_once_however_many(
    reception: Reception, autojump_clock: MockClock
) -> None:
    """Catches a host that never ends to look at them."""
    for number in range(3 * AT_A_TIME):
        connected(reception.arrive(f"bot-{number}", GAME)).leave()
    await trio.sleep(100.0)
    looks = 1
    while reception.forget(lambda player: True, 60.0):
        looks += 1
        assert looks <= 4


async def test_a_shared_name_that_was_given_away_may_be_shared_again_once_it_is_free(
    reception: Reception, autojump_clock: MockClock
) -> None:
    reception.arrive("ann", GAME, keeps=False, shared=True)
    token = reception.bind("ann", GAME, "cup")
    reception.arrive("ann", GAME, token=token).leave(for_good=True)
    await trio.sleep(100.0)
    reception.forget(lambda player: False, 60.0)
    both = [reception.arrive("ann", GAME, keeps=False, shared=True) for _ in range(2)]
    assert all(visit.current for visit in both)


async def test_a_name_is_not_owned_because_of_what_was_said_by_whoever_had_it_before(
    reception: Reception, lobby: Lobby
) -> None:
    before = lobby.enter("ann", GAME, NOWHERE)
    first = reception.arrive("ann", GAME)
    reception.trust("ann", GAME, before)
    first.leave()
    assert reception.arrive("ann", GAME).token != first.token


async def test_other_processes_are_told_of_whoever_has_a_place_and_of_whoever_has_gone(
    reception: Reception,
) -> None:
    where, moved = (GAME, key("ann")), list[tuple[str, str]]()
    reception.moved = moved.append
    visit = reception.arrive("ann", GAME, token=OWN)
    assert reception.present(where) is None
    visit.player.move_to("cup")
    assert reception.present(where) == Present("cup", token_digest(OWN).hex(), False)
    visit.leave()
    assert (reception.present(where), moved) == (None, [where])


async def test_whoever_has_come_to_another_process_gives_way_unless_it_is_about_to(
    reception: Reception,
) -> None:
    visit, told = reception.arrive("ann", GAME), list[str]()
    visit.replaced = told.append
    reception.give_way(visit.key, leaving=visit)
    assert not told
    reception.give_way(visit.key)
    assert told == [REPLACED]


async def test_any_number_may_wait_until_the_place_of_a_bot_is_decided(
    reception: Reception, autojump_clock: MockClock
) -> None:
    """Catches the second of them, who was told that the host had failed."""
    visit, through = reception.arrive("ann", GAME), list[int]()

    async def wait(number: int) -> None:
        await visit.decided()
        through.append(number)

    visit.await_decision()
    async with trio.open_nursery() as nursery:
        for number in range(3):
            nursery.start_soon(wait, number)
        await trio.testing.wait_all_tasks_blocked()
        assert through == []
        visit.decide()
    assert sorted(through) == [0, 1, 2]
    await visit.decided()
