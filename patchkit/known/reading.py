"""Read what people paste: the last real error in it, where it came from, and the versions named."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from .pasted import FOLLOWER, LAUNCHER, Frame, Pasted, Raised

# The site finds errors by the same patterns, in JavaScript.
CONTROLS = (
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-9;?]*[A-Za-z]|[\r\u200b\ufeff]"
    r"|</?(?:span|pre|div|font|code|strong|a|b)(?:\s[^<>]*)?>"
)
"""Colours and links of terminals and pages, line ends of Windows, and letters that nobody sees."""
DEBUGGER = re.compile(
    r"^[ \t]*Exception has occurred: |(?:^[ \t]*|(?<=: ))exception: no description[ \t]*$",
    re.MULTILINE,
)
"""What the debugger of VS Code says before an error, and instead of a message."""
EATEN = re.compile(r"(?:([A-Z]\w*\.)\*{0,2}|\*\*)(init|new|call|post_init)\*{0,2}(?=\(\) )")
"""Methods between two underscores, as pages show them that take these for bold letters."""
LETTERS = {
    "&quot;": '"',
    "&#34;": '"',
    "&#39;": "'",
    "&#x27;": "'",
    "&apos;": "'",
    "&lt;": "<",
    "&gt;": ">",
    "&nbsp;": " ",
    "&amp;": "&",
    "\u2018": "'",
    "\u2019": "'",
    "\u201c": '"',
    "\u201d": '"',
}
"""How web pages and word processors write letters of messages; in this order."""
LONGEST = 400_000
"""Letters that are read at most, from the end; an error and the lines above it are far shorter."""
LONGEST_MESSAGE = 6_000
MOST_LINES = 40

_TIME = r"\[?\d{4}[-/]\d\d[-/]\d\d[T ,]+\d\d:\d\d:\d\d[0-9.,:+Z-]*\]?|\d\d:\d\d:\d\d(?:[.,]\d+)?"
_PROCESS = r"\([\w.:-]+ pid=\d+[^()\n]*\)"
_LOGGER = (
    r"\[(?:INFO|WARNING|WARN|ERROR|DEBUG|CRITICAL)(?:\|[^\]]*)?\]:?|"
    r"(?:INFO|WARNING|ERROR|DEBUG|CRITICAL)"
    r"(?::[\w.]*:|\s+-|:(?=\s)|\s+\d\d-\d\d \d\d:\d\d:\d\d\s+\[?[\w/.]+:\d+\])"
)
RANK = re.compile(r"^\s*(?:\[default\d+\]:\s*)?\[(?:rank|default)?(\d+)\]:")
PREFIX = re.compile(
    rf"^\s*(?:(?:\[(?:rank|default)?\d+\]:|{_TIME}|{_PROCESS}|{_LOGGER}|wandb:|stderr:|stdout:"
    rf"|\d+\s*[:|\u2502\u2192](?=\s)|E(?=\s{{2,}})|[|>\u2502\u2503\u2757\u2771])[ \t]*)+"
)
BEGINNING = re.compile(
    r"^(?!\[(?:rank|default)?\d+\]:|[\w.]+\s+Traceback)(\S.{0,150}?)"
    r"(?:\[(?:rank|default)?\d+\]:[ \t]*)?Traceback \(most recent call last\)",
    re.MULTILINE,
)
"""What stands before a traceback stands before each of its lines: a host, or a logger's words."""
BOX = re.compile(r"\s*[\u2502\u2503|]?\s*$")
RULE = re.compile(r"^\s*[-=_\u2500\u2501\u2550\u256d\u2570\u256e\u256f*+~]{4,}")

