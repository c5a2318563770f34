// Package git runs git on the repository. Commits and tags are created completely or not
// at all.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Repo is a repository with the given root directory.
type Repo struct{ Root string }

// Run runs a git command and returns its output without the final newline.
func (r Repo) Run(ctx context.Context, args ...string) (string, error) {
	return r.Feed(ctx, "", args...)
}

// Feed is like Run, with the given standard input.
func (r Repo) Feed(ctx context.Context, input string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", r.Root}, args...)...)
	cmd.Stdin = strings.NewReader(input)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(problem.String()))
	}
	return strings.TrimRight(string(out), "\n"), nil
}

// Head returns the commit that is checked out.
func (r Repo) Head(ctx context.Context) (string, error) { return r.Run(ctx, "rev-parse", "HEAD") }

// Clean returns an error that lists the changed files if the working tree is not clean.
func (r Repo) Clean(ctx context.Context) error {
	status, err := r.Run(ctx, "status", "--porcelain", "--untracked-files=all")
	if err != nil {
		return err
	}
	if status != "" {
		return fmt.Errorf("the tree is not clean: commit or remove these first\n%s", status)
	}
	return nil
}

// Commit writes the files and commits them. A nil content deletes a file. The working
// tree must be clean, and is clean after a failure.
func (r Repo) Commit(ctx context.Context, files map[string][]byte, message string) (err error) {
	defer func() {
		if err != nil {
			ctx := context.WithoutCancel(ctx)
			_, staged := r.Run(ctx, "add", "--all")
			_, undone := r.Run(ctx, "reset", "--quiet", "--hard")
			err = errors.Join(err, staged, undone)
		}
	}()
	for name, text := range files {
		path := filepath.Join(r.Root, filepath.FromSlash(name))
		if text == nil {
			err = os.Remove(path)
		} else {
			err = os.WriteFile(path, text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	if _, err := r.Run(ctx, "add", "--all"); err != nil {
		return err
	}
	_, err = r.Feed(ctx, message, "commit", "--quiet", "--file=-")
	return err
}
