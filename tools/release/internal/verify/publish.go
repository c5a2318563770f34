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

// publish adds the tree of each changed module and all required tags to the proxy.
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

// next returns the version of the module's tree: the newest tag if the tree is unchanged,
// and otherwise a later version. release plan may choose a higher version, which makes no
// difference to the consumers here.
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

// patch returns the version after a tagged version: v0.1.1 after v0.1.0, and v0.1.0 after
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

// thirdPartySums returns the go.sum lines of third-party modules of all modules.
func thirdPartySums(modules []workspace.Module) ([]byte, error) {
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
