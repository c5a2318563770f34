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
	want := []string{"nodejs", "npm", "chromium", "fonts-noto-cjk"}
	if got := programs.Packages(); !slices.Equal(got, want) {
		t.Errorf("packages = %q, want %q", got, want)
	}
	for _, p := range programs.All() {
		if err := p.Look(); err == nil ||
			!strings.Contains(err.Error(), "apt-get install "+strings.Join(p.Packages, " ")) {
			t.Errorf("%s: %v, want the packages", p.Name, err)
		}
	}
	chrome := filepath.Join(dir, "google-chrome")
	if err := os.WriteFile(chrome, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, want := programs.Packages(), []string{"nodejs", "npm"}; !slices.Equal(got, want) {
		t.Errorf("packages = %q with a browser of another name, want %q", got, want)
	}
}
