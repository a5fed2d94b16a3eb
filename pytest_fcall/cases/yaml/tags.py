"""The tags of YAML's core schema. Case files may use no others."""

from __future__ import annotations

STR = "tag:yaml.org,2002:str"
INT = "tag:yaml.org,2002:int"
FLOAT = "tag:yaml.org,2002:float"
BOOL = "tag:yaml.org,2002:bool"
NULL = "tag:yaml.org,2002:null"
SEQ = "tag:yaml.org,2002:seq"
MAP = "tag:yaml.org,2002:map"
MERGE = "tag:yaml.org,2002:merge"
SCALAR_TAGS = frozenset((STR, INT, FLOAT, BOOL, NULL, MERGE))


def short_tag(tag: str) -> str:
    """A tag in its short form, such as `!!str`."""
    return tag.replace("tag:yaml.org,2002:", "!!", 1)
