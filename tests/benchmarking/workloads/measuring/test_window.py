import math

import pytest

from benchmarking.workloads.measuring.window import TooShort, Window, quantile, steady_window, warm_up_batches


def loader(batches, *, workers, per_batch_s, prefetch=2, step_s=0.0, first_step_s=0.0):
    """Arrival and making times of an ideal loader: workers in turn, each ahead by `prefetch`, consumed in order."""
    width = max(workers, 1)
    free, made, arrived, consumed = [0.0] * width, [], [], []
    for index in range(batches):
        # A worker may begin a batch when fewer than workers x prefetch before it are not yet asked for.
        may_begin = consumed[index - width * prefetch] if workers and index >= width * prefetch else 0.0
        if not workers and consumed:
            may_begin = consumed[-1]
        begun = max(free[index % width], may_begin)
        free[index % width] = begun + per_batch_s
        made.append(begun + per_batch_s)
        arrived.append(max(made[-1], consumed[-1] if consumed else 0.0))
        consumed.append(arrived[-1] + (step_s if index else max(first_step_s, step_s)))
    return arrived, made


@pytest.mark.parametrize("workers", [0, 1, 2, 4, 8])
@pytest.mark.parametrize("size", [32, 128, 512])
def test_a_loader_of_known_rate_is_told_its_rate(workers, size):
    arrived, made = loader(200, workers=workers, per_batch_s=0.1)
    window = steady_window(arrived, [size] * 200, workers=workers, prefetch=2, made_s=made, min_window_s=0)
    assert window.samples_per_s == pytest.approx(max(workers, 1) * size / 0.1)


def test_what_workers_had_ready_is_not_speed():
    # 2 workers make a batch in 1 s each. The first step takes 10 s, within which four batches lie ready: by naive counting too fast.
    arrived, made = loader(40, workers=2, per_batch_s=1.0, step_s=0.4, first_step_s=10.0)
    naive = 39 * 64 / (arrived[-1] - arrived[0])
    window = steady_window(arrived, [64] * 40, workers=2, prefetch=2, made_s=made)
    assert naive < 100  # the slow first step
    assert window.samples_per_s == pytest.approx(2 * 64 / 1.0, rel=0.01)


def test_a_stock_that_melts_within_the_window_does_not_flatter_it():
    # The loader makes 20 samples a second, training could use 21: after a slow first step the stock of 16 batches lasts for hundreds.
    arrived, made = loader(100, workers=2, per_batch_s=1.0, prefetch=8, step_s=10 / 21, first_step_s=20.0)
    flattered = steady_window(arrived, [10] * 100, workers=2, prefetch=8)
    honest = steady_window(arrived, [10] * 100, workers=2, prefetch=8, made_s=made)
    assert flattered.samples_per_s > 20.7
    assert honest.samples_per_s == pytest.approx(20.0, rel=0.01)


def test_training_that_is_slower_than_the_loader_sets_the_rate():
    arrived, made = loader(60, workers=4, per_batch_s=0.1, step_s=0.5)
    assert steady_window(arrived, [8] * 60, workers=4, prefetch=2, made_s=made).samples_per_s == pytest.approx(16.0)


def test_first_batches_and_last_round_are_left_out():
    window = steady_window([float(i) for i in range(30)], [1] * 30, workers=2, prefetch=2)
    assert window == Window(first=6, last=27, rounds=11, samples=22, seconds=22.0)
    assert window.batches == 22
    assert warm_up_batches(3, 4) == 15
    assert warm_up_batches(0, 4) == 1


def test_rounds_are_whole():
    # 31 batches: 6 skipped, 2 at the end, and of 23 between them one does not fill a round.
    assert steady_window([float(i) for i in range(31)], [1] * 31, workers=2, prefetch=2).last == 27


def test_eight_rounds_are_needed_and_how_many_batches_that_takes_is_said():
    found = steady_window([float(i) for i in range(23)], [1] * 23, workers=2, prefetch=2)
    said = "23 batches, of which 7 whole rounds of 2 are steady; 8 rounds need 24 batches: it takes more samples or a smaller batch_size"
    assert found == TooShort(f"too short: {said}")
    assert isinstance(steady_window([float(i) for i in range(24)], [1] * 24, workers=2, prefetch=2), Window)


def test_seconds_are_needed_too():
    fast = [i * 0.1 for i in range(30)]
    assert steady_window(fast, [1] * 30, workers=0) == TooShort(
        "too short: a steady window of 2.8 s; 5 s are needed: it takes more samples or a smaller min_window_s"
    )
    assert isinstance(steady_window(fast, [1] * 30, workers=0, min_window_s=2.0), Window)


def test_a_clock_that_stands_still_gives_no_rate():
    assert isinstance(steady_window([0.0] * 30, [1] * 30, workers=0, min_window_s=0), TooShort)
    assert isinstance(steady_window([], [], workers=4, prefetch=2), TooShort)


def test_quantiles_are_values_that_occurred():
    values = [5.0, 1.0, 2.0, 4.0, 3.0]
    assert [quantile(values, share) for share in (0.5, 0.95, 0.2, 1.0)] == [3.0, 5.0, 1.0, 5.0]
    assert math.isnan(quantile([], 0.5))
