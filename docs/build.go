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

// marker lies in a folder that Build has written, and may replace.
const marker = ".plinth-docs"

// readable is the mode of folders: a web server that shows them is another user.
const readable = 0o755

// Build writes the whole site as static files into dir, which a server of files can show
// at the root of a host: pages, texts, and an index that the search of the pages uses. It
// makes the folder, replaces one that it has written before, and refuses any other that
// is not empty, or lies in the content. The error says why a folder is refused, or which
// file could not be written; a failed build leaves what was there. Faults of the content
// are logged. It may be called beside any other method such as ServeHTTP, and once at a
// time for a folder.
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

// resolve follows the links in a path, of which the last part or more may not be there
// yet. What a link leads to is replaced, not the link.
func resolve(dir string) (string, error) {
	target, err := filepath.EvalSymlinks(dir)
	if !errors.Is(err, os.ErrNotExist) {
		return target, err
	}
	if _, err := os.Lstat(dir); err == nil {
		return "", fmt.Errorf("%s leads nowhere: give another folder", dir)
	}
	parent, err := resolve(filepath.Dir(dir))
	return filepath.Join(parent, filepath.Base(dir)), err
}

// outside refuses a folder within that of the content, whose pages it would become.
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
		return fmt.Errorf("docs: build: %s lies in the content: give another folder", dir)
	}
	return nil
}

// replace puts a folder in the place of another, which stays where that fails.
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

// replaceable refuses a folder that holds what Build has not written.
func replaceable(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("docs: build: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, marker)); err != nil {
		return fmt.Errorf("docs: build: %s is not empty and was not written by this command: give another folder", dir)
	}
	return nil
}

// write puts every file of the static form into a folder.
func (s *snapshot) write(dir string) error {
	for _, f := range s.library.Faults() {
		slog.Warn("fault of the documentation",
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
			return fmt.Errorf("%s cannot be rendered", name)
		}
		if err := writeFile(dir, name, body); err != nil {
			return err
		}
	}
	return nil
}

// textFile is the file of a page below llms.mdx. Where its address is a folder's too, its
// text lies in there.
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
