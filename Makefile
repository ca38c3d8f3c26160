# softhca: two commands do all the set-up, as root on Debian 12:
#   make demo   two software HCAs talk RDMA in a VM
#   make test   all tests
# Each target's line below begins with ## and is what `make help` prints.
SHELL := /bin/bash
.DEFAULT_GOAL := help
GO = $$(scripts/go.sh)

.PHONY: help
help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Go programs into bin/; module and provider where the host has the headers
	@mkdir -p bin
	go=$(GO) && CGO_ENABLED=0 "$$go" build -buildvcs=false -o bin/ ./cmd/...
	@scripts/build-native

.PHONY: install
install: ## what `make build` has built, as root, on this machine or below DESTDIR; loads nothing
	@scripts/install

.PHONY: demo
demo: ## the main job: two namespaces of a VM talk RDMA through our module and provider
	qemu/vm run --timeout 600 -- /softhca/tests/demo.sh

.PHONY: demo-ib
demo-ib: ## an InfiniBand fabric across two VMs: OpenSM, ibnetdiscover, ping, iperf3 and rping over it
	qemu/vm run --guests 2 --timeout 600 -- /softhca/tests/demo-ib.sh

.PHONY: test
test: test-unit test-lab ## all tests: on the host, then in the lab's guests

.PHONY: test-unit
test-unit: ## tests that need neither root nor a guest
	go=$(GO) && "$$go" test ./...
	@scripts/cc.sh
	$(MAKE) -s -C kmod/wire/test check
	$(MAKE) -s -C kmod/fabric/test check
	$(MAKE) -s -C kmod/transport/test check
	$(MAKE) -s -C provider check

.PHONY: test-lab
test-lab: ## tests in guests; ARGS='--only PATTERN --config PATTERN --tier quick'
	tests/run $(ARGS)

.PHONY: check
check: ## style and static analysis: checkpatch, sparse, W=1, kernel-doc, folders, Go, shell
	scripts/check

.PHONY: bench
bench: ## softhca, rdma_rxe and TCP over one wire, by instructions: out/bench.json
	tests/bench/run

.PHONY: shell
shell: ## a shell in a guest with everything installed
	qemu/vm shell

.PHONY: generate
generate: ## make again what is generated: from docs/netlink/softhca.yaml, and eBPF objects
	go=$(GO) && "$$go" generate ./...

.PHONY: clean
clean: ## remove what was built in the tree (the cache stays: rm -r ~/.cache/softhca)
	rm -rf bin out
	$(MAKE) -s -C provider clean
	$(MAKE) -s -C kmod/wire/test clean
	$(MAKE) -s -C kmod/fabric/test clean
	$(MAKE) -s -C kmod/transport/test clean
