package openapi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrNoBase reports that the git revision exists, but does not contain the document.
var ErrNoBase = errors.New("the revision does not contain the document")

// ReadBase returns the document that base names: a file, REVISION:FILE as in git show, or
// a git revision, which contains the document at the path of file.
func ReadBase(ctx context.Context, base, file string) ([]byte, error) {
	text, err := os.ReadFile(base)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return text, err
	}
	revision, path, ok := strings.Cut(base, ":")
	if !ok {
		path = "./" + filepath.Base(file)
	}
	dir := filepath.Dir(file)
	if _, err := git(ctx, dir, "rev-parse", "--verify", "--quiet", revision+"^{commit}"); err != nil {
		return nil, fmt.Errorf("--base %s is neither a file nor a git revision; "+
			"if it is a branch, run git fetch: %w", base, err)
	}
	object := revision + ":" + path
	if _, err := git(ctx, dir, "cat-file", "-e", object); err != nil {
		return nil, fmt.Errorf("%s: %w", object, ErrNoBase)
	}
	return git(ctx, dir, "show", object)
}

func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		err = errors.New(strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	return out, nil
}
