import math

import pytest

from benchmarking.workloads.checkpointing.architectures import Tower, clip, llama, t5, vit
from benchmarking.workloads.checkpointing.models import MODELS, bytes_of, groups_of, label_of, shapes_of


@pytest.mark.parametrize("name", MODELS)
def test_shapes_have_as_many_parameters_as_published(name):
    assert sum(math.prod(shape) for shape in shapes_of(name).values()) == MODELS[name].parameters
    assert "arXiv:" in MODELS[name].source


@pytest.mark.parametrize(
    ("shapes", "parts"),
    [
        (vit(Tower(4, 2, 8), 32, 16), {"position_embeddings": (1, 5, 4), "encoder.layer.1.output.weight": (4, 8), "pooler.bias": (4,)}),
        (
            clip(Tower(6, 1, 8), Tower(4, 1, 8), 28, 14, 100, 7, 5),
            {"vision.position_embedding.weight": (5, 6), "text_projection.weight": (5, 4), "visual_projection.weight": (5, 6)},
        ),
        (
            t5(Tower(4, 1, 8), 6, 2, 100),
            {"decoder.block.0.cross_attention.o.weight": (4, 6), "encoder.relative_attention_bias.weight": (32, 2)},
        ),
        # Two thirds of 4 x 96 are 256, a multiple of 256; two of six heads for keys and values are a third of the width.
        (llama(96, 1, 6, kv_heads=2), {"layers.0.feed_forward.w2.weight": (96, 256), "layers.0.attention.wk.weight": (32, 96)}),
    ],
)
def test_shapes_follow_from_dimensions(shapes, parts):
    assert {name: shapes[name] for name in parts} == parts


def test_a_share_has_all_parameters_and_that_share_of_the_rows():
    whole, part = shapes_of("llama_7b"), shapes_of("llama_7b", 0.01)
    assert list(part) == list(whole)
    assert part["layers.0.feed_forward.w1.weight"] == (110, 4096)
    assert shapes_of("vit_base", 0.0001)["pooler.bias"] == (1,)
    assert bytes_of("llama_7b", 0.01) == pytest.approx(0.01 * bytes_of("llama_7b"), rel=0.01)
    assert (label_of("t0pp", 1.0), label_of("t0pp", 0.05)) == ("t0pp", "0.05 of t0pp")


def test_bytes_are_those_that_others_measured():
    # google/vit-base-patch16-224-in21k takes 345.6 MB, bigscience/T0_3B 11.4 GB, as float32.
    assert bytes_of("vit_base") == 345_556_992
    assert bytes_of("t0_3b", dtype="bfloat16") == 5_699_514_368


def test_an_optimiser_keeps_numbers_of_four_bytes_for_each_parameter():
    parameters = MODELS["llama_7b"].parameters
    per_parameter = {"none": 2, "momentum": 6, "adam": 10, "adam_master": 14}
    assert {one: bytes_of("llama_7b", dtype="bfloat16", optimiser=one) / parameters for one in per_parameter} == per_parameter
    # MLPerf Storage's checkpoints of 8 billion parameters take 15 and 90 GiB of 2 and 12 bytes.
    assert 8.03e9 * per_parameter["adam_master"] / 2**30 == pytest.approx(105, rel=0.01)
    groups = groups_of("vit_base", 0.1, "float16", "adam")
    assert [(len(shapes), dtype) for shapes, dtype in groups] == [(200, "float16"), (400, "float32")]
    assert groups[1][0]["optimiser.exp_avg.pooler.bias"] == groups[0][0]["pooler.bias"]
    assert len(groups_of("vit_base")) == 1
    assert label_of("t0pp", 0.05, "adam") == "0.05 of t0pp with adam"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("vit_bse",), "checkpoint_model is 'vit_bse': it is one of vit_base, .*; did you mean vit_base"),
        (("vit_base", 0.0), "checkpoint_scale is 0: it is a share"),
        (("vit_base", 1.5), "checkpoint_scale is 1.5: it is a share"),
        (("vit_base", 1.0, "float8"), "checkpoint_dtype is 'float8': it is one of float32"),
        (("vit_base", 1.0, "float32", "lion"), "checkpoint_optimiser is 'lion': it is one of none, momentum, adam"),
    ],
)
def test_what_there_is_not_is_said(arguments, said):
    with pytest.raises(ValueError, match=said):
        bytes_of(*arguments)
