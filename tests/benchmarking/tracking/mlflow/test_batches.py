from benchmarking.tracking.mlflow.batches import SEQUENCE, Metric, batches


def metrics(count):
    return [Metric("loss", float(number), number, number) for number in range(count)]


def test_what_fits_is_one_request_with_the_mark():
    (batch,) = batches({"x": "1"}, {"cause": "none"}, metrics(3), 17)
    assert (batch.parameters, batch.tags, len(batch.metrics)) == ({"x": "1"}, {"cause": "none", SEQUENCE: "17"}, 3)


def test_no_request_has_more_than_a_thousand_things_and_the_last_alone_has_the_mark():
    found = [*batches({}, {}, metrics(2500), 9)]
    assert [batch.entities for batch in found] == [1000, 1000, 501]
    assert [SEQUENCE in batch.tags for batch in found] == [False, False, True]
    assert [one.step for batch in found for one in batch.metrics] == list(range(2500))


def test_a_thousand_metrics_and_the_mark_are_two_requests():
    assert [batch.entities for batch in batches({}, {}, metrics(1000), 9)] == [1000, 1]


def test_parameters_and_tags_come_by_the_hundred():
    found = [*batches({f"p{number}": "1" for number in range(250)}, {f"t{number}": "1" for number in range(150)}, metrics(1), 9)]
    assert all(len(batch.parameters) <= 100 and len(batch.tags) <= 100 for batch in found)
    assert sum(len(batch.parameters) for batch in found) == 250
    assert sum(len(batch.tags) for batch in found) == 151


def test_no_request_is_above_a_megabyte():
    found = [*batches({f"p{number}": "\U0001f600" * 6000 for number in range(90)}, {}, metrics(1), 9)]
    assert [len(batch.parameters) for batch in found] == [37, 37, 16]
