"""The chain in an export: what it proves, to whom, and how a forger is caught."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from server.exits import ConfigError
from server.export import signing
from server.export.read import Section, sections
from server.export.read_facts import links
from server.export.signing import Signer, known_signer, signer
from server.export.verify import Verdict, verify
from tests.server.exports import exported, simulated, text
from tests.server.run import quintain
from tournament.chain import START, leaf, linked, shown_leaf
from tournament.events import Ending
from tournament.facts import Claimed, Concluded, Kept, Ordered, Withdrew
from tournament.folding import fold

KEY = Signer(bytes(range(32)))


def verdict(lines: list[Any], receipt: str | None = None) -> Verdict:
    return verify(text(lines), receipt)


def receipts(lines: list[Any]) -> dict[str, str]:
    """By match: what its players were given."""
    return {
        line["fact"]["match"]: line["head"]
        for line in lines
        if line["type"] == "fact" and line["fact"]["type"] == "concluded"
    }


@pytest.fixture(scope="module")
def kept() -> tuple[Kept, ...]:
    """One tournament in which somebody withdrew, with what nobody but its organiser may know."""
    for seed in range(1, 60):
        for name in fold(simulated(seed)):
            own = [each for each in simulated(seed) if each.tournament == name]
            if {Withdrew, Concluded} <= {type(each.fact) for each in own}:
                at = next(index for index, each in enumerate(own) if isinstance(each.fact, Withdrew))
                secret = (Ordered("the organiser", "withdraw", "?"), Claimed("bot-1", "ab" * 32))
                return (*own[:at], *(Kept(name, own[at].when, fact) for fact in secret), *own[at:])
    raise AssertionError("there is no such world")


@pytest.fixture(scope="module")
def lines(kept: tuple[Kept, ...]) -> list[Any]:
    return exported(kept, everything=False, signer=KEY)


@pytest.mark.slow
def test_every_receipt_that_was_given_is_a_head_of_the_public_export(lines: list[Any]) -> None:
    given = receipts(lines)
    assert given
    for receipt in (*given.values(), next(iter(given.values())).upper()):
        found = verdict(lines, receipt)
        assert (found.findings, found.receipt_found) == ([], True)
    (chain,) = verdict(lines).chains
    assert (chain.key, chain.signed, chain.head) == (KEY.public, True, lines[-2]["head"])
    assert f", signed by the key {KEY.public}" in str(chain)


def test_the_first_line_that_does_not_follow_is_named_and_no_other_is_blamed(lines: list[Any]) -> None:
    facts = [number for number, line in enumerate(lines) if line["type"] in ("fact", "withheld")]
    for index in (facts[0], facts[len(facts) // 2], facts[-1]):
        changed = {**lines[index], "when": lines[index]["when"] - 1e-6}
        breaks = [
            finding.line
            for finding in verdict([*lines[:index], changed, *lines[index + 1 :]]).findings
            if "the chain breaks here" in finding.why
        ]
        assert breaks == [index + 1]


@pytest.mark.slow
def test_nothing_can_be_withheld_but_what_is_the_organisers(lines: list[Any]) -> None:
    """Catches an organiser who hides that somebody withdrew behind a seal."""
    for index, line in enumerate(lines):
        if line["type"] == "fact" and line["fact"]["type"] in ("withdrew", "concluded", "turned", "entered"):
            for kind in (line["fact"]["type"], "ordered"):
                hidden = {"type": "withheld", "tournament": line["tournament"], "when": line["when"]}
                hidden |= {"kind": kind, "seal": "ab" * 32, "head": line["head"]}
                found = verdict([*lines[:index], hidden, *lines[index + 1 :]]).findings
                assert index + 1 in [finding.line for finding in found]


def linked_anew(lines: list[Any]) -> list[Any]:
    """With the heads that follow from what the lines say."""
    (section,) = sections(text(lines), [])
    assert isinstance(section, Section)
    found, head = list(lines), START
    for link in links(section, []):
        own = shown_leaf(link.row, link.row.body, link.seal) if link.seal else leaf(link.row)
        head = linked(head, own)
        found[link.line - 1] = {**found[link.line - 1], "head": head.hex()}
    unsigned = {"head": head.hex(), "key": None, "signature": None, "algorithm": None}
    *others, end, standings = found
    return [*others, {**end, **unsigned}, standings]


def test_a_chain_that_was_made_anew_hides_no_fact_that_everybody_may_know(lines: list[Any]) -> None:
    index = next(n for n, line in enumerate(lines) if line.get("fact", {}).get("type") == "withdrew")
    hidden = {"type": "withheld", "tournament": lines[index]["tournament"], "when": lines[index]["when"]}
    hidden |= {"kind": "withdrew", "seal": "ab" * 32, "head": ""}
    said = [
        finding.why
        for finding in verdict(linked_anew([*lines[:index], hidden, *lines[index + 1 :]])).findings
    ]
    assert not [why for why in said if "the chain breaks" in why]
    assert 'a fact of the kind "withdrew" is withheld from nobody' in said


def won(kept: Kept) -> bool:
    return (
        isinstance(kept.fact, Concluded)
        and kept.fact.ending is Ending.PLAYED
        and kept.fact.winner is not None
    )


def round_robin() -> list[Kept]:
    """One in which somebody has won: what a result comes to there decides nothing that is drawn."""
    for seed in range(1, 60):
        for name, record in fold(simulated(seed)).items():
            own = [each for each in simulated(seed) if each.tournament == name]
            if record.format.name == "round-robin" and not record.out and any(map(won, own)):
                return own
    raise AssertionError("there is no such world")


def rewritten(kept: list[Kept]) -> tuple[str, list[Kept]]:
    """The same history, in which the winner of the last match that was won has resigned it; and which."""
    index = max(index for index, each in enumerate(kept) if won(each))
    fact = kept[index].fact
    assert isinstance(fact, Concluded)
    assert fact.winner is not None
    assert fact.score is not None
    other = structs.replace(
        fact,
        winner=1 - fact.winner,
        ending=Ending.RESIGNED,
        why=f"{fact.players[fact.winner]} resigned",
        score=fact.score[::-1],
        moves=fact.moves[:-1],
        times=fact.times[:-1],
    )
    return fact.match, [*kept[:index], structs.replace(kept[index], fact=other), *kept[index + 1 :]]


@pytest.mark.slow
def test_a_forger_who_follows_every_complaint_is_caught_by_a_single_receipt() -> None:
    facts = round_robin()
    genuine = exported(facts, everything=False, signer=KEY)
    match, history = rewritten(facts)
    another = Signer(bytes(32))  # the host's own key would do no harm
    forged = exported(history, everything=False, signer=another)
    assert forged[-1] != genuine[-1], "the standings are others"
    assert verdict(forged).findings == [], "every complaint is followed, and the chain is computed anew"
    given = receipts(genuine)
    assert verdict(genuine, given[match]).findings == []
    caught = verdict(forged, given[match])
    assert caught.receipt_found is False
    assert [finding.line for finding in caught.findings] == [len(forged)]
    assert "was changed after that receipt was given" in caught.findings[0].why
    for later in list(given)[list(given).index(match) :]:
        assert verdict(forged, given[later]).findings, "so do the receipts of all later matches"


def test_the_standings_are_the_last_line_as_whoever_reads_no_chain_expects(lines: list[Any]) -> None:
    """In files of an older Quintain the head came after them; these are verified as before."""
    *others, head, standings = lines
    assert (head["type"], standings["type"]) == ("head", "standings")
    old = verdict([*others, standings, head])
    assert (old.findings, old.chains) == ([], verdict(lines).chains)
    assert verdict([*others[:-1], standings, others[-1], head]).findings, "facts come before them"


def test_a_receipt_that_is_only_written_into_the_file_is_no_head_of_it(lines: list[Any]) -> None:
    receipt = "ab" * 32
    index = next(number for number, line in enumerate(lines) if line["type"] == "fact")
    said = [*lines[:index], {**lines[index], "head": receipt}, *lines[index + 1 :]]
    found = verdict(said, receipt)
    assert found.receipt_found is False
    assert any(finding.why.endswith(f"not {receipt[:16]}…") for finding in found.findings)


def test_a_chain_without_its_end_is_a_finding_and_says_how_far_it_goes(lines: list[Any]) -> None:
    *others, _, standings = lines
    found = verdict([*others, standings])
    assert any("which says where the chain ends" in finding.why for finding in found.findings)
    assert f"up to the head {others[-1]['head']}, signed by nobody" in str(found.chains[0])


@pytest.mark.parametrize("field", ["tournament", "facts", "head"])
def test_an_end_that_the_host_has_signed_for_another_chain_is_not_the_end_of_this_one(
    lines: list[Any], field: str
) -> None:
    *others, head, standings = lines
    other = {"tournament": "another", "facts": head["facts"] - 1, "head": others[-2]["head"]}[field]
    end = {**head, field: other}
    end["signature"] = KEY.sign(end["tournament"], end["facts"], end["head"])
    found = verdict([*others, end, standings])
    assert len(lines) - 1 in [finding.line for finding in found.findings if "this says that" in finding.why]


def test_a_chain_that_ends_twice_is_a_finding_at_the_second_end(lines: list[Any]) -> None:
    *others, head, standings = lines
    found = verdict([*others, head, head, standings])
    assert [each.line for each in found.findings if "ends once" in each.why] == [len(lines)]


def test_an_end_of_a_chain_without_the_heads_before_it_is_found_at_each_fact(lines: list[Any]) -> None:
    bare = [line | {"head": ""} if line["type"] in ("fact", "withheld") else line for line in lines]
    facts = [number for number, line in enumerate(lines, 1) if line["type"] in ("fact", "withheld")]
    found = verdict(bare).findings
    assert [each.line for each in found if each.why == "this has no head, and other facts have"] == facts


@pytest.mark.parametrize(
    ("head", "shown"), [("ab", '"ab"'), ("a" * 16, f'"{"a" * 16}"'), ("a" * 17, "a" * 16 + "…")]
)
def test_a_head_that_breaks_a_chain_is_shown_as_far_as_a_line_has_room(
    lines: list[Any], head: str, shown: str
) -> None:
    index = next(number for number, line in enumerate(lines) if line["type"] == "fact")
    found = verdict([*lines[:index], lines[index] | {"head": head}, *lines[index + 1 :]]).findings
    (why,) = (each.why for each in found if "the chain breaks here" in each.why)
    assert why.endswith(f" by this fact, not {shown}")


def test_what_another_key_has_signed_or_nobody_is_told_apart(lines: list[Any]) -> None:
    *others, head, standings = lines
    other = {**head, "key": Signer(bytes(32)).public}
    found = verdict([*others, other, standings])
    assert [finding.line for finding in found.findings] == [len(lines) - 1]
    assert f", not signed by the key {other['key']}" in str(found.chains[0])
    for field in ("key", "signature", "algorithm"):
        assert verdict([*others, {**head, field: None}, standings]).findings, field
    unsigned = {**head, "key": None, "signature": None, "algorithm": None}
    found = verdict([*others, unsigned, standings])
    assert found.findings == []
    assert "signed by nobody" in str(found.chains[0])


def test_a_signature_cannot_be_checked_without_the_extra_and_that_is_said(
    lines: list[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kept: tuple[Kept, ...]
) -> None:
    monkeypatch.setattr(signing, "POSSIBLE", False)
    found = verdict(lines)
    assert found.findings == []
    assert "takes the extra `sign`" in str(found.chains[0])
    assert signer(tmp_path) is None
    assert not list(tmp_path.iterdir())
    last = exported(kept, everything=False)[-2]
    assert (last["signature"], last["key"]) == (None, None)
    assert "without the extra `sign`" in last["why"]


def test_where_a_folder_has_no_key_nothing_is_said_of_the_extra(kept: tuple[Kept, ...]) -> None:
    """An export from a database has the key only if it is told the host's data folder."""
    last = exported(kept, everything=False)[-2]
    assert last["signature"] is None
    assert last["why"] == "the host has no key: there is none in its data folder"


