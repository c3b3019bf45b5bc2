"""Which talks remember what a bot said before."""

from typing import Any, cast

from server.protocols.c4arena.talk import C4Arena
from server.protocols.dialect import Remembers, Talk, remembering
from server.protocols.house.talk import HouseTalk
from server.protocols.santorini_memo import Memo


def made(kind: type) -> Talk:
    talk: Any = object.__new__(kind)
    talk.attendance = None  # all that a talk has from its beginning
    return cast("Talk", talk)


def test_a_talk_remembers_if_it_is_of_a_type_that_does() -> None:
    assert remembering(None) is None
    for _ in range(2):  # the answer is remembered, too
        for kind in (C4Arena, HouseTalk, Memo):
            talk = made(kind)
            assert (remembering(talk) is talk) == isinstance(talk, Remembers)
    assert remembering(made(HouseTalk)) is not None
