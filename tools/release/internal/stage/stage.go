// Package stage extracts a module from its tag or the working tree to a temporary
// directory, with given versions of its siblings, like a consumer that combines these
// versions.
package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/plinthgo/plinth/tools/internal/modproxy"
	"github.com/plinthgo/plinth/tools/internal/sandbox"
	"github.com/plinthgo/plinth/tools/internal/workspace"
	"github.com/plinthgo/plinth/tools/release/internal/sums"
)

// Siblings maps import paths of modules of this repository to versions.
type Siblings map[string]string

// A Stage contains a sandbox and the tags of a repository.
type Stage struct {
	*sandbox.Sandbox

	Root    string
	Modules []workspace.Module
	Tags    map[string][]string // by module name, the oldest first

	published map[string]bool
}

// Open returns a stage with a new sandbox. The caller must call Close.
func Open(ctx context.Context, root string, modules []workspace.Module) (*Stage, error) {
	tags, err := workspace.Tags(ctx, root)
	if err != nil {
		return nil, err
	}
	s, err := sandbox.Open(ctx)
	if err != nil {
		return nil, err
	}
	return &Stage{
		Sandbox: s, Root: root, Modules: modules, Tags: tags,
		published: map[string]bool{},
	}, nil
}

// Latest returns the newest tagged version of the module, or "".
func (s *Stage) Latest(m workspace.Module) string {
	return s.newest(m, func(string) bool { return true })
}

// Stable returns the newest tagged version of the module that is not a prerelease, or "".
func (s *Stage) Stable(m workspace.Module) string {
	return s.newest(m, func(version string) bool { return semver.Prerelease(version) == "" })
}

func (s *Stage) newest(m workspace.Module, fits func(version string) bool) string {
	_, major, _ := module.SplitPathVersion(m.Path())
	for _, v := range slices.Backward(s.Tags[m.Name]) {
		if module.CheckPathMajor(v, major) == nil && fits(v) {
			return v
		}
	}
	return ""
}

// Tagged reports whether the version of the module has a tag.
func (s *Stage) Tagged(m workspace.Module, version string) bool {
	return slices.Contains(s.Tags[m.Name], version)
}

// ByPath returns the module with the given import path.
func (s *Stage) ByPath(importPath string) (workspace.Module, bool) {
	i := slices.IndexFunc(s.Modules,
		func(m workspace.Module) bool { return m.Path() == importPath })
	if i < 0 {
		return workspace.Module{}, false
	}
	return s.Modules[i], true
}

// PublishTag adds a tagged version and its requirements to the sandbox's proxy. It skips
// versions without a tag.
func (s *Stage) PublishTag(ctx context.Context, m workspace.Module, version string) error {
	tag := m.Tag(version)
	if s.published[tag] || !s.Tagged(m, version) {
		return nil
	}
	s.published[tag] = true
	if err := modproxy.AddTag(ctx, s.Proxy(), s.Root, m, version); err != nil {
		return err
	}
	file, err := s.FileAt(ctx, m, version)
	if err != nil {
		return err
	}
	m.File = file
	return s.PublishRequired(ctx, m)
}

// PublishRequired adds the tagged sibling versions that the module's go.mod requires to
// the proxy.
func (s *Stage) PublishRequired(ctx context.Context, m workspace.Module) error {
	for _, need := range m.Siblings() {
		if sibling, ok := s.ByPath(need.Path); ok {
			if err := s.PublishTag(ctx, sibling, need.Version); err != nil {
				return err
			}
		}
	}
	return nil
}

// FileAt returns the go.mod of the module's tag.
func (s *Stage) FileAt(
	ctx context.Context, m workspace.Module, version string,
) (*modfile.File, error) {
	name := path.Join(m.Name, "go.mod")
	text, err := modproxy.FileAt(ctx, s.Root, m.Tag(version), name)
	if err != nil {
		return nil, err
	}
	return modfile.Parse(name, text, nil)
}

// HashTag computes the go.sum hash of a tagged version.
func (s *Stage) HashTag(ctx context.Context, m workspace.Module, line sums.Line) (string, error) {
	if !line.Mod {
		return modproxy.Hash(func(w io.Writer) error {
			return modproxy.PackTag(w, s.Root, m, line.Version)
		})
	}
	text, err := modproxy.FileAt(ctx, s.Root, m.Tag(line.Version), path.Join(m.Name, "go.mod"))
	if err != nil {
		return "", err
	}
	return modproxy.HashMod(text)
}

// ExtractTag extracts the module from its tag with raised requirements. The caller must
// remove the directory.
func (s *Stage) ExtractTag(
	ctx context.Context, m workspace.Module, version string, raise Siblings,
) (string, error) {
	if err := s.PublishTag(ctx, m, version); err != nil {
		return "", err
	}
	return s.extract(m, version, raise,
		func(w io.Writer) error { return modproxy.PackTag(w, s.Root, m, version) })
}

// ExtractTree extracts the module from the working tree with raised requirements. The
// caller must remove the directory.
func (s *Stage) ExtractTree(
	ctx context.Context, m workspace.Module, raise Siblings,
) (string, error) {
	if err := s.PublishRequired(ctx, m); err != nil {
		return "", err
	}
	version := m.Version
	if version == "" {
		version = "v0.0.0"
	}
	return s.extract(m, version, raise,
		func(w io.Writer) error { return modproxy.Pack(ctx, w, m, version) })
}

func (s *Stage) extract(
	m workspace.Module, version string, raise Siblings, pack func(io.Writer) error,
) (string, error) {
	above, err := os.MkdirTemp(s.Path(), "stage-")
	if err != nil {
		return "", err
	}
	folder := filepath.Join(above, filepath.Base(m.Dir))
	if err := s.Unpack(folder, module.Version{Path: m.Path(), Version: version}, pack); err != nil {
		return "", err
	}
	name := filepath.Join(folder, "go.mod")
	text, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	if text, err = Raise(text, raise); err != nil {
		return "", fmt.Errorf("%s: %w", m.Name, err)
	}
	return folder, errors.Join(os.WriteFile(name, text, 0o600),
		removeHashes(filepath.Join(folder, "go.sum")))
}

// removeHashes removes the siblings' hashes from a go.sum, because the proxy contains
// other zips of the same versions.
func removeHashes(name string) error {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(name, sums.Others(text), 0o600)
}

// Raise returns the go.mod with requirements raised to at least the given versions. It
// adds no requirements.
func Raise(mod []byte, to Siblings) ([]byte, error) {
	file, err := modfile.Parse("go.mod", mod, nil)
	if err != nil {
		return nil, err
	}
	raised := false
	for _, r := range file.Require {
		if version := to[r.Mod.Path]; semver.Compare(version, r.Mod.Version) > 0 {
			raised = true
			if err := file.AddRequire(r.Mod.Path, version); err != nil {
				return nil, err
			}
		}
	}
	if !raised {
		return mod, nil
	}
	return file.Format()
}
