"""Every mistake is found where it stands, and said in words. The mark `»` is where the fault must be."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cases.reading import faults, ids, marked, read, with_cases

_ASK = "prompt: Hello?\n"
_IN_CASES = {
    "misspelt tool": ("expect: [{»get_wether: {city: Oslo}}]", "unknown-tool", "no tool `get_wether`", "`get_weather`"),
    "misspelt argument": (
        "expect: [{get_weather: {»citty: Oslo}}]",
        "unknown-argument",
        "`get_weather` has no argument `citty`",
        "did you mean `city`?",
    ),
    "argument of a tool without any": ("expect: [{ping: {»x: 1}}]", "unknown-argument", "`ping`", "no arguments"),
    "enum": (
        "expect: [{get_weather: {city: Oslo, unit: »kelvin}}]",
        "forbidden-value",
        "`unit` must be one of celsius",
        "",
    ),
    "nearly in the enum": (
        "expect: [{get_weather: {city: Oslo, unit: »Celsius}}]",
        "forbidden-value",
        "`unit` must be one of celsius, fahrenheit, not 'Celsius'; did you mean `celsius`?",
        "",
    ),
    "type": ("expect: [{get_weather: {city: »7}}]", "forbidden-value", "`city` must be a string", 'quotes: "7"'),
    "true is no integer": ("expect: [{get_weather: {city: Oslo, days: »true}}]", "forbidden-value", "days", ""),
    "value inside $any": (
        "expect: [{get_weather: {city: Oslo, unit: {$any: [celsius, »kelvin]}}}]",
        "forbidden-value",
        "`unit`",
        "",
    ),
    "value inside $optional": (
        "expect: [{get_weather: {city: Oslo, days: {$optional: »two}}}]",
        "forbidden-value",
        "`days` must be an integer",
        "",
    ),
    "value inside $all in $optional": (
        "expect: [{get_weather: {city: Oslo, days: {$optional: {$all: [»two, 2]}}}}]",
        "forbidden-value",
        "`days` must be an integer",
        "",
    ),
    "value inside $each": ("expect: [{book: {flight: F7, seats: {$each: »1}}}]", "forbidden-value", "seats", ""),
    "value inside $unordered": (
        "expect: [{book: {flight: F7, seats: {$unordered: [1A, »2]}}}]",
        "forbidden-value",
        "seats",
        "",
    ),
    "item of a list": (
        "expect: [{book: {flight: F7, seats: [1A, »2]}}]",
        "forbidden-value",
        "`seats[1]` must be a string",
        "",
    ),
    "value beside an operator": (
        "expect: [{book: {flight: F7, who: {name: {$text: Ana}, age: »old}}}]",
        "forbidden-value",
        "`who.age`",
        "",
    ),
    "value inside $subset": (
        "expect: [{book: {flight: F7, who: {$subset: {age: »old}}}}]",
        "forbidden-value",
        "`who.age`",
        "",
    ),
    "value inside $not": (
        "expect: [{get_weather: {city: Oslo, unit: {$not: »kelvin}}}]",
        "forbidden-value",
        "`unit` must be one of celsius",
        "",
    ),
    "value inside $contains": (
        "expect: [{book: {flight: F7, seats: {$contains: »1}}}]",
        "forbidden-value",
        "`seats[0]` must be a string",
        'quotes: "1"',
    ),
    "number in a text by $contains": (
        "expect: [{get_weather: {city: {$contains: »1}}}]",
        "forbidden-value",
        "`city` must be a string, which `$contains` can never match",
        "",
    ),
    "$gt of a text": (
        "expect: [{get_weather: {city: {$gt: »3}}}]",
        "forbidden-value",
        "`city` must be a string, which `$gt` can never match",
        "",
    ),
    "$between of a list": (
        "expect: [{book: {flight: F7, seats: {$not: {$between: »[1, 2]}}}}]",
        "forbidden-value",
        "`seats` must be a list, which `$between` can never match",
        "",
    ),
    "$regex of an integer": (
        "expect: [{get_weather: {city: Oslo, days: {$any: [1, {$regex: »x}]}}}]",
        "forbidden-value",
        "`days` must be an integer, which `$regex` can never match",
        "",
    ),
    "$date of an object": (
        "expect: [{book: {flight: F7, who: {$date: »tomorrow}}}]",
        "forbidden-value",
        "`who` must be an object, which `$date` can never match",
        "",
    ),
    "$each of a text": (
        "expect: [{get_weather: {city: {$each: »Oslo}}}]",
        "forbidden-value",
        "`city` must be a string, which `$each` can never match",
        "",
    ),
    "$subset of another kind": (
        "expect: [{book: {flight: F7, seats: {$subset: »{a: 1}}}}]",
        "forbidden-value",
        "`seats` must be a list, which `$subset` can never match",
        "",
    ),
    "$type that the schema forbids": (
        "expect: [{get_weather: {city: Oslo, days: {$type: »string}}}]",
        "forbidden-value",
        "`days` must be an integer, which `$type` can never match",
        "",
    ),
    "$json where no text may stand": (
        "expect: [{book: {flight: F7, who: {$json: »{a: 1}}}}]",
        "forbidden-value",
        "`who` must be an object, which `$json` can never match",
        "",
    ),
    "operator inside a list": (
        "expect: [{book: {flight: F7, seats: [1A, {$lt: »3}]}}]",
        "forbidden-value",
        "`seats[1]` must be a string, which `$lt` can never match",
        "",
    ),
    "operator on an unknown argument inside": (
        "expect: [{book: {flight: F7, who: {name: Ana, nam: {$text: »x}}}}]",
        "unknown-argument",
        "nam",
        "",
    ),
    "value in never": (
        "expect: {never: [{get_weather: {days: »'3'}}]}",
        "forbidden-value",
        "`days` must be an integer",
        "",
    ),
    "$gt of a text in allow": (
        "expect: {calls: [], allow: [{get_weather: {city: {$gt: »3}}}]}",
        "forbidden-value",
        "`city` must be a string, which `$gt` can never match",
        "",
    ),
    "missing argument inside": ("expect: [{book: {flight: F7, who: »{age: 3}}}]", "missing-argument", "name", ""),
    "unknown argument inside": (
        "expect: [{book: {flight: F7, who: {name: Ana, nam: »x}}}]",
        "unknown-argument",
        "nam",
        "",
    ),
    "missing argument": (
        "expect: [{»get_weather: {unit: celsius}}]",
        "missing-argument",
        "`get_weather` requires the argument `city`",
        "city: {$ignore: true}",
    ),
    "missing argument although open": ("expect: [{»book: {}, args: open}]", "missing-argument", "`flight`", ""),
    "no arguments where one is required": ("expect:\n  - »get_weather:", "missing-argument", "`city`", ""),
    "tool that is not offered": (
        "tools: {without: [ping]}\nexpect: [{»ping: {}}]",
        "unknown-tool",
        "not offered to this case",
        "without",
    ),
    "unknown tool in only": ("tools: {only: [»pong]}\nexpect: no_call", "unknown-tool", "`pong`", "`ping`"),
    "unknown glob in without": ("tools: {without: [»'x_*']}\nexpect: no_call", "unknown-tool", "`x_*`", ""),
    "tools that are a list": ("tools: »[ping]\nexpect: no_call", "wrong-type", "a mapping, not a list", ""),
    "unknown tool in never": ("expect: {never: [»pong]}", "unknown-tool", "`pong`", "`ping`"),
    "unknown argument in never": (
        "expect: {never: [{book: {»fligth: F7}}]}",
        "unknown-argument",
        "`fligth`",
        "`flight`",
    ),
    "unknown tool in allow": ("expect: {calls: [], allow: [»pong]}", "unknown-tool", "`pong`", "`ping`"),
    "question mark in a name": ("expect: {calls: [], never: [»'get_weathe?']}", "unknown-tool", "get_weathe?", ""),
    "empty glob": ("expect: {calls: [], allow: [»'']}", "bad-glob", "empty", ""),
    "two tools in one pattern": ("expect: {never: [»{ping: {}, book: {}}]}", "wrong-value", "one tool", ""),
    "text with a comma in braces": (
        "messages: [{role: user, content: There is one, »Hurt.}]\nprompt: Play it.\nexpect: no_call",
        "unknown-key",
        "a message has no key `Hurt.`",
        "a comma in braces ends a value: put the text before it in quotes",
    ),
    "unknown key of a case": ("expect: no_call\n»promt: Hi", "unknown-key", "a case has no key `promt`", "`prompt`"),
    "setting outside settings": ("expect: no_call\n»temperature: 0", "unknown-key", "temperature", "settings:"),
    "never outside expect": ("expect: no_call\n»never: [ping]", "unknown-key", "never", "expect:"),
    "unknown key of expect": ("expect: {calls: [], »oder: any}", "unknown-key", "`oder`", "`order`"),
    "unknown key beside a call": ("expect: [{ping: {}, »retruns: 1}]", "unknown-key", "`retruns`", "`returns`"),
    "arguments not indented": (
        "expect:\n  - get_weather:\n    »city: Oslo",
        "unknown-key",
        "next to the call of `get_weather`",
        "deeper",
    ),
    "two calls in one item": (
        "expect: [{ping: {}, »get_weather: {city: Oslo}}]",
        "unknown-key",
        "next to the call",
        "write each call as an item of its own",
    ),
    "calls without a list": ("expect:\n  »get_weather: {city: Oslo}", "wrong-type", "calls must be a list", "- "),
    "call as a text": ("expect: [»ping]", "wrong-type", "begins with the name of its tool", "write `- ping:`"),
    "text for a call": ("expect: [»what]", "wrong-type", "a call must be a mapping", "write `{what: {}}`"),
    "word among calls": (
        "expect: [»no_call]",
        "wrong-type",
        "a call must be a mapping",
        "write `no_call` without a list",
    ),
    "tool for calls": ("expect: »ping", "wrong-type", "an item of a list", "write `- ping:`"),
    "call as models make it": (
        "expect: [»{name: get_weather, arguments: {city: Oslo}}]",
        "wrong-type",
        "begins with the name of its tool",
        'write `- get_weather: {city: "Oslo"}`',
    ),
    "call as OpenAI's interface has it": (
        """expect: [»{id: c1, type: function, function: {name: ping, arguments: '{"x": {"$y": 1}}'}}]""",
        "wrong-type",
        "begins with the name of its tool",
        'write `- ping: {x: {$literal: {"$y": 1}}}`'.replace("$literal", '"$literal"'),
    ),
    "call as models make it, without a list": (
        "expect: »{name: ping, arguments: {}}",
        "wrong-type",
        "an item of a list",
        "write `- ping:`",
    ),
    "call with arguments that are no JSON": (
        "expect: [»{tool: ping, input: '{x'}]",
        "wrong-type",
        "begins with the name of its tool",
        "write `- ping: {ARGUMENT: VALUE}`",
    ),
    "call as Python has it": (
        "expect: [»'get_weather(city=\"Oslo\", days=3)']",
        "wrong-type",
        "begins with the name of its tool",
        'write `- get_weather: {city: "Oslo", days: 3}`',
    ),
    "call as Python has it, without a list": (
        "expect: »get_weather(city=place)",
        "wrong-type",
        "an item of a list",
        "write `- get_weather: {ARGUMENT: VALUE}`",
    ),
    "call as Python has it, cut at a comma": (
        "expect: [»get_weather(city=1]",
        "wrong-type",
        "begins with the name of its tool",
        "write `- get_weather: {ARGUMENT: VALUE}`",
    ),
    "misspelt operator of null": (
        "expect: [{get_weather: {city: {»$anyof: [null, Oslo]}}}]",
        "unknown-operator",
        "`$anyof`",
        "`$any`",
    ),
    "typographic quotes": (
        "expect: [{get_weather: {city: »“Oslo”}}]",
        "typographic-quotes",
        "part of the string",
        'write "Oslo"',
    ),
    "typographic quotes of a prompt": (
        "expect: no_call\nsystem: »‘Be brief.’",
        "typographic-quotes",
        "part of the string",
        'write "Be brief."',
    ),
    "a tool of another kind": (
        "expect: [{»get_balance: {city: Oslo}}]",
        "unknown-tool",
        "no tool `get_balance`",
        "one of: ",
    ),
    "call without a tool": ("expect: [»{args: open}]", "missing-key", "names no tool", ""),
    "unknown word": ("expect: »no_cal", "wrong-value", "`no_cal`", "`no_call`"),
    "number for expect": ("expect: »5", "wrong-type", "must be a list of calls", ""),
    "nothing for expect": ("expect:» ", "wrong-type", "but it is empty", ""),
    "args": ("expect: [{ping: {}, args: »closed}]", "wrong-value", "`closed`", "open"),
    "order": ("expect: {calls: [{ping: {}}], order: »strct}", "wrong-value", "`strct`", "`strict`"),
    "extra": ("expect: {calls: [{ping: {}}], extra: »no}", "wrong-value", "`extra`", "forbid"),
    "calls and any_of": ("expect: {calls: [{ping: {}}], »any_of: [no_call]}", "contradiction", "exclude", ""),
    "empty any_of": ("expect: {any_of: »[]}", "wrong-value", "empty", ""),
    "alternative as a list": ("expect: {any_of: [»[{ping: {}}]]}", "wrong-type", "alternative", "calls:"),
    "expect without calls": ("expect: »{order: strict}", "missing-key", "`expect` needs `calls` or `any_of`", ""),
    "call below then": ("expect: [{then: [{ping: {}}]}, »{ping: {}}]", "wrong-order", "after a `then:` group", ""),
    "then that is no list": ("expect: [{ping: }, {then: »{ping: }}]", "wrong-type", "`then` must be a list", ""),
    "something beside then": ("expect: [{ping: }, {then: [{ping: }], »as: a}]", "unknown-key", "next to `then`", ""),
    "empty word": ("expect: »''", "wrong-value", "`expect` is empty", ""),
    "empty now": ("expect: no_call\nnow: »''", "wrong-value", "`now` is empty", ""),
    "empty tag": ("expect: no_call\ntags: [»'']", "wrong-value", "a tag is empty", ""),
    "empty path": ("expect: no_call\nsystem: {file: »''}", "wrong-value", "a path is empty", ""),
    "empty environment": ("expect: no_call\nenvironment: »''", "wrong-value", "`environment` is empty", ""),
    "empty day": ("expect: no_call\nanswer: {$date: »''}", "wrong-value", "a day is empty", ""),
    "number for an answer": ("expect: no_call\nanswer: »5", "wrong-type", "must be a string, not 5", "$number: 5"),
    "number in an answer": (
        "expect: no_call\nanswer: »{$any: [yes, {$contains: 2.5}]}",
        "wrong-type",
        "must be a string, not 2.5",
        'quote it: "2.5"',
    ),
    "state of nothing": ("expect: no_call\n»state: {x: 1}", "missing-key", "needs an `environment`", "environment: "),
    "nobody talks": ("expect: no_call\nuser: {script: »[]}", "wrong-value", "is empty", ""),
    "no results": ("expect: [{ping: {}, returns_each: »[]}]", "wrong-value", "is empty", ""),
    "empty reference": ("expect: no_call\nanswer: {$from: »''}", "wrong-value", "a reference is empty", ""),
    "empty tool_choice": ("expect: no_call\nsettings: {tool_choice: »''}", "wrong-value", "empty", ""),
    "empty then": ("expect: [{ping: {}}, {then: »[]}]", "wrong-value", "empty", ""),
    "times zero": ("expect: [{ping: {}, times: »0}]", "wrong-value", "a positive integer", ""),
    "times upside down": ("expect: [{ping: {}, times: »[3, 2]}]", "wrong-value", "larger than the second", ""),
    "times of three": ("expect: [{ping: {}, times: »[1, 2, 3]}]", "wrong-value", "fewest, most", ""),
    "two results": ("expect: [{ping: {}, raises: x, »returns_each: [1]}]", "contradiction", "exclude each other", ""),
    "returns_each": ("expect: [{ping: {}, returns_each: »1}]", "wrong-type", "a list", ""),
    "as": ("expect: [{ping: {}, as: »a-b}]", "wrong-value", "not a valid name", ""),
    "same name twice": ("expect: [{ping: {}, as: a}, »{ping: {}, as: a}]", "duplicate-name", "`a`", ""),
    "unknown reference": (
        "expect: [{ping: {}, as: found}, {then: [{book: {flight: {$from: »fond.result}}}]}]",
        "unknown-reference",
        "no earlier call is named `fond`",
        "`found`",
    ),
    "reference within a group": (
        "expect: [{ping: {}, as: a}, {book: {flight: {$from: »a.result}}}]",
        "unknown-reference",
        "`a`",
        "then:",
    ),
    "reference that is none": ("expect: [{book: {flight: {$from: »a b}}}]", "bad-operand", "not a reference", ""),
    "misspelt operator": (
        "expect: [{ping: {}}]\nanswer: {»$contians: x}",
        "unknown-operator",
        "`$contians`",
        "`$contains`",
    ),
    "operator nobody knows": ("expect: no_call\nanswer: {»$zzzz: x}", "unknown-operator", "`$zzzz`", "$literal"),
    "two operators": (
        "expect: no_call\nanswer: {$gt: 1, »$lt: 2}",
        "bad-operator",
        "only one operator per mapping",
        "$all",
    ),
    "unknown option": ("expect: no_call\nanswer: {$approx: 1, »withn: 2}", "bad-operator", "`withn`", "`within`"),
    "operator for arguments": ("expect: [{ping: {»$any: [1]}}]", "bad-operator", "$any", ""),
    "operand of $any": ("expect: no_call\nanswer: {$any: »x}", "wrong-type", "a list", ""),
    "empty $any": ("expect: no_call\nanswer: {$any: »[]}", "bad-operand", "empty", ""),
    "operand of $regex": (
        "expect: no_call\nanswer: {$regex: »'('}",
        "bad-operand",
        "not a valid regular expression",
        "",
    ),
    "operand of $gt": ("expect: no_call\nanswer: {$gt: »x}", "wrong-type", "a number", ""),
    "reference for $gt": (
        'expect: no_call\nanswer: {$gt: »{$from: "found.result"}}',
        "bad-operand",
        "must be a number",
        "use `$from` alone",
    ),
    "boolean for $gt": ("expect: no_call\nanswer: {$gt: »true}", "wrong-type", "a number", ""),
    "operand of $between": ("expect: no_call\nanswer: {$between: »[1]}", "bad-operand", "[low, high]", ""),
    "range upside down": ("expect: no_call\nanswer: {$between: »[2, 1]}", "bad-operand", "above", ""),
    "within": ("expect: no_call\nanswer: {$approx: 1, within: »ten}", "bad-operand", "not a tolerance", "10%"),
    "negative within": (
        "expect: no_call\nanswer: {$approx: 1, within: »-1}",
        "bad-operand",
        "must not be negative",
        "",
    ),
    "operand of $date": ("expect: no_call\nanswer: {$date: »tomorow}", "bad-operand", "not a day", "`tomorrow`"),
    "day that is none": ("expect: no_call\nanswer: {$date: »2026-02-30}", "bad-operand", "not a day", ""),
    "operand of $datetime": ("expect: no_call\nanswer: {$datetime: »2026-02-01}", "bad-operand", "not a moment", ""),
    "span without a day": ("expect: no_call\nanswer: {$datetime: »{from: 12:00}}", "bad-operand", "`day`", ""),
    "time that is none": (
        "expect: no_call\nanswer: {$datetime: {day: today, from: »25:00}}",
        "bad-operand",
        "not a time",
        "",
    ),
    "span upside down": (
        "expect: no_call\nanswer: {$datetime: »{day: today, from: 13:00, to: 12:00}}",
        "bad-operand",
        "ends before",
        "",
    ),
    "operand of $type": ("expect: no_call\nanswer: {$type: »strin}", "wrong-value", "`strin`", "`string`"),
    "empty $type": ("expect: no_call\nanswer: {$type: »[]}", "bad-operand", "empty", ""),
    "operand of $subset": ("expect: no_call\nanswer: {$subset: »x}", "bad-operand", "a mapping or a list", ""),
    "operand of $ignore": ("expect: no_call\nanswer: {$ignore: »false}", "bad-operand", "must be `true`", ""),
    "operand of $text": ("expect: no_call\nanswer: {$text: »1}", "wrong-type", "a string", "quotes"),
    "bad match key": ("expect: no_call\nmatch: {»city: {$ignore: true}}", "wrong-value", "TOOL.PARAMETER", ""),
    "match of an unknown tool": (
        "expect: no_call\nmatch: {»bok.key: {$ignore: true}}",
        "unknown-tool",
        "`bok`",
        "`book`",
    ),
    "match of an unknown argument": (
        "expect: no_call\nmatch: {»book.kee: {$ignore: true}}",
        "unknown-argument",
        "`kee`",
        "`key`",
    ),
    "match without an operator": ("expect: no_call\nmatch: {book.key: »x}", "wrong-type", "a rule must be", ""),
    "strings": ("expect: no_call\nstrings: »relaxt", "wrong-value", "`relaxt`", "`relaxed`"),
    "profile": ("expect: no_call\nprofile: »bfc", "wrong-value", "`bfc`", "`bfcl`"),
    "now": ("expect: no_call\nnow: »tomorrow", "bad-now", "`tomorrow`", "2026"),
    "now that is no day": ("expect: no_call\nnow: »2026-02-30T00:00:00", "bad-now", "not a date and time", ""),
    "form of now": ("expect: no_call\nsystem: »'{now:%Q}'", "bad-now", "`%Q`", "%A"),
    "reserved tag": ("expect: no_call\ntags: [»skip]", "reserved-tag", "pytest", "key `skip:`"),
    "our own tag": ("expect: no_call\ntags: [»fc_model]", "reserved-tag", "pytest-fcall", ""),
    "tag that is none": ("expect: no_call\ntags: [»'a-b']", "bad-tag", "`a-b`", ""),
    "tag that is a keyword": ("expect: no_call\ntags: [»not]", "bad-tag", "`not`", ""),
    "tags without a list": ("expect: no_call\ntags: »smoke", "wrong-type", "a list, not a string", "[smoke]"),
    "skip without a reason": ("expect: no_call\nskip: »true", "missing-key", "a reason", ""),
    "xfail without a reason": ("expect: no_call\nxfail: [»{models: 'a:*'}]", "missing-key", "`reason`", ""),
    "bad glob of models": ("expect: no_call\nxfail: {reason: x, models: [»' a']}", "bad-glob", "space", ""),
    "samples": ("expect: no_call\nsamples: »many", "wrong-type", "an integer", ""),
    "no samples": ("expect: no_call\nsamples: »0", "wrong-value", "a positive integer", ""),
    "rule of samples": ("expect: no_call\nsamples: {count: 2, rule: »most}", "wrong-value", "`most`", "rate"),
    "a rate of nothing": ("expect: no_call\nsamples: {count: 2, rule: »rate>=0}", "wrong-value", "`rate>=0`", "rate"),
    "samples without a count": ("expect: no_call\nsamples: »{rule: any}", "missing-key", "`count`", ""),
    "temperature": ("expect: no_call\nsettings: {temperature: »hot}", "wrong-type", "`temperature`", ""),
    "negative temperature": (
        "expect: no_call\nsettings: {temperature: »-1}",
        "wrong-value",
        "must not be negative",
        "",
    ),
    "top_p": ("expect: no_call\nsettings: {top_p: »2}", "wrong-value", "from 0 to 1", ""),
    "max_tokens": ("expect: no_call\nsettings: {max_tokens: »0}", "wrong-value", "a positive integer", ""),
    "seed": ("expect: no_call\nsettings: {seed: »1.5}", "wrong-type", "an integer", ""),
    "tool_choice": ("expect: no_call\nsettings: {tool_choice: »pong}", "wrong-value", "`pong`", "`ping`"),
    "parallel_tool_calls": (
        "expect: no_call\nsettings: {parallel_tool_calls: »1}",
        "wrong-type",
        "a boolean",
        "",
    ),
    "setting that JSON does not know": ("expect: no_call\nsettings: {x: ».inf}", "wrong-value", "JSON", ""),
    "decoder": ("expect: no_call\ndecoder: »jsn", "wrong-value", "`jsn`", "`json`"),
    "environment": ("expect: no_call\nenvironment: »shop fake", "wrong-value", "module:callable", "mcp"),
    "misspelt environment": ("expect: no_call\nenvironment: »pyhton", "wrong-value", "`pyhton`", "`python`"),
    "environment of no tool": ("expect: no_call\nenvironment: »python", "wrong-value", "has none", "python: …"),
    "stub of an unknown tool": ("expect: no_call\nstubs: {»pong: 1}", "unknown-tool", "`pong`", "`ping`"),
    "max_steps": ("expect: no_call\nmax_steps: »0", "wrong-value", "a positive integer", ""),
    "category": ("expect: no_call\ncategory: »''", "wrong-value", "empty", ""),
    "system that is no text": ("expect: no_call\nsystem: »[a]", "wrong-type", "a string", ""),
    "braces without quotes": ("expect: no_call\nsystem: »{now}", "wrong-type", "a string", "quotes"),
    "empty system": ("expect: no_call\nsystem: »''", "wrong-value", "empty", ""),
    "custom tag": (
        "expect: no_call\nanswer: »!!python/name:os.system x",
        "unknown-tag",
        "`!!python/name:os.system`",
        "!",
    ),
    "custom tag of a mapping": ("expect: no_call\nanswer: »!x {a: b}", "unknown-tag", "`!x`", ""),
    "custom tag of a key": ("expect: no_call\nanswer: {»!x a: b}", "unknown-tag", "`!x`", ""),
    "empty parts": ("expect: no_call\nmessages: [{role: user, content: »[]}]", "wrong-value", "empty", ""),
    "prompt in another encoding": (
        "expect: no_call\nsystem: {file: »latin.md}",
        "bad-file",
        "`latin.md` is not UTF-8",
        "",
    ),
    "empty prompt file": ("expect: no_call\nsystem: {file: »empty.md}", "bad-file", "`empty.md` is empty", ""),
    "thread that is no JSON": ("expect: no_call\nmessages: {file: »latin.json}", "bad-file", "latin.json", ""),
    "picture that is none": (
        "expect: no_call\nmessages: [{role: user, content: [{image: »latin.md}]}]",
        "bad-file",
        "not a supported picture",
        "PNG",
    ),
    "path that cannot be": ('expect: no_call\nsystem: {file: »"a\\0b"}', "missing-file", "no file", ""),
    "tag that does not fit": ("expect: no_call\nanswer: »!!int x", "wrong-value", "`x`", ""),
    "too many digits": (f"expect: no_call\nanswer: »{'1' * 5000}", "wrong-value", "too many digits", ""),
    "number that JSON does not know": ("expect: no_call\nanswer: ».nan", "wrong-value", "JSON", ""),
    "key that is no text": ("expect: no_call\nanswer: {»[a]: b}", "wrong-type", "a key must be", ""),
    "duplicate key": ("expect: no_call\nanswer: {a: 1, »a: 2}", "duplicate-key", "duplicate key `a`", ""),
    "merge of a text": ("expect: no_call\nanswer: {<<: »a}", "wrong-type", "the value of `<<`", ""),
    "missing picture": (
        "expect: no_call\nmessages: [{role: user, content: [{image: »no.png}]}]",
        "missing-file",
        "`no.png`",
        "",
    ),
    "message without a role": ("expect: no_call\nmessages: [»{content: x}]", "missing-key", "`role`", ""),
    "role": ("expect: no_call\nmessages: [{role: »usr, content: x}]", "wrong-value", "`usr`", "`user`"),
    "message without content": ("expect: no_call\nmessages: [»{role: user}]", "missing-key", "`content`", ""),
    "tool message without its call": (
        "expect: no_call\nmessages: [»{role: tool, content: x}]",
        "missing-key",
        "`tool_call_id`",
        "",
    ),
    "tool call without a function": (
        "expect: no_call\nmessages: [{role: assistant, tool_calls: [»{id: a}]}]",
        "missing-key",
        "`function`",
        "",
    ),
    "unknown key of a message": (
        "expect: no_call\nmessages: [{role: user, content: x, »contant: y}]",
        "unknown-key",
        "`contant`",
        "`content`",
    ),
    "empty thread": ("expect: no_call\nmessages: »[]", "wrong-value", "empty", ""),
    "missing thread": ("expect: no_call\nmessages: {file: »no.json}", "missing-file", "`no.json`", ""),
    "turns and more": ("»expect: no_call\nturns: [{user: x, expect: no_call}]", "contradiction", "exclude", ""),
    "empty matrix": ("expect: no_call\nmatrix: »[]", "wrong-value", "`matrix` is empty", ""),
    "row with another name": (
        "expect: no_call\nmatrix: [{id: a, x: 1}, {id: b, x: 1, »y: 2}]",
        "unknown-name",
        "`y`",
        "",
    ),
    "row that lacks a name": ("expect: no_call\nmatrix: [{id: a, x: 1}, »{id: b}]", "missing-key", "`x`", ""),
    "rows of one id": ("expect: no_call\nmatrix: [{id: a}, {id: »a}]", "duplicate-id", "`a`", ""),
    "row id": ("expect: no_call\nmatrix: [{id: »'a]'}]", "bad-id", "brackets", "brackets"),
    "matrix name that is none": (
        "expect: no_call\nmatrix: [{id: a, »'x y': 1}]",
        "wrong-value",
        "not a valid name",
        "",
    ),
    "matrix name that is the clock": ("expect: no_call\nmatrix: [{id: a, »now: 1}]", "reserved-name", "`now`", ""),
    "misspelt matrix name": (
        "expect: no_call\nmatrix: [{id: a, words: x}]\nsystem: »'{word}'",
        "unknown-name",
        "no column `word`",
        "`words`",
    ),
    "list inside a text": (
        "expect: no_call\nmatrix: [{id: a, words: [x]}]\nsystem: »'a {words}'",
        "wrong-type",
        "`words`",
        "alone",
    ),
    "matrix name without quotes": (
        "matrix: [{id: a, days: 3}]\nexpect: [{get_weather: {city: Oslo, days: »{days}}}]",
        "wrong-type",
        "`days` in braces",
        "quotes",
    ),
}


@pytest.mark.parametrize(("body", "code", "message", "hint"), _IN_CASES.values(), ids=_IN_CASES)
def test_a_mistake_in_a_case_is_found_where_it_stands(
    tmp_path: Path, body: str, code: str, message: str, hint: str
) -> None:
    (tmp_path / "latin.md").write_bytes("Grüße".encode("latin-1"))
    (tmp_path / "latin.json").write_bytes("Grüße".encode())
    (tmp_path / "empty.md").write_bytes(b"\n")
    ask = "" if "\nturns:" in body else _ASK
    text, line, column = marked(with_cases(f"id: it\n{ask}{body}", f"id: neighbour\n{_ASK}expect: no_call"))
    found = read(text, tmp_path)
    (fault,) = [fault for fault in found.faults if fault.code == code]
    assert (fault.location.path, fault.location.line, fault.location.column) == ("shop.fc.yaml", line, column)
    assert message in fault.message or message in fault.hint
    assert hint in fault.hint
    assert not fault.hint or fault.hint not in fault.message
    assert fault.source == text.splitlines()[line - 1]
    assert ids(found.entries)["neighbour"]
    assert not any(fine for name, fine in ids(found.entries).items() if name != "neighbour")


_ANY_TYPE = """\
tools:
  - name: f
    parameters:
      type: object
      properties:
        x: {}
        text: {type: [string, "null"], format: date}
        number: {type: number, minimum: 3}
        count: {type: [integer, "null"]}
        list: {type: array, items: {type: integer}}
        either: {anyOf: [{type: string}, {type: array, items: {type: integer}}]}
        word: {enum: [a, b]}
      required: [x, count]
