from __future__ import annotations

from envtrack.model.lock import LockedPackage, Source, SourceKind

INDEX = Source(kind=SourceKind.REGISTRY, location="https://registry.example/simple")


def test_where_a_package_stands_in_its_file_makes_no_other_package_of_it() -> None:
    above = LockedPackage(name="numpy", version="2.1.3", source=INDEX, line=3)
    below = above._replace(line=30)
    assert above == below
    assert not above != below  # noqa: SIM202 - the other operator is its own method
    assert hash(above) == hash(below)


def test_another_hash_makes_another_package() -> None:
    package = LockedPackage(name="numpy", version="2.1.3", source=INDEX)
    assert package != package._replace(build="py311_0")
    assert package != package._replace(provides_extras=("test",))
