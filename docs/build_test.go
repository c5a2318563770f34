package docs_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/docs"
	"github.com/plinthgo/plinth/docs/internal/doctest"
)

func TestSite_Build(t *testing.T) {
	t.Run("writes the served files", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "sites", "site")
		site := open(t, docs.WithBaseURL("https://docs.example.org"))
		for range 2 { // the second replaces the first
			if err := site.Build(dir); err != nil {
				t.Fatal(err)
			}
		}
		for name, path := range map[string]string{
			"llms.txt": "/llms.txt", "llms-full.txt": "/llms-full.txt",
			"docs/guide/quick-start.md":       "/docs/guide/quick-start.md",
			"llms.mdx/docs/guide/quick-start": "/llms.mdx/docs/guide/quick-start",
			"llms.mdx/docs/guide/index.md":    "/llms.mdx/docs/guide",
		} {
			file, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
			if served := doctest.Get(t, site, path).Body.String(); err != nil ||
				string(file) != served {
				t.Errorf("%s has %d bytes (%v), %s %d", name, len(file), err, path, len(served))
			}
		}
		if entries, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(entries) != 1 {
			t.Errorf("next to the directory: %v, %v", entries, err)
		}
	})

	t.Run("accepts an empty working directory", func(t *testing.T) {
		dir := t.TempDir()
		t.Chdir(dir)
		if err := open(t).Build("."); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "index.html")); err != nil {
			t.Error(err)
		}
	})

	t.Run("writes pages below a page", func(t *testing.T) {
		dir := folder(t)
		for _, name := range []string{"more/index", "more/index.zh", "more/deep", "start/again"} {
			write(t, dir, "guide/"+name+".md",
				"---\ntitle: "+name+"\ndescription: Far down.\n---\n\nText.\n")
		}
		built := filepath.Join(t.TempDir(), "site")
		site := open(t, docs.WithFolder(dir))
		if err := site.Build(built); err != nil {
			t.Fatal(err)
		}
		for name, path := range map[string]string{
			"llms.mdx/docs/guide/more/index.md":  "/llms.mdx/docs/guide/more",
			"llms.mdx/docs/guide/more/deep":      "/llms.mdx/docs/guide/more/deep",
			"llms.mdx/docs/guide/more/index.zh":  "/llms.mdx/docs/guide/more/index.zh",
			"llms.mdx/docs/guide/start/index.md": "/llms.mdx/docs/guide/start",
			"docs/guide/start.md":                "/docs/guide/start.md",
			"docs/guide/more.md":                 "/docs/guide/more.md",
		} {
			if file, err := os.ReadFile(filepath.Join(built,
				filepath.FromSlash(name))); err != nil ||
				string(file) != doctest.Get(t, site, path).Body.String() {
				t.Errorf("%s = %q, %v", name, file, err)
			}
		}
	})
}

func TestSite_Build_Faults(t *testing.T) {
	dir := folder(t)
	names := []string{
		"index.html.md", "start.md.md", "a#b.md", "a?b.md", "a%20b.md", `a"b.md`,
		"a b.md", "a\nb.md",
	}
	for _, name := range names {
		write(t, dir, "guide/"+name, "---\ntitle: Odd\ndescription: Oddly named.\n---\n\nText.\n")
	}
	before := slog.Default()
	defer slog.SetDefault(before)
	var log strings.Builder
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	site := open(t, docs.WithFolder(dir))
	if err := site.Build(filepath.Join(t.TempDir(), "site")); err != nil {
		t.Fatal(err)
	}
	if count := strings.Count(log.String(),
		"the page is skipped; rename it: "); count != len(names) {
		t.Errorf("got %d log lines:\n%s", count, log.String())
	}
	findings, err := site.Check(nil)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, f := range findings {
		if strings.Contains(f, ": the page is skipped; rename it: ") {
			found++
		}
	}
	if found != len(names) {
		t.Errorf("findings = %q", findings)
	}
}

func TestSite_Build_Directory(t *testing.T) {
	t.Run("rejects the content", func(t *testing.T) {
		dir := folder(t)
		err := open(t, docs.WithFolder(dir)).Build(filepath.Join(dir, "site"))
		if err == nil || !strings.Contains(err.Error(), "is inside the content") {
			t.Errorf("error = %v", err)
		}
	})

	t.Run("rejects a link into the content", func(t *testing.T) {
		dir, alias := folder(t), filepath.Join(t.TempDir(), "alias")
		if err := os.Symlink(dir, alias); err != nil {
			t.Fatal(err)
		}
		err := open(t, docs.WithFolder(dir)).Build(filepath.Join(alias, "new", "site"))
		if err == nil || !strings.Contains(err.Error(), "is inside the content") {
			t.Errorf("error = %v", err)
		}
	})

	t.Run("follows a link", func(t *testing.T) {
		dir := t.TempDir()
		target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		site := open(t)
		if err := site.Build(link); err == nil || !strings.Contains(err.Error(), "is a broken link") {
			t.Errorf("error = %v for a broken link", err)
		}
		if err := os.Mkdir(target, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := site.Build(link); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(target, "index.html")); err != nil {
			t.Error(err)
		}
	})

	t.Run("rejects a directory with other files", func(t *testing.T) {
		dir := t.TempDir()
		kept := filepath.Join(dir, "thesis.txt")
		if err := os.WriteFile(kept, []byte("years"), 0o600); err != nil {
			t.Fatal(err)
		}
		err := open(t).Build(dir)
		if err == nil || !strings.Contains(err.Error(), "choose another directory") {
			t.Errorf("error = %v", err)
		}
		if text, err := os.ReadFile(kept); err != nil || string(text) != "years" {
			t.Errorf("the file is %q, %v", text, err)
		}
	})
}
