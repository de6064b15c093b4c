"""Reading configuration: YAML with line numbers, typed models with messages that name file and key, and merging."""

import copy
import difflib
import functools
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from hidden_dynamics.errors import UserError

NEUTRAL = "what is configured stands in a run's specification"

Typed = TypeVar("Typed")
LONGEST, MOST = 200, 100  # characters of what was found that a message repeats; names that it lists


class Entry(BaseModel):
    """A mapping of a configuration file. An unknown key is refused, with the closest known one."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, content: object) -> Any:
        if isinstance(content, Mapping):
            allowed = [field.alias or name for name, field in cls.model_fields.items()]
            for key in content:
                if key not in allowed:
                    text = f"unknown key '{key}'.{closest(key, allowed)} Allowed: {', '.join(allowed)}."
                    raise PydanticCustomError("unknown_key", "{text}", {"text": text})
        return content

    def given(self) -> dict[str, Any]:
        """The entry as written in the files: without defaults, under the files' names of keys."""
        return self.model_dump(exclude_unset=True, by_alias=True)


def read_yaml(path: Path) -> Any:
    """The content of a YAML file; a `UserError` that names the file and line where it cannot be read."""
    try:
        return yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except FileNotFoundError:
        raise UserError(f"{path} is missing; if it belongs to the project, restore it with git.", file=path) from None
    except (yaml.YAMLError, ValueError) as error:  # the latter of text that is not UTF-8, and of a day that is none
        raise UserError(f"{path} is not valid YAML: {' '.join(str(error).split())}", file=path) from None


_YamlLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_YamlLoader):
    """Refuses a key that stands twice in one mapping, of which YAML would keep the last without a word."""

    def __init__(self, stream: str):
        super().__init__(stream)
        self.flattened: set[int] = set()

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Merge what `<<` names into the node: its keys then stand before the node's own, and may stand twice."""
        seen = set()
        own = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        for key in own if id(node) not in self.flattened else ():
            if (key.tag, key.value) in seen:
                text = f"the key '{key.value}' stands twice"
                raise yaml.constructor.ConstructorError(None, None, text, key.start_mark)
            seen.add((key.tag, key.value))
        self.flattened.add(id(node))
        super().flatten_mapping(node)


# YAML 1.1 takes 1e-3 for text: it wants 1.0e-3. Here it is the number; such text is quoted where YAML is written.
_EXPONENT = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]+$")
for _each in (_Loader, yaml.SafeDumper):
    _each.add_implicit_resolver("tag:yaml.org,2002:float", _EXPONENT, list("-+.0123456789"))


def typed(kind: type[Typed], content: object, origin: str, key: str = "", strict: bool | None = None) -> Typed:
    """`content` as a typed entry, or as a type such as dict[str, Entry]; a `UserError` names the first mistake by the
    file, `origin`, and below `key`, the place of the content there. `strict`: a text is no number, 1.0 not whole,
    1 no truth value; entries are so anyway."""
    try:
        return _adapter(kind).validate_python(content, strict=strict)
    except ValidationError as error:
        raise _explained(error, content, origin, key) from None


@functools.cache
def _adapter(kind: type[Typed]) -> TypeAdapter[Typed]:
    return TypeAdapter(kind)


def _explained(error: ValidationError, content: object, origin: str, key: str) -> UserError:
    """The first mistake, in pydantic's words, and all that is missing; of a union of types, what each expects."""
    problems = error.errors(include_url=False)
    keys = _keys(problems[0], content)
    alike = (problem for problem in problems if _keys(problem, content) == keys)
    texts = dict.fromkeys(problem["msg"].removeprefix("Value error, ") for problem in alike)
    beside = (problem for problem in problems if problem["loc"][:-1] == problems[0]["loc"][:-1])
    lacking = [str(problem["loc"][-1]) for problem in beside if problem["type"] == "missing"]
    key_path, value = ".".join(filter(None, [key, *keys])), problems[0]["input"]
    found = "" if problems[0]["type"] in ("missing", "unknown_key") else f"found {value!r:.{LONGEST}}: "
    meant = closest(value, re.findall("'([^']+)'", problems[0].get("ctx", {}).get("expected", "")))
    text = f"{found}{' or: '.join(texts)}{meant and f'.{meant}'}"
    if problems[0]["type"] == "missing" and len(lacking) > 1:
        text += f" (missing: {', '.join(lacking)})"
    return UserError(f"{origin}: {key_path or '(top level)'}: {text}", file=origin, key=key_path)


