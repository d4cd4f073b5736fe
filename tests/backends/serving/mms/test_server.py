"""multi-model-server behind the front; and why it cannot be had where it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.serving.environment import ServingEnvironment
from backends.serving.mms.server import MmsServer, reason_against
from tests.backends.serving.onnx_packages import package
from tests.backends.serving.server_contract import TorchScriptContract, row_named

MISSING = MmsServer.missing()


@pytest.mark.slow
@pytest.mark.skipif(bool(MISSING), reason=MISSING)
class TestMms(TorchScriptContract):
    server = "mms"
    cycles = 5  # the virtual machine loads classes for longer
    weights_bytes = 256 << 20  # half of a model is more than what the virtual machine's own memory comes and goes by

    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    def test_a_torchscript_file_says_what_its_inputs_are_called(self, front, tmp_path):
        answer = self.torchscript(front, tmp_path).invoke("a.tar.gz", body=row_named("INPUT__1"))
        assert "takes the inputs INPUT__0" in answer.value["OriginalMessage"]

    def test_two_of_them_do_not_meet(self, front, tmp_path):
        for name, factor in (("a.tar.gz", 2.0), ("b.tar.gz", 3.0)):
            package(tmp_path / "targets" / name, factor)
        one, other = self.bench(front), self.bench(front)
        assert [one.invoke("a.tar.gz").outputs[0], other.invoke("b.tar.gz").outputs[0], one.invoke("a.tar.gz").outputs[0]] == [
            2.0,
            3.0,
            2.0,
        ]


def test_what_is_lacking_is_said():
    found = ServingEnvironment("/e/bin/python", Path("/e"), "", "3.11", {})
    assert reason_against(found, "/usr/bin/java") == ""
    assert "there is no `java` on the path" in reason_against(found, None)
    assert "make serving" in reason_against(None, "/usr/bin/java")