def test_the_key_is_made_once_and_for_nobody_else_to_read(tmp_path: Path) -> None:
    assert known_signer(tmp_path) is None
    first, again, known = signer(tmp_path), signer(tmp_path), known_signer(tmp_path)
    assert first is not None
    assert {each and each.public for each in (first, again, known)} == {first.public}
    (file,) = tmp_path.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert first.public not in file.read_text(), "the file has the secret part"


@pytest.mark.parametrize("content", ["", "ab", "zz" * 32, "\u00fc" * 32])
def test_a_key_that_a_power_cut_left_empty_is_made_again_and_what_is_no_key_is_left_to_people(
    tmp_path: Path, content: str
) -> None:
    (file := tmp_path / signing.FILE).write_text(content, encoding="utf-8")
    file.chmod(0o644)
    if content:
        with pytest.raises(ConfigError, match="this is no key"):
            signer(tmp_path)
        assert file.read_text(encoding="utf-8") == content
    else:
        assert signer(tmp_path) is not None
        assert len(file.read_text()) == 65
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
def test_the_command_says_what_a_receipt_proves(tmp_path: Path, lines: list[Any]) -> None:
    (tmp_path / "cup.jsonl").write_bytes(b"".join(text(lines)))
    receipt = next(iter(receipts(lines).values()))
    code, said, trouble = quintain("verify", "cup.jsonl", "--receipt", receipt, folder=tmp_path)
    assert (code, trouble) == (0, "")
    assert f"the receipt {receipt} is a head of it" in said
    code, said, _ = quintain("verify", "cup.jsonl", "--receipt", "ab" * 32, "--json", folder=tmp_path)
    assert (code, json.loads(said)["receipt_found"]) == (1, False)
    code, said, trouble = quintain("verify", "cup.jsonl", "--receipt", "friday", folder=tmp_path)
    assert (code, said) == (2, "")
    assert "expected 64 hexadecimal digits" in trouble
