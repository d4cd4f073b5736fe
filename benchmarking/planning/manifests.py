"""The sampled objects of a data set in S3, as a manifest that takes the place of a prefix, where a channel is `sampled`."""

from __future__ import annotations

import hashlib

from benchmarking.datasets.s3target import S3Target, list_objects, put_object
from benchmarking.planning.sampling import choose, sample_name
from definitions import strict_json


class Manifests:
    """Makes and remembers manifests; each data set is listed once, each manifest written once.

    Args:
        target: below whose prefix manifests are written, and whose endpoint and credentials are used.
        seed: of the experiment.
    """

    def __init__(self, target: S3Target, seed: int) -> None:
        self._target, self._seed = target, seed
        self._objects: dict[str, list[tuple[str, int]]] = {}
        self._made: dict[tuple[str, float, int], str] = {}

    def uri(self, data_uri: str, fraction: float, repeat: int) -> str:
        """Return the URI of the manifest with a fraction of a data set's objects, the same for every configuration.

        Args:
            data_uri: `s3://` URI of the data set.
            fraction: in (0, 1), share of the bytes that is asked for.
            repeat: number of the repeated measurement; each has a sample of its own.

        Raises:
            UserError: too few objects, or the bucket cannot be read or written.
        """
        asked = (data_uri, fraction, repeat)
        if asked not in self._made:
            folder = data_uri.rstrip("/") + "/"
            sample = choose(self._listed(folder), fraction, self._seed, repeat)
            content = strict_json.dumps([{"prefix": folder}, *sample.objects]).encode()
            name = f"{sample_name(fraction, self._seed, repeat)}-{hashlib.sha256(content).hexdigest()[:12]}"
            self._made[asked] = put_object(f"samples/{name}.manifest", content, self._target)
        return self._made[asked]

    def _listed(self, folder: str) -> list[tuple[str, int]]:
        if folder not in self._objects:
            self._objects[folder] = list_objects(folder, self._target)
        return self._objects[folder]
