"""A fake `mount-s3`: no Mountpoint and no mount, but the same arguments, words and end; objects are copied into the folder beforehand.

It says nothing of Mountpoint's speed, nor of what a real mount can go wrong with.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

_PROGRAM = """#!{python}
import argparse, json, os, shutil, signal, sys
from pathlib import Path
import boto3

parser = argparse.ArgumentParser()
parser.add_argument("bucket")
parser.add_argument("folder")
for name in ("--prefix", "--endpoint-url", "--region", "--cache"):
    parser.add_argument(name, default="")
for name in ("--read-only", "--foreground", "--force-path-style"):
    parser.add_argument(name, action="store_true")
given = parser.parse_args()
Path({record!r}).write_text(json.dumps(sys.argv[1:]))
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
client = boto3.client("s3", endpoint_url=given.endpoint_url or None)
try:
    found = [one for page in client.get_paginator("list_objects_v2").paginate(Bucket=given.bucket, Prefix=given.prefix)
             for one in page.get("Contents", [])]
except Exception as error:
    sys.exit(f"Error: Failed to create S3 client: {{error}}")
for one in found:
    path = Path(given.folder) / one["Key"].removeprefix(given.prefix)
    path.parent.mkdir(parents=True, exist_ok=True)
    client.download_file(given.bucket, one["Key"], str(path))
print(f"{{given.bucket}} is mounted at {{given.folder}}", flush=True)
try:
    signal.pause()
finally:
    for path in Path(given.folder).iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
"""


def fake_mount(folder: Path) -> dict[str, str]:
    """Put the fake into a folder, and return a PATH on which it comes first; what it was given stands in `mount.json` there."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "mount-s3"
    program.write_text(_PROGRAM.format(python=sys.executable, record=str(folder / "mount.json")))
    program.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}
