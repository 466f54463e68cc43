"""Values to text, Markdown and JSON; pure."""
