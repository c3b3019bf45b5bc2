"""Tic-Tac-Toe and Quoridor as the Arena plays them, over simulated connections on a virtual clock."""

from trio.testing import MockClock

from tests.server.doors.lists import flipped, lists, put


async def test_two_bots_play_a_match_and_are_told_every_move(autojump_clock: MockClock) -> None:
    async with lists() as here:
        ann, bob = await here.pair()
        assert (ann.side, bob.side) == ("O", "X")
        for fighter, field in ((ann, "NW"), (bob, "C"), (ann, "N"), (bob, "E")):
            assert (await fighter.put(field))[0] == 200
            for each in (ann, bob):
                assert await each.told() == [put(fighter.side, field)]
        assert await ann.put("NE") == (200, 22000)
        for each in (ann, bob):
            assert await each.told() == [put("O", "NE"), {"winner": "O"}]
            assert each.stream.over


async def test_flip(autojump_clock: MockClock) -> None:
    async with lists() as here:
        ann, bob = await here.pair()
        assert await ann.put("XX") == (200, 18000)
        for each in (ann, bob):
            assert await each.told() == [put("O", "XX")]
            assert not each.stream.over
        assert await ann.flip() == (423, "Battle already ended")
        assert await bob.put("NE") == (423, "Battle already ended")
        assert await bob.flip() == (200, 18000)
        for each in (ann, bob):
            assert await each.told() == [flipped("X")]
            assert each.stream.over
