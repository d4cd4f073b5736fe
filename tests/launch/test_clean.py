"""`outrider clean`: deletes what the tag left and nothing else, after it was agreed to."""

from __future__ import annotations

import pytest

from launch.__main__ import main
from tests.backends.tag_bench import TagBench, tag_bench, use

pytestmark = pytest.mark.slow

OURS = ["outrider/checkpoints/a/p/t1/x", "outrider/jobs/a/p/j/arguments.json", "outrider/output/a/p/model.tar.gz"]
OTHERS = [
    "outrider/checkpoints/ab/x",
    "outrider/checkpoints/a-b/x",
    "outrider/code/0123/source.tar.gz",
    "outrider/datasets/k/data/1.jpg",
    "a/x",
]


@pytest.fixture
def bench(monkeypatch, tmp_path):
    with tag_bench() as emulator:
        use(monkeypatch, emulator.environment, tmp_path)
        yield TagBench(emulator)


class Terminal:
    def isatty(self):
        return True


def test_what_the_tag_left_is_deleted_and_no_more(bench, capsys):
    bench.put(*OURS, *OTHERS)
    assert main(["clean", "--tag", "a", "--yes"]) == 0
    out = capsys.readouterr().out
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line.startswith("s3://")}
    assert rows["s3://sagemaker-us-east-1-************/outrider/checkpoints/a/"] == ["1", "100", "B"]
    assert "3 objects deleted; code packages and data sets are kept" in out
    assert sorted(bench.keys()) == sorted(OTHERS)
    assert main(["clean", "--tag", "a", "--yes"]) == 0
    assert "has left nothing" in capsys.readouterr().out


def test_nothing_is_deleted_unless_agreed_to(bench, capsys, monkeypatch):
    bench.put(*OURS)
    assert main(["clean", "--tag", "a"]) == 2
    assert "give --yes" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("builtins.input", lambda question: "n")
    assert main(["clean", "--tag", "a"]) == 2
    assert sorted(bench.keys()) == OURS
    monkeypatch.setattr("builtins.input", lambda question: "y")
    assert main(["clean", "--tag", "a"]) == 0
    assert bench.keys() == []


def test_nothing_is_deleted_while_jobs_run(bench, capsys):
    bench.put(*OURS)
    name = bench.job("a")
    assert main(["clean", "--tag", "a", "--yes"]) == 2
    err = capsys.readouterr().err
    assert name in err
    assert "outrider stop --tag a" in err
    assert set(OURS) <= set(bench.keys())


def test_more_than_a_batch_is_deleted_in_batches(bench, monkeypatch):
    monkeypatch.setattr("backends.sagemaker.aws.s3.BATCH", 10)
    bench.put(*(f"outrider/checkpoints/a/{number}" for number in range(25)))
    counted = []
    monkeypatch.setattr("backends.sagemaker.aws.clients.Clients._count", lambda self, event_name, **rest: counted.append(event_name))
    assert main(["clean", "--tag", "a", "--yes"]) == 0
    assert counted.count("before-send.s3.DeleteObjects") == 3
    assert bench.keys() == []


def test_a_bucket_and_a_prefix_of_ones_own(bench, capsys):
    bench.emulator.create_bucket("mine")
    bench.s3.put_object(Bucket="mine", Key="team/x/output/a/f", Body=b"")
    bench.put(*OURS)
    assert main(["clean", "--tag", "a", "--bucket", "mine", "--prefix", "/team/x/", "--yes"]) == 0
    assert "1 objects deleted" in capsys.readouterr().out
    assert sorted(bench.keys()) == OURS


def test_a_default_bucket_that_does_not_exist_holds_nothing(bench, capsys):
    bench.s3.delete_bucket(Bucket="sagemaker-us-east-1-123456789012")
    assert main(["clean", "--tag", "a", "--yes"]) == 0
    assert "has left nothing" in capsys.readouterr().out
    assert main(["clean", "--tag", "a", "--bucket", "not-there", "--yes"]) == 2


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "s3_error", "operation": "DeleteObjects", "code": "AccessDenied", "status": 403},
        {"kind": "expired_token", "operation": "List*"},
    ],
)
def test_a_refusal_is_no_traceback(bench, capsys, fault):
    bench.put(*OURS)
    bench.emulator.add_faults([fault])
    assert main(["clean", "--tag", "a", "--yes"]) == 5
    err = capsys.readouterr().err
    assert "error: " in err
    assert "Traceback" not in err
    bench.emulator.clear_faults()
    assert sorted(bench.keys()) == OURS


def test_slow_down_is_waited_for(bench, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    bench.put(*OURS)
    bench.emulator.add_faults([{"kind": "throttle", "operation": "DeleteObjects", "times": 2}])
    assert main(["clean", "--tag", "a", "--yes"]) == 0
    assert bench.keys() == []


def test_what_ran_on_this_machine_left_nothing_in_s3_and_no_region_is_asked_for(toy, run, capfd, monkeypatch):
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    assert run("--benchmark", "toy.yaml", "--experiment_tag", "here")[0] == 0
    assert main(["clean", "--tag", "here", "--results_dir", str(toy.results)]) == 0
    out = capfd.readouterr().out
    assert "here ran on this machine, and left nothing in S3\n" in out
    assert f"all that it left is {toy.results / 'here'} (" in out
    assert (toy.results / "here").is_dir()


RUN = ["outrider/runs/a/launch.json", "outrider/runs/a/.stop", "outrider/runs/a/.claims/toy/RS-sagemaker-0.json"]
SEGMENT = "outrider/runs/a/toy/RS-sagemaker-0/journal/00000001"


def test_a_launched_run_goes_with_its_journals_claims_and_marks(bench, capsys, tmp_path):
    bench.put(*OURS, *OTHERS, *RUN, "outrider/runs/ab/launch.json")
    assert main(["clean", "--tag", "a", "--yes", "--results_dir", str(tmp_path)]) == 0
    assert "6 objects deleted" in capsys.readouterr().out
    assert sorted(bench.keys()) == sorted([*OTHERS, "outrider/runs/ab/launch.json"])


def test_what_was_not_collected_is_named_and_asked_about_again(bench, capsys, tmp_path, monkeypatch):
    bench.put(*RUN, SEGMENT)
    words = ["clean", "--tag", "a", "--results_dir", str(tmp_path)]
    assert main([*words, "--yes"]) == 2
    assert "nowhere else: toy/RS-sagemaker-0 (1 segment)" in capsys.readouterr().err
    assert len(bench.keys()) == 4
    monkeypatch.setattr("sys.stdin", Terminal())
    answers = iter(["y", "n"])
    monkeypatch.setattr("builtins.input", lambda question: next(answers))
    assert main(words) == 2
    assert "not collected, and gone for good then: toy/RS-sagemaker-0" in capsys.readouterr().out
    assert len(bench.keys()) == 4
    assert main([*words, "--yes", "--uncollected"]) == 0
    assert bench.keys() == []
