import os
import signal
import subprocess
import sys
import time

import pytest

from benchmarking.workloads import ranks
from tests.benchmarking.workloads.workload_runs import ROOT, WORKLOADS


def test_sagemakers_hosts_give_rank_and_master(tmp_path):
    environ = {"SM_HOSTS": '["algo-2", "algo-10", "algo-1"]', "SM_CURRENT_HOST": "algo-2"}
    group = ranks.group_of(environ, 2)
    assert (group.host, group.hosts, group.size) == (2, ("algo-1", "algo-10", "algo-2"), 6)
    variables = ranks.rank_variables(group, environ, tmp_path)
    assert [one["RANK"] for one in variables] == ["4", "5"]
    assert [one["LOCAL_RANK"] for one in variables] == ["0", "1"]
    assert {one["MASTER_ADDR"] for one in variables} == {"algo-1"}
    assert {one["WORLD_SIZE"] for one in variables} == {"6"}
    with pytest.raises(SystemExit, match="'algo-7' is not among"):
        ranks.group_of({"SM_HOSTS": '["algo-1"]', "SM_CURRENT_HOST": "algo-7"}, 1)


def test_hosts_look_for_each_other_under_the_jobs_name_unless_a_port_is_given(tmp_path):
    def variables(**given):
        environ = {"SM_HOSTS": '["algo-1", "algo-2"]', "SM_CURRENT_HOST": "algo-2", "OUTRIDER_JOB": "ddp-t0-a1", **given}
        (found,) = ranks.rank_variables(ranks.group_of(environ, 1), environ, tmp_path)
        return found.get("OUTRIDER_DDP_MEETING"), "MASTER_PORT" in found

    assert variables() == ("ddp-t0-a1", False)
    assert variables(MASTER_PORT="7") == (None, False)


def test_one_host_needs_no_port_and_stays_on_the_loopback(tmp_path):
    (variables,) = ranks.rank_variables(ranks.group_of({}, 1), {}, tmp_path)
    assert "MASTER_PORT" not in variables
    assert variables["GLOO_SOCKET_IFNAME"] == ("lo0" if sys.platform == "darwin" else "lo")


FAILS = "import os, sys, time\nif os.environ['RANK'] == '1': sys.exit(7)\ntime.sleep(60)\n"


@pytest.mark.slow
def test_a_rank_that_fails_ends_the_others():
    started = time.monotonic()
    assert ranks.launch([sys.executable, "-c", FAILS], [{**os.environ, "RANK": str(rank)} for rank in range(3)]) == 7
    assert time.monotonic() - started < 50  # not the minute that they sleep


@pytest.mark.slow
def test_told_to_end_it_ends_its_ranks(tmp_path):
    code = (
        f"import sys; sys.path[:0] = [{str(ROOT / 'backends' / 'reporter')!r}, {str(WORKLOADS)!r}]\nimport ranks\n"
        "sys.exit(ranks.launch([sys.executable, '-c', 'import os, sys, time; print(os.getpid(), flush=True); time.sleep(60)'], [{}, {}]))"
    )
    launcher = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    pids = [int(launcher.stdout.readline()) for _ in range(2)]
    launcher.send_signal(signal.SIGTERM)
    assert launcher.wait(90) == 128 + signal.SIGTERM
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
