"""Observes how an endpoint behaves, so that the emulator and a real account can be compared."""

from backends.emulator.smoke.account import Account
from backends.emulator.smoke.catalogue import PROBES
from backends.emulator.smoke.look import Difference, compare, observe
from backends.emulator.smoke.probe import Probe, billed_s

__all__ = ["PROBES", "Account", "Difference", "Probe", "billed_s", "compare", "observe"]
