// Testall runs the tests of every module, or of those named, and ends with a table of the
// backends that the suites really ran on.
//
//	testall [-race] [-go VERSION] [NAME...]
//
// With -go the tests run with that Go version, such as go1.27.4: -short, without servers
// and without the race detector. If the go command cannot obtain it, a line in capitals
// reports that, and nothing else happens.
//
// A suite that needs a server finds it in the environment, as PLINTH_TEST_POSTGRES_DSN,
// or gets a private one whose binary is on the machine; the first table says which. The
// program devstack does the same for any command.
//
// A suite says where it ran in a file of the folder PLINTH_TEST_REPORT; the closing table
// is made of these files, not of what was meant to run. PLINTH_TEST_REQUIRE names
// backends, separated by commas, without which the run fails; an unknown one, and one
// whose server or program is missing or does not answer, fails it at the start.
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

// together is how many modules are tested at the same time: two keep the processors of a
// small machine busy, and in a third the modules whose tests mostly wait pass by.
const together = 3

// longest are the modules that take longest, each more than a minute, the longest first.
// They begin, so that none of them runs alone at the end.
var longest = []string{
	"tools", "tools/devstack", "tools/plinth", "cacheplugins/redis", "conformance", "core", "docs",
	"asyncx", "cacheplugins/memory",
	"examples", "dbplugins/postgres", "asyncx/river",
	"dbplugins/sqlite", "dbplugins/mysql", "asyncx/asynq", "notifyx", "grpcx",
}

// plain are the modules that a run of all tests as verify has built them, without the
// race detector: programs for developers, which link every driver and six frameworks. To
// compile and link those once more takes longer than their tests. Whoever names such a
// module gets the detector.
var plain = []string{"tools"}

func main() {
	race := flag.Bool("race", false, "look for data races, where the machine has what that takes")
	version := flag.String("go", "", "run the short tests with this Go version, without servers")
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
		if err := refused(required()); err != nil {
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
		if !next(signals.Context(), version) {
			return nil
		}
		args := append(slices.Clip(quick), "-short")
		return runner{
			signals: signals, args: args, long: "core",
			environ: nextEnv(version, os.Environ()),
		}.testAll(modules, nil)
	}
	if err := absent(modules, required()); err != nil {
		return err
	}
	r := runner{
		signals: signals, args: arguments(signals.Context(), race), all: len(names) == 0,
		environ: os.Environ(), required: required(),
	}
	return within(signals, modules, func(env []string) error { return r.testAll(modules, env) })
}

// within does something while the servers run that the modules can use. env is what tells
// the tests about them.
func within(
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
	args    []string // of go test, but for plain modules
	all     bool     // no module was named
	long    string   // the module whose long tests run too, though args have -short

	environ  []string
	required []string // backends
}

// testAll runs the tests of every module and says where they ran.
func (r runner) testAll(modules []workspace.Module, env []string) error {
	reports, err := os.MkdirTemp("", "plinth-tests-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(reports) }()
	env = slices.Concat(r.environ, env, []string{"PLINTH_TEST_REPORT=" + reports})
	if os.Getenv("GORACE") == "" {
		// At its end a process waits a second for races of its last moment, more than a
		// hundred times: a tenth of that will do.
		env = append(env, "GORACE=atexit_sleep_ms=100")
	}
	start := time.Now()
	slices.SortStableFunc(modules, func(a, b workspace.Module) int { return rank(a) - rank(b) })
	problems := lanes.Each(together, modules,
		func(m workspace.Module) error { return r.test(m, env) })
	if err := r.signals.Err(); err != nil {
		return errors.Join(problems, err)
	}
	ran, err := read(reports)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "\n%s\n%s in all\n", table(ran), time.Since(start).Round(time.Second))
	return errors.Join(problems, missing(ran, r.required))
}

// rank is the place of a module among the longest, which come before all others.
func rank(m workspace.Module) int {
	if i := slices.Index(longest, m.Name); i >= 0 {
		return i
	}
	return len(longest)
}

// quick are the arguments of every go test: one package of each module at a time, since
// several modules are tested at a time; the linters vet, and to do it again for every
// dependency takes an eighth of a cold run.
var quick = []string{"test", "-count=1", "-p=1", "-vet=off"}

// inner starts a test in the environment of its users: memory is collected as often as
// ever. What the test builds by itself, it builds as the Makefile does, since that has
// been compiled before.
const inner = "env -u GOGC CGO_ENABLED=0 GOFLAGS=-trimpath"

// arguments returns those of go test.
func arguments(ctx context.Context, race bool) []string {
	args := slices.Clip(quick)
	if _, err := exec.LookPath("env"); err == nil {
		args = append(args, "-exec="+inner)
	}
	switch {
	case race && raceDetector(ctx):
		// Nobody debugs these binaries: to compile them without the data for that takes a
		// ninth less time. SQLite translated from C runs on its own locks: what the
		// detector sees there is a third of the time of such tests.
		return append(args, "-race", "-gcflags=all=-dwarf=false",
			"-gcflags=modernc.org/...=-race=false -dwarf=false")
	case race:
		fmt.Fprintln(os.Stdout,
			"*** WITHOUT THE RACE DETECTOR: it takes cgo and a C compiler, which this machine lacks ***")
	}
	return args
}

// test runs one module's tests, and shows what they say when they have ended. After a
// signal it does nothing.
func (r runner) test(m workspace.Module, env []string) error {
	if r.signals.Context().Err() != nil {
		return nil //nolint:nilerr // the caller has it
	}
	_, _ = os.Stdout.WriteString("... " + m.Name + "\n")
	start := time.Now()
	// compilers live for seconds
	args, env := slices.Clip(r.args), append(slices.Clip(env), "GOGC=400")
	// signals and processes need no servers
	if m.Name == r.long {
		args = slices.Clip(quick)
	}
	if r.all && slices.Contains(plain, m.Name) {
		args, env = slices.Clip(quick), append(env, "CGO_ENABLED=0", "GOFLAGS=-trimpath")
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
		m.Name, time.Since(start).Round(time.Second), quiet(out.String()))
	_, _ = os.Stdout.WriteString(text) // in one piece, as others write too
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	return nil
}

// raceDetector reports whether a test binary can be built with the race detector: it
// takes cgo and a C compiler.
func raceDetector(ctx context.Context) bool {
	out, err := exec.CommandContext(ctx, "go", "env", "CGO_ENABLED", "CC").Output()
	enabled, compiler, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if err != nil || enabled != "1" || compiler == "" {
		return false
	}
	_, err = exec.LookPath(strings.Fields(compiler)[0])
	return err == nil
}

// quiet returns the output of a test run without the packages that have no tests.
func quiet(output string) string {
	var b strings.Builder
	for line := range strings.Lines(output) {
		if !strings.Contains(line, "[no test files]") {
			b.WriteString(line)
		}
	}
	return b.String()
}
