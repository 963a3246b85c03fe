"""Words of a command line: whatever is in them reaches a process as it is, and nothing in them comes alive."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from runners.cases.case import choose, command, environment_variables
from runners.command.argv import LATE, Late, checked, shell, texts, word
from runners.command.launchers import launched
from runners.errors import RunnerError
from tests.runners.written import loaded

HOSTILE = [
    "", " ", "a b", "'", "it's", '"', '"; touch alive; "', "'; touch alive; '", "$(touch alive)", "`touch alive`",
    "$HOME", "${node_rank}", "{node_rank}", "{master_address}", "\\", "a\\", "\n", "a\nb\n", "\r", "\t", "*", "?",
    "[a-z]", "~", "~root", "a:~", "{a,b}", "!", "!!", "-", "--", "-n", "--help", "#", "a#b", "&", "|", ";", "<", ">",
    "(", ")", "A=b", "[0]=x", "%s", "é 中文 \U0001f600", "\x01\x1b[31m", "\x7f", "a\u2028b",
]  # fmt: skip
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
#: Prints its arguments to file descriptor 1, a NUL after each, and nothing of its own.
ECHO = "printf '%s\\0' \"$@\""


def arrived(words: str, variables: dict[str, str] | None = None) -> list[str]:
    """What a process gets for words as bash reads them, from an array, as scripts hold them."""
    script = f'command=({words})\nexec "${{command[@]}}"'
    result = subprocess.run(["bash", "-c", script], env=variables or {}, capture_output=True, check=True)
    assert result.stderr == b""
    return [each.decode() for each in result.stdout.split(b"\0")[:-1]]


def echoing(*words: object) -> list[tuple[object, ...]]:
    return [word(each) for each in ("/bin/bash", "-c", ECHO, "echo")] + list(words)


@pytest.mark.usefixtures("bash")
@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_is_one_word(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert arrived(shell(echoing(word(text), word("end")))) == [text, "end"]
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("bash")
@settings(max_examples=60, deadline=None)
@given(st.lists(TEXT, min_size=1, max_size=8))
def test_any_texts_are_these_words(words):
    assert arrived(shell(echoing(*map(word, words)))) == words


@pytest.mark.usefixtures("bash")
@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_node_knows_is_put_in_as_it_is_too(text):
    words = echoing(("--rank=", Late("node_rank"), "!"), (Late("node_rank"),))
    assert arrived(shell(words), {"node_rank": text}) == [f"--rank={text}!", text]


@settings(max_examples=60, deadline=None)
@given(before=TEXT, value=TEXT, number=st.integers(1, 9))
@example(before="{master_address}", value="{{batch_size}}", number=1)
@example(before="{word}", value="$(touch alive)", number=1)
@pytest.mark.usefixtures("bash")
def test_any_value_of_any_slot_reaches_the_process(before, value, number):
    """An option, a text of `[slots]`, a variable and the data folder, through recipe, case, launcher and bash."""
    more = '[options]\nword = "plain"\n[slots]\nbraces = "<{word}>"\n[environment_variables]\nA = "{word}"\n'
    words = ["/bin/bash", "-c", f'{ECHO} "$A"', "echo", "{word}", "-{word}-", "{braces}", "{data}", "{batch_size}"]
    with tempfile.TemporaryDirectory() as folder:
        recipe = loaded(Path(folder), words, more=more)
        (case,) = choose(recipe, {"word": before + value, "batch_size": str(number)})
        data = f"/{value}"
        built = shell(launched(recipe, case, command(recipe, case, data), data))
        variable = shell([environment_variables(recipe, case, data)["A"]])
        echoed = arrived(f"/usr/bin/env A={variable} {built}")
        assert [each.name for each in Path(folder).iterdir()] == ["tiny.toml"]
    text = before + value
    assert echoed == [text, f"-{text}-", f"<{text}>", data, str(number), text]


@pytest.mark.parametrize("text", ["a\0b", "a\ud800b"])
def test_what_no_command_line_can_hold_is_refused(text):
    with pytest.raises(RunnerError, match=r"a word of the command: .*(NUL byte|not UTF-8)"):
        shell([word(text)])
    with pytest.raises(RunnerError, match="--data: "):
        checked(text, "--data")


def test_words_for_people():
    assert texts([word("a b"), ("--rank=", Late("node_rank")), word("")]) == ["a b", "--rank={node_rank}", ""]


def test_no_words_are_no_words():
    assert shell([]) == ""
    assert shell([word(""), ()]) == "'' ''"


def test_what_a_node_knows_can_be_a_variable_of_bash():
    assert LATE
    assert all(name.isidentifier() and name.islower() for name in LATE)
