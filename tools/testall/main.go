// Testall runs the tests of all modules, or of the named modules, and prints a table of
// the backends that the suites used.
//
//	testall [-race] [-go VERSION] [NAME...]
//
// With -go, it runs the short tests with that Go version, such as go1.27.4, without
// servers and race detector. If the go command cannot download the version, testall
// prints a line in capitals and exits successfully.
//
// Suites use the servers of the environment, such as PLINTH_TEST_POSTGRES_DSN, or private
// servers whose binaries are installed. The first table lists these servers. The program
// devstack provides them for any command.
//
// Each suite writes a report to the directory PLINTH_TEST_REPORT, and the final table is
// made from these reports. PLINTH_TEST_REQUIRE is a comma-separated list of backends; the
// run fails if no suite ran on one of them. It fails immediately if a name is unknown, or
// if a server or program is missing or does not respond.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/plinthgo/plinth/tools/devstack/child"
	"github.com/plinthgo/plinth/tools/devstack/stack"
	"github.com/plinthgo/plinth/tools/internal/lanes"
	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// parallel is the number of modules that are tested concurrently. Two of them use the
// processors of a small machine; the third one mostly waits.
const parallel = 3

// longest are the modules whose tests take more than a minute, in descending order. They
// start first, so that none of them runs alone at the end.
var longest = []string{
	"tools", "tools/devstack", "tools/plinth", "cacheplugins/redis", "conformance", "core", "docs",
	"asyncx", "cacheplugins/memory", "examples", "dbplugins/postgres", "asyncx/river",
	"dbplugins/sqlite", "dbplugins/mysql", "asyncx/asynq", "notifyx", "grpcx",
}

// withoutRace are modules that are tested without the race detector unless they are
// named. Their programs link every driver and six frameworks, so that a second build
// takes longer than the tests.
var withoutRace = []string{"tools"}

func main() {
	race := flag.Bool("race", false, "enable the race detector if cgo and a C compiler are available")
	version := flag.String("go", "", "run the short tests with this Go `version`, without servers")
	flag.Parse()
	signals := child.Watch()
	err := run(signals, *race, *version, flag.Args())
	signals.Stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "testall:", err)
		os.Exit(1)
	}
}

func run(signals *child.Signals, race bool, version string, names []string) error {
	if version == "" {
		if err := checkRequired(required()); err != nil {
			return err
		}
	}
	root, err := workspace.Find()
	if err != nil {
		return err
	}
	modules, err := workspace.Modules(root)
	if err != nil {
		return err
	}
	if modules, err = workspace.Choose(modules, names); err != nil {
		return err
	}
	if version != "" {
		if !isAvailable(signals.Context(), version) {
			return nil
		}
		args := append(slices.Clip(testArgs), "-short")
		return runner{
			signals: signals, args: args, long: "core",
			environ: nextEnv(version, os.Environ()),
		}.testAll(modules, nil)
	}
	if err := checkPrograms(modules, required()); err != nil {
		return err
	}
	r := runner{
		signals: signals, args: arguments(signals.Context(), race), all: len(names) == 0,
		environ: os.Environ(), required: required(),
	}
	return withServers(signals, modules, func(env []string) error { return r.testAll(modules, env) })
}

// withServers starts the servers that the modules can use, and calls do with their
// variables.
func withServers(
	signals *child.Signals, modules []workspace.Module, do func(env []string) error,
) (err error) {
	ctx, kinds := signals.Context(), kindsOf(modules)
	if len(kinds) == 0 {
		return do(nil)
	}
	servers, err := stack.Start(ctx, os.Getenv, kinds)
	if err != nil {
		return errors.Join(signals.Err(), err)
	}
	defer func() { err = errors.Join(err, servers.Close(ctx)) }()
	fmt.Fprintln(os.Stdout, servers.Table())
	if err := servers.Missing(required()); err != nil {
		return fmt.Errorf("PLINTH_TEST_REQUIRE: %w", err)
	}
	return do(servers.Env())
}

// runner runs the tests of modules.
type runner struct {
	signals *child.Signals
	args    []string // of go test, except for the modules of withoutRace
	all     bool     // no module was named
	long    string   // module whose long tests run even if args contains -short

	environ  []string
	required []string // backends
}

