import pytest

from benchmarking.workloads.load.options import parse_options


def test_arguments_of_the_deployment_are_passed_over():
    options = parse_options(["--copies", "4", "--slo_ms", "20", "--instance_type", "local.2cpu"])
    assert options.slo_s == 0.02
    assert options.load == "search"


def test_a_trace_is_read(tmp_path):
    (tmp_path / "t").write_text("1\n2\n")
    options = parse_options(["--arrivals", str(tmp_path / "t"), "--rate", "0", "--load", "open"])
    assert (options.arrivals, options.trace) == ("trace", (1.0, 2.0))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--percentile", "100"], "below 100"),
        (["--percentile", "0"], "above 0"),
        (["--slo_ms", "-1"], "0 or above"),
        (["--slo_ms", "nan"], "finite"),
        (["--popularity", "-0.5"], "popularity -0.5"),
        (["--load", "open", "--rate", "0"], "a rate above 0"),
        (["--duration_s", "0"], "above 0"),
        (["--timeout_s", "inf"], "finite"),
        (["--arrivals", "/nowhere"], "cannot be read"),
        (["--connections", "0"], "at least 1"),
    ],
)
def test_what_cannot_be_meant_is_refused(words, said):
    with pytest.raises(SystemExit, match=said):
        parse_options(words)
