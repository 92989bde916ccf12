"""The terminal driver itself, against tiny programs: what it shows, counts, sends and ends."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.terminal.harness import Terminal, python
from tests.terminal.lifeline import Lifeline, left_over, processes_under
from tests.terminal.picture import picture

pytestmark = pytest.mark.pty

Open = Callable[..., Terminal]

RAW = "import os, signal, sys, termios, tty; tty.setraw(0); say = lambda text: os.write(1, text.encode()); "
"""A program's beginning: a raw terminal and a way to write to it at once."""


@contextlib.contextmanager
def started(argv: list[str], **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A process beside the terminal, its stdout a pipe, that does not outlive the block."""
    with subprocess.Popen(argv, stdout=subprocess.PIPE, **options) as child:
        try:
            yield child
        finally:
            child.kill()


def line_of(child: subprocess.Popen[bytes]) -> bytes:
    """The next line the process prints."""
    assert child.stdout is not None
    return child.stdout.readline()


def program(body: str, raw: bool = True) -> list[str]:
    """The command of a little Python program at a raw (or, if not, a cooked) terminal."""
    return python("-S", "-c", (RAW if raw else "import os, signal, sys\n") + body)


def test_program_gets_the_terminal_it_was_promised(terminal: Open) -> None:
    body = (
        "size = os.get_terminal_size(); own = os.open('/dev/tty', os.O_RDWR)\n"
        "os.write(own, f\"{size.columns}x{size.lines} {os.environ['TERM']} {os.getsid(0) == os.getpid()}.\".encode())"
    )
    shown = terminal(program(body), cols=40, rows=8, term="vt220")
    shown.wait_for("40x8 vt220 True.")
    assert shown.wait_exit() == 0


def test_environment_is_laid_over_this_ones(terminal: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEPT", "kept")
    monkeypatch.setenv("GONE", "gone")
    body = "say(' '.join(os.environ.get(n, '-') for n in ('KEPT', 'GONE', 'NEW', 'COLUMNS')) + '.')"
    terminal(program(body), env={"GONE": None, "NEW": "new"}).wait_for("kept - new -.")


def test_screen_is_rows_of_the_right_size(terminal: Open) -> None:
    shown = terminal(program(r"say('one\r\n\x1b[3;4Htwo \u4e2d!'); os.read(0, 1)"), cols=20, rows=16)
    shown.wait_for("two")
    assert [row.rstrip() for row in shown.screen[:3]] == ["one", "", "   two 中!"]
    assert len(shown.screen) == 16
    assert len(shown.screen[0]) == 20
    assert shown.cursor == (10, 2)


def test_write_is_one_write(terminal: Open) -> None:
    shown = terminal(program("say('go'); say(repr(os.read(0, 4096)) + '.')"), cols=200)
    shown.wait_for("go")
    shown.write(b"4006381333931\r4006381333948\r\x00\xe9")
    shown.wait_for(repr(b"4006381333931\r4006381333948\r\x00\xe9") + ".")


def test_a_write_the_pty_cannot_hold_is_an_error(terminal: Open) -> None:
    shown = terminal(program("say('go'); signal.pause()"))
    shown.wait_for("go")
    with pytest.raises(AssertionError, match="the pty took"):
        shown.write(b"8" * 1_000_000)


def test_wait_for_names_the_screen_and_the_end_of_the_program(terminal: Open) -> None:
    shown = terminal(program("say('last words'); sys.exit(3)"))
    with pytest.raises(AssertionError, match=r"(?s)'never'; the program left with 3.*last words"):
        shown.wait_for("never", timeout=60)


def test_wait_for_takes_text_bytes_and_questions(terminal: Open, tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    shown = terminal(program(rf"say('\x1b[31mred\x1b[0m'); os.read(0, 1); open({str(proof)!r}, 'w'); os.read(0, 1)"))
    shown.wait_for("red")
    shown.wait_for(b"\x1b[31mred")
    shown.write(b"x")
    assert shown.wait_for(lambda _terminal: proof.exists() and "there") == "there"


def test_wait_for_gives_up(terminal: Open) -> None:
    shown = terminal(program("say('here'); signal.pause()"))
    shown.wait_for("here")
    with pytest.raises(AssertionError, match=r"(?s)still runs.*here"):
        shown.wait_for(lambda _terminal: False, timeout=0.05)
    with pytest.raises(AssertionError, match="still runs"):
        shown.wait_exit(timeout=0.05)


def test_bytes_are_counted_and_timed(terminal: Open) -> None:
    shown = terminal(program("say('one'); os.read(0, 1); say('three')"))
    shown.wait_for("one")
    mark = shown.mark()
    written = shown.write(b"x")
    shown.wait_exit()
    assert shown.raw == b"onethree"
    assert shown.count_since(mark) == 5
    assert shown.since(mark) == b"three"
    times = [shown.started, shown.chunks[0].at, written, shown.chunks[-1].at]
    assert times == sorted(times)


def test_first_shown_finds_the_read_that_brought_the_text(terminal: Open) -> None:
    shown = terminal(program("say('a'); os.read(0, 1); say('b'); os.read(0, 1); say('c'); os.read(0, 1)"))
    for letter in (b"a", b"b", b"c"):
        shown.wait_for(letter)
        shown.write(b"x")
    shown.wait_exit()
    assert shown.first_shown(lambda text: text.startswith("ab")) == 1
    assert shown.first_shown(lambda text: text.startswith("a")) == 1
    assert shown.first_shown(lambda text: text.startswith("abc")) == 2
    assert shown.first_shown(lambda text: text.startswith("x")) is None


def test_resize_tells_the_program(terminal: Open) -> None:
    body = (
        "tell = lambda *_: say('%d by %d.' % tuple(os.get_terminal_size()))\n"
        "signal.signal(signal.SIGWINCH, tell); say('ready')\nwhile True: signal.pause()"
    )
    shown = terminal(program(body), cols=80, rows=24)
    shown.wait_for("ready")
    shown.resize(40, 8)
    shown.wait_for("40 by 8.")
    assert (len(shown.screen), len(shown.screen[0])) == (8, 40)


def test_closing_the_pty_hangs_up(terminal: Open) -> None:
    shown = terminal(program("signal.signal(signal.SIGHUP, lambda *_: os._exit(7)); say('on')\nsignal.pause()"))
    shown.wait_for("on")
    shown.close_pty()
    assert shown.wait_exit() == 7


def test_kill_is_seen_as_the_signal(terminal: Open) -> None:
    shown = terminal(program("say('on'); signal.pause()"))
    shown.wait_for("on")
    shown.kill(signal.SIGKILL)
    assert shown.wait_exit() == -signal.SIGKILL
    shown.kill()
    shown.close()


def test_close_kills_what_does_not_listen() -> None:
    with Terminal(program("signal.signal(signal.SIGHUP, signal.SIG_IGN); say('deaf')\nsignal.pause()")) as shown:
        shown.wait_for("deaf")
    assert shown.exit_code == -signal.SIGKILL


def test_signals_ignored_here_are_not_ignored_there(terminal: Open) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        shown = terminal(program("say(str(signal.getsignal(signal.SIGHUP) == signal.SIG_DFL) + '.')"))
    finally:
        signal.signal(signal.SIGHUP, before)
    shown.wait_for("True.")


ASKED = (
    (r"\x1b[3;2H\x1b[6n", b"\x1b[3;2R"),
    (r"\x1b[5n", b"\x1b[0n"),
    (r"\x1b[c", b"\x1b[?64;1;2;6;9;15;16;17;18;21;22;28c"),
    (r"\x1b[>c", b"\x1b[>41;390;0c"),
    (r"\x1b[?2026$p", b"\x1b[?2026;0$y"),
    (r"\x1b[>0q", b"\x1bP>|XTerm(390)\x1b\\"),
    (r"\x1b]11;?\x1b\\", b"\x1b]11;rgb:0000/0000/0000\x1b\\"),
)


@pytest.mark.parametrize(("question", "answer"), ASKED)
def test_questions_are_answered_when_wanted(terminal: Open, question: str, answer: bytes) -> None:
    shown = terminal(program(f"say('{question}'); say(os.read(0, 99).hex() + '.')"), cols=200, answers=True)
    shown.wait_for(answer.hex() + ".")


def test_a_question_is_answered_once_and_when_it_is_whole(terminal: Open) -> None:
    body = (
        r"say('\x1b[5n'); first = os.read(0, 99); say('\x1b['); say('half')" + "\n"
        r"os.read(0, 1); say('\x1b['); say('5n'); say((first + os.read(0, 99)).hex() + '.')"
    )
    shown = terminal(program(body), answers=True)
    shown.wait_for(b"half")
    shown.write(b"x")
    shown.wait_for((b"\x1b[0n" * 2).hex() + ".")


def test_questions_are_left_alone_otherwise(terminal: Open) -> None:
    shown = terminal(program(r"say('\x1b[6nasked'); say(repr(os.read(0, 99)) + '.')"))
    shown.wait_for("asked")
    shown.write(b"typed")
    shown.wait_for("b'typed'.")


def test_sequences_pyte_cannot_read_leave_nothing_on_the_screen(terminal: Open) -> None:
    body = (
        r"say('\x1b[>25u\x1b[<u\x1b[>4;2m\x1bPq#0\x1b\\\x1b_Gi=1\x1b\\a'); say('b\x1b[<'); os.read(0, 1); say('u')"
        "\n" + r"say('c\x1bPx'); os.read(0, 1); say('yz\x1b'); os.read(0, 1); say('\\d'); os.read(0, 1)"
    )
    shown = terminal(program(body))
    for seen, screen in ((b"b\x1b[<", "ab"), (b"c\x1bPx", "abc"), (b"yz\x1b", "abc"), (b"\\d", "abcd")):
        shown.wait_for(seen)
        assert shown.text.rstrip() == screen
        shown.write(b"x")


def test_bells_are_counted(terminal: Open) -> None:
    shown = terminal(program(r"say('\a\a\x1b]0;a title\a\a.'); os.read(0, 1)"))
    shown.wait_for(".")
    assert shown.bells == 3


def test_wait_quiet_outlasts_the_talking(terminal: Open) -> None:
    shown = terminal(program("import time\nfor _ in range(5): say('x'); time.sleep(0.01)\nos.read(0, 1)"))
    shown.wait_for("x")
    shown.wait_quiet(200)
    assert shown.raw == b"xxxxx"


def test_picture_has_colours_and_harmless_text(terminal: Open, tmp_path: Path) -> None:
    shown = terminal(program(r"say('\x1b[1;31;44m<b>\x1b[0m \x1b[7;4m&\x1b[0m.'); os.read(0, 1)"), cols=20, rows=2)
    shown.wait_for(".")
    drawn = picture(shown, tmp_path / "screen.svg").read_text()
    assert ElementTree.fromstring(drawn).attrib["width"] == "180"
    assert 'fill="#cd3131" textLength="27" xml:space="preserve" font-weight="bold">&lt;b&gt;<' in drawn
    assert '<rect x="0" y="0" width="27" height="18" fill="#2472c8"/>' in drawn
    assert 'text-decoration="underline">&amp;<' in drawn


def test_a_process_that_outlives_its_test_is_named_and_killed(tmp_path: Path) -> None:
    with started(["sleep", "600"], env={**os.environ, "AISLE_HOME": f"{tmp_path}/other"}) as stray:
        assert left_over(tmp_path, grace_s=0.05) == {stray.pid: "sleep 600"}
        assert stray.wait(10) == -signal.SIGKILL
    assert processes_under(tmp_path) == {}


def test_the_lifelines_end_ends_what_hangs_on_it(aisle_home: Path, lifeline: Lifeline) -> None:
    watch = "import os; print('on', flush=True); os.read(int(os.environ['AISLE_LIFELINE_FD']), 1)"
    with started(python("-c", watch), pass_fds=[lifeline.fd]) as child:
        assert line_of(child) == b"on\n"
        assert list(processes_under(aisle_home.parent)) == [child.pid]
        lifeline.cut()
        assert child.wait(10) == 0
    assert left_over(aisle_home.parent) == {}


def test_the_lifeline_reaches_the_program_in_the_terminal(terminal: Open, lifeline: Lifeline) -> None:
    shown = terminal(program("say('on'); os.read(int(os.environ['AISLE_LIFELINE_FD']), 1); sys.exit(5)"))
    shown.wait_for("on")
    lifeline.cut()
    assert shown.wait_exit() == 5


def test_killed_test_run_leaves_no_process(aisle_home: Path) -> None:
    """The run dies by SIGKILL: terminals hang up and lifelines end by the kernel alone."""
    run = (
        "import os, signal, subprocess, sys\n"
        "from tests.terminal.lifeline import Lifeline\nfrom tests.terminal.harness import Terminal, python\n"
        "line = Lifeline(); os.environ['AISLE_LIFELINE_FD'] = str(line.fd)\n"
        "shown = Terminal(python('-c', 'print(\"up\", flush=True); input()')); shown.wait_for('up')\n"
        "watch = 'import os; print(1, flush=True); os.read(int(os.environ[\"AISLE_LIFELINE_FD\"]), 1)'\n"
        "child = subprocess.Popen(python('-c', watch), stdout=subprocess.PIPE, pass_fds=[line.fd],"
        " start_new_session=True)\n"
        "child.stdout.readline(); print('ready', flush=True); signal.pause()\n"
    )
    with started(python("-c", run), cwd=Path(__file__).parents[2]) as tests:
        assert line_of(tests) == b"ready\n"
        assert len(processes_under(aisle_home.parent)) == 3
        tests.kill()
    assert left_over(aisle_home.parent) == {}


def test_aisle_home_is_alone_in_the_environment(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    foreign = ("AISLE_STORE", "TEXTUAL_THEME", "COLORTERM", "NO_COLOR", "https_proxy", "TERM")
    for name in foreign:
        monkeypatch.setenv(name, "x")
    home = request.getfixturevalue("aisle_home")
    assert not set(foreign) & set(os.environ)
    assert {name for name in os.environ if name.startswith("AISLE_")} == {
        "AISLE_HOME",
        "AISLE_ALLOW_VOLATILE",
        "AISLE_LIFELINE_FD",
    }
    assert os.environ["AISLE_HOME"] == str(home)
    assert list(home.iterdir()) == []


def test_started_is_before_the_program(terminal: Open) -> None:
    before = time.perf_counter()
    shown = terminal(program("say('x')"))
    shown.wait_exit()
    assert before <= shown.started < shown.chunks[0].at
