"""`outrider datagen`: makes data sets, of a definition or by flags, here and in S3; a second run checks them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from definitions.program import command
from launch.parser import VerbParser

if TYPE_CHECKING:
    from benchmarking.datasets import Prepared, S3Target
    from definitions.datasets import Dataset
    from definitions.yaml_source import KeyPath, SourceLocation

_EPILOG = """\
Without FILE a set of noise images is made as s3torch-datagen makes it: JPEGs, or TAR shards of them with --shard_size. The same flags
and seed give the same bytes. With FILE (a benchmark definition, or data sets by name) its generated sets are made, and its other ones
are looked at. What is there already is checked and left alone: sizes always, checksums of files that were touched; of all with --verify.
Sizes: 100MB is 100,000,000 bytes, 100MiB is 104,857,600; counts: 100k is 100,000, 100Ki is 102,400.
Sets are kept in $OUTRIDER_CACHE (default ~/.cache/outrider), where runs find them, or in DIR/NAME with --out DIR."""


def main(arguments: Sequence[str], environ: Mapping[str, str] = os.environ) -> int:
    """Make the data sets, print their YAML and return the exit code; raises `UserError` where one cannot be made."""
    given = make_parser().parse_args(arguments)
    from definitions.errors import UserError

    flags = [name for name in _SET_FLAGS if getattr(given, name) is not None]
    if given.file is not None and flags:
        raise UserError(f"FILE and --{flags[0]}", "the file says what its data sets are", "change it there, or leave out FILE")
    datasets = _by_flags(given) if given.file is None else _of_file(given.file, given.names)
    target = _target(given, environ)
    told = f"# {command('datagen', *arguments)}\n"
    for name, dataset in datasets.items():
        found = _prepare(name, dataset, given, target, environ)
        text = told + _yaml(name, dataset, found, given.out is not None)
        if found.path is not None and dataset.type not in ("path", "s3", "filesystem"):
            _write(found.path.parent / "dataset.yaml", text)
        print(text, end="")
    return 0


_IMAGE_FORMATS = {"JPEG": "jpg", "JPG": "jpg", "PNG": "png"}
_FORMATS = ("jpg", "png", "tar", "tfrecord")
_SET_FLAGS = ("num_samples", "resolution", "image_format", "shard_size", "format", "content", "seed", "copies", "name")


def make_parser() -> VerbParser:
    """Return the parser of this verb."""
    parser = VerbParser(prog=command("datagen"), description="Make data sets, here and in S3.", epilog=_EPILOG)
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE.yaml", help="a benchmark definition, or a file of data sets")
    parser.add_argument("names", nargs="*", metavar="NAME", help="data sets of the file (default: all)")
    parser.add_argument("-n", "--num_samples", metavar="N", help="number of images (default 1k)")
    parser.add_argument("--resolution", metavar="WxH", help="width x height in pixels (default 496x387)")
    parser.add_argument("--image_format", metavar="F", help="JPEG or PNG (default JPEG)")
    parser.add_argument("--shard_size", metavar="SIZE", help="bytes of a shard, about; without it and --format each image is a file")
    parser.add_argument("--format", choices=("jpg", "png", "tar", "tfrecord"), help="of the files (default tar with --shard_size)")
    parser.add_argument("--content", choices=("photo", "noise"), help="of the images (default noise)")
    parser.add_argument("--seed", type=int, metavar="N", help="of the generator (default 0)")
    parser.add_argument("--copies", type=int, metavar="N", help="how often the whole set is there, as files of their own (default 1)")
    parser.add_argument("--name", metavar="NAME", help="of the set (default: what it is, e.g. noise-1k-496x387-jpg)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder that each set gets a folder in (default: the cache)")
    parser.add_argument("--s3_bucket", metavar="B", help="bucket to upload to")
    parser.add_argument("--s3_prefix", metavar="P", help="prefix of the uploaded set (default: its name)")
    parser.add_region("region of the bucket (default: what boto3 finds)")
    parser.add_argument("--endpoint_url", metavar="URL", help="of an S3 server other than AWS (default $AWS_ENDPOINT_URL_S3)")
    parser.add_argument("--verify", action="store_true", help="compare the checksums of all files")
    return parser


def _by_flags(given: Any) -> dict[str, Dataset]:
    from definitions.errors import UserError
    from definitions.yaml_source import SourceLocation

    image = (given.image_format or "JPEG").upper().lstrip(".")
    if image not in _IMAGE_FORMATS:
        raise UserError(f"--image_format {given.image_format}", "images are made as JPEG or PNG", "choose one of them")
    encoding = _IMAGE_FORMATS[image]
    # s3torch-datagen takes sizes with and without the B.
    shard_size = given.shard_size and re.sub(r"(?i)^\s*([\d.]+\s*[kmgt]i?)\s*$", r"\1B", given.shard_size)
    form = given.format or ("tar" if given.shard_size else encoding)
    if form in ("jpg", "png") and given.shard_size:
        raise UserError(f"--shard_size with --format {form}", "each image is a file of its own there", "choose tar or tfrecord")
    if form in ("jpg", "png") and given.image_format and form != encoding:
        raise UserError(f"--format {form} with --image_format {given.image_format}", "they contradict each other", "leave out one of them")
    keys = {
        "type": "images",
        "format": form,
        "content": given.content or "noise",
        "samples": given.num_samples or "1k",
        "resolution": given.resolution or "496x387",
        "encoding": encoding if form not in ("jpg", "png") else None,
        "shard_size": shard_size,
        "seed": given.seed,
        "copies": given.copies,
    }
    name = given.name or "-".join(
        str(part) for part in (keys["content"], keys["samples"], keys["resolution"], form, shard_size) if part is not None
    )
    told = {key: value for key, value in keys.items() if value is not None}
    return _validated({"datasets": {name: told}}, lambda key: SourceLocation("these flags", ""), "these flags")


def _of_file(path: Path, names: Sequence[str]) -> dict[str, Dataset]:
    from definitions.errors import UserError, did_you_mean
    from definitions.yaml_source import read_yaml, with_datasets

    source = with_datasets(read_yaml(path))
    # A file of data sets alone is what `datasets: FILE.yaml` of a definition names.
    is_alone = "datasets" not in source.data
    data = {"datasets": source.data if is_alone else source.data["datasets"]}
    found = _validated(data, lambda key: source.place(key[1:] if is_alone else key), str(path))
    base = path.absolute().parent if is_alone else source.file_of(("datasets",)).absolute().parent
    found = {name: _absolute(one, base) for name, one in found.items()}
    for name in names:
        if name not in found:
            raise UserError(f"{path}: there is no data set {name!r}", "", did_you_mean(name, list(found)))
    if not found:
        raise UserError(f"{path}: there are no data sets", "it names none", "add them below `datasets:`")
    return {name: found[name] for name in dict.fromkeys(names or found)}


def _validated(data: Mapping[str, Any], place: Callable[[KeyPath], SourceLocation], about: str) -> dict[str, Dataset]:
    """Return the data sets; raises `UserError` for what is wrong with any of them."""
    from pydantic import ValidationError

    from definitions.datasets import DatasetsFile
    from definitions.problems import complaint, problems_of

    try:
        return DatasetsFile.model_validate(data).datasets
    except ValidationError as error:
        raise complaint(problems_of(error, data, DatasetsFile), place, about) from None


def _absolute(dataset: Dataset, base: Path) -> Dataset:
    from definitions.datasets import PathDataset

    if not isinstance(dataset, PathDataset):
        return dataset
    return dataset.model_copy(update={"path": str(base / Path(dataset.path).expanduser())})


def _target(given: Any, environ: Mapping[str, str]) -> S3Target | None:
    from definitions.errors import UserError

    if given.s3_bucket is None:
        if given.s3_prefix is not None:
            raise UserError("--s3_prefix without --s3_bucket", "there is no bucket to upload to", "give --s3_bucket")
        if given.endpoint_url is None and given.region is None:
            return None
    from benchmarking.datasets import S3Target

    endpoint = given.endpoint_url or environ.get("AWS_ENDPOINT_URL_S3") or environ.get("AWS_ENDPOINT_URL") or None
    return S3Target(given.s3_bucket or "", "", endpoint, region=given.region)


def _prepare(name: str, dataset: Dataset, given: Any, target: S3Target | None, environ: Mapping[str, str]) -> Prepared:
    from benchmarking.datasets import prepare

    cache = Path(environ.get("OUTRIDER_CACHE") or "~/.cache/outrider").expanduser()
    uploads = target if given.s3_bucket or dataset.type == "s3" else None
    prefix = None if given.s3_bucket is None else "/".join(part for part in (given.s3_prefix, name if given.file else None) if part)
    found = prepare(
        name,
        dataset,
        cache=cache,
        folder=None if given.out is None else given.out / name,
        s3=uploads,
        s3_key=(prefix or name) if given.s3_bucket else None,
        say=lambda line: print(line, file=sys.stderr),
        verify=given.verify,
    )
    for note in found.notes:
        print(note, file=sys.stderr)
    counted = [f"{found.samples} samples" if found.samples is not None else "", f"{found.bytes:,} bytes" if found.bytes is not None else ""]
    place = " and ".join(str(place) for place in (found.path, found.uri) if place is not None)
    print(f"data set {name}: {', '.join(part for part in counted if part) or 'there'}, {place}", file=sys.stderr)
    return found


def _yaml(name: str, dataset: Dataset, found: Prepared, has_place: bool) -> str:
    """Return the lines by which a definition reads the set: where it is, or how it is made where it is kept in the cache."""
    import json

    made = dataset.model_dump(mode="json", exclude_defaults=True)
    made = {"type": dataset.type, **made}
    lines = []
    if dataset.type in ("path", "s3", "filesystem"):
        keys: dict[str, Any] = made
    elif found.uri is not None:
        keys = {"type": "s3", "uri": found.uri, "format": dataset.format, "labels": dataset.label_place}
    elif has_place:
        keys = {"type": "path", "path": str(found.path and found.path.absolute()), "format": dataset.format, "labels": dataset.label_place}
    else:
        keys = made
    if keys is not made:
        lines.append(f"# made as {json.dumps(made)}")
    # JSON is YAML, and quotes what has to be.
    lines += ["datasets:", f"  {json.dumps(name)}:", *(f"    {key}: {json.dumps(value)}" for key, value in keys.items())]
    return "\n".join(lines) + "\n"


def _write(path: Path, text: str) -> None:
    from definitions.files import write_atomically

    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        write_atomically(path, text)
