"""Delay, loss, duplicates and damage as the words of netem, and what `tc -j` shows of them."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import JsonValue

from crosswind.spec.resolved import Parameters, number

KINDS = ("delay", "lose", "duplicate", "corrupt")
_LAWS = {"uniform": "", "normal": "normal", "pareto": "pareto", "pareto_normal": "paretonormal"}
# netem's queue holds what is on its way; the emulator's has no limit.
LIMIT_PACKETS = 1_000_000


class CannotSay(ValueError):
    """netem has no words for it; the text says why."""


class Netem:
    """One netem with the impairments of a direction of a link."""

    def __init__(self) -> None:
        self._delay_ns = 0
        self._jitter: tuple[int, str] | None = None
        self._words: list[str] = []
        self._shown: dict[str, JsonValue] = {}
        self._kinds: set[str] = set()

    def delay(self, time_ns: int) -> None:
        """Add a fixed delay, such as a link's own."""
        self._delay_ns += time_ns

    def add(self, kind: str, parameters: Parameters) -> None:
        """Add an element.

        Raises: CannotSay: netem has no such thing, or has it already.
        """
        if kind in self._kinds and kind != "delay":
            raise CannotSay(f"one netem has one {kind}")
        self._kinds.add(kind)
        if kind == "delay":
            self.delay(number(parameters, "time_ns") or 0)
            if isinstance(random := parameters.get("random"), dict):
                self._vary(random)
        elif kind == "lose":
            self._lose(parameters.get("law"))
        else:
            share = (number(parameters, "share_ppb") or 0) / 1e9
            self._words.append(f"{kind} {share:.6%}")
            self._shown[kind] = {kind: share}

    @property
    def is_needed(self) -> bool:
        """Whether it would do anything."""
        return bool(self._words or self._delay_ns or self._jitter)

    @property
    def words(self) -> str:
        """Its settings, as `tc` reads them."""
        return " ".join([f"limit {LIMIT_PACKETS}", *self._delay_words(), *self._words])

    @property
    def shown(self) -> dict[str, JsonValue]:
        """What `tc -j qdisc show` answers."""
        found: dict[str, JsonValue] = {"limit": LIMIT_PACKETS}
        if self._delay_ns or self._jitter:
            jitter_ns = self._jitter[0] if self._jitter else 0
            found["delay"] = {"delay": self._delay_ns / 1e9, "jitter": jitter_ns / 1e9}
        return {**found, **self._shown}

    def _delay_words(self) -> Iterator[str]:
        if self._delay_ns or self._jitter:
            yield f"delay {_us(self._delay_ns)}"
        if self._jitter:
            jitter_ns, law = self._jitter
            yield _us(jitter_ns)
            yield from [f"distribution {law}"] * bool(law)

    def _vary(self, random: dict[str, JsonValue]) -> None:
        law = random.get("law")
        name = next(iter(law)) if isinstance(law, dict) else ""
        if name not in _LAWS:
            raise CannotSay(f"netem has no distribution {name}")
        if random.get("order") != "free":
            raise CannotSay("netem reorders what it delays at random (write order: free)")
        if random.get("depth") is not None or random.get("half_life_ns") is not None:
            raise CannotSay("netem's delays are independent, and wait in one queue without limit")
        if self._jitter is not None:
            raise CannotSay("one netem has one random delay")
        inner = law[name] if isinstance(law, dict) else None
        jitter_ns = number(inner, "jitter_ns") if isinstance(inner, dict) else None
        self._jitter = (jitter_ns or 0, _LAWS[name])

    def _lose(self, law: JsonValue) -> None:
        name = next(iter(law)) if isinstance(law, dict) else ""
        inner = law[name] if isinstance(law, dict) else None
        shares = inner if isinstance(inner, dict) else {}
        if name == "bernoulli":
            share = (number(shares, "share_ppb") or 0) / 1e9
            self._words.append(f"loss random {share:.6%}")
            self._shown["loss-random"] = {"loss": share}
        elif name == "gilbert_elliott":
            p, r, h, k = ((number(shares, f"{letter}_ppb") or 0) / 1e9 for letter in "prhk")
            self._words.append(f"loss gemodel {p:.6%} {r:.6%} {1 - h:.6%} {1 - k:.6%}")
            self._shown["loss-gemodel"] = {"p": p, "r": r, "1-h": 1 - h, "1-k": 1 - k}
        else:
            raise CannotSay(f"netem has no loss {name}")


def _us(time_ns: int) -> str:
    """Return a time as `tc` reads it, which knows nothing below a microsecond."""
    return f"{round(time_ns / 1000)}us"