"""


@pytest.mark.parametrize(
    "arguments",
    [
        "{x: {$gt: 3}, count: 1}",
        "{x: {$any: [{$gt: 3}, {$regex: a}, {$each: 1}, {$subset: {a: 1}}]}, count: 1}",
        "{x: 1}",
        "{x: 1, count: null}",
        "{x: {$ignore: true}, text: {$date: 2026-04-03}}",
        "{x: 1, text: {$not: null}}",
        '{x: 1, text: {$type: [string, "null"]}}',
        "{x: 1, number: {$gt: 1}, count: {$between: [1, 2]}}",
        "{x: 1, number: {$type: integer}}",
        "{x: 1, list: {$contains: {$gt: 1}}}",
        "{x: 1, list: {$all: [{$contains: 1}, {$not: {$contains: 2}}]}}",
        "{x: 1, either: {$contains: 3}}",
        "{x: 1, either: {$contains: a}}",
        "{x: 1, either: {$unordered: [1, 2]}}",
        "{x: 1, word: {$regex: '[ab]'}}",
    ],
)
def test_operators_that_may_fit_are_no_mistake(tmp_path: Path, arguments: str) -> None:
    assert faults(f"{_ASK}expect: [{{f: {arguments}}}]", tmp_path, head=_ANY_TYPE) == ()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("{x: 1, text: 03/04/2026}", "`text` must be a date such as"),
        ("{x: 1, text: {$any: [2026-04-03, soon]}}", "`text` must be a date such as"),
        ("{x: 1, either: {$contains: [b]}}", "`either[0]` must be an integer"),
        ("{x: 1, either: {$gt: 3}}", "`either` must be a string or a list, which `$gt` can never match"),
        ("{count: 1}", "requires the argument `x`"),
    ],
)
def test_a_value_that_its_schema_forbids_is_a_mistake_under_operators_too(
    tmp_path: Path, arguments: str, message: str
) -> None:
    (fault,) = faults(f"{_ASK}expect: [{{f: {arguments}}}]", tmp_path, head=_ANY_TYPE)
    assert message in fault.message
