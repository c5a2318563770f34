package prepare

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/plinthgo/plinth/tools/internal/modproxy"
	"github.com/plinthgo/plinth/tools/internal/workspace"
	"github.com/plinthgo/plinth/tools/release/internal/plan"
	"github.com/plinthgo/plinth/tools/release/internal/stage"
)

// modules adds each go.mod and go.sum that changes. A module's zip holds its go.sum, and
// that the hashes of what it requires: so they are done one after the other, each after
// those that it requires.
func (r release) modules(ctx context.Context, modules []workspace.Module) (err error) {
	sorted, err := workspace.InOrder(modules)
	if err != nil {
		return err
	}
	s, err := stage.Open(ctx, r.root, modules)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, m := range sorted {
		row := r.row(m.Name)
		if row.Next == "" && row.State != plan.Unreleased {
			continue
		}
		r.log("%s: tidying, and hashing what it requires", strings.TrimSpace(m.Name+" "+row.Next))
		over, err := complete(ctx, s, m, row)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		for name, text := range over {
			r.files[path.Join(m.Name, name)] = text
		}
	}
	return nil
}

// complete returns the module's go.mod and go.sum as far as they change, and publishes
// the module with them in the sandbox.
func complete(
	ctx context.Context, s *stage.Stage, m workspace.Module, row plan.Module,
) (modproxy.Overlay, error) {
	folder, err := s.LayTree(ctx, m, row.Raised())
	if err != nil {
		return nil, err
	}
	if err := s.Go(ctx, folder, s.Cache("prepare"), "mod", "tidy"); err != nil {
		return nil, err
	}
	over, err := changed(m, folder)
	if err != nil {
		return nil, err
	}
	if err := os.RemoveAll(filepath.Dir(folder)); err != nil || row.Next == "" {
		return over, err
	}
	return over, modproxy.AddWith(ctx, s.Proxy(), m, row.Next, over)
}

// changed returns go.mod and go.sum of the folder where they are not those of the
// module's tree.
func changed(m workspace.Module, folder string) (modproxy.Overlay, error) {
	over := modproxy.Overlay{}
	for _, name := range []string{"go.mod", "go.sum"} {
		before, err := modproxy.Overlay{}.Read(m, name)
		if err != nil {
			return nil, err
		}
		after, err := modproxy.Overlay{}.Read(workspace.Module{Dir: folder}, name)
		if err != nil {
			return nil, err
		}
		if after != nil && !bytes.Equal(before, after) {
			over[name] = after
		}
	}
	return over, nil
}
