"""The types of flags and arguments that several commands have, with the checks on them.

Every help page imports this, so it imports only what parses the command line.
"""

from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

Flag = Annotated[bool, Parameter(negative="")]  # there or not: there is no --no-json
File = Annotated[str, Parameter(allow_leading_hyphen=True)]  # - is standard input or output
Count = Annotated[int | None, Parameter(validator=Number(gte=1))]
Entrants = Annotated[int | None, Parameter(validator=Number(gte=2))]
Confidence = Annotated[float | None, Parameter(validator=Number(gte=0.5, lt=1))]
Places = Annotated[int | None, Parameter(validator=Number(gte=0))]
Within = Annotated[float | None, Parameter(validator=Number(gte=1, lte=1000))]
Absent = Literal["wait", "settle"] | None
Seconds = Annotated[float, Parameter(validator=Number(gte=0))]
