#!/usr/bin/env bash
# Passes the tests on a machine that has python3 with pip and nothing else.
# ./test.sh quick: lint, types and the tests of the engine, which need no library.
# Other arguments go to tox: ./test.sh -e trl-1.16
set -euo pipefail
cd "$(dirname "$0")"
if [ ! -x .venv-test/bin/tox ]; then
    python3 -m venv .venv-test
    .venv-test/bin/python -m pip install --quiet 'tox>=4.20' 'tox-uv>=1.16'
fi
if [ "${1:-}" = quick ]; then
    shift
    # Not what mostly starts interpreters, builds or downloads, nor each row of a table.
    slow=(cli/run cli/new engine/test_remembered.py legacy/test_{company,every_row}.py test_pytest_plugin.py verification workbench/{gpu,reliability,upstream})
    set -- -e lint,unit -- -m 'not releases and not packaging' "${slow[@]/#/--ignore=}" "$@"
fi
if [ $# = 0 ]; then
    # Two environments at a time, each in one process, which imports the libraries once and shares what
    # was built; and no core waits for another's last test. Each is printed when it ends.
    export PATCHKIT_TEST_WORKERS=0
    set -- run-parallel --parallel 2
else
    set -- run "$@"
fi
rm -f .tox/*/slowest-tests.txt
status=0
.venv-test/bin/tox "$@" || status=$?
# So that growth is seen. What each environment took, tox has printed.
for file in .tox/*/slowest-tests.txt; do
    [ -e "$file" ] || continue
    printf '\nslowest in %s:\n' "$(basename "$(dirname "$file")")"
    cat "$file"
done
exit "$status"
