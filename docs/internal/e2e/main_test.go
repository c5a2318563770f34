package e2e_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// builds is the folder of the programs that the tests have built.
var builds = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "plinth-docs-e2e-") })

func TestMain(m *testing.M) {
	code := m.Run()
	if browser := opened.Load(); browser != nil {
		browser.stop()
	}
	dir, err := builds()
	if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// The program as it is shipped, and the one with the fixtures of the conformance suite.
var (
	production  = sync.OnceValues(func() (string, error) { return build("plinth-docs") })
	conformance = sync.OnceValues(func() (string, error) { return build("plinth-docs-conformance", "-tags=conformance") })
)

// build builds the program.
func build(name string, flags ...string) (path string, err error) {
	dir, err := builds()
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, name)
	arguments := slices.Concat([]string{"build"}, flags, []string{"-o", path, "../../cmd/plinth-docs"})
	cmd := exec.Command("go", arguments...) //nolint:noctx // it outlives each test
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return path, nil
}

// binary returns the path of a program.
func binary(t *testing.T, program func() (string, error)) string {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return path
}
