// Diagrams renders a light and a dark picture of each Mermaid diagram of the content, so
// that pages need neither a script nor another host.
//
//	go run ./internal/diagrams [-all]
//
// Run it in the directory of the module docs. It needs npm and Chromium. A picture is
// named after the hash of its source; pictures without a source are removed. With -all it
// also renders existing pictures again, for a new version of Mermaid or a new theme.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
)

// Directories, relative to the module.
const (
	contentDir  = "content"
	picturesDir = "internal/site/diagrams"
	packagesDir = "internal/diagrams/npm"
)

func main() {
	all := flag.Bool("all", false, "also render existing pictures")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := update(ctx, *all)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "diagrams:", err)
		os.Exit(1)
	}
}

// update renders missing pictures, or all of them, and removes pictures without a source.
func update(ctx context.Context, all bool) error {
	sources, err := find(os.DirFS(contentDir))
	if err != nil {
		return err
	}
	have, err := pictures(picturesDir)
	if err != nil {
		return err
	}
	missing, left := compare(sources, have)
	if all {
		missing = slices.Collect(maps.Values(sources))
	}
	if err := render(ctx, missing); err != nil {
		return err
	}
	var problems []error
	for _, name := range left {
		problems = append(problems, os.Remove(filepath.Join(picturesDir, name)))
	}
	return errors.Join(problems...)
}
