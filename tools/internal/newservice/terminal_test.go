//go:build linux

package newservice_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestMakefile_Run presses Ctrl-C in a terminal, which signals all foreground processes.
func TestMakefile_Run(t *testing.T) {
	p := newTidyProject(t, options{database: "none", cache: "none"})
	// script of util-linux creates a pseudo terminal
	for _, program := range []string{"script", "make"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program, "is not installed")
		}
	}
	keys, keyboard, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = keys.Close(), keyboard.Close() }()
	r := p.start(keys, []string{"SHELL=/bin/sh", "TERM=dumb"}, "script", "-q", "-e", "-c",
		"exec make run", "/dev/null")
	if _, err := keyboard.Write([]byte{3}); err != nil { // Ctrl-C
		t.Fatal(err)
	}
	if code := r.exit(); code != 0 || strings.Contains(r.output(), "Error") {
		t.Errorf("exit code = %d, want 0 and no error of make:\n%s", code, r.output())
	}
}
