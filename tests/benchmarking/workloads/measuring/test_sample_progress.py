from benchmarking.workloads.measuring.sample_progress import SampleProgress


def said(of_epoch, epochs, batches, *, is_bounded=False):
    """Say so many samples a batch, a list for each epoch."""
    lines = []
    progress = SampleProgress(of_epoch, epochs, lambda *given: lines.append(given), is_bounded=is_bounded)
    for epoch, samples in enumerate(batches):
        progress.epoch = epoch
        for one in samples:
            progress.stepped(one)
    return lines


def test_all_epochs_count():
    assert said(10, 2, [[4, 4, 2], [4, 4, 2]]) == [(done, 20, None) for done in (4, 8, 10, 14, 18, 20)]


def test_what_came_in_the_first_epoch_counts_for_the_others():
    """Of ten samples one was skipped."""
    assert said(10, 3, [[4, 4, 1], [4]])[2:] == [(9, 30, None), (13, 27, None)]


def test_where_nobody_knows_the_first_epoch_tells():
    assert said(0, 2, [[4, 4], [4, 4]]) == [(4, None, None), (8, None, None), (12, 16, None), (16, 16, None)]


def test_a_job_that_its_time_may_end_says_how_many_at_most():
    assert said(8, 1, [[4, 4]], is_bounded=True) == [(4, None, 8), (8, None, 8)]
