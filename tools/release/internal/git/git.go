// Package git runs git on the repository whose modules are released: what it makes, a commit or tags, is there whole or not
// at all.
package git

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Repo is the repository at a root folder.
type Repo struct{ Root string }

// Run runs a git command and returns what it printed, without the line's end.
func (r Repo) Run(ctx context.Context, args ...string) (string, error) {
	return r.feed(ctx, nil, nil, args...)
}

// Feed is Run with that standard input.
func (r Repo) Feed(ctx context.Context, input string, args ...string) (string, error) {
	return r.feed(ctx, nil, []byte(input), args...)
}

func (r Repo) feed(ctx context.Context, env []string, input []byte, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", r.Root}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin = bytes.NewReader(input)
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

// Clean refuses a tree that differs from its commit, and names the files.
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

// Commit makes a commit on top of HEAD in which those files have that content; nil is a file that is gone. Neither the
// branch nor the tree changes: Advance does that.
func (r Repo) Commit(ctx context.Context, files map[string][]byte, message string) (string, error) {
	dir, err := os.MkdirTemp("", "plinth-index-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
	if _, err := r.feed(ctx, index, nil, "read-tree", "HEAD"); err != nil {
		return "", err
	}
	lines, err := r.blobs(ctx, files)
	if err != nil {
		return "", err
	}
	if _, err := r.feed(ctx, index, []byte(lines), "update-index", "--index-info"); err != nil {
		return "", err
	}
	tree, err := r.feed(ctx, index, nil, "write-tree")
	if err != nil {
		return "", err
	}
	return r.feed(ctx, nil, []byte(message), "commit-tree", "-p", "HEAD", "-F", "-", tree)
}

// blobs stores the files and returns the lines that put them into an index.
func (r Repo) blobs(ctx context.Context, files map[string][]byte) (string, error) {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	var lines strings.Builder
	for _, name := range names {
		if files[name] == nil {
			fmt.Fprintf(&lines, "0 %040d\t%s\n", 0, name)
			continue
		}
		blob, err := r.feed(ctx, nil, files[name], "hash-object", "-w", "--stdin")
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&lines, "100644 %s\t%s\n", blob, name)
	}
	return lines.String(), nil
}

// Advance takes the branch and the tree to a commit that Commit made.
func (r Repo) Advance(ctx context.Context, commit string) error {
	_, err := r.Run(ctx, "merge", "--quiet", "--ff-only", commit)
	return err
}
