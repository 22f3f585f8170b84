"""The command line. It imports nothing: every interpreter under `patchkit run` imports this."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .commands import main as main


def __getattr__(name: str) -> object:
    if name != "main":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .commands import main

    return main
