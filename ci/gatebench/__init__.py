"""gatebench: streams of pairs whose truth is known, and a score for any rule that judges them."""
