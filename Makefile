# make test         every test; installs what they need where it can
# make bench-peers  boxsum beside OpenCV and scikit-image, in one run
# make generate     the assembly kernels and the README's picture anew
# make fuzz         every fuzzer for a minute (FUZZTIME=1m)

PEERS_PYTHON = .venv/bin/python

.PHONY: test bench-peers generate fuzz

test:
	@scripts/test.sh

bench-peers:
	@scripts/peers.sh
	@echo "This takes about seven minutes."
	go run ./cmd/boxsum bench --peers $(PEERS_PYTHON)

generate:
	go generate ./...

fuzz:
	@scripts/fuzz.sh $(or $(FUZZTIME),1m)
