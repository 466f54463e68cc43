"""Records: snapshots beside lockfiles, taken by hooks or by hand."""
