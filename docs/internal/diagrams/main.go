// Diagrams makes a light and a dark picture of each Mermaid diagram of the content, so
// that pages need neither a script nor another host to show them.
//
//	go run ./internal/diagrams [-all]
//
// It is run in the folder of the module docs, and needs npm and Chromium. A picture is
// named after the hash of its source; what has no source any more is removed. With -all
// it also makes anew what is there, for another version of Mermaid or another theme.
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

// Folders, seen from that of the module.
const (
	contentDir  = "content"
	picturesDir = "internal/site/diagrams"
	packagesDir = "internal/diagrams/npm"
)

func main() {
	all := flag.Bool("all", false, "make the pictures that are there, too")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := update(ctx, *all)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "diagrams:", err)
		os.Exit(1)
	}
}

// update makes the pictures that are missing, or all of them, and removes those that are
// left.
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
