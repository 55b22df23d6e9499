# make test             the tests; installs what they compare with, where it can
# make test-gpu         the tests of package gpu, on PoCL or on the devices of this machine
# make test-modules     the generator of the assembly, the site, the explorer in a browser
# make test-python      tests of the Python package
# make test-race        the race detector, where goroutines meet
# make test-arm64       the NEON kernels, in an emulator
# make test-long        what takes too long for every change: PARTS="race fuzz" runs some of it
# make bench-peers      boxsum beside OpenCV and scikit-image, in one run
# make bench-filters    filters and thresholds beside OpenCV, Doxa, libvips and others, in one run, with their floors
# make bench-cascades   detectors beside OpenCV 4
# make bench-hog        detection of people beside OpenCV 4
# make bench-gpu        work on a CUDA device beside copies and fills, with goals (GPU_FLAGS='-only tensors,box')
# make bench-gpu-peers  the same on a CUDA device, beside NPP, PyTorch and CuPy (GPU_PEERS_PYTHON=python3)
# make bench-compare    BASE=v0.2.0: this tree compared with a commit, in one run, or with a stored run, BASE=run.txt
# make bench-save       RUN=run.txt: runs the benchmarks and stores the results for bench-compare
# make bench-tensors    batches of PyTorch on a CUDA device, beside cumsum and avg_pool2d (GPU_PEERS_PYTHON has the package)
# make generate         the assembly kernels and the pictures anew
# make kernels          the CUDA kernels anew, with nvcc from PATH or PyPI
# make wheel            the Python package as a wheel that needs no Go, in python/dist
# make supply           dependencies: what go.sum says, licenses, vulnerabilities; and workflows
# make site             the documentation and the explorer, as a folder for any web server, in site
# make release          VERSION=v0.2.0: programs, packages, wheels, checksums, SBOMs, in dist, by GoReleaser
# make release-check    uses what it built, as a stranger would
# make fuzz             every fuzzer for a minute (FUZZTIME=1m)

PEERS_PYTHON = .venv/bin/python
GPU_PEERS_PYTHON = python3

.PHONY: release release-check supply wheel test test-gpu test-modules test-python test-race test-arm64 test-long bench-peers bench-filters bench-cascades bench-hog bench-gpu bench-gpu-peers bench-tensors bench-compare bench-save generate kernels fuzz site

test:
	@scripts/test.sh

test-gpu:
	@scripts/setup.sh
	POCL_WORK_GROUP_SPECIALIZATION=0 go test -timeout 30m ./gpu/... # otherwise PoCL compiles every kernel three times

test-modules:
	@scripts/test-modules.sh

test-python:
	@scripts/test-python.sh

test-race:
	@scripts/test-race.sh

test-arm64:
	CGO_ENABLED=0 GOARCH=arm64 go vet ./internal/kernel/...
	CGO_ENABLED=0 GOARCH=arm64 go test -short -timeout 30m -exec $(or $(shell command -v qemu-aarch64 || command -v qemu-aarch64-static),qemu-aarch64) ./internal/kernel/...

test-long:
	@scripts/test-long.sh $(PARTS)

bench-peers:
	@scripts/setup.sh
	@echo "This takes about seven minutes."
	go run ./cmd/boxsum bench --peers $(PEERS_PYTHON)

bench-filters:
	@scripts/setup.sh
	@$(PEERS_PYTHON) -m pip install --quiet 'pyvips[binary]==3.2.0' || echo "libvips is left out"
	@echo "This takes about five minutes."
	go run ./lab/bench/filters -python $(PEERS_PYTHON) -doxa $(PEERS_PYTHON) -markdown $(FILTER_FLAGS)

bench-cascades:
	@scripts/setup.sh
	BOXSUM_SPEED=1920x1080,3840x2160 BOXSUM_PEERS_PYTHON=$$PWD/$(PEERS_PYTHON) BOXSUM_CASCADES_PYTHON=$$PWD/.venv/cascades/bin/python \
		go test ./detect -run '^TestSpeed$$' -v -count 1 -timeout 30m | grep times

bench-hog:
	@scripts/setup.sh
	BOXSUM_SPEED=640x480,1920x1080 BOXSUM_PEERS_PYTHON=$$PWD/$(PEERS_PYTHON) BOXSUM_CASCADES_PYTHON=$$PWD/.venv/cascades/bin/python \
		go test ./hog -run '^TestSpeed$$' -v -count 1 -timeout 30m | grep times

bench-gpu:
	go run ./lab/bench/gpu $(GPU_FLAGS)

bench-gpu-peers:
	go run ./cmd/boxsum bench --on cuda --peers $(GPU_PEERS_PYTHON)

bench-tensors:
	$(GPU_PEERS_PYTHON) -m boxsum.bench --tensors

BENCH_DIR = /tmp/boxsum-bench
BENCH_RUN = PYTHON=$(abspath $(PEERS_PYTHON)) $(BENCH_DIR)/run.sh
bench-compare:
	@[ -n "$(BASE)" ] || { echo "BASE is missing: a commit, or a file that make bench-save wrote"; exit 2; }
	@scripts/bench-compare.sh build $(BENCH_DIR) $(if $(wildcard $(BASE)),,$(BASE))
	@$(BENCH_RUN)
	@scripts/bench-compare.sh stat $(BENCH_DIR) $(wildcard $(BASE))

bench-save:
	@[ -n "$(RUN)" ] || { echo "RUN is missing: the file to write"; exit 2; }
	@scripts/bench-compare.sh build $(BENCH_DIR)
	@$(BENCH_RUN)
	@cp $(BENCH_DIR)/new.txt $(RUN)

generate:
	go generate ./...

kernels:
	@scripts/kernels.sh

fuzz:
	@scripts/fuzz.sh $(or $(FUZZTIME),1m)

site:
	@scripts/site.sh site

wheel:
	@scripts/wheel.sh

supply:
	@scripts/supply.sh

release:
	@VERSION=$(VERSION) scripts/release/build.sh

release-check:
	@VERSION=$(VERSION) scripts/release/check.sh
