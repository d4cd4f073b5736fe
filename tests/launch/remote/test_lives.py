from __future__ import annotations

import pytest

from definitions.errors import (
    EXIT_BUDGET,
    EXIT_CLOUD,
    EXIT_DETACHED,
    EXIT_DONE,
    EXIT_FAILURES,
    EXIT_FAULT,
    EXIT_INTERRUPTED,
    EXIT_TAKEN_OVER,
    EXIT_USAGE,
)
from launch.remote.lives import Asked, Restarts, Then, after_end, hands_over_in_s, margin_s, on_term, words_of


@pytest.mark.parametrize("code", [EXIT_DONE, EXIT_FAILURES, EXIT_BUDGET])
@pytest.mark.parametrize("asked", list(Asked))
def test_a_run_that_came_to_its_end_is_over_whatever_was_asked_meanwhile(code, asked):
    assert after_end(code, asked, Restarts(0)).then is Then.END


@pytest.mark.parametrize("code", [EXIT_FAULT, EXIT_CLOUD, -9, -11, EXIT_DETACHED, 77])
def test_what_ended_by_itself_is_started_again_and_fails_once_the_restarts_are_spent(code):
    assert after_end(code, Asked.NOTHING, Restarts(3, used=2)).then is Then.AGAIN
    assert after_end(code, Asked.NOTHING, Restarts(3, used=3)).then is Then.FAIL


def test_a_run_that_is_refused_is_refused_again_so_it_is_not_started_again():
    step = after_end(EXIT_USAGE, Asked.NOTHING, Restarts(3), "benchmark demo: no script main.py")
    assert step.then is Then.FAIL
    assert step.why == "the run is refused: benchmark demo: no script main.py"


@pytest.mark.parametrize("asked", list(Asked))
def test_who_was_taken_over_leaves_even_where_it_was_to_hand_over(asked):
    assert after_end(EXIT_TAKEN_OVER, asked, Restarts(3)).then is Then.LEAVE


def test_after_term_nothing_is_started_again_however_the_controller_ended():
    for asked in (Asked.WIND_DOWN, Asked.DETACH):
        assert {after_end(code, asked, Restarts(3)).then for code in (EXIT_INTERRUPTED, EXIT_DETACHED, -9, EXIT_FAULT)} == {Then.END}


def test_one_that_was_stopped_by_a_mark_or_by_hand_is_not_started_again():
    assert after_end(EXIT_INTERRUPTED, Asked.NOTHING, Restarts(3)).then is Then.END
    assert after_end(EXIT_INTERRUPTED, Asked.WIND_DOWN, Restarts(3), "SIGTERM: winding down").why == "the run was stopped"


def test_it_hands_over_also_where_the_controller_was_killed_while_it_detached():
    assert after_end(EXIT_DETACHED, Asked.HAND_OVER, Restarts(0)).then is Then.HAND_OVER
    killed = after_end(-9, Asked.HAND_OVER, Restarts(0))
    assert killed.then is Then.HAND_OVER
    assert "memory" in killed.why


def test_waits_grow_fourfold_up_to_five_minutes():
    waits, restarts = [], Restarts(9)
    for _ in range(6):
        waits.append(after_end(-9, Asked.NOTHING, restarts).wait_s)
        restarts = restarts.again()
    assert waits == [1, 4, 16, 64, 256, 300]


def test_a_finished_trial_makes_restarts_free_again_and_none_does_not():
    spent = Restarts(2, finished=4).again().again()
    assert spent.is_spent
    assert spent.looked(4).is_spent
    freed = spent.looked(5)
    assert (freed.used, freed.finished, freed.total, freed.wait_s) == (0, 5, 2, 1.0)


def test_without_restarts_the_first_end_is_the_last_and_says_its_cause():
    step = after_end(-9, Asked.NOTHING, Restarts(0))
    assert step.why == "no restarts: the controller was ended by SIGKILL: killed from outside, or for want of memory"
    assert after_end(EXIT_FAULT, Asked.NOTHING, Restarts(1, used=1), "OSError: x").why == (
        "1 restart without a finished trial: a fault of ours ended the controller: OSError: x"
    )


def test_an_unknown_code_and_an_unknown_signal_are_named_by_their_numbers():
    assert words_of(77) == "the controller ended with exit code 77"
    assert words_of(-15) == "the controller was ended by SIGTERM"
    assert words_of(-99) == "the controller was ended by signal 99"


def test_the_last_words_of_who_was_killed_are_no_reason_and_those_of_a_failure_are():
    assert words_of(-15, "3 jobs run") == "the controller was ended by SIGTERM (it said last: 3 jobs run)"
    assert words_of(EXIT_CLOUD, "AccessDenied") == "the cloud refused what the controller needs: AccessDenied"
    assert words_of(EXIT_DETACHED, "3 jobs run") == "the controller let its trials run on and ended"


def test_it_hands_over_five_minutes_before_the_limit_and_a_fifth_before_a_short_one():
    assert (margin_s(86400), margin_s(600)) == (300, 120)
    assert hands_over_in_s(86400, 0) == 86100
    assert hands_over_in_s(600, 400) == 80
    assert hands_over_in_s(600, 590) == 0


def test_only_a_job_that_the_service_shows_as_stopping_is_wound_down():
    assert on_term("Stopping", is_marked=False, left_s=1000) is Asked.WIND_DOWN
    assert on_term("InProgress", is_marked=False, left_s=1000) is Asked.DETACH
    assert on_term(None, is_marked=False, left_s=1000) is Asked.DETACH


def test_at_its_limit_a_job_is_not_stopped_by_a_person_unless_a_mark_says_so():
    assert on_term("Stopping", is_marked=False, left_s=2) is Asked.DETACH
    assert on_term("Stopping", is_marked=False, left_s=-1) is Asked.DETACH
    assert on_term(None, is_marked=True, left_s=-1) is Asked.WIND_DOWN
