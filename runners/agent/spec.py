"""The requests of a launcher, and the specification of a job; `job.py` of the launcher describes the fields."""

from collections.abc import Callable
from typing import Any, Dict, List, Mapping, NamedTuple, Sequence, Union

MYPY = False
if MYPY:
    from typing import TypedDict

    class JobDocument(TypedDict):
        """The content of `job.json`: a specification, and the place of this node among all."""

        spec: Any  # see `job_spec`
        identity: str
        rank: int
        hosts: List[str]
        master_address: str
        master_port: int

    class Request(JobDocument, total=False):
        """A request of a launcher, with the input of its action."""

        action: str
        jobs: str
        outcome: str
        secrets: Dict[str, str]
        work: str


# A value of JSON.
Json = Union[None, str, int, float, Sequence["Json"], Mapping[str, "Json"]]
# Texts, and the names of node variables as `{"node": NAME}`. Python 3.6 has no `list[str]`.
Word = List[Union[str, Dict[str, str]]]


class NodeContainer(NamedTuple):
    """An image, and the words that run others in it."""

    tool: str
    image: str
    enter: "list[Word]"
    digest: str
    pinned: str


class EnvironmentName(NamedTuple):
    """The Python environment of a recipe."""

    name: str
    made_by: str


class SiteDevice(NamedTuple):
    """An accelerator that a site declares."""

    name: str
    probe: str
    variable: str


class Specification(NamedTuple):
    """The work of one run on its nodes."""

    command: "list[Word]"
    device: str
    accelerator: "SiteDevice | None"
    nodes: int
    devices_per_node: int
    every_node: bool
    timeout_seconds: int
    variables: "dict[str, Word]"
    files: "dict[str, str]"
    container: "NodeContainer | None"
    python: str
    packages: "list[str]"
    virtual_environment: "EnvironmentName | None"
    prologue: "list[str]"
    secrets: "list[str]"
    source_folder: str
    expected_commit: str
    work: str
    data: str
    threads: str
    even_if_busy: bool


# The records inside a specification, by field.
INSIDE: "dict[str, Callable[..., NamedTuple]]" = {
    "accelerator": SiteDevice,
    "container": NodeContainer,
    "virtual_environment": EnvironmentName,
}


def job_spec(document: Any) -> Specification:
    """Return the specification in a JSON document."""
    inside = {name: kind(**document[name]) for name, kind in INSIDE.items() if document[name]}
    return Specification(**{**document, **inside})
