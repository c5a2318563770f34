package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/plinthgo/plinth/docs"
)

// check reports what is wrong with the content. Within a working tree of the repository
// it compares the pages with the code.
func check(_ context.Context, c *call) error {
	if err := c.noArguments(); err != nil {
		return err
	}
	if c.repository == "" {
		c.repository = repository()
	}
	if c.dir == "" && c.repository != "" {
		// what is there now, not what was there at the build
		c.dir = filepath.Join(c.repository, "docs", "content")
	}
	site, err := c.site()
	if err != nil {
		return err
	}
	findings, err := c.findings(site)
	if err != nil {
		return err
	}
	for _, f := range findings {
		if _, err := fmt.Fprintln(c.out, f); err != nil {
			return err
		}
	}
	if len(findings) > 0 {
		return fmt.Errorf("%d to mend", len(findings))
	}
	verdict := "the content is in order"
	if c.repository == "" {
		verdict += "; the code was not there to compare it with"
	}
	_, err = fmt.Fprintln(c.out, verdict)
	return err
}

// findings compares the content with the code, where that is there.
func (c *call) findings(site *docs.Site) ([]string, error) {
	if c.repository == "" {
		return site.Check(nil)
	}
	root, err := os.OpenRoot(c.repository)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return site.Check(root.FS())
}

// repository is the root of the working tree around the current folder, or empty.
func repository() string {
	dir, err := os.Getwd()
	for err == nil {
		if isRepository(dir) {
			return dir
		}
		if filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

func isRepository(dir string) bool {
	_, work := os.Stat(filepath.Join(dir, "go.work"))
	_, content := os.Stat(filepath.Join(dir, "docs", "content"))
	return errors.Join(work, content) == nil
}
