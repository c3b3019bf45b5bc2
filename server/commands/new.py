"""`quintain new`: a folder with a bot that runs, in one of the languages of `clients/`."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct

from server.commands.games import GameName, game_named
from server.exits import DONE, Failure, Misuse
from server.programs.terminal import say

PLACES = (Path(__file__).parents[1] / "starters", Path(__file__).parents[2] / "clients")
PLACE = next(place for place in PLACES if place.is_dir())  # in an installed command, or in a checkout
GAME = "connect-4"  # the game of the starters as they are in `clients/`
GAMES = (GAME, "hexagon-dots", "quoridor", "santorini", "tic-tac-toe")  # those whose legal moves they know


class Starter(Struct, frozen=True):
    title: str
    files: tuple[str, ...]  # the bot first
    build: str  # "" where there is nothing to build
    run: str
    more: str = ""  # at the end of the README
    # … and what that says of the files beside the bot
    others: str = "The other files are the protocol, the rules, and where the bot's token is kept."


PYTHON = """
To have a house bot come at once, for ten matches, say so where `bot.py` calls `play`:

```python
play(GAME, lambda turn: choose(turn, legal_moves(GAME, turn)), against="greedy", matches=10)
```

`quintain match` and `quintain check` need no host. They run a program that reads positions and writes moves,
such as this one, `lines.py`:

```python
import json
import sys

from bot import GAME, choose
from legal_moves import legal_moves

for line in sys.stdin:
    turn = json.loads(line)
    print(choose(turn, legal_moves(GAME, turn)), flush=True)
```

```sh
quintain match "python3 lines.py" brain:greedy --game {game}
```

`protocol.py` is short, so that you can read it. The whole client is the package `quintain-bot`: it plays over
websocket and HTTP as well, says what a bot that lost can do about it, and keeps what was said in a file if
you pass `record="talk.jsonl"`. In a checkout of Quintain, `pip install ./clients/python` installs it. To use
it instead of `protocol.py`, end `bot.py` with

```python
import quintain_bot

url = "ws://games.example:8001"
quintain_bot.run(lambda turn: choose(turn, legal_moves(GAME, turn)), game=GAME, name="ann", url=url)
```
"""

STARTERS: Mapping[str, Starter] = MappingProxyType(
    {
        "python": Starter(
            "Python",
            ("bot.py", "legal_moves.py", "protocol.py", "tokens.py"),
            build="",
            run="python3 bot.py",
            more=PYTHON,
        ),
        "javascript": Starter(
            "JavaScript",
            ("bot.mjs", "legal_moves.mjs", "quintain.mjs", "quintain.d.mts", "tokens.mjs"),
            build="",
            run="node bot.mjs",
        ),
        "c": Starter(
            "C",
            ("bot.c", "legal_moves.h", "quintain.h", "json.h", "tokens.h"),
            build="cc -O2 -o bot bot.c",
            run="./bot",
        ),
        "cpp": Starter(
            "C++",
            ("bot.cpp", "legal_moves.hpp", "quintain.hpp", "json.hpp", "tokens.hpp"),
            build="c++ -std=c++17 -O2 -o bot bot.cpp",
            run="./bot",
        ),
        "java": Starter(
            "Java",
            ("Bot.java", "LegalMoves.java", "Quintain.java", "Tokens.java"),
            build="javac *.java",
            run="java Bot",
        ),
        "go": Starter(
            "Go",
            ("bot.go", "legal_moves.go", "quintain.go", "tokens.go", "go.mod"),
            build="go build -o bot .",
            run="./bot",
        ),
        "rust": Starter(
            "Rust",
            ("bot.rs", "legal_moves.rs", "quintain.rs", "json.rs", "tokens.rs"),
            build="rustc --edition 2021 -O bot.rs",
            run="./bot",
        ),
        "ruby": Starter(
            "Ruby", ("bot.rb", "legal_moves.rb", "quintain.rb", "tokens.rb"), build="", run="ruby bot.rb"
        ),
        "shell": Starter(
            "shell",
            ("bot.sh", "legal_moves.awk"),
            build="",
            run='quintain play --game {game} --bot ./bot.sh --name "${{QUINTAIN_NAME:-shell-bot}}" '
            '--url "${{QUINTAIN_URL:-tcp://127.0.0.1:8000}}"',
            others="The other file has the rules; `quintain play` speaks the protocol.",
        ),
    }
)

README = """\
# A bot that plays {title}, in {language}

`choose` in `{bot}` decides which of the legal moves to play: improve it.
{others}
The host's page `/games/{game}` explains the game and shows what a position looks like.

{build}Run it against a host on this machine (`quintain serve` starts one):

```sh
{run}
```

Play a house bot: while yours is running, in another terminal,

```sh
quintain bot greedy --game {game}
```

For another host and another name:

```sh
export QUINTAIN_URL=tcp://games.example:8000 QUINTAIN_NAME=ann
```

A house bot comes there if you add `--url tcp://games.example:8000` to its command.

Ctrl-C stops the bot. If it is back within half a minute, it goes on with its match.
{more}"""

BUILD = """\
Build it:

```sh
{build}
```

"""


def new(language: str, /, *, game: GameName, folder: Path | None = None) -> int:
    """Create a folder with a working bot, in a language of your choice.

    The languages are python, javascript, c, cpp, java, go, rust, ruby and
    shell. The README in the folder has the commands to build the bot, to run
    it and to have it play a house bot.

    Example:

        quintain new go --game santorini --folder mybot

    Parameters
    ----------
    language
        The language of the bot.
    folder
        The folder to create: GAME-LANGUAGE unless set.
    """
    if language not in STARTERS:
        raise Misuse(f"there is no starter in {language!r}; there are: {', '.join(STARTERS)}")
    title = game_named(game).title
    if game not in GAMES:
        raise Misuse(f"the starters do not know the moves of {game}; they know: {', '.join(GAMES)}")
    target = folder or Path(f"{game}-{language}")
    try:
        target.mkdir(parents=True, exist_ok=True)
        if next(target.iterdir(), None) is not None:
            raise Misuse(f"{target} is not empty: expected a folder that is new or has nothing in it")
        for name, content in _files(STARTERS[language], language, game, title).items():
            (target / name).write_text(content, encoding="utf-8")
            (target / name).chmod(0o755 if name.endswith(".sh") else 0o644)
    except FileExistsError:
        raise Misuse(f"{target} is a file: expected the name of a folder") from None
    except OSError as error:
        raise Failure(f"{target} cannot be written: {error.strerror}") from None
    say(f"{target}: README.md says how to build and run it")
    return DONE


def _files(starter: Starter, language: str, game: str, title: str) -> dict[str, str]:
    contents = {name: (PLACE / language / name).read_text(encoding="utf-8") for name in starter.files}
    bot = starter.files[0]
    contents[bot] = contents[bot].replace(GAME, game)
    build = BUILD.format(build=starter.build) if starter.build else ""
    contents["README.md"] = README.format(
        title=title,
        language=starter.title,
        game=game,
        bot=bot,
        others=starter.others,
        build=build,
        run=starter.run.format(game=game),
        more=starter.more.format(game=game),
    )
    return contents
