"""Bugs of the kinds that doors have, planted into the real code while a test wants to see them found."""

from typing import Any

from msgspec.structs import replace

import server.protocols.house.messages
from server.host.reception import Reception
from server.http.connection import Connection
from server.http.exchange import Exchange
from server.net.outbox import Outbox
from server.protocols.arena.battle import Battle
from server.protocols.hexagon_dots.bot import Bot, plain
from server.protocols.house.talk import HouseTalk
from tests.simulation.planted import Patches
from tournament.player import Player


def the_wrong_winner_is_told() -> Patches:
    told = server.protocols.house.messages.end

    def end(match: Any, ended: Any) -> Any:
        return replace(told(match, ended), winner=match.game.seats[0])

    return {(server.protocols.house.messages, "end"): end}


def who_comes_back_is_not_asked_again() -> Patches:
    return {(HouseTalk, "_resume"): lambda house, seat: None}


def who_is_gone_is_remembered_for_ever() -> Patches:
    return {(Reception, "forget"): lambda *_: None}


def a_lost_connection_is_a_lost_match() -> Patches:
    return {(Player, "away"): lambda player: player.seat and player.seat.leave()}


def what_a_socket_does_not_take_is_lost() -> Patches:
    return {(Outbox, "_keep"): lambda outbox, data: None}


def junk_breaks_a_door() -> Patches:
    def junk(house: HouseTalk, reason: str, at: float) -> None:
        raise KeyError(reason)

    return {(HouseTalk, "_junk"): junk}


def a_stream_is_opened_again_where_it_was_left() -> Patches:
    start = Battle.start

    def start_once(battle: Battle, exchange: Any) -> None:
        told, battle.told = battle.told, battle.told if not battle.started else []
        start(battle, exchange)
        battle.told = told

    return {(Battle, "start"): start_once}


def a_request_made_again_is_refused() -> Patches:
    def refuse(bot: Bot, exchange: Exchange) -> None:
        exchange.respond(plain(409, "this request was made before"))

    return {(Bot, "_come_back"): refuse}


def nobody_hears_that_a_client_has_gone() -> Patches:
    return {(Connection, "_lose"): lambda connection, exchange: None}


PLANTED = (
    the_wrong_winner_is_told,
    who_comes_back_is_not_asked_again,
    who_is_gone_is_remembered_for_ever,
    a_lost_connection_is_a_lost_match,
    what_a_socket_does_not_take_is_lost,
    junk_breaks_a_door,
    a_stream_is_opened_again_where_it_was_left,
    a_request_made_again_is_refused,
    nobody_hears_that_a_client_has_gone,
)
