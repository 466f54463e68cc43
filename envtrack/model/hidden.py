"""What stands where something was hidden."""

from typing import Final

HIDDEN: Final = "***"
