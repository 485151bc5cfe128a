# What one does with confrelay. `make help` lists it.

PREFIX ?= /usr/local
ARGS ?=

programs := confrelay confclient confsim
sources := Sources Tests Plugins $(wildcard Benchmarks)
# Several passes are measured on real clips alone.
benches := capacity compose conference decoding encoders joining quality sessions sharing simulator $(if $(CONFRELAY_CONFORMANCE_DIR),passes)

# Programs, and the modules that release tests test, have the same flags, so that hostile input meets the program that
# ships. Tests add -enable-testing, with which fewer checks are optimised away: measure programs that were built without
# it.
# Without debug information they are built sooner; with DEBUG_INFO=dwarf a crash is told with its line, and profilers
# know lines.
DEBUG_INFO ?= none
release := -c release -debug-info-format $(DEBUG_INFO)
# Programs with the Swift libraries inside run where no Swift is installed, and calls into these libraries cost the event
# loop 5 % less. The tests' bundle shares the libraries with its test library.
static := $(release) --static-swift-stdlib

.DEFAULT_GOAL := help
.PHONY: help build run test golden install deb test-deb check-openapi format lint bench results dependencies test-dependencies

help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: dependencies ## Build the programs in release mode, into .build/release.
	$(foreach program,$(programs),swift build $(static) --product $(program) &&) true

run: dependencies ## Build in release mode and start the relay; ARGS="--port 8000" passes options on.
	@swift build $(static) --product confrelay
	@exec "$$(swift build $(static) --show-bin-path)/confrelay" $(ARGS)

# All tests run in release mode: six times as fast, and what depends on optimisation shows. Some run
# in debug mode, which is built sooner after a change. Real programs and browsers keep time only where they have the machine
# for themselves: their tests run last, one by one.
release_tests := $(release) -Xswiftc -enable-testing
# The other tests run a few at a time: if all started at once, a test that waits would have its next turn minutes later.
test: export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH ?= 8
# A crash is told by the thread that crashed, not by hundreds of others.
test: export SWIFT_BACKTRACE ?= threads=crashed,images=none,registers=none,color=no
test: test-dependencies ## Build and run all tests; ARGS="--filter RTPTests" runs some.
	$(if $(ARGS),swift test $(ARGS),swift build $(release_tests) --build-tests)
	$(if $(ARGS),,swift test $(release_tests) --skip-build --skip InteropTests)
	$(if $(ARGS),,swift test $(release_tests) --skip-build --no-parallel --filter InteropTests)
	$(if $(ARGS),,scripts/check-openapi.sh "$$(swift build $(release_tests) --show-bin-path)" 5 || [ $$? -eq 77 ])

check-openapi: build test-dependencies ## Check the HTTP interface against docs/openapi.json; CASES=400 for each operation.
	scripts/check-openapi.sh "$$(swift build $(static) --show-bin-path)" $(or $(CASES),100)

golden: test-dependencies ## Review golden pictures that differ or are new; ACCEPT=all accepts them all, ACCEPT=none none.
	@rm -rf out/golden
	swift build --build-tests
	swift test --skip-build --filter Golden || test -d out/golden
	@scripts/review-golden.sh $(ACCEPT)

# The copying alone takes root's rights: root may have no Swift in its path, and would leave a build that only root can
# go on with.
install: build ## Build in release mode and install the programs under PREFIX (default /usr/local).
	@bin=$$(swift build $(static) --show-bin-path) && folder="$(DESTDIR)$(PREFIX)/bin" && \
	if { mkdir -p "$$folder" && [ -w "$$folder" ]; } 2>/dev/null || ! command -v sudo >/dev/null; then as_root=; \
	else as_root=sudo; fi && set -x && \
	$$as_root install -D --target-directory="$$folder" $(addprefix "$$bin"/,$(programs))

# DEB_BIN: programs that are built already.
DEB_OUT ?= out
deb: package-dependencies ## Make a Debian package, out/confrelay_….deb, with service, options and manual pages.
	$(if $(DEB_BIN),,$(foreach program,$(programs),swift build $(static) --product $(program) &&) true)
	@deb=$$(deploy/debian/build-deb.sh "$(or $(DEB_BIN),$$(swift build $(static) --show-bin-path))" $(DEB_VERSION)) && \
	mkdir -p "$(DEB_OUT)" && install --mode=644 "$$deb" "$(DEB_OUT)/confrelay.deb" && echo "$$deb, the same as $(DEB_OUT)/confrelay.deb"

test-deb: package-dependencies ## As root: install, start, upgrade, remove and purge the package in a throw-away root.
	$(MAKE) --no-print-directory deb DEB_VERSION=0.0.1 DEB_OUT=out/old
	$(MAKE) --no-print-directory deb DEB_VERSION=0.0.2 DEB_OUT=out/new \
		DEB_BIN="$(or $(DEB_BIN),$$(swift build $(static) --show-bin-path))"
	deploy/debian/test-deb.sh out/old/confrelay.deb out/new/confrelay.deb

format: ## Format all sources in place.
	swift format format --in-place --recursive $(sources) Package.swift

lint: ## Check the format of all sources.
	swift format lint --strict --recursive $(sources) Package.swift

bench: dependencies ## Measure everything; ARGS="capacity", "compose", "conference", "decoding", "encoders", "joining", "quality", "sessions", "sharing", "simulator" or "passes" measures one thing.
	swift build $(static) --product confbench
	@confbench="$$(swift build $(static) --show-bin-path)/confbench"; \
	$(if $(ARGS),"$$confbench" $(ARGS),$(foreach bench,$(benches),echo "$(bench):" && "$$confbench" $(bench) &&) true)

results: dependencies ## Compare the controllers over all scenarios anew (CONFRELAY_TRACES_DIR: and over these traces).
	swift build $(static) --product confsim
	@mkdir -p Simulations/results
	@confsim="$$(swift build $(static) --show-bin-path)/confsim"; \
	"$$confsim" compare Simulations/suite.yaml --runs 3 --jobs "$$(nproc)" --report out/results \
		--markdown Simulations/results/comparison.md --csv Simulations/results/comparison.csv && \
	"$$confsim" run Simulations/rfc8867 Simulations/stress/sudden-drop.yaml --plots Simulations/results/plots \
		--controller google,scream,nada,confrelay,oracle && \
	"$$confsim" sensitivity Simulations/peer-suite.yaml --factors 0.5,1.5 --runs 3 --only /300ms/ \
		--jobs "$$(nproc)" --markdown Simulations/results/sensitivity.md

dependencies:
	@scripts/install-dependencies.sh

package-dependencies:
	@scripts/install-dependencies.sh --package

test-dependencies:
	@scripts/install-dependencies.sh --test