// testAll runs the tests of all modules and prints the reports.
func (r runner) testAll(modules []workspace.Module, env []string) error {
	reports, err := os.MkdirTemp("", "plinth-tests-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(reports) }()
	env = slices.Concat(r.environ, env, []string{"PLINTH_TEST_REPORT=" + reports})
	if os.Getenv("GORACE") == "" {
		// By default, each of more than a hundred test processes waits one second at exit
		// to detect races. 100 ms is enough.
		env = append(env, "GORACE=atexit_sleep_ms=100")
	}
	start := time.Now()
	slices.SortStableFunc(modules, func(a, b workspace.Module) int { return rank(a) - rank(b) })
	problems := lanes.Each(parallel, modules,
		func(m workspace.Module) error { return r.test(m, env) })
	if err := r.signals.Err(); err != nil {
		return errors.Join(problems, err)
	}
	all, err := read(reports)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "\n%s\n%s in total\n", table(all), time.Since(start).Round(time.Second))
	return errors.Join(problems, missing(all, r.required))
}

// rank returns the index of a module in longest; other modules follow.
func rank(m workspace.Module) int {
	if i := slices.Index(longest, m.Name); i >= 0 {
		return i
	}
	return len(longest)
}

// testArgs are the common arguments of the go command. Each module tests one package at a
// time, because several modules run concurrently. vet is off because the linters run it.
var testArgs = []string{"test", "-count=1", "-p=1", "-vet=off"}

// execWith is the program with which go test runs the test binaries. It restores the
// default GOGC. Tests that build programs use the build settings of the Makefile, whose
// results are cached.
const execWith = "env -u GOGC CGO_ENABLED=0 GOFLAGS=-trimpath"

// arguments returns the arguments of go test.
func arguments(ctx context.Context, race bool) []string {
	args := slices.Clip(testArgs)
	if _, err := exec.LookPath("env"); err == nil {
		args = append(args, "-exec="+execWith)
	}
	switch {
	case race && raceDetector(ctx):
		// Without debug data, compilation is 11 % faster. The race detector is off for
		// SQLite, which is translated from C and uses its own locks; this saves a third
		// of the time of its tests.
		return append(args, "-race", "-gcflags=all=-dwarf=false",
			"-gcflags=modernc.org/...=-race=false -dwarf=false")
	case race:
		fmt.Fprintln(os.Stdout, "*** WITHOUT RACE DETECTOR: it requires cgo and a C compiler ***")
	}
	return args
}

// test runs the tests of a module and prints their output at the end. It does nothing
// after a signal.
func (r runner) test(m workspace.Module, env []string) error {
	if r.signals.Context().Err() != nil {
		return nil //nolint:nilerr // testAll returns the error
	}
	_, _ = os.Stdout.WriteString("... " + m.Name + "\n")
	start := time.Now()
	// a higher GOGC makes the short-lived compiler processes faster
	args, env := slices.Clip(r.args), append(slices.Clip(env), "GOGC=400")
	// the long tests of this module use signals and processes, but no servers
	if m.Name == r.long {
		args = slices.Clip(testArgs)
	}
	if r.all && slices.Contains(withoutRace, m.Name) {
		args, env = slices.Clip(testArgs), append(env, "CGO_ENABLED=0", "GOFLAGS=-trimpath")
	}
	cmd := r.signals.Command("go", append(args, "./...")...)
	cmd.Dir, cmd.Env = m.Dir, env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	code, err := r.signals.Run(cmd)
	if err == nil && code != 0 {
		err = fmt.Errorf("exit status %d\n%s", code, workspace.Failed(out.Bytes()))
	}
	text := fmt.Sprintf("--- %s, %s\n%s",
		m.Name, time.Since(start).Round(time.Second), dropUntested(out.String()))
	// a single write, because tests of other modules write concurrently
	_, _ = os.Stdout.WriteString(text)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	return nil
}

// raceDetector reports whether cgo and a C compiler are available.
func raceDetector(ctx context.Context) bool {
	out, err := exec.CommandContext(ctx, "go", "env", "CGO_ENABLED", "CC").Output()
	enabled, compiler, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if err != nil || enabled != "1" || compiler == "" {
		return false
	}
	_, err = exec.LookPath(strings.Fields(compiler)[0])
	return err == nil
}

// dropUntested removes packages without tests from the output.
func dropUntested(output string) string {
	var b strings.Builder
	for line := range strings.Lines(output) {
		if !strings.Contains(line, "[no test files]") {
			b.WriteString(line)
		}
	}
	return b.String()
}
