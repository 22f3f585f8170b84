"""`patchkit completion`."""

from __future__ import annotations

import click


@click.command(short_help="Print the script for completion in a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script for completion in a shell: commands and patch ids.

    \b
    Where to put it:
      bash  cd ~/.local/share/bash-completion/completions
            patchkit completion bash > patchkit
      zsh   patchkit completion zsh > ~/.zfunc/_patchkit
            (with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc)
      fish  patchkit completion fish > ~/.config/fish/completions/patchkit.fish

    Bash has to be 4.4 or newer. Exit status: 0.
    """
    from click.shell_completion import get_completion_class

    shell_class = get_completion_class(shell)
    assert shell_class is not None
    script = shell_class(ctx.find_root().command, {}, "patchkit", "_PATCHKIT_COMPLETE")
    click.echo(script.source())
