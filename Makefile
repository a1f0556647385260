# Commands. `make demo` and `make test` install what is missing (apt), build and run.
#
#   demo        predicted step time of the LLaMA-3 training step that ships in examples/
#   test-fast   unit tests and repository checks                         (a minute)
#   test        what takes seconds, one real case of each outside tool, unit tests under sanitizers, ten seconds of each fuzzer
#   test-full   whole suite; what needs no outside tool again under sanitizers, with coverage of lines; thread sanitizer, clang-tidy, half a minute of each fuzzer
#   experiments the paper's experiments into build/experiments: tables, figures, one page     (two minutes, and what PyPI takes)
#   fuzz        FUZZ_SECONDS of each fuzzer (default 1800)       soak    the whole suite, again and again, SOAK_MINUTES long
#   mutation    breaks 13 formulas one by one and expects red tests                       (minutes)
#   wheel       Python wheels in build/wheels: for 3.11, and for 3.12 and later, as far as these are installed
#   packages    .deb files, relocatable tarball and container root file system, in build/release/packages
#   web         the page build/web and the npm package: the engine in WebAssembly     (installs Emscripten; 10 minutes)
#   site        the documents with the reference, in build/release/site
#   bench       the benchmark programs                           format  rewrite, lint: clang-format and clang-tidy
SHELL := /bin/bash
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 1800
SOAK_MINUTES ?= 60
RELEASE := build/release
EXAMPLE := examples/llama3-100m-4dev.mlir.gz

.PHONY: all build demo experiments test test-fast test-full bench fuzz soak mutation format lint configs install packages wheel site web clean

all: build

build:
	@scripts/bootstrap.sh build
	@HESPAS_TESTS=OFF scripts/build.sh release

demo:
	@scripts/bootstrap.sh demo
	@HESPAS_TESTS=OFF scripts/build.sh release bin/hespas
	@$(RELEASE)/bin/hespas run $(EXAMPLE) --device A100_SXM_40GB --system A100_SXM_40GB_4GPU --output build/demo
	@echo "in build/demo: $$(cd build/demo && ls | tr '\n' ' ')"

experiments: build
	@$(RELEASE)/bin/hespas experiment all --output build/experiments >/dev/null
	@echo "build/experiments/index.html"

test-fast test test-full:
	@scripts/bootstrap.sh test
	@JOBS=$(JOBS) scripts/test.sh $@

bench:
	@scripts/bootstrap.sh test
	@JOBS=$(JOBS) scripts/bench.sh

fuzz:
	@scripts/bootstrap.sh test
	@FUZZ_SECONDS=$(FUZZ_SECONDS) JOBS=$(JOBS) scripts/test.sh fuzz

soak:
	@scripts/bootstrap.sh test
	@SOAK_MINUTES=$(SOAK_MINUTES) JOBS=$(JOBS) scripts/test.sh soak

mutation:
	@scripts/bootstrap.sh test
	@scripts/build.sh release
	@scripts/mutate.py

format:
	@scripts/format.sh --write

lint:
	@scripts/format.sh
	@python3 scripts/check_layers.py
	@JOBS=$(JOBS) scripts/tidy.sh

configs:
	@python3 scripts/check_configs.py --write

install: build
	@cmake --install $(RELEASE) $(if $(PREFIX),--prefix $(PREFIX))

wheel: build
	@scripts/bootstrap.sh test
	@scripts/build_wheels.sh build/wheels $(RELEASE)

packages: build
	@scripts/bootstrap.sh test
	@for kind in deb tarball rootfs; do scripts/package.sh $$kind || exit 1; done
	@ls build/release/packages

site: build
	@scripts/bootstrap.sh test
	@$$(scripts/python_env.sh docs) scripts/make_site.py $(RELEASE)/bin/hespas $(RELEASE)/site
	@echo "in $(RELEASE)/site/index.html"

web:
	@scripts/bootstrap.sh web
	@JOBS=$(JOBS) scripts/build_web.sh

clean:
	@rm -rf build
