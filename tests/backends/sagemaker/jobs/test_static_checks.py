import pytest

from backends.sagemaker.jobs.options import Options
from backends.sagemaker.jobs.static_checks import check_architecture, check_static, named_instance_types
from definitions.errors import UserError
from definitions.schema import BenchmarkDefinition

ROLE = "arn:aws:iam::123456789012:role/trainer"
AWS = "763104351884.dkr.ecr.us-east-1.amazonaws.com/pytorch-training:2.5-cpu-py311"


def definition(folder, **changes):
    base = {"name": "d", "script": "t.py", "source_dir": str(folder), "space": {"x": 1}, "objectives": {"loss": "min"}}
    return BenchmarkDefinition.model_validate({**base, "arguments": {"instance_type": "ml.m5.large"}, **changes})


@pytest.fixture
def check(tmp_path):
    (tmp_path / "t.py").write_text("")

    def call(**changes):
        image = changes.pop("image", AWS)
        options = Options(
            "us-east-1",
            ROLE,
            "b",
            "t/e",
            image_cpu=image,
            image_gpu=image,
            script="t.py",
            tags=changes.pop("tags", {}),
            **changes.pop("options", {}),
        )
        check_static(definition(tmp_path, **changes), options)

    call.folder = tmp_path
    return call


def test_what_can_run_passes(check):
    check()


def test_an_instance_type_that_does_not_exist_is_told_with_the_nearest(check):
    with pytest.raises(UserError, match=r"'ml\.nope\.large'\n.*the nearest: ml\."):
        check(arguments={"instance_type": "ml.nope.large"})
    with pytest.raises(UserError, match=r"'ml\.g5\.xlrge'\n.*the nearest: ml\.g5\.xlarge"):
        check(arguments={"instance_type": "ml.m5.large"}, options={"fallback_instance_types": ("ml.g5.xlrge",)})


def test_a_type_that_the_users_own_prices_have_is_taken(check, tmp_path, monkeypatch):
    own = tmp_path / "own.csv"
    own.write_text("instance_type,region,usd_per_hour,date,source\nml.m99.large,us-east-1,3,2026-05-01,list\n")
    monkeypatch.setenv("OUTRIDER_PRICES", str(own))
    check(arguments={"instance_type": "ml.m99.large"})


@pytest.mark.parametrize("field", ["volume_kms_key", "output_kms_key"])
def test_a_key_that_the_service_would_not_take(check, field):
    check(options={field: "arn:aws:kms:us-east-1:123456789012:key/12-ab"})
    check(options={field: "alias/mine"})
    for key in ("my key", "!", ""):
        with pytest.raises(UserError, match=f"{field}: {key!r}"):
            check(options={field: key})


def test_a_script_that_is_left_out(check):
    (check.folder / ".outriderignore").write_text("t.py\n")
    with pytest.raises(UserError, match="it does not travel to jobs"):
        check()
    check(include=["t.py"])


def test_too_large_a_source_and_a_link_out_of_it(check, tmp_path_factory):
    with (check.folder / "big.bin").open("wb") as file:
        file.truncate(250_000_000)
    with pytest.raises(UserError, match="250 MB would travel"):
        check()
    (check.folder / "big.bin").unlink()
    (check.folder / "data").symlink_to(tmp_path_factory.mktemp("elsewhere"))
    with pytest.raises(UserError, match="a link out of the source folder"):
        check()


def test_variables_and_tags_that_no_request_can_have(check):
    with pytest.raises(UserError, match="environment variable"):
        check(environment={"LONG": "x" * 513})
    with pytest.raises(UserError, match="environment variables"):
        check(environment={f"V{number}": "" for number in range(100)})
    with pytest.raises(UserError, match="tags"):
        check(tags={f"k{number}": "" for number in range(47)})
    check(tags={f"k{number}": "" for number in range(46)})


@pytest.mark.parametrize(
    ("image", "instance_type", "fits"),
    [
        (AWS, "ml.m5.large", True),
        (AWS, "ml.g5.xlarge", True),
        (AWS, "ml.c7g.large", False),
        (AWS, "ml.p6e-gb200.36xlarge", False),
        (AWS.replace("pytorch-training", "pytorch-training-arm64"), "ml.m5.large", False),
        (AWS.replace("pytorch-training", "pytorch-training-arm64"), "ml.p6e-gb200.36xlarge", True),
        ("123456789012.dkr.ecr.us-east-1.amazonaws.com/mine:latest", "ml.c7g.large", True),  # nobody knows
        ("123456789012.dkr.ecr.us-east-1.amazonaws.com/mine:latest-arm64", "ml.m5.large", False),
        (None, "ml.c7g.large", True),
    ],
)
def test_an_image_is_for_processors_of_one_kind(image, instance_type, fits):
    if fits:
        check_architecture(image, instance_type)
    else:
        with pytest.raises(UserError, match="whose processors are"):
            check_architecture(image, instance_type)


def test_instance_types_are_found_wherever_they_are_named(tmp_path):
    space = {"instance_type": {"choice": ["ml.m5.large", "ml.g5.xlarge"]}}
    assert named_instance_types(definition(tmp_path, space=space, arguments={})) == {"ml.m5.large", "ml.g5.xlarge"}
    assert named_instance_types(definition(tmp_path)) == {"ml.m5.large"}