FRAMES = (
    re.compile(r'File "(?P<file>[^"]+)"(?:, line \d+)?(?:,? in (?P<function>[^\s(]+))?'),
    re.compile(r"^File (?P<file>\S+?\.\w+):\d+(?:, in (?P<function>[\w.<>]+))?"),
    re.compile(r"^\[?(?P<file>[^\s\[\]()]+\.py)\]?(?:\(\S*\))? in (?P<function>[\w.<>]+)"),
    re.compile(r"^(?P<file>[^\s\[\]()\"']+\.py):\d+ in (?P<function>[\w.<>]+)"),
    re.compile(r"^(?P<file>Cell In ?\[\d*\]|Input In ?\[\d*\]|<ipython-input-\S+>)"),
    re.compile(
        r"^(?P<file>[^\s:\"']+\.py):\d+:"
        r"(?: in (?P<function>[\w.<>]+)|(?= [\w.]+(?:Error|Exception|Warning)\b)|$)"
    ),
)
_ENDINGS = (
    "Error|Exception|Warning|Interrupt|Exit|Failed|NotFound|Timeout|Failure|Unsupported|Iteration"
    "|Invalid"
)
ERROR = re.compile(
    rf"^(?:\S+\.py:\d+: )?(?P<type>(?:[A-Za-z_]\w*\.)*(?:[A-Za-z_]\w*(?:{_ENDINGS})|Exception))"
    r"(?:\s*:\s*(?P<message>.*)|\s*)$"
)
ERROR_INSIDE = re.compile(
    r"\s(?=File \"|Traceback \(most|(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception): )"
)
_ASKED = r"How (?:to|can|do|should)|Why|Any (?:idea|help)|Can (?:any|some)one|Please help|Thanks"
_ASKED_IN_CHINESE = (
    r"\u8bf7\u95ee|\u600e\u4e48|\u5982\u4f55|\u6c42|\u662f\u4ec0\u4e48|\u4e3a\u4ec0\u4e48|\u8c22\u8c22"
    r"|\u9519\u8bef|\u8fd9\u662f|\u8be5"
)
IN_A_SENTENCE = re.compile(
    r"(?:^|[^A-Za-z0-9_.])(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception))\s?[:\uff1a]\s*"
    r"(?P<message>.*?)[`\u3002\uff0c\uff09]?\s*"
    rf"(?:\s(?:{_ASKED})\b[^:]*|[^\w'\"\])}}.]*(?:{_ASKED_IN_CHINESE}).{{0,60}})?$"
)
"""An error within somebody's sentence, in English or Chinese, that asks about it."""
ASSERTED = re.compile(r"^(?:-*>?\s*\d+\s+)?(assert\s.+)")
ASSERTED_ABOVE = 8
"""Lines above an AssertionError in which the assertion is looked for."""
MARKER = re.compile(
    r"^(?:Traceback \(most recent|During handling of|The above exception was|Original Traceback|"
    r"Exception ignored|Root Cause|Exception in thread|Set the environment variable HYDRA|"
    r"\s*\d+%\||EngineCore |\{'\w+':|\$ |>>> |E\d{4} |W\d{4} |srun:|Process \S+:$|error_file:|"
    r"wandb |Sending process \d|failed \(exitcode|[\u4e00-\u9fff])"
)
NATIVE = re.compile(r"^(?:\[E\S* [^\]]*\.cpp:\d+\]|what\(\):)\s*(.+)")
"""What PyTorch's own threads say, without a traceback: the watchdog of NCCL, an abort's reason."""
KILLED = re.compile(r"exitcode *: *-(?!6\b)\d")
"""A process that others waited for in vain died of a signal, other than by aborting itself."""
IGNORED = re.compile(r"^Exception ignored in")
"""Above an error of a finalizer, which stops nothing."""
ENDED = re.compile(r"^\{'train_runtime':")
"""What Trainer prints when a training has ended: what was raised before was got over."""
CRASHED = "(most recent call first)"
"""What Python says above the lines at which a signal killed it."""
FOREIGN = (
    ("Java", re.compile(r"^\s*at [\w$.<>]+\([\w$]+\.(?:java|kt|scala):\d+\)", re.MULTILINE)),
    ("JavaScript", re.compile(r"^\s*at .*\(?(?:node:|file:|/)\S+\.[cm]?[jt]s:\d+:\d+", re.M)),
    ("Rust", re.compile(r"^thread '.*' panicked at ", re.MULTILINE)),
    ("Go", re.compile(r"^goroutine \d+ \[\w+\]:", re.MULTILINE)),
    ("C#", re.compile(r"^\s*at [\w.`<>]+\(.*\) in \S+\.cs:line \d+", re.MULTILINE)),
    ("Ruby", re.compile(r"^\s*(?:from )?\S+\.rb:\d+:in [`']", re.MULTILINE)),
    ("R", re.compile(r"^Error in .+\(.*\) ?: ?", re.MULTILINE)),
    ("PHP", re.compile(r"^(?:PHP )?Fatal error: .* in \S+\.php", re.MULTILINE)),
    ("Julia", re.compile(r"^Stacktrace:\n\s*\[1\] ", re.MULTILINE)),
    ("Lua", re.compile(r"^stack traceback:\n\s*\S+:", re.MULTILINE)),
    ("Perl", re.compile(r" at \S+\.p[lm] line \d+\.$", re.MULTILINE)),
    ("Elixir", re.compile(r"^\*\* \(\w+\) ", re.MULTILINE)),
    ("Swift", re.compile(r"^Fatal error: .*\.swift, line \d+", re.MULTILINE)),
)
_NAMED = """
torch transformers trl peft accelerate bitsandbytes datasets deepspeed unsloth unsloth_zoo vllm
tokenizers huggingface_hub huggingface-hub flash-attn flash_attn triton torchao numpy setfit
sentence-transformers optimum auto-gptq autoawq gptqmodel
"""
VERSION = re.compile(
    rf"(?<![\w./-])({'|'.join(map(re.escape, _NAMED.split()))})"
    r"(?:[\s\"'`*]*(?:version|ver\.?|v|==|=|:|-|@|is at)?[\s\"'`*:]*)"
    r"v?(\d+\.\d+(?:\.\d+)?(?:\.?(?:dev|post|rc|a|b)\d*)?)(?![\w/]*\.py)",
    re.IGNORECASE,
)
PYTHON = re.compile(r"\bpython\s?(?:version)?[:= ]*(\d\.\d+)", re.IGNORECASE)


