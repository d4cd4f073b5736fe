"""Caltech-256 from a small archive of its form, served on the loopback."""

import hashlib
import io
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from PIL import Image

from benchmarking.datasets import manifest, prepare
from benchmarking.datasets.generating import Generator
from benchmarking.datasets.making_pool import make_parts
from benchmarking.workloads.ingestion.tfrecord import parsed, records
from definitions.errors import UserError
from definitions.schema import Caltech256Dataset

pytestmark = pytest.mark.slow


def jpeg(number, mode="RGB"):
    buffer = io.BytesIO()
    Image.new(mode, (20 + number, 10), number if mode == "L" else (number, 0, 0)).save(buffer, "JPEG")
    return buffer.getvalue()


def archive(*more):
    """Three classes of four images, one of them grey; and what the real one has beside: a file without an ending in a folder of its own."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as opened:
        for name in ("256_ObjectCategories", "256_ObjectCategories/056.dog/greg"):
            folder = tarfile.TarInfo(name)
            folder.type = tarfile.DIRTYPE
            opened.addfile(folder)
        members = [
            (f"256_ObjectCategories/{label}/{label[:3]}_{number:04d}.jpg", jpeg(number, "L" if number == 3 else "RGB"))
            for label in ("001.ak47", "056.dog", "257.clutter")
            for number in range(4)
        ]
        for name, content in (*members, ("256_ObjectCategories/056.dog/greg/vision309", b"no image"), *more):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            opened.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


class Served:
    """Serves one file, as much of it as it is told; counts and keeps what was asked."""

    def __init__(self, content):
        self.content, self.ranges, self.most = content, [], None
        served = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):  # the interface's name
                asked = self.headers.get("Range")
                served.ranges.append(asked)
                begin = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
                if begin >= len(served.content):
                    self.send_error(416)
                    return
                self.send_response(206 if asked else 200)
                self.send_header("Content-Length", str(len(served.content) - begin))
                self.end_headers()
                self.wfile.write(served.content[begin : served.most])
                self.close_connection = True

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def spec(self, **given):
        url = f"http://127.0.0.1:{self.server.server_port}/256_ObjectCategories.tar"
        return Caltech256Dataset(**{"type": "caltech256", "url": url, "md5": hashlib.md5(self.content).hexdigest(), **given})


@pytest.fixture
def served(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    found = Served(archive())
    yield found
    found.server.shutdown()
    found.server.server_close()


def test_images_lie_in_the_folders_of_their_classes(served, tmp_path):
    made = prepare("c", served.spec(), cache=tmp_path)
    assert sorted(path.relative_to(made.path).as_posix() for path in made.path.rglob("*.jpg")) == sorted(
        f"{label}/{label[:3]}_{number:04d}.jpg" for label in ("001.ak47", "056.dog", "257.clutter") for number in range(4)
    )
    assert (made.samples, made.classes, made.layout) == (12, 3, "files")
    assert (made.path / "056.dog" / "056_0002.jpg").read_bytes() == jpeg(2)


def test_it_is_downloaded_once_for_all_forms(served, tmp_path):
    prepare("c", served.spec(), cache=tmp_path)
    shards = prepare("c", served.spec(format="tar", samples_per_shard=5, samples=10), cache=tmp_path)
    assert served.ranges == [None]
    assert shards.samples == 10
    found = {}
    for path in sorted(shards.path.iterdir()):
        with tarfile.open(path) as opened:
            found.update({member.name: opened.extractfile(member).read() for member in opened})
    labels = {name[:3]: content for name, content in found.items() if name.endswith(".cls")}
    assert labels == {"001": b"0", "056": b"1", "257": b"2"}
    assert len(found) == 20


def test_records_of_pixels_have_colours_also_of_grey_images(served, tmp_path):
    made = prepare("c", served.spec(format="tfrecord", encoding="raw"), cache=tmp_path)
    found = []
    for path in sorted(made.path.iterdir()):
        with path.open("rb") as file:
            found += [parsed(payload) for payload in records(file, path.name)]
    assert len(found) == 12
    grey = next(one for one in found if one["key"] == [b"056_0003"])
    assert (grey["height"], grey["width"], grey["depth"], grey["label"]) == ([10], [23], [3], [1])
    pixels = np.frombuffer(grey["image"][0], np.uint8).reshape(10, 23, 3)
    assert (pixels == 3).all()


def test_a_download_that_broke_off_goes_on(served, tmp_path):
    served.most = 3000
    with pytest.raises(UserError, match=r"download of http.*\n  the connection ended after 3000 of \d+ bytes\n.*url: file"):
        prepare("c", served.spec(), cache=tmp_path)
    served.most = None
    assert prepare("c", served.spec(), cache=tmp_path).samples == 12
    assert served.ranges == [None, "bytes=3000-"]


def test_another_file_than_was_meant_is_refused_and_not_kept(served, tmp_path):
    spec = served.spec(md5="0" * 32)
    with pytest.raises(UserError, match=r"its MD5 is [0-9a-f]{32}, not 0{32}"):
        prepare("c", spec, cache=tmp_path)
    assert list((tmp_path / "downloads").iterdir()) == []


def test_a_server_that_is_not_there_is_named(tmp_path):
    spec = Caltech256Dataset(type="caltech256", url="http://127.0.0.1:9/a.tar")
    with pytest.raises(UserError, match=r"download of http://127.0.0.1:9/a.tar\n.*refused[\s\S]*check the network"):
        prepare("c", spec, cache=tmp_path)


@pytest.mark.parametrize("name", ["../evil.jpg", "/etc/001.ak47/evil.jpg", "256_ObjectCategories/001.ak47/../../../evil.jpg"])
def test_an_archive_that_leads_out_of_its_folder_is_refused(tmp_path, name):
    content = archive((name, jpeg(9)))
    (tmp_path / "a.tar").write_bytes(content)
    spec = Caltech256Dataset(type="caltech256", url=(tmp_path / "a.tar").as_uri(), md5=hashlib.md5(content).hexdigest())
    with pytest.raises(UserError, match="leads out of its folder"):
        prepare("c", spec, cache=tmp_path / "cache")
    assert [path for path in tmp_path.rglob("*.jpg")] == []


def test_a_link_that_leads_out_of_its_folder_is_refused(tmp_path):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as opened:
        link = tarfile.TarInfo("256_ObjectCategories/001.ak47/a.jpg")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        opened.addfile(link)
    (tmp_path / "a.tar").write_bytes(buffer.getvalue())
    spec = Caltech256Dataset(type="caltech256", url=(tmp_path / "a.tar").as_uri(), md5=hashlib.md5(buffer.getvalue()).hexdigest())
    with pytest.raises(UserError, match="leads out of its folder"):
        prepare("c", spec, cache=tmp_path / "cache")


@pytest.mark.parametrize(("content", "said"), [(b"plain text" * 100, "no TAR archive"), (bytes(10240), "holds no <number>.<class>")])
def test_what_is_no_such_archive_is_refused(tmp_path, content, said):
    (tmp_path / "a.tar").write_bytes(content)
    spec = Caltech256Dataset(type="caltech256", url=(tmp_path / "a.tar").as_uri(), md5=hashlib.md5(content).hexdigest())
    with pytest.raises(UserError, match=said):
        prepare("c", spec, cache=tmp_path / "cache")


def test_processes_read_the_same_archive(served, tmp_path):
    made = prepare("c", served.spec(format="tar", samples_per_shard=4), cache=tmp_path)
    (file,) = (tmp_path / "downloads").iterdir()
    generator = Generator(served.spec(format="tar", samples_per_shard=4), None, file)
    (tmp_path / "data").mkdir()
    found = {}
    make_parts(generator, tmp_path / "data", range(generator.parts.count), 2, found.__setitem__)
    assert tuple(tuple(found[number]) for number in range(generator.parts.count)) == manifest.read(made.path.parent).parts
