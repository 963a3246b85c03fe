"""The records of a machine: its details in an environment.json, and the samples that were taken of it during a run."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType


class EnvironmentDetails(Struct, frozen=True, omit_defaults=True):
    """The part of an environment.json that a run keeps."""

    gpus: tuple[dict[str, int | float | str], ...] = ()
    topology: str = ""
    infiniband: tuple[str, ...] = ()
    packages_installed: tuple[str, ...] = ()


#: Limits of an environment.json, so that it fits a page. Redaction may make a line longer afterwards.
Line = Annotated[str, Meta(max_length=300)]
Lines = Annotated[tuple[Line, ...], Meta(max_length=2000)]
Device = Annotated[dict[Line, int | float | Line], Meta(max_length=40)]


class Environment(Struct, frozen=True):
    """An environment.json: details of a machine that are too long for run.json."""

    schema: Literal["perfledger.environment/1"]
    gpus: Annotated[tuple[Device, ...], Meta(max_length=2000)] = ()
    topology: Annotated[str, Meta(max_length=15_000)] = ""
    infiniband: Lines = ()
    packages_installed: Lines = ()


Number = int | float | None


class Sampled(Struct, frozen=True):
    """Figures of devices over a period; None if unknown."""

    samples: int | None = None
    seconds: Number = None
    first: str | None = None
    last: str | None = None
    devices: int | None = None
    memory_peak_mib: Number = None
    memory_total_mib: Number = None
    power_peak_w: Number = None
    power_limit_w: Number = None
    temperature_peak_c: Number = None
    memory_temperature_peak_c: Number = None
    host_memory_peak_mib: Number = None
    host_memory_total_mib: Number = None
    load_peak: Number = None
    memory_mean_mib: Number = None
    utilisation_mean: Number = None
    memory_utilisation_mean: Number = None
    power_mean_w: Number = None
    temperature_mean_c: Number = None
    sm_clock_mean_mhz: Number = None
    graphics_clock_mean_mhz: Number = None
    memory_clock_mean_mhz: Number = None
    host_memory_mean_mib: Number = None
    load_mean: Number = None
    cpu_mean: Number = None
    disk_read_mean_mib_s: Number = None
    disk_written_mean_mib_s: Number = None
    energy_j: Number = None


class TelemetryFile(Struct, frozen=True):
    """A file of samples, and the program that printed it."""

    path: str
    printer: str
    sha256: str


class Telemetry(Sampled, frozen=True):
    """Samples taken during a run.

    `measured` covers the time of the records that the headline counts. It is absent if the log's records have no date
    and time.
    """

    files: tuple[TelemetryFile, ...] = ()
    measured: Sampled | UnsetType = UNSET
