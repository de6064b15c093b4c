"""Reading configuration: YAML with line numbers, typed models with messages that name file and key, and merging."""

import copy
import difflib
import functools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, WrapValidator, model_validator
from pydantic_core import PydanticCustomError

from hidden_dynamics.errors import UserError

Typed = TypeVar("Typed")
LONGEST = 200  # characters of what was found that a message repeats
EXPECTED = {  # by pydantic's names of mistakes, of types that no `expecting` annotates
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_type": "a mapping",
    "none_required": "null",
    "string_type": "text",
}


class Entry(BaseModel):
    """A mapping of a configuration file. An unknown key is refused, with the closest known one."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, content: Any) -> Any:
        if isinstance(content, Mapping) and cls.model_config.get("extra") != "allow":
            allowed = [field.alias or name for name, field in cls.model_fields.items()]
            for key in content:
                if key not in allowed:
                    text = f"unknown key '{key}'.{closest(key, allowed)} Allowed: {', '.join(allowed)}."
                    raise PydanticCustomError("unknown_key", "{text}", {"text": text})
        return content

    def given(self) -> dict[str, Any]:
        """The entry as written in the files: without defaults, under the files' names of keys."""
        return self.model_dump(exclude_unset=True, by_alias=True)


def expecting(what: str, within: bool = False) -> WrapValidator:
    """Annotate a type with what a message says is expected; mistakes within a container keep messages of their own.

    Args:
        within: of a union of types, whose mistakes pydantic places within it.
    """

    def validate(value: Any, handler: Any) -> Any:
        try:
            return handler(value)
        except ValidationError as error:
            if not within and any(problem["loc"] for problem in error.errors()):
                raise
            raise PydanticCustomError("unexpected", "expected {what}", {"what": what}) from None

    return WrapValidator(validate)


def read_yaml(path: Path) -> Any:
    """The content of a YAML file; a `UserError` that names the file and line where it cannot be read."""
    try:
        return yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except FileNotFoundError:
        raise UserError(f"{path} is missing: it belongs to the project; restore it with git.", file=path) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not valid YAML: {' '.join(str(error).split())}", file=path) from None


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Refuses a key that stands twice in one mapping, of which YAML would keep the last without a word."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        seen = set()
        for key, _ in node.value:
            name = (key.tag, key.value)
            if isinstance(key, yaml.ScalarNode) and name in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key '{key.value}' stands twice", key.start_mark
                )
            seen.add(name if isinstance(key, yaml.ScalarNode) else id(key))
        return super().construct_mapping(node, deep)


def typed(kind: type[Typed], content: Any, origin: str, key: str = "") -> Typed:
    """`content` as a typed entry.

    Args:
        kind: an `Entry`, or what pydantic makes of a type such as dict[str, Entry].
        origin: the file, as messages name it.
        key: the place of the content in the file, if it is a part.

    Raises:
        UserError: it is not what is expected; the first mistake is named with its file and key.
    """
    try:
        return _adapter(kind).validate_python(content)
    except ValidationError as error:
        raise _explained(error, origin, key) from None


@functools.cache
def _adapter(kind: Any) -> TypeAdapter:
    return TypeAdapter(kind)


def _explained(error: ValidationError, origin: str, key: str) -> UserError:
    problem = error.errors(include_url=False)[0]
    parts = [key, *map(str, problem["loc"])] if key else [str(part) for part in problem["loc"]]
    of_key = parts[-1:] == ["[key]"]
    missing = parts[-1] if problem["type"] == "missing" else None
    if of_key or missing:
        parts.pop()
    where = ".".join(parts)
    found = repr(problem["input"])
    found = found if len(found) <= LONGEST else f"{found[:LONGEST]} …"
    if missing:
        text = f"the key '{missing}' is missing"
    elif problem["type"] == "unknown_key":
        text = problem["msg"]
    elif of_key:
        where = ".".join(parts[:-1])
        text = f"the name '{parts[-1]}' is not allowed; {problem['msg']}"
    elif problem["type"] in EXPECTED:
        text = f"found {found}, expected {EXPECTED[problem['type']]}"
    else:
        text = f"found {found}, {problem['msg'].removeprefix('Value error, ')}"
    return UserError(f"{origin}: {where or '(top level)'}: {text}", file=origin, key=where)


def known(name: Any, names: Iterable[str], what: str, origin: str) -> Any:
    """`name`, if it is one of `names`; else a `UserError` that lists them and offers the closest."""
    names = [str(n) for n in names]
    if str(name) in names:
        return name
    raise mistake(origin, f"unknown {what} '{name}'.{closest(name, names)} Known: {', '.join(names)}.")


def mistake(place: str, text: str) -> UserError:
    """The error of a place, given as a file, or as "file: key"."""
    file, _, key = place.partition(": ")
    return UserError(f"{place}: {text}", file, key)


def closest(name: Any, names: Iterable[str]) -> str:
    """ " Did you mean 'x'?", or nothing where no name is close."""
    close = difflib.get_close_matches(str(name), list(names), n=1)
    return f" Did you mean '{close[0]}'?" if close else ""


def listed(names: str | list[str] | None) -> tuple[str, ...]:
    """A key's names as a tuple; the key takes a name, a list of names, or null."""
    return (names,) if isinstance(names, str) else tuple(names or ())


def value_text(value: Any) -> str:
    """A setting's value without brackets and quotes: those of a list with a plus between them."""
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)


def merge(base: Any, *changes: Any) -> Any:
    """`base` with each of `changes` merged in: mappings key by key, anything else replaced; nothing in place."""
    result = copy.deepcopy(base)
    for change in changes:
        if isinstance(result, Mapping) and isinstance(change, Mapping):
            merged = {key: merge(result[key], value) if key in result else value for key, value in change.items()}
            result = {**result, **copy.deepcopy(merged)}
        else:
            result = copy.deepcopy(change)
    return result


def with_number_keys(value: Any) -> Any:
    """YAML's view of a JSON document: `128` as a key is a number (a size), where JSON has only text."""
    if isinstance(value, Mapping):
        return {int(k) if isinstance(k, str) and k.isdecimal() else k: with_number_keys(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [with_number_keys(item) for item in value]
    return value


def scalar(text: str) -> Any:
    """The number, truth value or null that `text` is in YAML; the text itself where it is none of them."""
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        return text
    return value if text and isinstance(value, int | float | None) else text
