# mypy: ignore-errors
# What follows runs the checks and says what each came to; there is nothing to change here.
SKIPPED = "skipped"
HERE = Path(__file__).resolve().parent
EXPECTED = HERE / "smoke_expected.json"


def expect(name: str, value: float, tolerance: float) -> None:
    """Compares a value with the recorded one; `envtrack smoke --record` records it."""
    VALUES[name] = value
    if os.environ.get("ENVTRACK_SMOKE_RECORD"):
        return
    recorded = json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {}
    wanted = recorded.get("values", {}).get(name)
    # A value that is no number compares as false with everything: it never passes.
    if wanted is not None and not abs(value - wanted) <= tolerance:
        raise AssertionError(
            f"{name} is {value!r}, was {wanted!r} with {recorded.get('environment')}: "
            f"more than {tolerance:g} off"
        )


VALUES: dict[str, float] = {}


def run_check(check) -> dict:
    """What one check came to."""
    started = time.perf_counter()
    try:
        verdict, said = ("skipped", "") if check() == SKIPPED else ("good", "")
    except Exception as error:
        traceback.print_exc()
        verdict, said = "bad", f"{type(error).__name__}: {error}"
    seconds = time.perf_counter() - started
    name = check.__name__.replace("_", "-")
    print(f"{verdict:8}{name:24}{seconds:8.2f} s  {said}".rstrip(), flush=True)
    return {"name": name, "verdict": verdict, "seconds": round(seconds, 3), "said": said}


def main() -> int:
    """0 if all is well, 1 if a check fails, 125 if the one that is asked for does not exist."""
    print("  ".join(f"{name} {value}" for name, value in ENVIRONMENT.items()), flush=True)
    wanted = os.environ.get("ENVTRACK_SMOKE_CHECK")
    checks = [one for one in CHECKS if wanted in (None, "", one.__name__.replace("_", "-"))]
    if not checks:
        print(f"there is no check named {wanted}")
        return 125
    results = [run_check(check) for check in checks]
    is_good = all(result["verdict"] != "bad" for result in results)
    document = {"schema": 1, "environment": ENVIRONMENT, "checks": results, "values": VALUES}
    if os.environ.get("ENVTRACK_SMOKE_REPORT"):
        Path(os.environ["ENVTRACK_SMOKE_REPORT"]).write_text(json.dumps(document))
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
