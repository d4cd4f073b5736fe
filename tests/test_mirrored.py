"""Tests mirror the tree: each module of some size has a test file of its own name, or belongs to a family that one named file tests."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("definitions", "backends", "benchmarking", "launch")
SHORT = 40
"""Lines up to which a module needs no test file of its own."""

TESTED_TOGETHER = {
    "tests/backends/processes/test_node.py": ["backends/processes/moved.py", "backends/processes/node_messages.py"],
    "tests/backends/local/test_backend.py": ["backends/processes/stopping.py"],
    "tests/backends/ray/test_detach.py": ["backends/ray/keeper.py", "launch/left_running.py"],
    "tests/backends/ray/test_backend.py": [
        "backends/ray/guard.py",
        "backends/ray/guard_process.py",
        "backends/ray/links.py",
    ],
    "tests/backends/ray/test_trainables.py": [
        "backends/reporter/outrider_ray/trial.py",
        "backends/reporter/outrider_ray/tuning.py",
    ],
    "tests/benchmarking/models/test_exporting.py": [
        "benchmarking/models/exporters.py",
        "benchmarking/models/networks.py",
        "benchmarking/models/running.py",
    ],
    "tests/benchmarking/models/test_preparation.py": ["benchmarking/models/exported.py"],
    "tests/backends/common/test_channel_variables.py": ["backends/job_input.py"],
    "tests/backends/emulator/container/test_attempt.py": [
        "backends/emulator/container/artifacts.py",
        "backends/emulator/container/channels.py",
        "backends/emulator/container/context.py",
        "backends/emulator/container/environment.py",
        "backends/emulator/container/filesystem.py",
        "backends/emulator/container/host.py",
        "backends/emulator/container/job_profile.py",
        "backends/emulator/container/pipes.py",
        "backends/emulator/container/profiler.py",
    ],
    "tests/backends/emulator/core/test_lifecycle.py": [
        "backends/emulator/core/clock.py",
        "backends/emulator/core/database.py",
        "backends/emulator/core/event_loop.py",
        "backends/emulator/core/job.py",
        "backends/emulator/core/settings.py",
    ],
    "tests/backends/endpoint/test_backend.py": [
        "backends/registry.py",
        "backends/endpoint/adoption.py",
        "backends/endpoint/course.py",
        "backends/endpoint/creation.py",
        "backends/endpoint/deployed_job.py",
        "backends/endpoint/listing.py",
        "backends/endpoint/packages_in_s3.py",
    ],
    "tests/backends/emulator/endpoints/test_data_plane.py": [
        "backends/emulator/endpoints/front_process.py",
        "backends/emulator/endpoints/fronts.py",
    ],
    "tests/backends/emulator/endpoints/test_api.py": [
        "backends/emulator/endpoints/registry.py",
        "backends/emulator/endpoints/resource.py",
        "backends/emulator/endpoints/store.py",
    ],
    "tests/backends/emulator/experiments/test_api.py": ["backends/emulator/experiments/store.py", "backends/emulator/experiments/views.py"],
    "tests/backends/emulator/faults/test_rules.py": ["backends/emulator/faults/injector.py"],
    "tests/backends/emulator/http/test_server.py": [
        "backends/emulator/http/errors.py",
        "backends/emulator/http/messages.py",
        "backends/emulator/http/moto_bridge.py",
    ],
    "tests/backends/emulator/logs/test_service.py": ["backends/emulator/logs/store.py"],
    "tests/backends/emulator/alone/test_process.py": ["backends/emulator/alone/counts.py", "backends/emulator/alone/server.py"],
    "tests/backends/emulator/s3/test_api.py": [
        "backends/emulator/s3/aws_chunked.py",
        "backends/emulator/s3/store.py",
        "backends/emulator/s3/xml.py",
    ],
    "tests/backends/emulator/test_clients.py": ["backends/emulator/admin.py"],
    "tests/backends/emulator/test_services.py": [
        "backends/emulator/account/identity.py",
        "backends/emulator/account/pricing.py",
        "backends/emulator/account/quotas_api.py",
        "backends/emulator/assembly.py",
        "backends/emulator/emulator.py",
        "backends/emulator/router.py",
    ],
    "tests/backends/emulator/smoke/test_look.py": [
        "backends/emulator/smoke/account.py",
        "backends/emulator/smoke/jobs.py",
        "backends/emulator/smoke/requests.py",
    ],
    "tests/backends/emulator/training/test_api.py": [
        "backends/emulator/training/execution.py",
        "backends/emulator/training/listing.py",
        "backends/emulator/training/registry.py",
        "backends/emulator/training/search.py",
    ],
    "tests/backends/emulator/training/test_validation.py": ["backends/emulator/training/limits.py"],
    "tests/backends/emulator/training/test_warm_pools.py": ["backends/emulator/training/warm_pool_manager.py"],
    "tests/backends/local/test_ending.py": [
        "backends/common/watchdog.py",
        "backends/common/watchdog_process.py",
        "backends/processes/job_processes.py",
        "backends/processes/runner.py",
        "backends/processes/process_records.py",
    ],
    "tests/backends/local/test_endpoint.py": ["backends/processes/endpoint_job.py", "backends/processes/endpoint_run.py"],
    "tests/backends/local/test_metrics.py": ["backends/metrics/gathering.py"],
    "tests/backends/processes/warm/test_warm.py": [
        "backends/processes/warm/fork_server.py",
        "backends/processes/warm/import_times.py",
        "backends/processes/warm/job_process.py",
        "backends/processes/warm/script_code.py",
        "backends/processes/warm/wire.py",
        "backends/processes/warm/worker.py",
    ],
    "tests/backends/metrics/files/test_documents.py": [
        "backends/metrics/files/records.py",
        "backends/metrics/files/rows.py",
    ],
    "tests/backends/sagemaker/admin/test_checks.py": ["backends/sagemaker/admin/doctor.py"],
    "tests/backends/sagemaker/admin/test_iam_policy.py": ["backends/sagemaker/aws/iam_operations.py"],
    "tests/backends/sagemaker/admin/test_stop_jobs.py": [
        "backends/sagemaker/admin/s3_leftovers.py",
        "backends/sagemaker/admin/tagged_jobs.py",
    ],
    "tests/backends/sagemaker/code/test_packing.py": ["backends/sagemaker/code/source_files.py"],
    "tests/backends/sagemaker/container/test_outrider_start.py": ["backends/sagemaker/container/runner.py"],
    "tests/backends/sagemaker/experiments/test_tracker.py": ["backends/sagemaker/experiments/places.py"],
    "tests/backends/sagemaker/jobs/test_job.py": ["backends/sagemaker/jobs/job_table.py"],
    "tests/backends/sagemaker/jobs/test_request.py": ["backends/sagemaker/jobs/channels.py"],
    "tests/backends/sagemaker/jobs/test_resolve_options.py": ["backends/sagemaker/jobs/options.py"],
    "tests/backends/sagemaker/logs/test_poller.py": ["backends/sagemaker/logs/line_order.py"],
    "tests/backends/sagemaker/test_faults_checkpoints.py": ["backends/sagemaker/lifecycle/staging.py"],
    "tests/backends/sagemaker/test_faults_crashes.py": ["backends/sagemaker/lifecycle/adoption.py"],
    "tests/backends/sagemaker/test_faults_jobs.py": [
        "backends/sagemaker/lifecycle/status_tracker.py",
    ],
    "tests/backends/sagemaker/test_faults_quotas.py": ["backends/emulator/training/quotas.py"],
    "tests/backends/sagemaker/test_faults_throttling.py": [
        "backends/sagemaker/aws/clients.py",
        "backends/sagemaker/aws/lookups.py",
        "backends/sagemaker/lifecycle/submission.py",
    ],
    "tests/backends/processes/warm/test_auto_preload.py": ["backends/processes/warm/import_times.py"],
    "tests/backends/scripts/test_read_source.py": [
        "backends/scripts/absl_source.py",
        "backends/scripts/argv_source.py",
        "backends/scripts/click_source.py",
        "backends/scripts/dataclass_source.py",
        "backends/scripts/hydra_source.py",
        "backends/scripts/optparse_source.py",
        "backends/scripts/shell_source.py",
        "backends/scripts/signature_source.py",
    ],
    "tests/backends/serving/front/test_front.py": [
        "backends/serving/base.py",
        "backends/serving/program.py",
        "backends/serving/v2.py",
        "backends/serving/front/__main__.py",
        "backends/serving/front/service.py",
        "backends/serving/front/settings.py",
    ],
    "tests/backends/serving/mms/test_server.py": ["backends/serving/mms/handler.py"],
    "tests/backends/serving/ort/test_program.py": ["backends/serving/ort/model.py"],
    "tests/backends/serving/triton/test_server.py": [
        "backends/serving/environment.py",
        "backends/serving/triton/python_model.py",
    ],
    "tests/backends/serving/wire/test_client.py": ["backends/serving/wire/listener.py"],
    "tests/benchmarking/remote/test_journal_restoring.py": ["benchmarking/remote/restored.py"],
    "tests/benchmarking/scripts/test_plan.py": ["benchmarking/scripts/config_file.py"],
    "tests/backends/scripts/test_argparse_source.py": [
        "backends/scripts/interface.py",
        "backends/scripts/literals.py",
    ],
    "tests/backends/simulated/test_backend.py": [
        "backends/simulated/checkpoints.py",
        "backends/simulated/description.py",
        "backends/simulated/job.py",
        "backends/simulated/table.py",
    ],
    "tests/benchmarking/archive/test_reusing.py": ["benchmarking/archive/measured.py"],
    "tests/benchmarking/controller/test_event_codec.py": ["backends/events.py"],
    "tests/benchmarking/controller/test_method_adapter.py": ["benchmarking/controller/method.py"],
    "tests/benchmarking/controller/test_state.py": ["backends/adopted.py", "benchmarking/controller/adopting.py"],
    "tests/benchmarking/planning/test_job_builder.py": ["backends/job_spec.py"],
    "tests/benchmarking/forecasting/running/test_tail.py": ["benchmarking/forecasting/running/outlook.py"],
    "tests/benchmarking/controller/test_tuner.py": ["benchmarking/controller/interfaces.py"],
    "tests/benchmarking/datasets/test_noise.py": ["benchmarking/datasets/made_sample.py"],
    "tests/benchmarking/datasets/test_making.py": ["benchmarking/datasets/making_pool.py", "benchmarking/datasets/manifest.py"],
    "tests/benchmarking/datasets/test_generating.py": [
        "benchmarking/datasets/parts.py",
        "benchmarking/datasets/sample_files.py",
        "benchmarking/datasets/tables.py",
    ],
    "tests/benchmarking/export/test_registry.py": ["benchmarking/export/exporter.py"],
    "tests/benchmarking/forecasting/data/test_finished_jobs.py": ["backends/past_jobs.py", "backends/sagemaker/admin/past_jobs.py"],
    "tests/benchmarking/forecasting/ladder/test_race.py": ["benchmarking/forecasting/ladder/race_status.py"],
    "tests/benchmarking/methods/searchers/test_process.py": ["benchmarking/methods/searchers/worker.py"],
    "tests/benchmarking/methods/searchers/test_searchers.py": [
        "benchmarking/methods/searchers/bayesian.py",
        "benchmarking/methods/searchers/quantile_regression.py",
        "benchmarking/methods/searchers/syne_tune.py",
    ],
    "tests/benchmarking/page/test_render.py": ["benchmarking/page/drawing.py"],
    "tests/benchmarking/syne_tune_adapter/test_backend.py": ["benchmarking/syne_tune_adapter/trial_manager.py"],
    "tests/benchmarking/workloads/test_gbm.py": ["benchmarking/workloads/gbm_tables.py"],
    "tests/benchmarking/workloads/checkpointing/stores/test_stores.py": [
        "benchmarking/workloads/checkpointing/stores/base.py",
        "benchmarking/workloads/checkpointing/stores/dcp_store.py",
        "benchmarking/workloads/checkpointing/stores/lightning_store.py",
        "benchmarking/workloads/checkpointing/stores/threaded.py",
        "benchmarking/workloads/checkpointing/stores/torch_file.py",
        "benchmarking/workloads/checkpointing/stores/torch_object.py",
    ],
    "tests/benchmarking/workloads/load/test_open_loop.py": [
        "benchmarking/workloads/load/calls.py",
        "benchmarking/workloads/load/connections.py",
        "benchmarking/workloads/load/run.py",
        "benchmarking/workloads/load/session.py",
        "benchmarking/workloads/load/timer.py",
    ],
    "tests/benchmarking/figures/test_load_curves.py": ["benchmarking/figures/load_reports.py"],
    "tests/benchmarking/export/test_load_csv.py": ["benchmarking/export/load_parts.py", "benchmarking/export/locust_csv.py"],
    "tests/benchmarking/workloads/load/test_processes.py": ["benchmarking/workloads/load/worker.py"],
    "tests/benchmarking/workloads/load/test_residency.py": ["benchmarking/workloads/load/serving_status.py"],
    "tests/benchmarking/workloads/load/test_searching.py": ["benchmarking/workloads/load/probe.py"],
    "tests/benchmarking/workloads/load/test_tally.py": ["benchmarking/workloads/load/figures.py"],
    "tests/benchmarking/workloads/checkpointing/test_knobs.py": ["benchmarking/workloads/checkpointing/kinds.py"],
    "tests/benchmarking/workloads/checkpointing/test_models.py": ["benchmarking/workloads/checkpointing/architectures.py"],
    "tests/benchmarking/workloads/test_checkpoint_speed.py": ["benchmarking/workloads/checkpointing/sharding.py"],
    "tests/benchmarking/workloads/ingestion/test_opening.py": [
        "benchmarking/workloads/ingestion/datasets.py",
        "benchmarking/workloads/ingestion/stores/base.py",
    ],
    "tests/benchmarking/workloads/ingestion/test_modes.py": [
        "benchmarking/workloads/ingestion/stores/feeder.py",
        "benchmarking/workloads/ingestion/stores/memory.py",
    ],
    "tests/benchmarking/workloads/ingestion_models/test_registry.py": [
        "benchmarking/workloads/ingestion_models/base.py",
        "benchmarking/workloads/ingestion_models/cnn.py",
        "benchmarking/workloads/ingestion_models/images.py",
        "benchmarking/workloads/ingestion_models/without_network.py",
    ],
    "tests/benchmarking/workloads/test_resnet_cifar10.py": ["benchmarking/workloads/cifar10.py", "benchmarking/workloads/resnet.py"],
    "tests/benchmarking/studies/test_record.py": ["benchmarking/studies/files.py"],
    "tests/definitions/test_backend_registry.py": ["definitions/backend_description.py", "definitions/blocks.py"],
    "tests/definitions/test_json_schema.py": ["definitions/key_descriptions.py"],
    "tests/definitions/test_schema.py": ["backends/sagemaker/block.py"],
    "tests/launch/test_doctor.py": ["launch/launching/checks.py", "backends/local/checks.py"],
    "tests/launch/test_face.py": ["launch/__main__.py", "launch/result.py"],
    "tests/launch/test_functions.py": ["launch/function_job.py", "launch/function_script.py", "launch/one_start.py"],
    "tests/launch/test_init.py": [
        "launch/ask_help.py",
        "benchmarking/scripts/definition_text.py",
        "benchmarking/scripts/metric_names.py",
    ],
    "tests/launch/test_launch.py": [
        "launch/launching/launching.py",
        "launch/launching/place.py",
        "launch/launching/study.py",
        "launch/launching/words.py",
    ],
    "tests/launch/test_launch_resume.py": [
        "launch/launching/extending.py",
        "launch/launching/following.py",
        "launch/launching/renewing.py",
        "launch/launching/taking_over.py",
    ],
    "tests/launch/test_report.py": ["launch/named_results.py"],
    "tests/launch/test_run.py": [
        "benchmarking/archive/keeper.py",
        "benchmarking/experiment.py",
        "benchmarking/experiment_loop.py",
        "benchmarking/surroundings.py",
        "benchmarking/watches.py",
        "launch/outcome.py",
        "launch/planning.py",
        "launch/request.py",
        "launch/verbs/show.py",
    ],
    "tests/benchmarking/tracking/mlflow/test_tracker.py": [
        "benchmarking/tracking/exporter.py",
        "benchmarking/tracking/process.py",
        "benchmarking/tracking/registry.py",
    ],
    "tests/launch/test_collecting.py": ["launch/verbs/collect.py"],
    "tests/benchmarking/controller/test_sqlite_journal.py": ["benchmarking/controller/journal.py"],
    "tests/launch/test_wrong_use.py": ["launch/cli.py"],
}
"""Test file -> modules that it tests beside the one that it is named after: parts that do their work together alone, most of them
processes, servers and calls of a service."""


def mirror_of(module: Path) -> Path:
    """Return where a module's own tests are; those of a verb are beside those of the command line's other parts."""
    folder = module.parent.parent if module.parent == Path("launch/verbs") else module.parent
    return Path("tests") / folder / f"test_{module.stem}.py"


def modules() -> list[Path]:
    found = (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")) if path.name != "__init__.py")
    return [path.relative_to(ROOT) for path in found if path.read_text(encoding="utf-8").count("\n") > SHORT]


def test_every_module_has_its_own_tests_or_is_named_with_those_of_its_family():
    alone = {str(module) for module in modules() if not (ROOT / mirror_of(module)).is_file()}
    listed = {module for together in TESTED_TOGETHER.values() for module in together}
    assert sorted(alone - listed) == [], "write tests/<the same folders>/test_<the same name>.py"
    assert sorted(listed - alone) == [], "these have tests of their own, or are gone: take them off the list"


@pytest.mark.parametrize("file", TESTED_TOGETHER)
def test_the_file_of_a_family_is_there_and_has_tests(file):
    text = (ROOT / file).read_text(encoding="utf-8")
    assert "def test_" in text or "class Test" in text  # a contract that is inherited
