"""Export formats by name: the built-in ones, and those of plug-ins (entry points `outrider.exporters`). Each is loaded when it is named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint

from benchmarking.export.exporter import ExportContext, Exporter, ExporterFactory
from definitions.errors import UserError, did_you_mean
from definitions.plugins import installed

GROUP = "outrider.exporters"

BUILT_IN: Mapping[str, str] = {
    "csv": "benchmarking.export.csv_exporter:CsvExporter",
    "json": "benchmarking.export.json_exporter:JsonExporter",
    "parquet": "benchmarking.export.parquet_exporter:ParquetExporter",
    "syne_tune": "benchmarking.export.syne_tune_exporter:SyneTuneExporter",
    "bencher": "benchmarking.export.bencher_exporter:BencherExporter",
    "s3torch": "benchmarking.export.s3torch_exporter:S3torchExporter",
}
"""Module and factory of each built-in format that is files."""

TRACKERS = "benchmarking.tracking.exporter:tracking_exporters"
"""Module and function that returns the factories of exporters to trackers, by their kinds."""

DEFAULT = ("csv", "json")
"""What an experiment leaves at its end, and `outrider export` writes where no format is named."""


def exporter_names(plugins: Iterable[EntryPoint] | None = None) -> tuple[str, ...]:
    """Return the names of all formats, the built-in ones first; raises `UserError` for two of one name."""
    return (*BUILT_IN, *_trackers(), *_plugins(plugins))


def make_exporter(name: str, context: ExportContext, plugins: Iterable[EntryPoint] | None = None) -> Exporter:
    """Return a new exporter.

    Args:
        name: of a built-in format, or of a plug-in's.
        context: what it is made with.
        plugins: entry points in place of those that are installed.

    Raises:
        UserError: there is no such format, its plug-in cannot be loaded, or it needs a package that is not installed.
    """
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        built_in: ExporterFactory = getattr(import_module(module), attribute)
        return built_in(context)
    trackers = _trackers()
    if name in trackers:
        return trackers[name](context)
    points = _plugins(plugins)
    if name not in points:
        raise UserError(f"--to {name}: there is no such format", did_you_mean(name, [*BUILT_IN, *trackers, *points]))
    try:
        factory: ExporterFactory = points[name].load()
    except (Exception, SystemExit) as error:
        origin = _origin(points[name])
        raise UserError(
            f"--to {name}: its plug-in {origin} cannot be loaded", f"{type(error).__name__}: {error}", "mend or uninstall it"
        ) from error
    return factory(context)


def _trackers() -> Mapping[str, ExporterFactory]:
    module, _, attribute = TRACKERS.partition(":")
    found: Mapping[str, ExporterFactory] = getattr(import_module(module), attribute)()
    return found


def _plugins(plugins: Iterable[EntryPoint] | None) -> dict[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    for point in installed(GROUP) if plugins is None else plugins:
        if point.name in BUILT_IN or point.name in found or point.name in _trackers():
            other = _origin(found[point.name]) if point.name in found else BUILT_IN.get(point.name, TRACKERS)
            raise UserError(f"two export formats are called {point.name!r}", f"{other} and {_origin(point)}", "uninstall one of them")
        found[point.name] = point
    return found


def _origin(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value
