# CI does make test and make vm; the other targets are parts of them, or tools.
# docs/testing.md says what each tier of tests holds and needs.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
export PATH := $(PATH):/usr/sbin:/sbin
export TARE_BINARY := $(CURDIR)/dist/tare
# As in a release; then tests, linters and the binary share what is compiled, in every clone.
export CGO_ENABLED := 0
export GOFLAGS := $(GOFLAGS) -trimpath

LINT_VERSION := v2.15.0
TOOLS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/tare/tools
LINT := $(TOOLS)/$(LINT_VERSION)/golangci-lint

# Tests whose names match are not quick (test/labtest/tier.go).
NOT_QUICK := ^Test(Lab|Real|Deep|VM)

# Those of them that run on this machine's own kernel.
HERE := ^Test(Lab|Real)

# Packages whose quick tests run under the race detector, which costs them little:
# those where goroutines share the most.
RACE := ./agent ./result ./test/verdict ./wire

# Packages whose tests measure, or look at the whole machine: one at a time. The tests
# of the others mostly wait: three packages at a time.
ALONE := ./bench/diagnosis ./bench/peers ./experiment ./iperf3 ./report ./test/agreement ./test/chaos ./test/docs ./test/everything ./test/hostile ./traffic ./workload

# The cluster of make kubernetes. Nothing else compiles it, since that takes minutes.
KUBERNETES := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/tare/parts/kubernetes
NODES := 2
DATAPATH := bridge
PROXY := iptables

# make lint vets. The package that takes longest is done in 8 min beside two others: what
# takes 15 hangs.
TEST_FLAGS := -count=1 -vet=off -ldflags='-s -w' -timeout 15m
GO_TEST := go test $(TEST_FLAGS)

.PHONY: quick lab test vm lint fuzz build dist bench diagnosis packages parts bpf web kubernetes kubernetes-down kubernetes-test

# Needs Go only. It leaves out what touches the kernel, measures or needs a package.
quick:
	@files=$$(gofmt -l .); [[ -z $$files ]] || { echo "gofmt -w these files:" $$files; exit 1; }
	go test -vet=off -ldflags='-s -w' -skip '$(NOT_QUICK)' ./...

# Needs root.
lab: build
	@for tool in ip nft ping tc; do \
		command -v $$tool >/dev/null || { echo "$$tool is missing: make packages installs what tests need" >&2; exit 1; }; done
	{ $(GO_TEST) -p 3 -run '^TestLab' -json $(call having,Lab,-v); \
		$(GO_TEST) -p 1 -run '^TestLab' -json $(call having,Lab,); } | go run ./test/verdict

test: packages parts lint build
	{ CGO_ENABLED=1 $(GO_TEST) -race -skip '$(NOT_QUICK)' -json $(RACE); \
		$(GO_TEST) -skip '$(NOT_QUICK)' -json $$(go list ./... | grep -vxF "$$(go list $(RACE))"); \
		$(GO_TEST) -p 3 -run '$(HERE)' -json $(call having,(Lab|Real),-v); \
		$(GO_TEST) -p 1 -run '$(HERE)' -json $(call having,(Lab|Real),); } | go run ./test/verdict

# On kernels that this machine does not run, in virtual machines. It needs QEMU.
vm: build
	@.ci/packages vm
	kernels=$$(.ci/kernels); { go run ./test/vm $$kernels; \
		TARE_KERNELS=$$kernels $(GO_TEST) -run '^TestVM' -json ./test/vm/kernels; } | go run ./test/verdict

# The packages with tests of a tier: those that are tested alone, or with -v the others,
# in an order in which test/cli and network, which take longest, are early.
having = $$(grep -rlE --include='*_test.go' --exclude-dir=kubernetes '^func Test$(1)' . | xargs -n 1 dirname | sort -ur | grep $(2) -xF "$$(printf '%s\n' $(ALONE))")

lint: $(LINT)
	@files=$$(gofmt -l .); [[ -z $$files ]] || { echo "gofmt -w these files:" $$files; exit 1; }
	go vet ./...
	for program in parts/*/main.go; do CGO_ENABLED=1 go -C "$$(dirname "$$program")" vet ./...; done
	$(LINT) run

$(LINT):
	GOBIN=$(@D) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)

# Debian's packages that the tests need, where they are missing.
packages:
	@.ci/packages

# The real parts that are no Debian package, into the cache where tare looks.
parts:
	@CGO_ENABLED=1 parts/build

# A Kubernetes cluster of NODES hosts of a lab, 2 or 3, with DATAPATH=flannel up to 10,
# and with PROXY=iptables|nftables, that runs until make kubernetes-down. The last line
# names its kubeconfig.
kubernetes: packages parts build
	@CGO_ENABLED=0 parts/build test/kubernetes
	@$(KUBERNETES) up --nodes $(NODES) --datapath $(DATAPATH) --proxy $(PROXY)

kubernetes-down:
	@[[ ! -x $(KUBERNETES) ]] || $(KUBERNETES) down

# Starts clusters, several at the same time, and takes them down. They wait most of it: all tests
# together, which are one package, are done in 10 min.
kubernetes-test: packages parts build
	@CGO_ENABLED=0 parts/build test/kubernetes
	go -C test/kubernetes vet ./...
	go -C test/kubernetes test $(TEST_FLAGS) -timeout 30m -parallel 4 -run '^TestReal' -json ./... | go run ./test/verdict

# Each for FUZZTIME, as in make fuzz FUZZTIME=30m.
FUZZTIME := 10s
fuzz:
	@grep -rEo --include='*_test.go' '^func Fuzz\w+' . | while IFS=: read -r file func; do \
		go test -run '^$$' -fuzz "^$${func#func }\$$" -fuzztime $(FUZZTIME) "$$(dirname "$$file")" < /dev/null; \
	done

# The programs of tare trace; the repository holds them compiled.
bpf:
	@trace/bpf/build

# The script and style of the HTML page; the repository holds them as built.
web: packages
	@cd report/web && node build.mjs

# The binary that tests run, once for all of them, is that of a release.
build:
	CGO_ENABLED=0 go build -ldflags '-s -w' -o dist/tare ./cmd/tare

# For machines that ssh or Docker reaches: beside each other, tare sends what fits.
dist:
	for arch in amd64 arm64; do CGO_ENABLED=0 GOARCH=$$arch go build -ldflags '-s -w' -o dist/tare-linux-$$arch ./cmd/tare; done
	ln -f dist/tare-linux-$$(go env GOARCH) dist/tare

# What a lab costs, and the engine compared with the tools that people use.
bench: build
	go run ./bench/lab
	go run ./bench/peers

# How often tare names the fault that was injected: docs/diagnosis.md.
diagnosis: packages parts build
	go run ./bench/diagnosis
