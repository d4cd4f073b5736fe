"""An emulator of SageMaker's training jobs that really runs them; public: `Emulator`, `Settings`, `ManualClock`, `SystemClock`."""

from backends.emulator.core.clock import ManualClock, SystemClock
from backends.emulator.core.settings import Settings
from backends.emulator.emulator import Emulator

__all__ = ["Emulator", "ManualClock", "Settings", "SystemClock"]
