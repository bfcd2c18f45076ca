"""``python -m harness``: two commands whose start-up is measured are told apart before the parser is imported."""

import sys

if sys.argv[1:2] == ["worker"]:
    from harness.measure.worker import main as worker_main

    sys.exit(worker_main(sys.argv[2:]))

try:
    if sys.argv[1:2] == ["hook"]:
        from harness.cli.hook import main as hook_main

        sys.exit(hook_main(sys.argv[2:]))

    from harness.cli.main import main

    sys.exit(main())
except KeyboardInterrupt:  # among the imports; later on each command ends itself
    sys.exit(130)
