"""The formats of keys that their issuers publish, by which a key is known wherever it stands.

A table of facts: what a key begins with, how long it is and which characters it has. Each row names where that is
written. A format is at least as wide as what is published: to take too much for a key costs a masked word, and to
take too little costs a key. Keys without a format of their own, such as those of Mistral or Datadog, are known only
by the name before them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final, NamedTuple

_GITLEAKS: Final = "gitleaks, config/gitleaks.toml"
_DETECT: Final = "detect-secrets, detect_secrets/plugins"
_TRUFFLEHOG: Final = "trufflehog, pkg/detectors"
_MICROSOFT: Final = "Microsoft security-utilities, GeneratedRegexPatterns"
_PREFIX: Final = "prefix as the issuer shows it; length not published"


class KeyFormat(NamedTuple):
    """The format of one kind of key."""

    owner: str
    """The issuer of such keys."""
    form: str
    """A regular expression for the whole key, without groups that are kept."""
    source: str
    """The address at which the format is published."""


KEY_FORMATS: Final = (
    KeyFormat(
        "PEM",
        r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]{0,8000}?-----END [A-Z ]{0,30}PRIVATE KEY-----",
        "RFC 7468",
    ),
    KeyFormat("JSON Web Token", r"\beyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]{4,}", "RFC 7519"),
    # Also Anthropic's, DeepSeek's, OpenRouter's, LiteLLM's, Langfuse's and Stripe's.
    KeyFormat("OpenAI and others", r"\b(?:sk|pk|rk)[-_][\w-]{16,}", f"{_GITLEAKS}; {_DETECT}/openai.py"),
    KeyFormat("Groq", r"\bgsk_[A-Za-z0-9]{20,}", f"{_TRUFFLEHOG}/groq"),
    KeyFormat("xAI", r"\bxai-[\w-]{20,}", f"{_TRUFFLEHOG}/xai"),
    KeyFormat("Perplexity", r"\bpplx-[A-Za-z0-9]{32,}", _GITLEAKS),
    KeyFormat("Hugging Face", r"\b(?:hf|api_org)_[A-Za-z0-9]{10,}", _GITLEAKS),
    KeyFormat("Google, API", r"\bAIza[\w-]{30,}", _GITLEAKS),
    KeyFormat("Google, OAuth", r"\b(?:ya29\.|GOCSPX-)[\w-]{20,}", _PREFIX),
    KeyFormat("NVIDIA", r"\bnvapi-[\w-]{40,}", _PREFIX),
    KeyFormat("Cerebras", r"\bcsk-[A-Za-z0-9]{30,}", _PREFIX),
    KeyFormat("Fireworks", r"\bfw_[A-Za-z0-9]{20,}", _PREFIX),
    KeyFormat("Together", r"\btgp_v1_[\w-]{30,}", _PREFIX),
    KeyFormat("Replicate", r"\br8_[A-Za-z0-9]{30,}", _PREFIX),
    KeyFormat("Databricks", r"\bdapi[a-f0-9]{32}(?:-\d)?\b", _GITLEAKS),
    KeyFormat("LangSmith", r"\blsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}\b", _PREFIX),
    KeyFormat("Pinecone", r"\bpcsk_\w{20,}", _PREFIX),
    KeyFormat("Tavily", r"\btvly-[\w-]{20,}", _PREFIX),
    KeyFormat("AWS, id of a key", r"\b(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}\b", f"{_DETECT}/aws.py"),
    KeyFormat("AWS, Bedrock", r"\b(?:ABSK[A-Za-z0-9+/]{100,270}={0,2}|bedrock-api-key-[\w+/=-]{20,})", _GITLEAKS),
    KeyFormat("Azure, storage", r"(?<=AccountKey=)[A-Za-z0-9+/]{86}==", f"{_DETECT}/azure_storage_key.py"),
    KeyFormat("Azure, shared key", r"(?<=SharedAccessKey=)[A-Za-z0-9+/]{43}=", _PREFIX),
    KeyFormat("Azure, signed address", r"(?<=\bsig=)[A-Za-z0-9%+/]{40,}={0,2}", _PREFIX),
    KeyFormat("Azure, identifiable key", r"\b[A-Za-z0-9]{52}JQQJ9[A-Za-z0-9]{27}(?:[A-Za-z0-9]{2}==)?", _MICROSOFT),
    KeyFormat("Azure, client secret", r"(?<![\w.~-])[\w~.]{3}\d(?:Q~)[\w~.-]{31,34}(?![\w~.-])", _GITLEAKS),
    KeyFormat("Twilio", r"\b(?:SK|AC)[a-f0-9]{32}\b", f"{_DETECT}/twilio.py; {_GITLEAKS}"),
    KeyFormat("SendGrid", r"\bSG\.[\w-]{22}\.[\w-]{43}(?![\w-])", f"{_DETECT}/sendgrid.py; {_GITLEAKS}"),
    KeyFormat("Mailgun", r"\b(?:pub)?key-[a-f0-9]{32}\b", _GITLEAKS),
    KeyFormat("Mailchimp", r"\b[a-f0-9]{32}-us\d{1,2}\b", _GITLEAKS),
    KeyFormat("Telegram", r"\b\d{8,10}:AA[\w-]{32,34}(?![\w-])", f"{_DETECT}/telegram_token.py"),
    KeyFormat("Discord", r"\b[MNO][A-Za-z0-9_-]{23,25}\.[\w-]{6}\.[\w-]{27,38}(?![\w-])", f"{_DETECT}/discord.py"),
    KeyFormat("Slack", r"\b(?:xox[abceoprs]|xapp)-[\w-]{10,}", f"{_GITLEAKS}; {_DETECT}/slack.py"),
    KeyFormat("Slack, webhook", r"(?<=hooks\.slack\.com/services/)[A-Z0-9]{8,}/[A-Z0-9]{8,}/\w{20,}", _DETECT),
    KeyFormat("GitHub", r"\b(?:gh[opusr]|github_pat)_\w{10,}", _GITLEAKS),
    KeyFormat("GitLab", r"\bgl(?:pat|dt|rt|ft|cbt|ptt|oas|soat|agent|imt|ffct)-[\w-]{10,}", _GITLEAKS),
    KeyFormat("npm", r"\bnpm_[A-Za-z0-9]{10,}", f"{_GITLEAKS}; {_DETECT}/npm.py"),
    KeyFormat("PyPI", r"\bpypi-[\w-]{10,}", f"{_GITLEAKS}; {_DETECT}/pypi_token.py"),
    KeyFormat("DigitalOcean", r"\bdo[opr]_v1_[a-f0-9]{64}\b", _GITLEAKS),
    KeyFormat("HashiCorp Vault", r"\bhv[sbr]\.[\w-]{24,}", _GITLEAKS),
    KeyFormat("Shopify", r"\bshp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}\b", _GITLEAKS),
    KeyFormat("Square", r"\bsq0(?:csp|atp|idp)-[\w-]{22,43}", f"{_DETECT}/square_oauth.py"),
    KeyFormat("Atlassian", r"\bATATT3[\w=-]{100,}", _GITLEAKS),
    KeyFormat("Notion", r"\b(?:ntn|secret)_[A-Za-z0-9]{40,}", _PREFIX),
    KeyFormat("Linear", r"\blin_api_[A-Za-z0-9]{32,}", _GITLEAKS),
    KeyFormat("Grafana", r"\bgl(?:c|sa)_[\w+/]{32,}={0,2}", _GITLEAKS),
    KeyFormat("New Relic", r"\bNRAK-[A-Z0-9]{27}\b", _GITLEAKS),
    KeyFormat("Doppler", r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,}", _GITLEAKS),
    KeyFormat("Artifactory", r"\bAKCp[A-Za-z0-9]{60,}", f"{_DETECT}/artifactory.py; {_GITLEAKS}"),
    KeyFormat("Alibaba", r"\bLTAI[A-Za-z0-9]{12,20}\b", _GITLEAKS),
    KeyFormat("age", r"\bAGE-SECRET-KEY-1[A-Z0-9]{58}\b", _GITLEAKS),
    # No mark tells such a key from other data: 40 characters, capitals, small letters and digits, few slashes.
    KeyFormat(
        "AWS, secret",
        r"(?<![\w/+=.-])(?=[A-Za-z/+]*[0-9])(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])(?!(?:[A-Za-z0-9+]*/){4})"
        r"[A-Za-z0-9/+]{40}(?![\w/+=.-])",
        f"{_GITLEAKS}; {_DETECT}/aws.py",
    ),
)  # fmt: skip

_WORD_START: Final = r"\b"
_AT_WORDS: Final = [each.form.removeprefix(_WORD_START) for each in KEY_FORMATS if each.form.startswith(_WORD_START)]
_ELSEWHERE: Final = [each.form for each in KEY_FORMATS if not each.form.startswith(_WORD_START)]
_KEY: Final = re.compile(rf"{_WORD_START}(?:{'|'.join(_AT_WORDS)})|{'|'.join(_ELSEWHERE)}")
"""Forms that begin with a word stand together: inside of words none of them is tried, which is most of the time."""
_TOKEN: Final = re.compile(r"[\w~+/=.:%-]{13,}")
"""Only in these a key is looked for: to try all formats at every place of a text takes milliseconds."""
_LONGEST_TOKEN: Final = 2000
"""A longer text is data, such as an image, or a JSON Web Token."""


@lru_cache(maxsize=1)
def _wide_keys() -> re.Pattern[str]:
    return re.compile("|".join(each.form for each in KEY_FORMATS if each.owner in ("PEM", "JSON Web Token")))


def with_keys_replaced(replaced: Callable[[re.Match[str]], str], text: str) -> str:
    """The text with `replaced` for each key of a known format."""
    if "-----BEGIN" in text or "eyJ" in text:
        text = _wide_keys().sub(replaced, text)
    return _TOKEN.sub(lambda token: token[0] if len(token[0]) > _LONGEST_TOKEN else _KEY.sub(replaced, token[0]), text)


def keys_in(text: str) -> list[str]:
    """The keys of known formats in a text."""
    found: list[str] = []

    def noted(key: re.Match[str]) -> str:
        found.append(key[0])
        return ""

    with_keys_replaced(noted, text)
    return found
