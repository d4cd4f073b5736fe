"""Options of controllers that are asked for when a launched run goes on: in place of what the generation before had."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from backends.sagemaker.controllers.options import controller_options
from backends.sagemaker.controllers.request import as_asked, with_options
from benchmarking.remote.launch_record import REQUIREMENTS, TUNING_METRICS, LaunchRecord, RunMoney
from benchmarking.report.text import dollars
from definitions.draft import PYTHON, Draft
from definitions.errors import UserError
from definitions.instances import price_of
from definitions.problems import complaint, problems_of
from definitions.remote import RemoteOptions
from definitions.settings import apply_settings
from launch.launching.money import START_S

_OF_JOB = (
    *("role", "image", "framework", "framework_version", "instance_type", "max_run", "spot", "volume_gb"),
    *("subnets", "security_groups", "tags"),
)
"""Options that a controller's job says."""
_OF_RECORD = {
    **{name: name for name in ("instance_type", "spot", "restarts", "volume_gb")},
    **{"controllers": "count", "max_run": "max_run_s", "tuning_metrics": TUNING_METRICS, "requirements": REQUIREMENTS},
}
"""Those that launch.json says, and as what."""


def asked_options(settings: Sequence[str], backend: str) -> RemoteOptions:
    """Return what settings say of the block `remote:`; others are left alone.

    Args:
        settings: `key=value` texts.
        backend: of the run, whose own keys none of them can be.

    Raises:
        UserError: there is no such option, or it cannot have this value.
    """
    draft = Draft({}, lambda _: PYTHON)
    apply_settings(draft, [text for text in settings if text.startswith("remote.")], backend)
    data: Mapping[str, Any] = draft.get(("remote",)) or {}
    try:
        return RemoteOptions.model_validate(data)
    except ValidationError as error:
        raise complaint(problems_of(error, data, RemoteOptions), lambda path: draft.place(("remote", *path)), "remote") from None


def changed_request(
    request: Mapping[str, Any], asked: RemoteOptions, *, region: str, environ: Mapping[str, str], emulated: bool
) -> Mapping[str, Any]:
    """Return the request of a successor with what is asked for; as it is where nothing is.

    Args:
        request: as the generation before was created.
        asked: by whoever goes on.
        region: whose images are taken.
        environ: of the launcher.
        emulated: whether calls go to an emulator.

    Raises:
        UserError: options that cannot be, or do not go together.
    """
    said = asked.model_dump(include={*_OF_JOB}, exclude_none=True)
    if not said:
        return request
    before = as_asked(request)
    if "framework" in said or "framework_version" in said:
        before = before.model_copy(update={"image": None})
    options = controller_options(
        before.model_copy(update={name: getattr(asked, name) for name in said}),
        region=region,
        environ=environ,
        emulated=emulated,
        longest_s=None,
    )
    return with_options(request, options)


def changed_record(record: LaunchRecord, asked: RemoteOptions, *, region: str, is_capped_anew: bool) -> LaunchRecord:
    """Return what launch.json says once controllers are as they are asked for; the same record where nothing is.

    Args:
        record: of the launch.
        asked: by whoever goes on.
        region: whose prices count.
        is_capped_anew: whether a limit of money is given as well, of which the part of controllers is set aside again.

    Raises:
        UserError: controllers may cost more than is set aside of the run's limit, and no other one is given.
    """
    said = {key: value for name, key in _OF_RECORD.items() if (value := getattr(asked, name)) is not None}
    controller = {**record.controller, **said}
    if controller == record.controller:
        return record
    limit_s, before_s = (float(one.get("max_run_s", 0.0)) for one in (controller, record.controller))
    if 0.0 < limit_s < before_s:
        # As long in all as it was.
        controller["generations"] = math.ceil(int(controller.get("generations", 1)) * before_s / limit_s)
    usd = _usd(record, controller, region)
    set_aside = record.money.controllers_usd
    if record.money.max_cost is not None and set_aside is not None and not is_capped_anew and (usd is None or usd > set_aside):
        cost = "it is not known what they cost" if usd is None else f"they cost {dollars(usd)} at most"
        raise UserError(
            f"launch --resume {record.tag}: with these controllers {cost}, and {dollars(set_aside)} of max_cost is set aside for them",
            "max_cost covers controllers too",
            "give --max_cost, the limit for all of the run, as well",
        )
    return dataclasses.replace(record, controller=controller, money=_with_usd(record.money, usd))


def _with_usd(money: RunMoney, usd: float | None) -> RunMoney:
    return money if money.controllers_usd is None else dataclasses.replace(money, controllers_usd=usd)


def _usd(record: LaunchRecord, controller: Mapping[str, Any], region: str) -> float | None:
    """Return what controllers cost at most, with what those before have cost: as many hours, at the higher of both prices."""
    before = record.money.controllers_usd
    old, new = (price_of(str(one.get("instance_type", "")), region) for one in (record.controller, controller))
    if before is None or old is None or new is None:
        return None
    count, generations = (int(controller.get(name, 1)) for name in ("count", "generations"))
    hours = before / old.usd_per_hour * max(1.0, count / record.count)
    hours += max(0, generations - int(record.controller.get("generations", 1))) * count * START_S / 3600.0
    return hours * max(old.usd_per_hour, new.usd_per_hour)
