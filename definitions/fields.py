"""What the parts of a definition are made of: strict scalars, counts and sizes."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema, WrapValidator

from definitions.quantities import parse_count, parse_size

Count = Annotated[int, BeforeValidator(parse_count), Field(gt=0)]
Size = Annotated[int, BeforeValidator(parse_size), Field(gt=0)]
Positive = Annotated[int, Field(strict=True, gt=0)]
NotNegative = Annotated[int, Field(strict=True, ge=0)]
Seconds = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
Dollars = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
Share = Annotated[float, Field(strict=True, gt=0, le=1)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Flag = Annotated[bool, Field(strict=True)]
KEEP_WHOLE = WrapValidator(lambda value, check: value if check(value) == value and type(value) is int else check(value))
"""A whole number stays one, so that a script gets `--epochs 3`, not `--epochs 3.0`."""
Text = Annotated[str, Field(strict=True)]
Preload = Annotated[
    tuple[Text, ...],
    BeforeValidator(lambda given: ("auto",) if given == "auto" else given),
    WithJsonSchema({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"const": "auto"}]}),
]
"""Names of modules; `auto` for those that the first trial shows to be worth it."""
