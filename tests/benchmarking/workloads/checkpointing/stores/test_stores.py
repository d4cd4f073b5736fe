"""One contract for all writers of checkpoints, each against a real disk or the S3 server of local runs."""

import sys
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from benchmarking.datasets import EmbeddedS3
from benchmarking.workloads.checkpointing.filling import difference, filled
from benchmarking.workloads.checkpointing.kinds import KINDS
from benchmarking.workloads.checkpointing.stores import make_store
from benchmarking.workloads.checkpointing.stores.base import StoreOptions, copied

SHAPES = {"layers.0.weight": (300, 40), "layers.0.bias": (300,), "scalar": ()}


@pytest.mark.filterwarnings("ignore:Detected an existing checkpoint")
class StoreContract:
    kind: str
    needs: tuple[str, ...] = ()

    @pytest.fixture
    def store(self, options):
        made = make_store(KINDS[self.kind], options)
        yield made
        made.close()

    def state(self, seed=0):
        return {"model": filled(SHAPES, seed), "epoch": 3 + seed, "name": "x"} if KINDS[self.kind].writer != "dcp" else filled(SHAPES, seed)

    def like(self, state):
        return {name: torch.zeros_like(value) for name, value in state.items()} if KINDS[self.kind].writer == "dcp" else {}

    def test_what_is_loaded_is_what_was_saved(self, store):
        state = self.state()
        store.save(state, "one")
        assert difference(state, store.load("one", self.like(state))) == ""
        assert 49_204 <= store.stored_bytes("one") < 60_000

    def test_a_later_save_takes_the_place(self, store):
        store.save(self.state(), "one")
        later = self.state(1)
        store.save(later, "one")
        assert difference(later, store.load("one", self.like(later))) == ""

    def test_a_state_may_change_as_soon_as_the_save_has_begun(self, store):
        state, before = self.state(), self.state()
        future = store.begin(state, "one")
        for tensor in (state.get("model") or state).values():
            tensor.fill_(5.0)
        future.result(90)
        assert difference(before, store.load("one", self.like(before))) == ""

    def test_each_of_two_saves_in_a_row_has_its_own_state(self, store):
        states = [self.state(seed) for seed in range(2)]
        futures = [store.begin(state, f"of-{seed}") for seed, state in enumerate(states)]
        for seed, (future, state) in enumerate(zip(futures, states, strict=True)):
            future.result(90)
            assert difference(state, store.load(f"of-{seed}", self.like(state))) == ""

    def test_what_is_removed_is_gone_and_removing_nothing_is_nothing(self, store):
        state = self.state()
        store.save(state, "one")
        store.save(state, "two")
        store.remove("one")
        store.remove("never")
        with pytest.raises(Exception, match=r"(?i)no such file|not exist|not found|rank 0: "):
            store.load("one", self.like(state))
        assert difference(state, store.load("two", self.like(state))) == ""


def test_an_earlier_copys_memory_is_used_again_where_it_fits():
    first = copied({"w": torch.ones(3), "groups": [{"lr": 0.1, "m": torch.ones(2)}]})
    again = copied({"w": torch.zeros(3), "groups": [{"lr": 0.2, "m": torch.zeros(4)}]}, first)
    assert again["w"].data_ptr() == first["w"].data_ptr()
    assert (again["w"].tolist(), again["groups"][0]["lr"], again["groups"][0]["m"].tolist()) == ([0, 0, 0], 0.2, [0, 0, 0, 0])
    other = copied({"w": torch.ones(3, dtype=torch.float64)}, first)
    assert other["w"].dtype == torch.float64


class OnDisk(StoreContract):
    @pytest.fixture(params=[True, False], ids=["fsync", "no_fsync"])
    def options(self, request, tmp_path):
        return StoreOptions(str(tmp_path / "place"), fsync=request.param)

    def test_nothing_is_left_of_what_was_removed(self, store, options):
        store.save(self.state(), "one")
        store.remove("one")
        store.close()
        assert not Path(options.place).exists()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with EmbeddedS3(tmp_path_factory.mktemp("s3")) as found:
        yield found


