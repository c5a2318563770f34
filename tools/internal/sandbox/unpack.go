package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"

	"github.com/plinthgo/plinth/tools/devstack/child"
	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// Unpack extracts the zip that pack writes to a directory, like in a module cache, but
// with a writable go.mod and go.sum.
func (s *Sandbox) Unpack(folder string, id module.Version, pack func(io.Writer) error) error {
	file, err := os.CreateTemp(s.dir, "pack-*.zip")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	if err := errors.Join(pack(file), file.Close()); err != nil {
		return err
	}
	if err := modzip.Unzip(folder, id, file.Name()); err != nil {
		return fmt.Errorf("unpack %s: %w", id, err)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		if err := os.Chmod(filepath.Join(folder, name), 0o600); err != nil &&
			!errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Output is like Go, but returns standard output.
func (s *Sandbox) Output(
	ctx context.Context, folder, cache string, args ...string,
) ([]byte, error) {
	cmd := child.Group(ctx, "go", args...)
	cmd.Dir, cmd.Env = folder, s.Env(cache)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s%s",
			strings.Join(args, " "), err, problem.String(), workspace.Failed(out))
	}
	return out, nil
}
