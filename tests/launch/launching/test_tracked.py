"""Trackers of a launched run: what cannot be told is refused before anything is created."""

from __future__ import annotations

import pytest

from definitions.errors import UserError
from launch.launching.tracked import check_trackers, tracker_environment, tracker_packages, tracker_words, trackers_in

ARN = "arn:aws:sagemaker:eu-west-1:123456789012:mlflow-tracking-server/team"


def at(uri):
    return {"MLFLOW_TRACKING_URI": uri}


def test_one_that_there_is_not_and_one_that_is_nowhere_are_refused():
    with pytest.raises(UserError, match="tracker 'mlfow': there is none of this name"):
        check_trackers(["mlfow"], {}, emulated=True)
    with pytest.raises(UserError, match="MLflow is asked for, but not where it is"):
        check_trackers(["mlflow"], {}, emulated=True)
    check_trackers([], {}, emulated=False)


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("http://127.0.0.1:5000", "that is this machine"),
        ("http://[::1]:5000", "that is this machine"),
        ("http://localhost:5000", "that is this machine"),
        ("sqlite:///mlflow.db", "it is reached from this machine alone"),
        ("https://me:secret@mlflow.example.com", "it has a name or a password"),
    ],
)
def test_an_address_that_controllers_cannot_have_is_refused_without_its_secrets(uri, said):
    with pytest.raises(UserError, match=said) as raised:
        check_trackers(["mlflow"], at(uri), emulated=False)
    assert "secret" not in str(raised.value)
    assert "export TAG --to mlflow" in str(raised.value)


def test_on_an_emulator_this_machine_is_where_controllers_are():
    check_trackers(["mlflow"], at("http://127.0.0.1:5000"), emulated=True)


@pytest.mark.parametrize(("uri", "packages"), [("https://mlflow.example.com", []), (ARN, ["sagemaker-mlflow"])])
def test_a_controller_is_told_where_it_is_and_has_its_client(uri, packages):
    check_trackers(["mlflow"], at(uri), emulated=False)
    assert tracker_environment(["mlflow"], at(uri)) == at(uri)
    assert tracker_packages(["mlflow"], at(uri)) == ["mlflow-skinny", *packages]
    assert tracker_environment(["sagemaker"], at(uri)) == {}
    assert tracker_packages(["sagemaker"], at(uri)) == []


def test_the_words_of_its_command_name_them():
    assert tracker_words([]) == []
    words = tracker_words(["mlflow", "sagemaker"])
    assert trackers_in(["--verbose", *words, "--accept_changes"]) == ["mlflow", "sagemaker"]
    assert trackers_in(["--verbose"]) == []
