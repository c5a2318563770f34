package programs_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/tools/devstack/programs"
)

func TestPackages(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if got, want := programs.Packages(),
		[]string{"nodejs", "npm", "chromium", "fonts-noto-cjk"}; !slices.Equal(got, want) {
		t.Errorf("packages = %q, want %q", got, want)
	}
	for _, p := range programs.All() {
		if err := p.Look(); err == nil ||
			!strings.Contains(err.Error(), "apt-get install "+strings.Join(p.Packages, " ")) {
			t.Errorf("%s: %v, want the packages", p.Name, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "google-chrome"), []byte("#!/bin/sh\n"),
		0o700); err != nil {
		t.Fatal(err)
	}
	if got, want := programs.Packages(), []string{"nodejs", "npm"}; !slices.Equal(got, want) {
		t.Errorf("packages = %q where a browser is there by another name, want %q", got, want)
	}
}
