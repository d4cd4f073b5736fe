"""Puts an emulator's parts together and takes them apart."""

from __future__ import annotations

import contextlib
import importlib.util
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from backends.common.watchdog import Watchdog
from backends.emulator.account.pricing import PricingService
from backends.emulator.account.quotas_api import QuotasService
from backends.emulator.admin import AdminApi
from backends.emulator.container.context import Context
from backends.emulator.container.interpreter import Interpreter, provide_programs
from backends.emulator.container.namespaces import MARK, Isolation, best_isolation
from backends.emulator.core.clock import Clock
from backends.emulator.core.credentials import Credentials, Keyring
from backends.emulator.core.database import JOBS_SCHEMA, Database, JobStore
from backends.emulator.core.event_loop import EventLoop
from backends.emulator.core.private import FolderLock, private_file, private_folder
from backends.emulator.core.settings import Settings, sdk_config
from backends.emulator.endpoints.api import EndpointsService
from backends.emulator.endpoints.data_plane import DataPlane
from backends.emulator.endpoints.fronts import Fronts
from backends.emulator.endpoints.registry import EndpointRegistry
from backends.emulator.endpoints.store import HOSTING_SCHEMA, HostingStore
from backends.emulator.experiments.api import ExperimentsService
from backends.emulator.experiments.store import EXPERIMENTS_SCHEMA, ExperimentStore
from backends.emulator.faults.injector import FaultInjector
from backends.emulator.faults.rules import FaultRule
from backends.emulator.http.moto_bridge import MotoBridge
from backends.emulator.http.server import HttpServer
from backends.emulator.logs.service import LogsService
from backends.emulator.logs.store import SCHEMA as LOGS_SCHEMA
from backends.emulator.logs.store import LogStore
from backends.emulator.router import EitherService, JsonService, Router
from backends.emulator.s3.api import S3Api
from backends.emulator.s3.store import S3Store
from backends.emulator.training.api import TrainingJobsService
from backends.emulator.training.registry import JobRegistry
from backends.emulator.training.validation import RequestValidator
from definitions.errors import UserError
from definitions.program import install_extra

_SHORT = 45
"""Characters that the path of temporary files may have, so that there is room for what programs add to it."""


def _prepare(folder: Path, temporary: Path, settings: Settings) -> tuple[Path, Path]:
    """Remove what an earlier emulator left of its jobs, and make the folders of new ones.

    Returns:
        The file with the configuration of SageMaker's SDK, and the folder of temporary files.
    """
    for left in ("jobs", "caches", "t", "hosting"):
        shutil.rmtree(folder / left, ignore_errors=True)
    config = private_file(folder / "sagemaker.yaml")
    config.write_text(sdk_config(settings.default_bucket), encoding="utf-8")
    for name in ("jobs", "caches", "bin", "hosting"):
        private_folder(folder / name)
    own = folder / "t"
    return config, private_folder(own if len(str(own)) <= _SHORT else temporary / "t")


def _router(context: Context, jobs: JobRegistry, endpoints: EndpointRegistry, fronts: Fronts, kept: ExperimentStore) -> Router:
    """Return what leads each request to the service that answers it."""
    settings, model = context.settings, RequestValidator("sagemaker")
    described: list[TrainingJobsService] = []
    metrics_model = RequestValidator("sagemaker-metrics")
    experiments = ExperimentsService(kept, settings, model, metrics_model, lambda name: described[0].described(name))
    described.append(TrainingJobsService(jobs, context, model, experiments))
    types = (model.values("TrainingInstanceType"), model.values("ProductionVariantInstanceType"))
    services: dict[str, JsonService] = {
        "sagemaker": EitherService(described[0], experiments, EndpointsService(endpoints, context, model)),
        "logs": LogsService(context.logs, settings),
        "pricing": PricingService(),
        "service-quotas": QuotasService(jobs.limit, settings, *types),
    }
    puts = {"/BatchPutMetrics": experiments.put_metrics}
    objects, admin, keyring = S3Api(context.s3, settings.region), AdminApi(jobs, endpoints, fronts, context), Keyring(context.credentials)
    data_plane = DataPlane(fronts, endpoints.is_in_service, settings)
    return Router(services, puts, objects, admin, context.injector, settings, MotoBridge(), keyring, context.metrics, data_plane)