@pytest.mark.slow
class InS3(StoreContract):
    threads, client = 1, "s3torchconnector"

    @pytest.fixture
    def options(self, server, monkeypatch, request):
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.endpoint_url)
        prefix = f"s3://{server.bucket}/{self.kind}-{request.node.name}"
        return StoreOptions(prefix, self.threads, True, self.client, environ=dict(server.environment))


class TestTorchFile(OnDisk):
    kind = "disk"

    def test_a_save_that_fails_leaves_the_one_before(self, store, options):
        state = self.state()
        store.save(state, "one")
        with pytest.raises(Exception, match="pickle"):
            store.save({"model": types.SimpleNamespace(f=lambda: 0)}, "one")
        assert difference(state, store.load("one", {})) == ""


class TestDcpFolder(OnDisk):
    kind = "dcp_disk"

    def test_each_thread_writes_a_file(self, options, tmp_path):
        store = make_store(KINDS["dcp_disk"], StoreOptions(str(tmp_path / "threads"), threads=3))
        store.save(self.state(), "one")
        assert len(list((tmp_path / "threads" / "one").glob("*.distcp"))) == 3


class TestTorchObject(InS3):
    kind = "s3"


class TestBoto3Object(InS3):
    kind, threads, client = "s3", 3, "boto3"


class TestDcpObjects(InS3):
    kind = "dcp_s3"

    @pytest.fixture(autouse=True)
    def installed(self):
        pytest.importorskip("tenacity")


class TestLightningFile(OnDisk):
    kind = "lightning_disk"

    @pytest.fixture(autouse=True)
    def installed(self):
        pytest.importorskip("lightning")


class TestLightningObject(InS3):
    kind = "lightning_s3"

    @pytest.fixture(autouse=True)
    def installed(self):
        pytest.importorskip("lightning")


class PlainIO:
    """As Lightning's TorchCheckpointIO is called."""

    def save_checkpoint(self, checkpoint, path, storage_options=None):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        torch.save(checkpoint, path)

    def load_checkpoint(self, path, map_location=None, weights_only=None):
        return torch.load(path, map_location=map_location, weights_only=weights_only)

    def remove_checkpoint(self, path):
        Path(path).unlink(missing_ok=True)


class BehindIO:
    """As Lightning's AsyncCheckpointIO is: copies, and has a thread save."""

    def __init__(self, checkpoint_io):
        self.checkpoint_io, self._thread = checkpoint_io, ThreadPoolExecutor(1)

    def save_checkpoint(self, checkpoint, path):
        from benchmarking.workloads.checkpointing.stores.base import copied

        self._thread.submit(self.checkpoint_io.save_checkpoint, copied(checkpoint), path)

    def teardown(self):
        self._thread.shutdown()


class TestLightningFileWithAFakePackage(OnDisk):
    kind = "lightning_disk"

    @pytest.fixture(autouse=True)
    def installed(self, monkeypatch):
        monkeypatch.setattr("benchmarking.workloads.checkpointing.stores.registry.find_spec", lambda name: name)
        for name in ("lightning", "lightning.pytorch", "lightning.pytorch.plugins"):
            monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
        module = types.ModuleType("lightning.pytorch.plugins.io")
        module.TorchCheckpointIO, module.AsyncCheckpointIO = PlainIO, BehindIO
        monkeypatch.setitem(sys.modules, module.__name__, module)

    def test_a_save_behind_training_that_fails_is_told_to_who_waits(self, store, monkeypatch):
        def full(self, checkpoint, path, storage_options=None):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(PlainIO, "save_checkpoint", full)
        with pytest.raises(OSError, match="No space left"):
            store.begin(self.state(), "one").result(90)


def test_a_package_that_is_missing_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr("benchmarking.workloads.checkpointing.stores.registry.find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="checkpoint lightning_s3 needs what is not installed: pip install lightning s3torchconnector"):
        make_store(KINDS["lightning_s3"], StoreOptions(str(tmp_path)))
