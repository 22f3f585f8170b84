"""The module that `patchkit run` makes each interpreter of its command import as it starts.

Interpreters of any age and environment run this, so it uses plain syntax and relies only on `sys`
and `os`. An error of patchkit must not become one of the command.
"""
# ruff: noqa: UP031, UP036

import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
PATCHKIT = os.path.dirname(os.path.dirname(os.path.dirname(FOLDER)))
VARIABLE = "PATCHKIT_RUN"
NEEDED = ("packaging",)
LIBRARIES = ("trl", "transformers", "peft", "accelerate", "bitsandbytes")
STOPPED = 78
STOPS = "stopped, as --strict asks: "
WITHOUT = "runs without patchkit: "


def make_room() -> None:
    """Leave no trace of this folder: neither on `sys.path` nor as the module `sitecustomize`."""
    here = os.path.normcase(FOLDER)
    sys.path[:] = [
        path for path in sys.path if os.path.normcase(os.path.abspath(str(path))) != here
    ]
    sys.modules.pop("sitecustomize", None)


def say(text: str) -> None:
    try:
        sys.stderr.write("patchkit run: process %d: %s\n" % (os.getpid(), text))
        sys.stderr.flush()
    except Exception:
        pass


def describe(error: Exception) -> str:
    name = type(error).__name__
    ours = type(error).__module__.partition(".")[0] == "patchkit"
    return str(error) if ours else "%s: %s" % (name, error)


def obstacle() -> str:
    """Return why patchkit cannot run in this interpreter; empty if it can."""
    if sys.version_info < (3, 10):
        return "Python %d.%d is too old for it" % sys.version_info[:2]
    absent = [name for name in NEEDED if not is_importable(name)]
    if absent:
        return "%s has no %s; install patchkit there" % (sys.executable, " and no ".join(absent))
    return ""


def is_importable(name: str) -> bool:
    return find(name) is not None


def find(name: str) -> object:
    """Ask the finders, without `importlib.util`, which takes longer than they do."""
    for finder in sys.meta_path:
        try:
            ask = getattr(finder, "find_spec", None)
            spec = ask(name, None) if ask else None
        except Exception:
            spec = None
        if spec is not None:
            return spec
    return None


def import_patchkit() -> None:
    """Import the patchkit of this environment, or else the one that this file belongs to."""
    if getattr(find("patchkit"), "origin", None) is None:
        from importlib import util

        file = os.path.join(PATCHKIT, "__init__.py")
        spec = util.spec_from_file_location("patchkit", file, submodule_search_locations=[PATCHKIT])
        if spec is None or spec.loader is None:
            raise ImportError("there is no patchkit in " + PATCHKIT)
        module = util.module_from_spec(spec)
        sys.modules["patchkit"] = module
        spec.loader.exec_module(module)


def apply(chosen: str) -> bool:
    """Apply patchkit; return whether the interpreter may go on."""
    reason = obstacle()
    if reason:
        import json

        choices = json.loads(chosen)
        concerned = any(is_importable(name) for name in LIBRARIES)
        stop = concerned and choices["strict"]
        if concerned or choices["verbose"]:
            say((STOPS if stop else WITHOUT) + reason)
        return not stop
    try:
        import_patchkit()
        __import__("patchkit.cli.run.interpreter", fromlist=["start"]).start(chosen, FOLDER)
    except Exception as error:
        import json

        if json.loads(chosen)["strict"]:
            say(STOPS + describe(error))
            return False
        say(WITHOUT + describe(error).splitlines()[0])
    return True


def main() -> None:
    make_room()
    failure = None
    try:
        # The one that would have been found without ours.
        import sitecustomize  # type: ignore[import-not-found]  # noqa: F401
    except Exception as error:
        failure = error
    chosen = os.environ.get(VARIABLE)
    try:
        if chosen is None:
            say(WITHOUT + "PYTHONPATH came along, but %s did not" % VARIABLE)
        elif not apply(chosen):
            os._exit(STOPPED)
    except KeyboardInterrupt:
        # Raised here it would be a fatal error of `site`.
        import signal

        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except Exception as error:
        say(WITHOUT + describe(error))
    if failure is not None:
        # If there is none, this is the ImportError that says so, which `site` ignores.
        raise failure


main()
