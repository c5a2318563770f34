# Every command works on a machine with Go and make only; what else is needed is obtained.
# `make` prints this list.

MODULES := $(shell cat modules.txt)
BIN     := $(CURDIR)/bin
LINT    := $(BIN)/golangci-lint
BUF     := $(BIN)/buf

# Tools that are built into bin. Whoever changes a version here gets the tool built again by the next command.
LINT_AT               := v2.15.0
BUF_AT                := v1.73.0
PROTOC_GEN_GO_AT      := v1.36.12
PROTOC_GEN_GO_GRPC_AT := v1.6.2

# The newest Go, on which make test-next runs the tests. The modules state the oldest one in their go.mod.
NEXT_GO ?= go1.27.4

# One way to build for all but the tests, and the one of verify: a run on a new machine then compiles each dependency once less.
# A compiler lives for seconds: to collect its garbage less often takes a seventh less time. The linters live long: 11 GB instead of 4.
ALIKE := CGO_ENABLED=0 GOFLAGS=-trimpath GOGC=400

PROTO_TOOLS := $(BUF) $(BIN)/protoc-gen-go $(BIN)/protoc-gen-go-grpc

# A developer's own go.work, GOFLAGS or backend must not change what these commands mean.
unexport GOFLAGS
export GOWORK := $(CURDIR)/go.work

.DEFAULT_GOAL := help
.PHONY: help run test test-next devstack check lint fmt proto generate tidy deps-check verify bench bench-docs footprint footprint-check docs docs-check diagrams clean-tree ci

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# make fails if Ctrl-C reaches it, even if its child then exits with 0. In the foreground of a terminal (a + in the state of the
# shell) the service is therefore a job of its own, and job control sends Ctrl-C to it alone.
run: ## start the sample service on SQLite and the in-memory cache
	@cd examples && $(ALIKE) go build -o $(BIN)/usercenter ./usercenter
	@case "$$(ps -o stat= -p $$$$ 2>/dev/null)" in *+*) set -m; $(BIN)/usercenter ;; *) exec $(BIN)/usercenter ;; esac

test: ## run every module's tests; ends with the backends that they really ran on
	@cd tools && $(ALIKE) go build -o $(BIN)/testall ./testall
	@exec $(BIN)/testall -race

test-next: ## run the short tests on the newest Go, without servers and the race detector
	@cd tools && $(ALIKE) go build -o $(BIN)/testall ./testall
	@exec $(BIN)/testall -go $(NEXT_GO)

devstack: ## start private servers and print their addresses; CMD='go test ./...' runs a command with them
	@cd tools && $(ALIKE) go build -o $(BIN)/devstack ./devstack
	@exec $(BIN)/devstack $(if $(CMD),-- sh -c '$(subst ','\'',$(CMD))')

check: ## the fast loop: format, vet, layers and core's short tests, with the race detector if there is a C compiler
	@cd core && test -z "$$(gofmt -l .)" || { gofmt -l .; echo "run make fmt"; exit 1; }
	@cd core && go test -short -vet=all $(if $(filter 1,$(shell go env CGO_ENABLED)),-race) -ldflags='-s -w' ./...

lint: $(LINT) ## run the linters over every module
	@$(ALIKE) GOGC=100 $(LINT) run $(foreach m,$(MODULES),./$(m)/...)

fmt: $(LINT) $(BUF) ## format the code and the protocol buffers
	@$(LINT) fmt -c .golangci.yml
	@$(BUF) format --write

proto: $(PROTO_TOOLS) ## check the protocol buffers: format, lint, and that the code made of them is current
	@$(BUF) format --diff --exit-code || { echo "run make fmt"; exit 1; }
	@$(BUF) lint
	@git ls-files '*.proto' | sort >bin/.protos; $(BUF) ls-files | sort | diff bin/.protos - || \
		{ echo "a proto is in none of the folders that buf.yaml includes"; exit 1; }
	@rm -rf bin/.made && $(BUF) generate --output bin/.made && (cd bin/.made && find . -name '*.go' | sort) | while read -r f; do \
		cmp -s "bin/.made/$$f" "$$f" || { echo "$$f is not current: run make generate"; exit 1; }; done

