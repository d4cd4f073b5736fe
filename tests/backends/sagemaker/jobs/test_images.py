import csv
import re

import pytest

from backends.sagemaker.jobs.images import ImageTables, find_images, has_gpu, image_facts, load_images
from definitions.errors import UserError


@pytest.fixture(scope="module")
def tables():
    return load_images()


def test_a_version_gives_an_image_for_each_kind_of_instance(tables):
    assert find_images("pytorch", "2.9", "eu-west-1", tables=tables) == (
        "763104351884.dkr.ecr.eu-west-1.amazonaws.com/pytorch-training:2.9.0-cpu-py312-ubuntu22.04-sagemaker",
        "763104351884.dkr.ecr.eu-west-1.amazonaws.com/pytorch-training:2.9.0-gpu-py312-cu130-ubuntu22.04-sagemaker",
    )


def test_2_1_is_not_2_10_and_no_version_is_the_newest(tables):
    assert "pytorch-training:2.10.0-cpu" in find_images("pytorch", "2.10", "us-east-1", tables=tables)[0]
    with pytest.raises(UserError, match=r"'2.1' of pytorch is not in the table of images \(of 2026-\d\d-\d\d\)") as error:
        find_images("pytorch", "2.1", "us-east-1", tables=tables)
    assert "2.9.0, 2.10.0" in str(error.value)
    assert "give one of them, or `image`" in str(error.value)
    newest = max((image.version for image in tables.images if image.framework == "pytorch"), key=lambda v: tuple(map(int, v.split("."))))
    assert f":{newest}-" in find_images("pytorch", None, "us-east-1", tables=tables)[0]


def test_one_image_for_all_instances_and_its_own_accounts(tables):
    uri = "683313688378.dkr.ecr.us-east-1.amazonaws.com/sagemaker-scikit-learn:1.4-2-py312"
    assert find_images("sklearn", "1.4-2", "us-east-1", tables=tables) == (uri, uri)


def test_a_framework_without_an_image_for_cpus(tables):
    cpu, gpu = find_images("HuggingFace", "5.3", "us-east-1", tables=tables)
    assert cpu is None
    assert gpu.endswith("huggingface-pytorch-training:2.9.0-transformers5.3.0-gpu-py312-cu130-ubuntu22.04")


@pytest.mark.parametrize(
    ("region", "beginning"),
    [
        ("ap-east-1", "871362719292.dkr.ecr.ap-east-1.amazonaws.com/"),
        ("cn-north-1", "727897471807.dkr.ecr.cn-north-1.amazonaws.com.cn/"),
        ("us-gov-west-1", "442386744353.dkr.ecr.us-gov-west-1.amazonaws.com/"),
    ],
)
def test_some_regions_have_accounts_of_their_own(tables, region, beginning):
    assert find_images("pytorch", "2.8", region, tables=tables)[0].startswith(beginning)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("pytoch", "2.9", "us-east-1"), "framework 'pytoch'[\\s\\S]*did you mean 'pytorch'"),
        (("pytorch", "2.9", "mars-north-1"), "region mars-north-1[\\s\\S]*us-west-2"),
        (("pytorch", "2.9", "us-east-1", "py39"), "py_version 'py39' of pytorch 2.9[\\s\\S]*known: py312"),
    ],
)
def test_what_is_not_in_the_tables_is_answered_with_what_is(tables, arguments, message):
    with pytest.raises(UserError, match=message):
        find_images(*arguments, tables=tables)


def test_every_row_says_when_and_where_it_is_from_and_agrees_with_its_tag(tables):
    for image in tables.images:
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", image.date), image
        assert re.fullmatch(r"(\d{4}-\d\d-\d\d)?", image.supported_until), image
        assert image.source
        assert image.device in ("cpu", "gpu", "any")
        if image.framework in ("pytorch", "tensorflow", "autogluon"):
            assert image.tag.startswith(f"{image.version}-")
            assert ("-cpu" in image.tag) == (image.device == "cpu")
        assert len(f"012345678901.dkr.ecr.ap-southeast-3.amazonaws.com.cn/{image.repository}:{image.tag}") <= 255
    keys = [(i.framework, i.version, i.py_version, i.device) for i in tables.images]
    assert len(set(keys)) == len(keys)
    assert all(re.fullmatch(r"\d{12}", account) for account in tables.accounts.values())


def test_an_image_is_known_again_by_its_uri(tables):
    found = image_facts(find_images("pytorch", "2.9", "us-east-1", tables=tables)[1], tables)
    assert (found.version, found.device, found.supported_until) == ("2.9.0", "gpu", "2026-10-15")
    assert image_facts("123456789012.dkr.ecr.us-east-1.amazonaws.com/mine:1", tables) is None


def test_gpus_by_the_table_else_by_the_family():
    found = [has_gpu(name) for name in ("ml.m5.large", "ml.g5.xlarge", "ml.p9.huge", "ml.c9.huge")]
    assert found == [False, True, True, False]


def test_a_table_of_ones_own(tmp_path):
    path = tmp_path / "images.csv"
    header = ["framework", "version", "py_version", "device", "registry", "repository", "tag", "supported_until", "date", "source"]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, ["own", "1.0", "py311", "any", "dlc", "mine", "1", "", "2026-01-01", "us"]])
    found = load_images(path)
    assert isinstance(found, ImageTables)
    assert find_images("own", "1", "us-west-2", tables=found)[0] == "763104351884.dkr.ecr.us-west-2.amazonaws.com/mine:1"
    with pytest.raises(UserError, match="cannot be read"):
        load_images(tmp_path / "none.csv")
