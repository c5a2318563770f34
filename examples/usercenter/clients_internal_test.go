//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/conformance/testnode"
	"github.com/plinthgo/plinth/conformance/testreport"
)

// onNode is the required backend of the clients in PLINTH_TEST_REQUIRE: the npm packages
// and the Go modules need the same network.
const onNode = "node"

// clientsDir contains the programs that call the service with generated clients.
var clientsDir = filepath.Join("testdata", "clients")

// generated is a directory with a program and the document of a running service.
type generated struct {
	t       *testing.T
	report  *testreport.Run
	dir     string
	service *process
}

// generate starts the service and copies the program of a language.
func generate(t *testing.T, language string) *generated {
	t.Helper()
	if testing.Short() {
		t.Skip("generates and compiles a client")
	}
	g := &generated{
		t: t, dir: t.TempDir(),
		report: &testreport.Run{Family: "clients", Backend: language, Tests: 1},
	}
	testreport.Record(t, g.report)
	if err := os.CopyFS(g.dir, os.DirFS(filepath.Join(clientsDir, language))); err != nil {
		t.Fatal(err)
	}
	return g
}

// serve starts the service and writes its document to openapi.json.
func (g *generated) serve() {
	g.t.Helper()
	g.service = launch(g.t, g.t.TempDir(), "PLINTH_DRAIN_DELAY=0s", "LOG_DIR=none").ready()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	status, text, err := send(g.t.Context(), client, g.service.url+"/openapi.json", nil)
	if err != nil || status != http.StatusOK || text != string(document) {
		g.t.Fatalf("document = %d, %v, want the committed document\n%s", status, err, text)
	}
	if err := os.WriteFile(filepath.Join(g.dir, "openapi.json"), []byte(text), 0o600); err != nil {
		g.t.Fatal(err)
	}
}

// stop stops the service.
func (g *generated) stop() {
	g.t.Helper()
	if code := g.service.stop(); code != 0 {
		g.t.Errorf("exit code %d:\n%s", code, g.service.out.String())
	}
}

// run runs a command and returns its output. It fails the test if the command fails.
func (g *generated) run(cmd *exec.Cmd) string {
	g.t.Helper()
	out, err := g.try(cmd)
	if err != nil {
		g.t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return out
}

// try runs a command in the directory of the program.
func (g *generated) try(cmd *exec.Cmd) (out string, err error) {
	var stdout, stderr strings.Builder
	cmd.Dir, cmd.Stdout, cmd.Stderr = g.dir, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String() + stderr.String(), err
	}
	return stdout.String(), nil
}

// node is a generated client in TypeScript.
type node struct {
	*generated

	programs *testnode.Programs
}

// typescript installs the packages of the lock file. It skips the test if this is not
// possible.
func typescript(t *testing.T) *node {
	t.Helper()
	g := generate(t, "typescript")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	programs, err := testnode.Install(ctx, filepath.Join(clientsDir, "typescript"))
	if err != nil {
		testreport.Skip(t, g.report, onNode, err)
	}
	if err := os.Symlink(programs.Modules(), filepath.Join(g.dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	g.report.Source, g.report.Server = "npm", "Node.js "+programs.Version()
	g.serve()
	return &node{g, programs}
}

// command returns a command that runs the script of a package.
func (n *node) command(script []string, args ...string) *exec.Cmd {
	cmd := n.programs.Command(n.t.Context(), append([]string{n.programs.Path(script...)}, args...)...)
	cmd.Env = append(cmd.Env, "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	return cmd
}

func TestDocument_Redocly(t *testing.T) {
	t.Parallel()
	n := typescript(t)
	defer n.stop()
	out, err := n.try(n.command([]string{"@redocly", "cli", "bin", "cli.js"},
		"lint", "--config=redocly.yaml", "--format=json", "openapi.json"))
	var result struct {
		Totals   struct{ Errors, Warnings, Ignored int }
		Problems []any
	}
	if decodeErr := json.Unmarshal([]byte(out), &result); decodeErr != nil {
		t.Fatalf("lint: %v, %v\n%s", err, decodeErr, out)
	}
	if err != nil || len(result.Problems) > 0 || result.Totals.Ignored > 0 {
		t.Errorf("lint: %v\n%s", err, out)
	}
}

func TestClient_TypeScript(t *testing.T) {
	t.Parallel()
	n := typescript(t)
	defer n.stop()
	n.run(n.command([]string{"openapi-typescript", "bin", "cli.js"},
		"openapi.json", "--output=api.d.ts"))
	n.run(n.command([]string{"typescript", "bin", "tsc"}, "--project", "."))
	out := n.run(n.programs.Command(t.Context(), "flow.js", n.service.url))
	if strings.TrimSpace(out) != "passed" {
		t.Errorf("flow = %s, want passed", out)
	}
}

func TestClient_Go(t *testing.T) {
	t.Parallel()
	g := generate(t, "go")
	command := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly", "CGO_ENABLED=0")
		return cmd
	}
	if out, err := g.try(command("mod", "download")); err != nil {
		testreport.Skip(t, g.report, onNode, fmt.Errorf("download the modules: %w: %s", err, out))
	}
	g.serve()
	defer g.stop()
	if err := os.Mkdir(filepath.Join(g.dir, "api"), 0o700); err != nil {
		t.Fatal(err)
	}
	g.run(command("tool", "oapi-codegen", "-config=oapi-codegen.yaml", "openapi.json"))
	version := g.run(command("list", "-m", "github.com/oapi-codegen/oapi-codegen/v2"))
	g.report.Source, g.report.Server = "Go module", strings.TrimSpace(version)
	if out := g.run(command("run", ".", g.service.url)); strings.TrimSpace(out) != "passed" {
		t.Errorf("flow = %s, want passed", out)
	}
}
