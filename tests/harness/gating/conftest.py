"""The command fixture of the command line tests, here too."""

from tests.harness.cli.conftest import loopladder as loopladder
