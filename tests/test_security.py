"""Each sentence of SECURITY.md that says what is defended has a test: which, stands here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOOR = "tests/backends/emulator/test_door.py"
PRIVATE = "tests/backends/emulator/core/test_private.py"
PATHS = "tests/backends/emulator/container/test_paths.py"
S3_SERVER = "tests/benchmarking/datasets/test_s3server.py"
SERVER = "tests/launch/test_report_server.py"
TESTS = {
    "The emulator, and the S3 server that a local run": [
        "tests/backends/emulator/test_services.py::test_only_this_machine_can_reach_it",
        f"{S3_SERVER}::test_server_listens_on_loopback_alone_and_ends_with_its_block",
    ],
    "They answer only requests that are signed": [
        f"{DOOR}::test_nobody_without_the_key_is_answered_anywhere",
        "tests/backends/emulator/http/test_authentication.py::test_only_s3_takes_a_body_that_is_not_signed",
        f"{S3_SERVER}::test_only_who_has_the_servers_own_credentials_is_answered",
        "tests/backends/emulator/http/test_signature.py::test_the_documented_example_of_a_header",
        "tests/backends/emulator/http/test_payload.py::test_chunks_that_are_changed_exchanged_or_left_out_are_refused",
    ],
    "A request of an earlier run is refused": [
        f"{DOOR}::test_a_request_of_an_earlier_run_is_refused_by_the_next_on_the_same_folder_and_port",
        "tests/backends/emulator/http/test_authentication.py::test_a_clock_may_be_off_by_five_minutes_and_s3_s_by_fifteen",
    ],
    "Control calls of the emulator": [f"{DOOR}::test_control_calls_want_the_key_and_the_secret"],
    "The secret is on no command line": [f"{S3_SERVER}::test_only_who_has_the_servers_own_credentials_is_answered"],
    "What the emulator and the S3 server keep": [
        f"{DOOR}::test_other_users_can_enter_nothing_that_it_keeps",
        f"{S3_SERVER}::test_what_is_kept_is_closed_to_other_users",
    ],
    "A folder that you name and that has other things": [
        f"{DOOR}::test_a_folder_with_other_things_in_it_stays_as_it_is_and_what_is_put_there_is_closed"
    ],
    "What a killed emulator left": [
        f"{DOOR}::test_what_a_killed_emulator_left_is_cleared_by_the_next",
        f"{PRIVATE}::test_only_folders_of_dead_owners_and_of_our_kind_are_removed",
        f"{PRIVATE}::test_a_link_that_is_left_in_a_dead_owner_s_folder_is_not_followed",
    ],
    "The folder in the temporary folder by which": [
        "tests/backends/common/test_leases_folder.py::test_one_that_others_may_have_prepared_is_refused"
    ],
    "`status --serve` listens on 127.0.0.1 alone": [
        f"{SERVER}::test_it_listens_on_one_address_alone",
        f"{SERVER}::test_the_page_and_its_data_and_nothing_else",
        f"{SERVER}::test_one_can_but_read",
        f"{SERVER}::test_another_user_who_does_not_know_the_address_gets_nothing",
        f"{SERVER}::test_each_start_has_another_address_and_the_port_alone_is_none",
    ],
    "The emulator and the S3 server refuse on every path": [
        f"{DOOR}::test_no_web_page_is_answered_anywhere_and_none_may_read",
        f"{S3_SERVER}::test_no_web_page_is_answered",
        "tests/backends/emulator/http/test_gate.py::test_pages_and_other_names_are_refused",
    ],
    "They refuse what comes from a page": [f"{DOOR}::test_a_page_is_refused_even_what_is_signed"],
    "Control calls that change something": [f"{DOOR}::test_control_calls_that_change_something_are_exact_json"],
    "No answer lets pages of another origin": [f"{DOOR}::test_what_moto_answers_lets_no_page_read_it"],
    "`status --serve` answers no one who asks": [f"{SERVER}::test_who_asks_under_another_name_gets_nothing"],
    "In reports, what scripts and definitions call": ["tests/benchmarking/page/test_html.py::test_text_is_escaped_and_html_is_not"],
    "Every path that a request, an archive or a bucket": [
        f"{PATHS}::test_what_is_not_has_no_place",
        f"{PATHS}::test_links_lead_where_they_do_in_the_container",
        f"{PATHS}::test_a_folder_within_bounds_what_is_named_in_it",
        "tests/backends/emulator/container/test_hostile_jobs.py::test_paths_that_lead_out_fail_the_job_and_write_nothing",
        "tests/backends/emulator/container/test_hostile_jobs.py::"
        "test_a_script_that_is_no_part_of_its_source_is_neither_run_nor_made_runnable",
    ],
    "What is no file where a job should leave one": [
        "tests/backends/emulator/container/test_hostile_jobs.py::test_a_failure_file_that_is_no_file_is_not_waited_for_and_says_nothing",
        "tests/backends/emulator/container/test_hostile_jobs.py::test_pipes_in_what_a_job_leaves_are_left_out",
    ],
    "An archive of a source is refused": [
        "tests/backends/emulator/container/test_source_archive.py::test_what_would_leave_the_source_or_is_no_file_is_refused",
        "tests/backends/emulator/container/test_source_archive.py::test_an_archive_that_comes_to_too_much_is_refused_before_it_is_written",
    ],
    "Objects of names that no file can have": [
        f"{PATHS}::test_names_that_no_file_can_have_are_said",
        "tests/backends/emulator/container/test_hostile_jobs.py::test_objects_of_names_that_no_file_can_have_fail_the_job_with_the_name",
    ],
    "A request whose length is no number": [
        "tests/backends/emulator/http/test_server.py::test_what_is_no_request_is_refused_and_the_connection_closed",
        f"{DOOR}::test_a_body_that_never_ends_is_not_kept_in_memory",
    ],
    "An operation or a sub-resource": [
        "tests/backends/emulator/test_imitated.py::test_every_operation_is_served_handed_on_or_refused_with_a_sentence",
        "tests/backends/emulator/s3/test_operations.py::test_every_operation_of_the_model_is_served_or_refused",
        "tests/backends/emulator/s3/test_wrong_requests.py::test_what_cannot_be_deleted_together_is_not",
    ],
    "Definitions are read by YAML's safe loader": [
        "tests/definitions/test_yaml_source.py::test_other_tags_are_refused",
        "tests/definitions/test_valid.py::test_nothing_else_is_understood",
        "tests/launch/test_run.py::test_dry_run_shows_the_worst_case_and_starts_nothing",
    ],
    "Nothing is unpickled": ["tests/benchmarking/workloads/test_resnet_cifar10.py::test_a_pickle_may_not_run_anything"],
    "Links that lead out of the source folder": [
        "tests/backends/sagemaker/code/test_packing.py::test_links_within_the_folder_travel_and_others_are_refused"
    ],
    "What an emulated job installs": ["tests/backends/emulator/container/test_interpreter.py::test_a_job_s_packages_are_gone_with_it"],
    "Where a job has mounts of its own": [
        "tests/backends/emulator/container/test_interpreter.py::"
        "test_the_installation_itself_cannot_be_written_to_by_a_job_with_mounts_of_its_own"
    ],
    "Clients that have the emulator's exports": [
        "tests/backends/emulator/test_services.py::test_what_would_lead_elsewhere_is_exported_over",
        "tests/backends/emulator/test_services.py::test_the_sdk_s_configuration_names_a_bucket_that_is_there",
    ],
    "Credentials are found by boto3": [
        "tests/benchmarking/archive/test_environment.py::test_it_is_json_and_tells_nothing_of_people_or_machines",
        "tests/backends/sagemaker/admin/test_checks.py::test_account_ids_and_keys_are_masked",
    ],
    "Nothing is spent on a real account": [
        "tests/launch/test_confirm.py::test_real_money_needs_a_limit",
        "tests/launch/test_confirm.py::test_without_a_terminal_yes_is_needed",
        "tests/backends/sagemaker/admin/test_stop_jobs.py::test_all_jobs_of_the_tag_and_no_other_are_stopped",
        "tests/launch/test_clean.py::test_what_the_tag_left_is_deleted_and_no_more",
    ],
    "`doctor --policy` prints a policy": [
        "tests/backends/sagemaker/admin/test_iam_policy.py::test_the_table_has_every_call_that_stop_clean_and_doctor_make",
        "tests/backends/sagemaker/test_faults_checkpoints.py::test_all_that_is_called_is_in_the_policy",
    ],
}
"""Tests by the beginning of the point that they hold."""


def points():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    defended = text.partition("## What is defended\n")[2].partition("\n## ")[0]
    return [" ".join(one.split()) for one in re.split(r"^\* ", defended, flags=re.M)[1:]]


def test_every_point_has_a_test_and_every_test_a_point():
    found = {point: [beginning for beginning in TESTS if point.startswith(beginning)] for point in points()}
    assert {point: beginnings for point, beginnings in found.items() if len(beginnings) != 1} == {}
    assert sorted(beginnings[0] for beginnings in found.values()) == sorted(TESTS)


@pytest.mark.parametrize("name", sorted({name for names in TESTS.values() for name in names}))
def test_the_tests_that_are_named_are_there(name):
    path, _, function = name.partition("::")
    assert re.search(rf"^def {function}\(", (ROOT / path).read_text(encoding="utf-8"), re.M), name
