package footprint

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Sizes maps program directories to their measurements.
type Sizes map[string]measured

// measured is the size of a program and its number of linked modules.
type measured struct {
	bytes   int64
	modules int
}

// Measure builds and measures all programs of the repository at root.
func Measure(ctx context.Context, root string) (Sizes, error) {
	return measure(ctx, root, programs)
}

func measure(ctx context.Context, root string, programs []program) (Sizes, error) {
	dir, err := os.MkdirTemp("", "plinth-footprint-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	sizes := Sizes{}
	for _, p := range programs {
		m, err := build(ctx, root, p.folder, filepath.Join(dir, p.folder))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.folder, err)
		}
		sizes[p.folder] = m
	}
	return sizes, nil
}

func build(ctx context.Context, root, folder, binary string) (measured, error) {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o",
		binary, "./footprint/hello/"+folder)
	cmd.Dir = filepath.Join(root, "tools")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return measured{}, fmt.Errorf("%w\n%s", err, out)
	}
	info, err := os.Stat(binary)
	if err != nil {
		return measured{}, err
	}
	linked, err := buildinfo.ReadFile(binary)
	if err != nil {
		return measured{}, err
	}
	return measured{bytes: info.Size(), modules: len(linked.Deps)}, nil
}
