"""``python -m harness``. A worker is told apart before the command line is imported: its start-up is measured time."""

import sys

if len(sys.argv) > 1 and sys.argv[1] == "worker":
    from harness.measure.worker import main as worker_main

    sys.exit(worker_main(sys.argv[2:]))

from harness.cli.main import main

sys.exit(main())