generate: $(PROTO_TOOLS) ## write what is made: .env.example, the list of variables, the code of protocol buffers
	@cd tools && go run ./envdoc
	@$(BUF) generate

tidy: ## go mod tidy in every module
	@cd tools && go run ./release tidy

deps-check: ## fail on a retracted dependency, and on a known vulnerability if the database can be reached
	@cd tools && $(ALIKE) go run ./depscheck

verify: ## prove what strangers get: each module from its zip in an empty module cache, and programs that require it
	@cd tools && $(ALIKE) go run ./release verify

bench: ## print speed, memory and footprint as ratios to peers in the same run
	@cd tools && go run ./benchmark

bench-docs: ## the same, and write the tables into the documentation and README.md
	@cd tools && go run ./benchmark -write

footprint: ## print size and modules of each module's smallest program
	@cd tools && go run ./footprint

footprint-check: ## fail where core costs more over gin than was promised
	@cd tools && $(ALIKE) go run ./footprint -check

docs: ## show the documentation of this working tree on http://127.0.0.1:8080; the browser follows each change
	@cd docs && $(ALIKE) go build -o $(BIN)/plinth-docs ./cmd/plinth-docs
	@exec $(BIN)/plinth-docs serve --dir docs/content

docs-check: ## report broken links, code that has drifted, pages that no order names, and the rest that can be wrong with a page
	@cd docs && $(ALIKE) go run ./cmd/plinth-docs check

diagrams: ## render the diagrams of the documentation, with npm and Chromium
	@cd docs && go run ./internal/diagrams

clean-tree: ## fail when a command has changed the tree
	@test -z "$$(git status --porcelain)" || { git status --short; echo "the tree is not clean"; exit 1; }

ci: ## all that must hold before a change lands
	@cd tools && $(ALIKE) go run ./envdoc -check
	@$(MAKE) --no-print-directory deps-check
	@$(MAKE) --no-print-directory docs-check
	@$(MAKE) --no-print-directory proto
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory footprint-check
	@$(MAKE) --no-print-directory verify
	@$(MAKE) --no-print-directory test
	@$(MAKE) --no-print-directory test-next

$(LINT): $(BIN)/.golangci-lint@$(LINT_AT)
	$(call install,github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_AT))

$(BUF): $(BIN)/.buf@$(BUF_AT) # it reads a few files: to optimize it takes longer than that
	$(call install,github.com/bufbuild/buf/cmd/buf@$(BUF_AT),-gcflags="all=-N -l -dwarf=false")

$(BIN)/protoc-gen-go: $(BIN)/.protoc-gen-go@$(PROTOC_GEN_GO_AT)
	$(call install,google.golang.org/protobuf/cmd/protoc-gen-go@$(PROTOC_GEN_GO_AT))

$(BIN)/protoc-gen-go-grpc: $(BIN)/.protoc-gen-go-grpc@$(PROTOC_GEN_GO_GRPC_AT)
	$(call install,google.golang.org/grpc/cmd/protoc-gen-go-grpc@$(PROTOC_GEN_GO_GRPC_AT))

# The go command may leave a binary that is current as it is; the time has to be later than the stamp's all the same.
define install
@echo "building $(1)"
@GOWORK=off GOBIN=$(BIN) $(ALIKE) go install -ldflags="-s -w" $(2) $(1)
@touch $@
endef

# A stamp carries the version that a tool was asked for in its name, so that another version is a file that is missing.
$(BIN)/.%:
	@mkdir -p $(BIN) && rm -f $(firstword $(subst @, ,$@))@* && touch $@
