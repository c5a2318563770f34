package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// folder makes one with these files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// names lists the files of the tree below, as git would.
var names = []string{"a/current.pb.go", "a/gone_grpc.pb.go", "a/hand.pb.go", "a/other.go", "a/stale.pb.go"}

func tree(t *testing.T) (root, made string) {
	t.Helper()
	root = folder(t, map[string]string{
		"a/current.pb.go":   mark + ". 1",
		"a/gone_grpc.pb.go": mark + "-grpc. 1",
		"a/hand.pb.go":      "package a",
		"a/other.go":        mark + ". 1",
		"a/stale.pb.go":     mark + ". 1",
	})
	made = folder(t, map[string]string{
		"a/current.pb.go": mark + ". 1",
		"a/stale.pb.go":   mark + ". 2",
		"b/new.pb.go":     mark + ". 1",
	})
	return root, made
}

func TestCheckNamesEveryFileThatIsOutOfDate(t *testing.T) {
	root, made := tree(t)
	changes, err := compare(root, names, made)
	if err != nil {
		t.Fatal(err)
	}
	want := "a/stale.pb.go is stale: run make generate\n" +
		"b/new.pb.go is missing: run make generate\n" +
		"a/gone_grpc.pb.go is made of a proto that is gone: run make generate"
	if err := refuse(root, changes); err == nil || err.Error() != want {
		t.Errorf("refuse = %v\nwant %s", err, want)
	}
}

func TestGenerateMendsWhatTheCheckRefuses(t *testing.T) {
	root, made := tree(t)
	changes, err := compare(root, names, made)
	if err != nil {
		t.Fatal(err)
	}
	if err := apply(root, changes); err != nil {
		t.Fatal(err)
	}
	left := []string{"a/current.pb.go", "a/hand.pb.go", "a/other.go", "a/stale.pb.go", "b/new.pb.go"}
	for _, name := range left {
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(name))); err != nil {
			t.Error(err)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(root, "a")); err != nil || len(entries) != 4 {
		t.Errorf("folder a = %v, %v; want 4 files", entries, err)
	}
	changes, err = compare(root, left, made)
	if err != nil || len(changes) != 0 {
		t.Errorf("afterwards compare = %v, %v; want nothing", changes, err)
	}
	if err := refuse(root, changes); err != nil {
		t.Errorf("refuse = %v, want nil", err)
	}
}

func TestProtoThatBufDoesNotSeeIsRefused(t *testing.T) {
	files := []string{"a/seen.proto", "b/unseen.proto", "c/code.go"}
	if err := unlisted(files, []string{"a/seen.proto"}); err == nil || !strings.Contains(err.Error(), "b/unseen.proto") ||
		strings.Contains(err.Error(), "a/seen.proto") {
		t.Errorf("unlisted = %v, want b/unseen.proto only", err)
	}
	if err := unlisted(files, slices.Clone(files)); err != nil {
		t.Errorf("unlisted = %v, want nil", err)
	}
}
