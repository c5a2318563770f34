// Testall runs the tests of every module, or of those named, and ends with a table of the backends
// that the suites really ran on.
//
//	testall [-race] [NAME...]
//
// A suite says where it ran in a file of the folder PLINTH_TEST_REPORT; the table is made of these
// files, not of what was meant to run. PLINTH_TEST_REQUIRE names backends, separated by commas, without
// which the run fails.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/plinthgo/plinth/tools/internal/workspace"
)

func main() {
	race := flag.Bool("race", false, "look for data races, where the machine has what that takes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *race, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "testall:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop was called
	}
}

func run(ctx context.Context, race bool, names []string) error {
	root, err := workspace.Find()
	if err != nil {
		return err
	}
	modules, err := workspace.Modules(root)
	if err != nil {
		return err
	}
	reports, err := os.MkdirTemp("", "plinth-tests-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(reports) }()
	args := arguments(ctx, race)
	start := time.Now()
	var problems []error
	for _, m := range modules {
		if len(names) > 0 && !slices.Contains(names, m.Name) {
			continue
		}
		fmt.Fprintf(os.Stdout, "--- %s\n", m.Name)
		if err := test(ctx, m, reports, args); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", m.Name, err))
		}
	}
	ran, err := read(reports)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "\n%s\n%s in all\n", table(ran), time.Since(start).Round(time.Second))
	if len(names) == 0 {
		problems = append(problems, missing(ran, os.Getenv("PLINTH_TEST_REQUIRE")))
	}
	return errors.Join(problems...)
}

// arguments returns those of the go command.
func arguments(ctx context.Context, race bool) []string {
	args := []string{"test", "-count=1"}
	switch {
	case race && raceDetector(ctx):
		return append(args, "-race")
	case race:
		fmt.Fprintln(os.Stdout, "*** WITHOUT THE RACE DETECTOR: it takes cgo and a C compiler, which this machine lacks ***")
	}
	return args
}

// test runs one module's tests.
func test(ctx context.Context, m workspace.Module, reports string, args []string) error {
	cmd := exec.CommandContext(ctx, "go", append(slices.Clone(args), "./...")...)
	cmd.Dir = m.Dir
	cmd.Env = append(os.Environ(), "PLINTH_TEST_REPORT="+reports)
	out := &quiet{}
	cmd.Stdout, cmd.Stderr = out, out
	err := cmd.Run()
	out.flush()
	return err
}

// raceDetector reports whether a test binary can be built with the race detector.
func raceDetector(ctx context.Context) bool {
	dir, err := os.MkdirTemp("", "plinth-race-")
	if err != nil {
		return false
	}
	defer func() { _ = os.RemoveAll(dir) }()
	name := filepath.Join(dir, "main.go")
	if err := os.WriteFile(name, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return false
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-race", "-o", os.DevNull, name)
	cmd.Env = append(os.Environ(), "GOWORK=off")
	return cmd.Run() == nil
}

// quiet prints a test run without the packages that have no tests.
type quiet struct{ rest string }

// Write implements io.Writer.
func (q *quiet) Write(p []byte) (int, error) {
	text := q.rest + string(p)
	end := strings.LastIndexByte(text, '\n') + 1
	q.rest = text[end:]
	for line := range strings.Lines(text[:end]) {
		if !strings.Contains(line, "[no test files]") {
			_, _ = os.Stdout.WriteString(line)
		}
	}
	return len(p), nil
}

func (q *quiet) flush() { _, _ = os.Stdout.WriteString(q.rest) }
