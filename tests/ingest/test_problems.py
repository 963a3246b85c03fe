"""Problems as they are printed."""

from ingest.problems import Problem, said


def test_a_reason_is_said_in_words() -> None:
    reason = {"code": "too_few_records", "args": {"records": 1, "needed": 2}}
    problem = Problem("no_figure", "a/train.log", 3, {"reason": reason})
    line = said(problem)
    assert line.startswith("a/train.log:3: ")
    assert "{" not in line
    assert "too_few_records" not in line
