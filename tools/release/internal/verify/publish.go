package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/plinthgo/plinth/tools/internal/modproxy"
	"github.com/plinthgo/plinth/tools/internal/workspace"
	"github.com/plinthgo/plinth/tools/release/internal/sums"
)

// publish adds to the proxy the tree of each changed module, and all required tags.
func (v *verifier) publish(ctx context.Context) error {
	for _, m := range v.stage.Modules {
		if !m.Released() {
			continue
		}
		version, err := v.next(ctx, m)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		v.planned[m.Path()] = version
		if v.stage.Tagged(m, version) {
			err = v.stage.PublishTag(ctx, m, version)
		} else {
			err = errors.Join(modproxy.Add(ctx, v.stage.Proxy(), m, version),
				v.stage.PublishRequired(ctx, m))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	return nil
}

// next returns the version under which the tree of a module will be published; it is the
// newest tag where nothing has changed since. What `release plan` chooses may be higher,
// which makes no difference to anybody who requires it here.
func (v *verifier) next(ctx context.Context, m workspace.Module) (string, error) {
	latest := v.stage.Latest(m)
	if latest == "" || semver.Compare(m.Version, latest) > 0 {
		return m.Version, nil
	}
	tag, err := modproxy.Hash(func(w io.Writer) error {
		return modproxy.PackTag(w, v.Root, m, latest)
	})
	if err != nil {
		return "", err
	}
	tree, err := modproxy.Hash(func(w io.Writer) error { return modproxy.Pack(ctx, w, m, latest) })
	if err != nil || tree == tag {
		return latest, err
	}
	return patch(latest)
}

// patch returns the version after one with a tag: v0.1.1 after v0.1.0, and v0.1.0 after
// v0.1.0-rc.1.
func patch(version string) (string, error) {
	if pre := semver.Prerelease(version); pre != "" {
		return strings.TrimSuffix(version, pre), nil
	}
	i := strings.LastIndexByte(version, '.') + 1
	n, err := strconv.Atoi(version[i:])
	if err != nil {
		return "", fmt.Errorf("version %s: %w", version, err)
	}
	return version[:i] + strconv.Itoa(n+1), nil
}

// strangers returns the hashes of other people's modules in the go.sum files of all
// modules.
func strangers(modules []workspace.Module) ([]byte, error) {
	var all bytes.Buffer
	for _, m := range modules {
		text, err := read(m.Dir, "go.sum")
		if err != nil {
			return nil, err
		}
		all.Write(sums.Others(text))
	}
	return all.Bytes(), nil
}

// read returns a file, or nil if it does not exist.
func read(folder, name string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}