def _keys(problem: ErrorDetails, content: Any) -> list[str]:
    """The keys that lead to a problem. pydantic also names the types of a union on the way: they are no keys."""
    keys = []
    for part in problem["loc"]:
        try:
            content = content[part]
        except (KeyError, IndexError, TypeError):
            continue
        keys.append(str(part))
    return keys + [str(part) for part in problem["loc"][-1:] if problem["type"] == "missing"]


def known(name: object, names: Iterable[str], what: str, origin: str) -> Any:
    """`name`, if it is one of `names`; else a `UserError` that offers the closest and lists them, many not all."""
    names = [str(n) for n in names]
    if str(name) in names:
        return name
    others = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    raise mistake(origin, f"unknown {what} '{name}'.{closest(name, names)} Known: {', '.join(names[:MOST])}{others}.")


def mistake(place: str, text: str) -> UserError:
    """The error of a place, given as a file, or as "file: key"."""
    file, _, key = place.partition(": ")
    return UserError(f"{place}: {text}", file, key)


def closest(name: object, names: Iterable[str]) -> str:
    """ " Did you mean 'x'?", or nothing where no name is close."""
    close = difflib.get_close_matches(str(name), list(names), n=1)
    return f" Did you mean '{close[0]}'?" if close else ""


def listed(names: str | list[str] | None) -> tuple[str, ...]:
    """A key's names as a tuple; the key takes a name, a list of names, or null."""
    return (names,) if isinstance(names, str) else tuple(names or ())


def value_text(value: object) -> str:
    """A setting's value without brackets and quotes: those of a list with a plus between them."""
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)


def merge(base: object, *changes: object) -> Any:
    """`base` with each of `changes` merged in: mappings key by key, anything else replaced; nothing in place."""
    result = copy.deepcopy(base)
    for change in changes:
        if isinstance(result, Mapping) and isinstance(change, Mapping):
            merged = {key: merge(result[key], value) if key in result else value for key, value in change.items()}
            result = {**result, **copy.deepcopy(merged)}
        else:
            result = copy.deepcopy(change)
    return result


def flat(parts: Mapping[str, object], place: str = "") -> dict[str, Any]:
    """The values in nested mappings by dotted place: {"dropouts": {"input": 0.4}} becomes {"dropouts.input": 0.4}."""
    values: dict[str, Any] = {}
    for name, part in parts.items():
        values |= flat(part, f"{place}{name}.") if isinstance(part, Mapping) else {f"{place}{name}": part}
    return values


def with_types(value: object) -> Any:
    """Settings as YAML has them, where lists and mappings hold numbers, truth values and null as text.

    JSON has only text for keys; Snakemake's command line leaves text within brackets (--config seeds=[0,1]).
    """
    if isinstance(value, Mapping):
        return {_scalar(key): with_types(_scalar(item)) for key, item in value.items()}
    return [with_types(_scalar(item)) for item in value] if isinstance(value, list | tuple) else value


def _scalar(value: object) -> Any:
    """The number, truth value or null that a text is in YAML; itself where it is none of them."""
    try:
        parsed = yaml.load(value, _Loader) if isinstance(value, str) and value else value
    except (yaml.YAMLError, ValueError):
        return value
    return parsed if isinstance(parsed, int | float | None) else value