class UnreadableText(ValueError):
    """What was pasted is not a text with an error of Python's; the message says what it is."""


def read(text: str) -> Pasted:
    """Find the errors in a pasted text.

    Args:
        text: an error message, a traceback in any dress, or a log.

    Raises:
        UnreadableText: it is empty, binary, or of another language.
    """
    text = _plain(text[-LONGEST:])
    if not text.strip():
        raise UnreadableText("the error message is empty")
    if _is_binary(text):
        raise UnreadableText("this is not text: paste the error, or name the log that has it")
    streams = list(_streams(_one_line_opened(text)))
    raised = [error for lines in streams for error in _errors(lines)]
    whole = " ".join(line for lines in streams for line in lines if line)
    whole = " ".join(whole.split())
    if not KILLED.search(whole) and all(each.is_launchers or each.is_warning for each in raised):
        said = (found for lines in streams for line in lines if (found := NATIVE.match(line)))
        raised += [Raised("", found[1][:LONGEST_MESSAGE]) for found in [*said][:1]]
    if not any(error.frames for error in raised):
        _refuse_foreign(text)
    if not raised:
        frames = tuple(_frames(streams))
        if CRASHED in whole:
            raised = [Raised("", whole[:LONGEST_MESSAGE], frames[::-1])]
        elif len(whole) <= LONGEST_MESSAGE:
            found = IN_A_SENTENCE.search(whole)
            said_as = (found["type"], found["message"]) if found else ("", whole)
            raised = [Raised(*said_as, frames)]
    return Pasted(whole, tuple(_in_order(raised)) or (Raised("", ""),), _versions(text))


def _plain(text: str) -> str:
    text = re.sub(r"\r\n?", "\n", text)
    text = re.sub(CONTROLS, "", text)
    for written, letter in LETTERS.items():
        text = text.replace(written, letter)
    if "last):\\n" in text:  # a traceback within JSON, or as Python shows a text
        text = text.replace("\\n", "\n").replace('\\"', '"')
    text = EATEN.sub(r"\1__\2__", text)
    text = text.replace("\\'", "'")  # as Python shows a text with both quotes
    text = DEBUGGER.sub("", text)
    text = re.sub(r"^```\w*$", "", text, flags=re.MULTILINE)
    begins = BEGINNING.findall(text) if "\n" in text.strip() else ()
    for begin in dict.fromkeys(begins):
        same = re.sub(r"\d+", r"\\d+", re.escape(begin))
        text = re.sub(f"^{same}", "", text, flags=re.MULTILINE)
    return textwrap.dedent(text) if "\n" in text else text


