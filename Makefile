# All that a machine needs is Python 3.11 or newer and make; the rest goes into .venv.
PYTHON ?= python3
BIN := .venv/bin
# what one process has compiled, hundreds of others read; empty means off
export PYTHONDONTWRITEBYTECODE :=
# numpy's products take one thread each: more tests than cores run at once, as many of them wait
test test-all study: export OPENBLAS_NUM_THREADS := 1
PIP := PIP_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip --quiet
TESTED := swiss,test,docs,table,remote,dask,mpi,rl,openspiel

PYTEST := $(BIN)/python -m pytest -p tests.forkrun --forks

define RUFF
$(BIN)/ruff check .
$(BIN)/ruff format --check .
endef
# mypy takes one core for half a minute; what it says comes after the tests
beside_mypy = said=$$(mktemp); $(BIN)/mypy >"$$said" 2>&1 & types=$$!; \
	trap 'kill $$types' INT TERM; echo "$(1)"; $(1); tests=$$?; \
	wait $$types; types=$$?; echo "$(BIN)/mypy"; cat "$$said"; rm -f "$$said"; \
	exit $$((tests + types))

.PHONY: tournament lint test test-all study docs pictures release-check bench mutants tools \
	allow-jail attach clean

tournament: .venv/run  ## play configs/quickstart.yaml
	$(BIN)/arena run configs/quickstart.yaml

lint: .venv/test  ## ruff and mypy
	$(RUFF)
	$(BIN)/mypy

test: .venv/test  ## what must pass after every change: two minutes on two cores
	$(RUFF)
	@$(call beside_mypy,$(PYTEST) 4)

test-all: .venv/test  ## the same with the slow tests: what must pass before anything lands
	$(RUFF)
	@$(call beside_mypy,$(PYTEST) 4 -m 'not study')

study: .venv/test  ## the tests that take long
	$(PYTEST) 2 -m study

docs: .venv/test  ## write the site to docs/site/, with the gallery: a minute on two cores
	$(BIN)/python -m docs.making $(DOCS)

pictures: .venv/test tournament  ## make the pictures of README and site; needs Chromium
	$(BIN)/python -m docs.pictures

release-check: .venv/release  ## all that must hold for a release; then its files are in dist/
	$(BIN)/python -m tests.packaging $(PYTHONS)

bench: .venv/bench  ## print every speed, other frameworks' too: a quarter of an hour
	$(BIN)/python -m bench $(BENCH)

mutants: N ?= 40
mutants: SEED ?= 1
mutants: .venv/test  ## make N changes in copies of the source, and see the tests fail: ten minutes
	$(BIN)/python -m bench.mutants --sample $(N) --seed $(SEED) $(MUTANTS)

# SUDO=sudo where root's rights are needed for it
tools:  ## install the programs beside Python that some tests use (Debian, Ubuntu)
	@missing=$$(for pair in bwrap:bubblewrap chromium:chromium node:nodejs cc:gcc cc:libc6-dev \
		/usr/bin/rustc:rustc javac:default-jdk-headless mpirun:openmpi-bin; do command -v $${pair%%:*} >/dev/null || echo $${pair#*:}; done); \
	if [ -n "$$missing" ]; then \
		$(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq $$missing; fi

allow-jail:  ## let bubblewrap make jails until the next start (Ubuntu 24.04 and newer forbid it)
	@switch=kernel.apparmor_restrict_unprivileged_userns; \
	if [ -e /proc/sys/kernel/$${switch#*.} ]; then $(SUDO) sysctl -w $$switch=0; fi

attach:  ## make a release of the tag TAG at the hosting service, with the files of dist/
	gh release create "$$TAG" --verify-tag --title "$$TAG" --notes "See CHANGELOG.md." dist/*

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist *.egg-info
	rm -rf arena/site docs/site

.venv/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "error: $(PYTHON) is older than 3.11; name another one: make PYTHON=python3.12"; exit 2; }
	$(PYTHON) -m venv .venv
	@touch $@

.venv/run: .venv/python pyproject.toml constraints.txt
	$(PIP) install --editable '.[swiss,table]'
	@touch $@

.venv/test: .venv/python pyproject.toml constraints.txt
	$(PIP) install --editable '.[$(TESTED)]'
	@touch $@ .venv/run

.venv/release: .venv/test
	$(PIP) install --editable '.[$(TESTED),jail,release]'
	@touch $@

# kaggle-environments asks for one version each of gymnasium and OpenSpiel, and for libraries of
# language models; its ConnectX needs none of them
.venv/bench: .venv/python pyproject.toml constraints.txt
	$(PIP) install --editable '.[$(TESTED),bench]'
	$(PIP) install --no-deps kaggle-environments
	@touch $@ .venv/run .venv/test
