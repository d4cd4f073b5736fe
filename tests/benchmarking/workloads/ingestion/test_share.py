import pytest

from benchmarking.workloads.ingestion.share import EpochSampler, Piece, ReaderShare, order_of, pieces, share_of_rank, sharing_note


@pytest.mark.parametrize("shards", [1, 2, 3, 7, 12])
@pytest.mark.parametrize("workers", [(1,), (4,), (1, 2, 5), (3, 3, 3, 3)])
def test_every_sample_of_every_shard_is_read_by_one_reader(shards, workers):
    """Ranks may even have different numbers of workers."""
    whole = [Piece(f"s{number}") for number in range(shards)]
    read = []
    for rank, count in enumerate(workers):
        of_rank = pieces(whole, ReaderShare(rank, len(workers)))
        for worker in range(count):
            for name, first, step in pieces(of_rank, ReaderShare(worker, count)):
                read += [(name, sample) for sample in range(first, 30, step)]
    assert sorted(read) == sorted((f"s{number}", sample) for number in range(shards) for sample in range(30))


def test_shards_are_dealt_whole_where_there_are_enough():
    assert pieces([Piece("a"), Piece("b"), Piece("c")], ReaderShare(1, 2)) == [Piece("b")]
    assert pieces([Piece("a"), Piece("b")], ReaderShare(2, 3)) == [Piece("a", 1, 2)]
    assert pieces([], ReaderShare(0, 2)) == []


def test_what_readers_share_is_said():
    assert sharing_note(4, 4) == sharing_note(0, 3) == ""
    assert (
        sharing_note(3, 7) == "7 readers (ranks x loader workers) share 3 shards: up to 3 read the same one and take turns with its samples"
    )


def test_the_order_is_that_of_the_seed_and_the_epoch():
    assert order_of(5, 0, 0, False) == [0, 1, 2, 3, 4]
    assert order_of(50, 0, 0, True) == order_of(50, 0, 0, True)
    assert len({tuple(order_of(50, seed, epoch, True)) for seed in range(3) for epoch in range(3)}) == 9
    assert sorted(order_of(50, 3, 4, True)) == list(range(50))


@pytest.mark.parametrize(("even", "lengths"), [(False, [4, 3, 3]), (True, [3, 3, 3])])
def test_ranks_divide_the_samples(even, lengths):
    samplers = [EpochSampler(10, ReaderShare(rank, 3), seed=1, shuffle=True, even=even) for rank in range(3)]
    for epoch in (0, 1):
        for sampler in samplers:
            sampler.set_epoch(epoch)
        found = [list(sampler) for sampler in samplers]
        assert [len(numbers) for numbers in found] == [len(sampler) for sampler in samplers] == lengths
        assert len({number for numbers in found for number in numbers}) == sum(lengths)


@pytest.mark.parametrize(
    ("environ", "distribution", "share"),
    [
        ({}, "replicated", ReaderShare(0, 1)),
        ({"RANK": "5", "WORLD_SIZE": "8", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "4"}, "replicated", ReaderShare(5, 8)),
        ({"RANK": "5", "WORLD_SIZE": "8", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "4"}, "sharded", ReaderShare(1, 4)),
        ({"SM_HOSTS": '["a", "b", "c"]', "SM_CURRENT_HOST": "c"}, "replicated", ReaderShare(2, 3)),
        ({"SM_HOSTS": '["a", "b", "c"]', "SM_CURRENT_HOST": "c"}, "sharded", ReaderShare(0, 1)),
        ({"SM_HOSTS": '["a"]', "SM_CURRENT_HOST": "other"}, "replicated", ReaderShare(0, 1)),
    ],
)
def test_which_part_a_process_reads(environ, distribution, share):
    assert share_of_rank(environ, distribution) == share
