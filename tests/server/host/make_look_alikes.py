"""Makes `server/host/look-alikes.txt` of two files that Unicode publishes, for a new version of Unicode.

    python -m tests.server.host.make_look_alikes confusables.txt DerivedCoreProperties.txt

Of the first it takes all that is in it; of the second what `Default_Ignorable_Code_Point` says. Both have to
be of the same version.
"""

import re
import sys
from pathlib import Path

TARGET = Path(__file__).parents[3] / "server/host/look-alikes.txt"
VERSION = re.compile(r"^# (?:Version: |DerivedCoreProperties-)([0-9.]+?)(?:\.txt)?$", re.MULTILINE)
IGNORABLE = re.compile(r"^([0-9A-F]+)(?:\.\.([0-9A-F]+))?\s*; Default_Ignorable_Code_Point", re.MULTILINE)
ALIKE = re.compile(r"^([0-9A-F]+) ;\t([0-9A-F ]+?) ;\tMA\t", re.MULTILINE)

NOTICE = """\
# What looks like what, and what is not to be seen at all, by Unicode {version}.
#
# Made by `tests/server/host/make_look_alikes.py` of confusables.txt (Unicode Technical Standard #39) and
# of the property Default_Ignorable_Code_Point in DerivedCoreProperties.txt. Code points are hexadecimal.
# After the version and the ranges of what is ignorable, each line has what stands for all that comes
# after the colon.
#
# UNICODE LICENSE V3
#
# Copyright © 1991-2025 Unicode, Inc.
#
# Permission is hereby granted, free of charge, to any person obtaining a copy of data files and any
# associated documentation (the "Data Files") or software and any associated documentation (the
# "Software") to deal in the Data Files or Software without restriction, including without limitation the
# rights to use, copy, modify, merge, publish, distribute, and/or sell copies of the Data Files or
# Software, and to permit persons to whom the Data Files or Software are furnished to do so, provided that
# either (a) this copyright and permission notice appear with all copies of the Data Files or Software, or
# (b) this copyright and permission notice appear in associated Documentation.
#
# THE DATA FILES AND SOFTWARE ARE PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED,
# INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
# NONINFRINGEMENT OF THIRD PARTY RIGHTS.
#
# IN NO EVENT SHALL THE COPYRIGHT HOLDER OR HOLDERS INCLUDED IN THIS NOTICE BE LIABLE FOR ANY CLAIM, OR
# ANY SPECIAL INDIRECT OR CONSEQUENTIAL DAMAGES, OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE,
# DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF
# OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THE DATA FILES OR SOFTWARE.
#
# Except as contained in this notice, the name of a copyright holder shall not be used in advertising or
# otherwise to promote the sale, use or other dealings in these Data Files or Software without prior
# written authorization of the copyright holder.
"""


def made(confusables: str, properties: str) -> str:
    """The file, of those two; raises `ValueError` where they are of two versions."""
    versions = {found[1] for text in (confusables, properties) if (found := VERSION.search(text))}
    if len(versions) != 1:
        raise ValueError(f"expected two files of one version of Unicode, not of {sorted(versions)}")
    version = versions.pop()
    ranges = [f"{found[1]}-{found[2] or found[1]}" for found in IGNORABLE.finditer(properties)]
    alike: dict[str, list[str]] = {}
    for found in ALIKE.finditer(confusables):
        alike.setdefault(found[2], []).append(found[1])
    lines = [f"version {version}", f"ignorable {' '.join(ranges)}"]
    lines += [f"{stands}: {' '.join(alike[stands])}" for stands in sorted(alike)]
    return NOTICE.format(version=version) + "\n".join(lines) + "\n"


if __name__ == "__main__":
    TARGET.write_text(made(*(Path(name).read_text(encoding="utf-8-sig") for name in sys.argv[1:3])), "utf-8")
