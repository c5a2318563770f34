package docs

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/docs/internal/llms"
	"github.com/plinthgo/plinth/docs/internal/page"
)

// marker is a file in each directory that Build wrote and may replace.
const marker = ".plinth-docs"

// readable is the mode of directories. A web server may run as another user.
const readable = 0o755

// Build writes the site as static files to dir, for the root of a static host: pages,
// Markdown and a search index. It creates dir, or replaces it if Build wrote it before.
// It returns an error if dir contains other files or is inside the content, or if a file
// cannot be written; dir is then unchanged. Build logs faults of the content. It may run
// concurrently with other methods, and once at a time for a directory.
func (s *Site) Build(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("docs: build: %w", err)
	}
	if dir, err = resolve(dir); err != nil {
		return fmt.Errorf("docs: build: %w", err)
	}
	if err := errors.Join(replaceable(dir), s.outside(dir)); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), readable); err != nil {
		return fmt.Errorf("docs: build: %w", err)
	}
	made, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".new-*")
	if err != nil {
		return fmt.Errorf("docs: build: %w", err)
	}
	err = errors.Join(os.Chmod(made, readable), s.now.Load().write(made))
	if err == nil {
		err = replace(dir, made)
	}
	if err != nil {
		return fmt.Errorf("docs: build: %w", errors.Join(err, os.RemoveAll(made)))
	}
	return nil
}

// resolve resolves the symbolic links of a path whose last elements may not exist. Build
// replaces the target of a link, not the link.
func resolve(dir string) (string, error) {
	target, err := filepath.EvalSymlinks(dir)
	if !errors.Is(err, os.ErrNotExist) {
		return target, err
	}
	if _, err := os.Lstat(dir); err == nil {
		return "", fmt.Errorf("%s is a broken link: choose another directory", dir)
	}
	parent, err := resolve(filepath.Dir(dir))
	return filepath.Join(parent, filepath.Base(dir)), err
}

// outside returns an error if dir is inside the content, because its files would become
// pages.
func (s *Site) outside(dir string) error {
	if s.config.folder == "" {
		return nil
	}
	content, err := filepath.Abs(s.config.folder)
	if err == nil {
		content, err = filepath.EvalSymlinks(content)
	}
	if err != nil {
		return fmt.Errorf("docs: build: %w", err)
	}
	if path, err := filepath.Rel(content, dir); err == nil && filepath.IsLocal(path) {
		return fmt.Errorf("docs: build: %s is inside the content: choose another directory", dir)
	}
	return nil
}

// replace replaces a directory. The old directory is restored on failure.
func replace(dir, made string) error {
	before := made + ".before"
	err := os.Rename(dir, before)
	if errors.Is(err, os.ErrNotExist) {
		return os.Rename(made, dir)
	}
	if err != nil {
		return err
	}
	if err := os.Rename(made, dir); err != nil {
		return errors.Join(err, os.Rename(before, dir))
	}
	return os.RemoveAll(before)
}

// replaceable returns an error if a directory contains files that Build did not write.
func replaceable(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("docs: build: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, marker)); err != nil {
		return fmt.Errorf("docs: build: %s is not empty and was not written by plinth-docs build: choose another directory", dir)
	}
	return nil
}

// write writes the files of the static site.
func (s *snapshot) write(dir string) error {
	for _, f := range s.library.Faults() {
		slog.Warn("documentation fault",
			slog.String("file", f.File), slog.String("fault", f.Text))
	}
	files := map[string]string{
		marker:          "written by plinth-docs build; the next build replaces this folder\n",
		"llms.txt":      llms.Index(s.library, s.baseURL),
		"llms-full.txt": llms.Full(s.library),
	}
	for _, p := range s.library.Pages() {
		files[p.URL()+".md"] = p.Markdown()
		files[textFile(p)] = p.Markdown()
	}
	for name, text := range files {
		if err := writeFile(dir, name, []byte(text)); err != nil {
			return err
		}
	}
	for name, body := range s.pages.Files() {
		if body == nil {
			return fmt.Errorf("render %s failed", name)
		}
		if err := writeFile(dir, name, body); err != nil {
			return err
		}
	}
	return nil
}

// textFile returns the name of the Markdown file of a page below llms.mdx. If its address
// is also a directory, the file is inside the directory.
func textFile(p *page.Page) string {
	name := strings.TrimPrefix(llms.Prefix, "/") + p.URL()
	below := func(other *page.Page) bool { return strings.HasPrefix(other.URL(), p.URL()+"/") }
	if p.Path == "/" || slices.ContainsFunc(p.Sector.Pages, below) {
		name += "/index.md"
	}
	return name
}

func writeFile(dir, name string, body []byte) error {
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), readable); err != nil {
		return err
	}
	return os.WriteFile(path, body, 0o644) //nolint:gosec // as above
}
