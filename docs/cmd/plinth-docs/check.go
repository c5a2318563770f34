package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/plinthgo/plinth/docs"
)

// check reports problems of the content. In a working tree of the repository it also
// compares the content with the code.
func check(_ context.Context, c *call) error {
	if err := c.noArguments(); err != nil {
		return err
	}
	if c.repository == "" {
		c.repository = repository()
	}
	if c.dir == "" && c.repository != "" {
		// the current content instead of the embedded one
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
		return fmt.Errorf("%d findings", len(findings))
	}
	verdict := "no findings"
	if c.repository == "" {
		verdict += "; the code was not checked, because there is no repository"
	}
	_, err = fmt.Fprintln(c.out, verdict)
	return err
}

// findings returns the problems of the content, with the checks of code if there is a
// repository.
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

// repository returns the root of the repository that contains the working directory, or
// "".
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
