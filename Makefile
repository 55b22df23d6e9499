# make test             the tests; installs what they need where it can
# make test-long        their long forms: race detector, other platforms, fuzzers
# make bench-peers      boxsum beside OpenCV and scikit-image, in one run
# make bench-filters    filters and thresholds beside OpenCV, Doxa, libvips and others, in one run, with their floors
# make bench-cascades   detectors beside OpenCV 4
# make bench-gpu-peers  the same on a CUDA device, beside NPP, PyTorch and CuPy (GPU_PEERS_PYTHON=python3)
# make bench-tensors    batches of PyTorch on a CUDA device, beside cumsum and avg_pool2d (GPU_PEERS_PYTHON has the package)
# make generate         the assembly kernels and the pictures anew
# make kernels          the CUDA kernels anew, with nvcc from PATH or PyPI
# make wheel            the Python package as a wheel that needs no Go, in python/dist
# make supply           dependencies: what go.sum says, licences, vulnerabilities; and workflows
# make site             the documents, and the page of boxsum view, as a folder for any web server, in site
# make release          VERSION=v0.2.0: programs, packages, wheels, checksums, SBOM, in dist
# make release-check    uses what it built, as a stranger would
# make fuzz             every fuzzer for a minute (FUZZTIME=1m)

PEERS_PYTHON = .venv/bin/python
FILTER_PEERS_PYTHON = .filters/bin/python
DOXA_PYTHON = $(or $(BOXSUM_DOXA_PYTHON),.venv/doxa/bin/python)
GPU_PEERS_PYTHON = python3

.PHONY: release release-check supply wheel test test-long test-reach bench-peers bench-filters bench-cascades bench-gpu-peers bench-tensors generate kernels fuzz site

test:
	@scripts/test.sh

test-long:
	@scripts/test-long.sh

test-reach:
	@scripts/test-reach.sh

bench-peers:
	@scripts/peers.sh
	@echo "This takes about seven minutes."
	go run ./cmd/boxsum bench --peers $(PEERS_PYTHON)

bench-filters:
	@scripts/filter-peers.sh
	@scripts/doxa.sh || true
	@echo "This takes about five minutes."
	go run ./internal/bench/filters -python $(FILTER_PEERS_PYTHON) -doxa $(DOXA_PYTHON) -markdown $(FILTER_FLAGS)

bench-cascades:
	@scripts/peers.sh
	@scripts/cascades.sh
	BOXSUM_SPEED=1920x1080,3840x2160 BOXSUM_PEERS_PYTHON=$$PWD/$(PEERS_PYTHON) BOXSUM_CASCADES_PYTHON=$$PWD/.venv/cascades/bin/python \
		go test ./detect -run '^TestSpeed$$' -v -count 1 -timeout 30m | grep times

bench-gpu-peers:
	go run ./cmd/boxsum bench --on cuda --peers $(GPU_PEERS_PYTHON)

bench-tensors:
	$(GPU_PEERS_PYTHON) -m boxsum.bench --tensors

generate:
	go generate ./...

kernels:
	@scripts/kernels.sh

fuzz:
	@scripts/fuzz.sh $(or $(FUZZTIME),1m)

site:
	go run ./internal/view/site site/explore
	cd docs/site && go run . ../.. ../../site

wheel:
	@scripts/wheel.sh

supply:
	@scripts/supply.sh

release:
	@VERSION=$(VERSION) scripts/release.sh

release-check:
	@VERSION=$(VERSION) scripts/release-check.sh
