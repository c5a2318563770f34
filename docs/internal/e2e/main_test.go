package e2e_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// builds is the directory of the programs that the tests have built.
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

// production is the program as it is shipped.
var production = sync.OnceValues(build)

// build builds the program.
func build() (path string, err error) {
	dir, err := builds()
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "plinth-docs")
	cmd := exec.Command("go", "build", "-o", path, "../../cmd/plinth-docs") //nolint:noctx // it outlives each test
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return path, nil
}

// binary returns the path of the program.
func binary(t *testing.T) string {
	t.Helper()
	path, err := production()
	if err != nil {
		t.Fatal(err)
	}
	return path
}
