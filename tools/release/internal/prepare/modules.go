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

// modules adds each changed go.mod and go.sum. It processes modules in dependency order,
// because a module's go.sum is part of its zip and contains the hashes of its
// requirements.
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
		r.log("%s: tidying and hashing requirements", strings.TrimSpace(m.Name+" "+row.Next))
		overlay, err := complete(ctx, s, m, row)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		for name, text := range overlay {
			r.files[path.Join(m.Name, name)] = text
		}
	}
	return nil
}

// complete returns the changed go.mod and go.sum of the module, and publishes the module
// with them in the sandbox.
func complete(
	ctx context.Context, s *stage.Stage, m workspace.Module, row plan.Module,
) (modproxy.Overlay, error) {
	folder, err := s.ExtractTree(ctx, m, row.Raised())
	if err != nil {
		return nil, err
	}
	if err := s.Go(ctx, folder, s.Cache("prepare"), "mod", "tidy"); err != nil {
		return nil, err
	}
	overlay, err := changed(m, folder)
	if err != nil {
		return nil, err
	}
	if err := os.RemoveAll(filepath.Dir(folder)); err != nil || row.Next == "" {
		return overlay, err
	}
	return overlay, modproxy.AddWith(ctx, s.Proxy(), m, row.Next, overlay)
}

// changed returns go.mod and go.sum of the directory if they differ from the module's
// tree.
func changed(m workspace.Module, folder string) (modproxy.Overlay, error) {
	overlay := modproxy.Overlay{}
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
			overlay[name] = after
		}
	}
	return overlay, nil
}
