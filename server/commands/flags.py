"""What flags and arguments of several commands are like: their types, with what those are checked for.

Imported by whatever is asked for help, so it imports nothing but what takes the command line apart.
"""

from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

Flag = Annotated[bool, Parameter(negative="")]  # there or not: there is no --no-json
File = Annotated[str, Parameter(allow_leading_hyphen=True)]  # - is standard input or output
Count = Annotated[int | None, Parameter(validator=Number(gte=1))]
Entrants = Annotated[int | None, Parameter(validator=Number(gte=2))]
Seconds = Annotated[float, Parameter(validator=Number(gte=0))]
