package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestMissingPrograms(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if got, want := missingPrograms(), []string{"nodejs", "npm", "chromium", "fonts-noto-cjk"}; !slices.Equal(got, want) {
		t.Errorf("packages = %q, want %q", got, want)
	}
	if err := os.WriteFile(filepath.Join(dir, "google-chrome"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, want := missingPrograms(), []string{"nodejs", "npm"}; !slices.Equal(got, want) {
		t.Errorf("packages = %q where a browser is there by another name, want %q", got, want)
	}
}
