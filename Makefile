# README's second command is make test; .ci/run adds lint and the parts of make deep that are due.
# docs/testing.md says what each tier of tests holds and needs.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
export PATH := $(PATH):/usr/sbin:/sbin
export TARE_BINARY := $(CURDIR)/dist/tare
# As in a release; then tests, linters and the binary share what is compiled, in every clone.
# Without the pages that gRPC traces itself on, whose templates would keep every method that is linked.
export CGO_ENABLED := 0
export GOFLAGS := $(GOFLAGS) -trimpath -tags=grpcnotrace

LINT_VERSION := v2.15.0
TOOLS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/tare/tools
LINT := $(TOOLS)/$(LINT_VERSION)/golangci-lint

# Tests whose names match are not quick (test/labtest/tier.go).
NOT_QUICK := ^Test(Lab|Real|Deep|VM)

# Those of them that make test leaves to make deep.
DEEP := ^Test(Deep|VM)

# All packages, those first that take longest, so that none of them is last.
PACKAGES := $$(printf 'tare/%s\n' test/cli network/kinds site report traffic lab; go list ./... | grep -vxE 'tare/(test/cli|network/kinds|site|report|traffic|lab)')

# The cluster of make kubernetes. Nothing else compiles it, since that takes minutes.
KUBERNETES := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/tare/parts/kubernetes
NODES := 2
DATAPATH := bridge
PROXY := iptables

# make test vets all packages at once. A package that takes 30 min hangs, on any machine.
GO_TEST := go test -vet=off -ldflags='-s -w' -timeout 30m

.PHONY: quick test deep vet lint fuzz build share install dist bench packages parts bpf web kubernetes kubernetes-down kubernetes-test vm

# Needs Go only. It leaves out what touches the kernel, measures or needs a package.
quick: formatted
	$(GO_TEST) -skip '$(NOT_QUICK)' ./...

ifeq ($(shell id -u),0)

# Needs root. The tests of most packages wait most of the time: three packages at a time.
test: packages parts build vet
	$(GO_TEST) -count=1 -skip '$(DEEP)' -p 3 -json $(PACKAGES) | go run ./test/verdict

# All parts of the deep tier, or PARTS="NAME NAME", or PARTS=due: those whose inputs changed
# since they last passed. PARTS=list lists them.
deep: packages parts build
	go run ./test/deep $(PARTS)

# A Kubernetes cluster of NODES hosts of a lab, 2 or 3, with DATAPATH=flannel up to 10,
# and with PROXY=iptables|nftables, that runs until make kubernetes-down. The last line
# names its kubeconfig.
kubernetes: packages parts build
	@CGO_ENABLED=0 parts/build test/kubernetes
	@$(KUBERNETES) up --nodes $(NODES) --datapath $(DATAPATH) --proxy $(PROXY)

kubernetes-down:
	@[[ ! -x $(KUBERNETES) ]] || $(KUBERNETES) down

# The engine compared with the tools that people use.
bench:
	go run ./bench peers

else

# An ordinary user needs sudo: all of it is root's then, caches too, but what is left in the checkout.
HANDED := GOENV PATH GOPROXY GOSUMDB GOTOOLCHAIN http_proxy https_proxy no_proxy
GOENV := $(shell go env GOENV)
test deep kubernetes kubernetes-down bench:
	sudo -H env $(foreach name,$(HANDED),$(if $($(name)),"$(name)=$($(name))")) $(MAKE) $@ $(MAKEOVERRIDES) || status=$$?; \
		sudo chown -R --from=root "$$(id -u):$$(id -g)" .; exit $${status-0}

endif

vet: formatted
	go vet ./...

formatted:
	@files=$$(gofmt -l .); [[ -z $$files ]] || { echo "gofmt -w these files:" $$files; exit 1; }

lint: vet $(LINT)
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

# Parts of make deep by names that people look for.
kubernetes-test:
	@$(MAKE) deep PARTS=kubernetes
vm:
	@$(MAKE) deep PARTS="vm-stable vm-backports vm-newest vm-kernels"

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

# What is beside the binary: manual pages, and the completion of shells.
share: build
	rm -rf dist/share
	dist/tare man dist/share/man/man1
	gzip -9n dist/share/man/man1/*
	for shell in bash:bash-completion/completions/tare zsh:zsh/site-functions/_tare fish:fish/vendor_completions.d/tare.fish; do \
		to=dist/share/$${shell#*:}; mkdir -p "$${to%/*}"; dist/tare completion "$${shell%%:*}" > "$$to"; done

# PREFIX=~/.local needs no root.
PREFIX := /usr/local
install: share
	install -D dist/tare $(DESTDIR)$(PREFIX)/bin/tare
	cp -rT dist/share $(DESTDIR)$(PREFIX)/share

# A release: binaries, of which tare sends to a machine the one beside it that fits, with what is in them;
# packages; and their sums. It is the same, bit for bit, each time that it is made of a commit.
NFPM := github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2
CYCLONEDX := github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
dist: export SOURCE_DATE_EPOCH = $(shell git log -1 --format=%ct)
dist: share
	rm -f dist/*.deb dist/*.rpm dist/*.json
	for ARCH in amd64 arm64; do \
		export ARCH VERSION="$$(dist/tare --version | sed 's/.* //')"; binary=dist/tare-linux-$$ARCH; \
		GOARCH=$$ARCH go build -ldflags '-s -w' -o $$binary ./cmd/tare; \
		go run $(CYCLONEDX) bin -json -std -noserial -notimestamp -version "$$VERSION" -output $$binary.cdx.json $$binary; \
		for packager in deb rpm; do go run $(NFPM) package -f cmd/tare/nfpm.yaml -p $$packager -t dist; done; done
	cd dist && sha256sum tare-linux-* *.deb *.rpm > SHA256SUMS
