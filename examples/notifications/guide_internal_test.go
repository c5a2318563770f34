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

// TestGuideQuotesTheTemplates finds every template on the page in a file here. Space does
// not count; the check of the documentation finds the code.
func TestGuideQuotesTheTemplates(t *testing.T) {
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
		sources = append(sources, squeeze(string(text)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```text\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(found) == 0 {
		t.Error("the page shows no template")
	}
	for _, block := range found {
		code := squeeze(block[1])
		if !slices.ContainsFunc(sources, func(s string) bool { return strings.Contains(s, code) }) {
			t.Errorf("this is in no file:\n%s", block[1])
		}
	}
}

// squeeze makes every run of white space one blank.
func squeeze(code string) string { return strings.Join(strings.Fields(code), " ") }