def _is_binary(text: str) -> bool:
    odd = sum(letter == "\x00" or letter == "\ufffd" or letter < "\t" for letter in text[:20_000])
    return odd > min(20, len(text) // 20)


def _refuse_foreign(text: str) -> None:
    for language, sign in FOREIGN:
        if sign.search(text):
            raise UnreadableText(f"this is a traceback of {language}, not of Python")


def _one_line_opened(text: str) -> str:
    """Put the parts of a traceback that lost its line breaks on lines of their own."""
    if "\n" in text.strip() or ("Traceback" not in text and 'File "' not in text):
        return text
    return ERROR_INSIDE.sub("\n", text)


def _streams(text: str) -> Iterator[list[str]]:
    """Yield the lines of each rank, without prefixes; those without a rank come last."""
    by_rank: dict[str, list[str]] = {}
    for line in text.split("\n"):
        rank = found[1] if (found := RANK.match(line)) else ""
        by_rank.setdefault(rank, []).append(BOX.sub("", PREFIX.sub("", line)).strip())
    bare = by_rank.pop("", [])
    yield from by_rank.values()
    yield bare


def _frame(line: str) -> Frame | None:
    for pattern in FRAMES:
        if found := pattern.search(line):
            groups = found.groupdict()
            return Frame(groups["file"].replace("\\", "/"), groups.get("function") or "")
    return None


def _frames(streams: list[list[str]]) -> Iterator[Frame]:
    for lines in streams:
        for line in lines:
            if frame := _frame(line):
                yield frame


def _errors(lines: list[str]) -> list[Raised]:
    """Return the errors in some lines, those that stopped nothing before the others."""
    ended = max((at for at, line in enumerate(lines) if ENDED.match(line)), default=-1)
    ignored: list[Raised] = []
    stopping: list[Raised] = []
    for error, is_ignored in _all_errors(lines, ended + 1):
        (ignored if is_ignored else stopping).append(error)
    return ignored + stopping


def _all_errors(lines: list[str], number: int) -> Iterator[tuple[Raised, bool]]:
    """Yield the errors from a line on, each with whether Python ignored it."""
    frames: list[Frame] = []
    is_ignored = False
    while number < len(lines):
        line = lines[number]
        number += 1
        if found := ERROR.match(line):
            if frame := _frame(line):
                frames.append(frame)
            above = lines[max(0, number - 1 - ASSERTED_ABOVE) : number - 1]
            message, number = _paragraph(lines, number)
            if (
                not (found["message"] or message)
                and "".join(lines[number : number + 1])[:4] == "****"
            ):
                message, number = _paragraph(lines, number + 1)  # NLTK frames its own.
            # pytest names the line that raised it below.
            place = next(filter(None, lines[number : number + 2]), "")
            if re.search(rf"\.py:\d+: {found['type'].rpartition('.')[2]}$", place):
                frames += filter(None, [_frame(place)])
                number = lines.index(place, number) + 1
            after: list[str] = []
            if found["type"].endswith("AssertionError"):
                if found["message"] or message:
                    after = [f"{found['type']}: {asserted}" for asserted in _asserted(above)]
                else:
                    message = _asserted(above)
            beyond = number
            while beyond < len(lines) and not lines[beyond] and len(after) < MOST_LINES:
                more, beyond = _paragraph(lines, beyond + 1)
                after += more
            if LAUNCHER.search(found["type"]):
                after = lines[number : number + MOST_LINES]
            said = _joined([found["message"] or "", *message])
            yield Raised(found["type"], said, tuple(frames), _joined(after)), is_ignored
            frames, is_ignored = [], False
        elif frame := _frame(line):
            frames.append(frame)
        elif line.startswith("Traceback (most recent call last)") or _is_notebooks_beginning(line):
            frames = []
        elif IGNORED.match(line):
            is_ignored = True


def _asserted(above: list[str]) -> list[str]:
    """Return the assertion that failed, the last of the lines above an error."""
    found = [asserted[1] for line in above if (asserted := ASSERTED.match(line))]
    return found[-1:]


def _paragraph(lines: list[str], number: int) -> tuple[list[str], int]:
    """Return the lines from one on that may belong to a message, and the number of the next."""
    found: list[str] = []
    while number < len(lines) and len(found) < MOST_LINES and _goes_on(lines[number]):
        found.append(lines[number])
        number += 1
    return found, number


def _joined(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())[:LONGEST_MESSAGE].strip()


def _is_notebooks_beginning(line: str) -> bool:
    return bool(re.match(r"^[\w.]+\s+Traceback \(most recent call last\)", line))


def _goes_on(line: str) -> bool:
    return bool(
        line
        and not ERROR.match(line)
        and not MARKER.match(line)
        and not RULE.match(line)
        and _frame(line) is None
    )


def _in_order(raised: list[Raised]) -> list[Raised]:
    """Put the last real error first, and those with a traceback or that brought another before it.

    What launchers and ranks say of others' processes, and warnings, count only where there is
    nothing else.
    """
    latest = list(dict.fromkeys(reversed(raised)))
    real = [error for error in latest if not error.is_launchers and not error.is_warning]
    if real:
        return [
            error
            for error in real
            if error == real[0] or error.frames or error.message.endswith("raised:")
        ]
    launchers = [error for error in latest if error.is_launchers]
    return sorted(launchers, key=_tells_least) or latest


def _tells_least(error: Raised) -> bool:
    """Tell whether an error knows neither which wait was in vain nor which signal killed."""
    return not (FOLLOWER.search(error.message) or KILLED.search(error.after))


def _versions(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for library, version in VERSION.findall(text):
        found[library.lower().replace("_", "-")] = version
    if python := PYTHON.search(text):
        found["python"] = python[1]
    return found
