package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const guide = "../../docs/content/guide/notifications.md"

// TestGuide_Templates verifies that every template on the page is in a file of the
// example, ignoring white space. The documentation tests verify the code.
func TestGuide_Templates(t *testing.T) {
	page, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	var sources []string
	err = filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !slices.Contains([]string{".txt", ".subject"}, filepath.Ext(path)) {
			return err
		}
		text, err := os.ReadFile(path)
		sources = append(sources, normalizeSpace(string(text)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```text\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(found) == 0 {
		t.Error("no template on the page")
	}
	for _, block := range found {
		code := normalizeSpace(block[1])
		if !slices.ContainsFunc(sources, func(s string) bool { return strings.Contains(s, code) }) {
			t.Errorf("no file contains:\n%s", block[1])
		}
	}
}

// normalizeSpace replaces runs of white space with one space.
func normalizeSpace(code string) string { return strings.Join(strings.Fields(code), " ") }
