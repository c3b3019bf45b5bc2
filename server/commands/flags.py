"""The types of flags and arguments that several commands have, with the checks on them.

Every help page imports this, so it imports only what parses the command line.
"""

from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

Flag = Annotated[bool, Parameter(negative="")]  # there or not: there is no --no-json
File = Annotated[str, Parameter(allow_leading_hyphen=True)]  # - is standard input or output
Count = Annotated[int | None, Parameter(validator=Number(gte=1))]
Entrants = Annotated[int | None, Parameter(validator=Number(gte=2))]
Seconds = Annotated[float, Parameter(validator=Number(gte=0))]
