"""A little of each hub, made up."""

from __future__ import annotations

from pytest_fcall.suites.apibench.apis import ApiEntry


def api(domain: str, call: str) -> ApiEntry:
    return ApiEntry(domain, call, {"domain": domain, "api_call": call})


TORCH = (
    api("Vision", "torch.hub.load(repo_or_dir='zoo/vision', model='tinynet', pretrained=True)"),
    api("Speech", "torch.hub.load(repo_or_dir='zoo/speech', model='listener', pretrained=True)"),
)
TENSORFLOW = (
    api("Embedding", "hub.load('https://hub.test/words/1')"),
    api("Sound", "hub.KerasLayer('https://hub.test/birds/4')"),
    api("Naming", "hub.load(model='https://hub.test/names/2')"),
)
FACES = (
    api("Translation", "pipeline('translation', model='zoo/t-small')"),
    api("Similarity", "AutoModel.from_pretrained('zoo/same')"),
    api("Depth", "DepthModel.from_pretrained(zoo/deep)"),
    api("Nothing", "load_learner()"),
    api("Empty", ""),
    api("Shell", "get-model --name"),
)
