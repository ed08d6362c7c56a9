# make test is all that CI does; the other targets are parts of it, or tools.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
export PATH := $(PATH):/usr/sbin:/sbin

LINT_VERSION := v2.15.0
TOOLS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/tare/tools
LINT := $(TOOLS)/$(LINT_VERSION)/golangci-lint

# Packages whose tests are quick under the race detector: they are run under it
# alone.
RACE := ./agent ./result ./test/verdict ./wire

# Packages whose tests measure nothing and build no lab: they are run beside each
# other.
CALM := ./cases ./cmd/tare ./diagnose ./foreign ./report ./stats

.PHONY: test lint fuzz build bench diagnosis packages parts bpf web

# One package at a time: tests that measure must not disturb each other.
test: packages parts lint
	{ go test -count=1 -race -json $(RACE); \
		go test -count=1 -json $(CALM); \
		go test -count=1 -p 1 -timeout 9m -json $$(go list ./... | grep -vxF "$$(go list $(RACE) $(CALM))"); } | go run ./test/verdict

lint: $(LINT)
	@files=$$(gofmt -l .); [[ -z $$files ]] || { echo "gofmt -w these files:" $$files; exit 1; }
	go vet ./...
	for module in parts/*/go.mod; do go -C "$$(dirname "$$module")" vet -trimpath ./...; done
	$(LINT) run

$(LINT):
	GOBIN=$(@D) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)

# Debian's packages that the tests need, where they are missing.
packages:
	@.ci/packages

# The real parts that are no Debian package, into the cache where tare looks.
parts:
	@parts/build

fuzz:
	@grep -rEo --include='*_test.go' '^func Fuzz\w+' . | while IFS=: read -r file func; do \
		go test -run '^$$' -fuzz "^$${func#func }\$$" -fuzztime 10s "$$(dirname "$$file")" < /dev/null; \
	done

# The programs of tare trace; the repository holds them compiled.
bpf:
	@trace/bpf/build

# The script and style of the HTML page; the repository holds them as built.
web: packages
	@cd report/web && node build.mjs

build:
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o dist/tare ./cmd/tare

# What a lab costs, and the engine compared with the tools that people use.
bench:
	go run ./bench/lab
	go run ./bench/peers

# How often tare names the fault that was injected: docs/diagnosis.md.
diagnosis: packages parts build
	go run ./bench/diagnosis
