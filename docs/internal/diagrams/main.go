// Diagrams makes a light and a dark picture of each Mermaid diagram of the content, so that pages need neither a script nor
// another host to show them.
//
//	go run ./internal/diagrams [-all | -check]
//
// It is run in the folder of the module docs, and needs npm and Chromium. A picture is named after the hash of its source; what
// has no source any more is removed. With -all it also makes anew what is there, for another version of Mermaid or another theme.
// With -check it makes nothing, needs neither, and fails where a picture is missing or left.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
)

// Folders, seen from that of the module.
const (
	contentDir  = "content"
	picturesDir = "internal/site/diagrams"
	packagesDir = "internal/diagrams/npm"
)

func main() {
	check := flag.Bool("check", false, "only look whether each diagram has its pictures")
	all := flag.Bool("all", false, "make the pictures that are there, too")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	do := update
	switch {
	case *check:
		do = verify
	case *all:
		do = renew
	}
	err := do(ctx)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "diagrams:", err)
		os.Exit(1)
	}
}

// update makes the pictures that are missing and removes those that are left.
func update(ctx context.Context) error {
	_, missing, left, err := look()
	if err != nil {
		return err
	}
	if err := render(ctx, missing); err != nil {
		return err
	}
	return remove(picturesDir, left)
}

// renew makes all pictures and removes those that are left.
func renew(ctx context.Context) error {
	sources, _, left, err := look()
	if err != nil {
		return err
	}
	if err := render(ctx, slices.Collect(maps.Values(sources))); err != nil {
		return err
	}
	return remove(picturesDir, left)
}

// verify returns an error where a picture is missing or left.
func verify(context.Context) error {
	_, missing, left, err := look()
	if err != nil {
		return err
	}
	return errors.Join(report("has no picture", missing), report("has no source", left))
}

// look compares the content with the pictures.
func look() (sources map[string]source, missing []source, left []string, err error) {
	sources, err = find(os.DirFS(contentDir))
	if err != nil {
		return nil, nil, nil, err
	}
	have, err := pictures(picturesDir)
	if err != nil {
		return nil, nil, nil, err
	}
	missing, left = compare(sources, have)
	return sources, missing, left, nil
}