class Assembly:
    """A running emulator.

    Args:
        folder: of everything that is kept.
        temporary: a folder with a short path, which goes with the emulator.
        token: what the marks of its jobs begin with.
        credentials: that clients sign with.
    """

    def __init__(
        self,
        folder: Path,
        temporary: Path,
        port: int,
        seed: int,
        faults: Sequence[FaultRule],
        clock: Clock,
        settings: Settings,
        inherited: Mapping[str, str],
        token: str,
        credentials: Credentials,
    ) -> None:
        if importlib.util.find_spec("botocore") is None:
            raise UserError("the emulator was asked for", "it needs botocore, which is not installed", install_extra("emulator"))
        self.folder = folder
        with contextlib.ExitStack() as stack:
            lock = FolderLock(folder)
            stack.callback(lock.close)
            injector = FaultInjector(faults, seed, clock.now)
            loop = EventLoop(clock, settings.workers)
            s3 = S3Store(folder / "s3", lambda: clock.now() + injector.clock_ahead_s())
            stack.callback(s3.close)
            database = Database(folder / "jobs.sqlite", f"{JOBS_SCHEMA}{LOGS_SCHEMA}{EXPERIMENTS_SCHEMA}{HOSTING_SCHEMA}")
            stack.callback(database.close)
            logs = LogStore(database, lambda: clock.now() + injector.clock_ahead_s())
            config, scratch = _prepare(folder, temporary, settings)
            stack.callback(shutil.rmtree, scratch, ignore_errors=True)
            s3.create_bucket(settings.default_bucket)
            isolation = best_isolation(settings.namespaces)
            self.context = context = Context(
                settings, loop, s3, logs, injector, folder, scratch, isolation, inherited, token, credentials, config
            )
            provide_programs(folder / "bin", settings.python)
            context.interpreter = Interpreter.of(settings.python)
            store = JobStore(database)
            if isolation is Isolation.NONE:
                self._watchdog(stack, context)
            stack.callback(loop.close)
            jobs = JobRegistry(context, store)
            fronts = Fronts(context)
            endpoints = EndpointRegistry(context, HostingStore(database), jobs.limit, fronts)
            router = _router(context, jobs, endpoints, fronts, ExperimentStore(database, context.service_now))
            try:
                server = HttpServer(port, router.answer)
            except OSError as error:
                raise UserError(f"port {port} of 127.0.0.1: {error.strerror}", "", "give another one, or 0 for a free one") from None
            context.endpoint_url = f"http://127.0.0.1:{server.port}"
            loop.start()
            server.start()
            # In the order of their ending: no new requests, no jobs, then the rest.
            endpoints.take_up()
            stack.callback(endpoints.close)
            stack.callback(jobs.close)
            stack.callback(server.close)
            self._stack = stack.pop_all()

    def close(self) -> None:
        """End everything; jobs that run are killed."""
        self._stack.close()
        shutil.rmtree(self.folder / "jobs", ignore_errors=True)

    def _watchdog(self, stack: contextlib.ExitStack, context: Context) -> None:
        # Without namespaces the system does not end all of a job's processes with us; the local back-end's watchdog does.
        watchdog = Watchdog(f"{MARK}={context.token}")
        leaders: set[int] = set()

        def started(pid: int) -> None:
            leaders.add(pid)
            watchdog.start()
            watchdog.update({*leaders})

        def gone(pid: int) -> None:
            leaders.discard(pid)
            watchdog.update({*leaders})

        context.started, context.gone = started, gone
        stack.callback(lambda: watchdog.close(goodbye=not leaders))
