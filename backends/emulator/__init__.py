"""An emulator of SageMaker's training jobs that really runs them; public: `Emulator`, `Settings`, `ManualClock`, `SystemClock`."""

from backends.emulator.clock import ManualClock, SystemClock
from backends.emulator.emulator import Emulator
from backends.emulator.settings import Settings

__all__ = ["Emulator", "ManualClock", "Settings", "SystemClock"]
