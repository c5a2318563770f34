// Protogen writes the Go code that is made of the repository's protocol buffers, and removes what was made of a proto
// that is gone. With -check it writes nothing and fails where the code is out of date.
//
// It needs bin/buf and the plugins beside it, which make builds. buf.yaml says which folders hold protos, buf.gen.yaml
// what is made of them.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/tools/internal/workspace"
)

func main() {
	check := flag.Bool("check", false, "fail where generated code is out of date")
	flag.Parse()
	settle := apply
	if *check {
		settle = refuse
	}
	if err := run(context.Background(), settle); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

// run generates into a temporary folder and leaves what differs to settle.
func run(ctx context.Context, settle func(root string, changes []change) error) error {
	root, err := workspace.Find()
	if err != nil {
		return err
	}
	files, err := workspace.Files(ctx, root)
	if err != nil {
		return err
	}
	listed, err := buf(ctx, root, "ls-files")
	if err != nil {
		return err
	}
	if err := unlisted(files, strings.Fields(listed)); err != nil {
		return err
	}
	made, err := os.MkdirTemp("", "plinth-protogen-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(made) }()
	if _, err := buf(ctx, root, "generate", "--output", made); err != nil {
		return err
	}
	changes, err := compare(root, files, made)
	if err != nil {
		return err
	}
	return settle(root, changes)
}

// buf runs the repository's buf and returns what it prints.
func buf(ctx context.Context, root string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(root, "bin", "buf"), args...)
	cmd.Dir = root
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("buf %s: %w\n%s", args[0], err, problem.String())
	}
	return string(out), nil
}

// unlisted refuses a proto that buf does not see: nothing would check it.
func unlisted(files, listed []string) error {
	var problems []error
	for _, name := range files {
		if strings.HasSuffix(name, ".proto") && !slices.Contains(listed, name) {
			problems = append(problems, fmt.Errorf("%s is in none of the folders that buf.yaml includes", name))
		}
	}
	return errors.Join(problems...)
}

// refuse says what is out of date.
func refuse(_ string, changes []change) error {
	var problems []error
	for _, c := range changes {
		problems = append(problems, fmt.Errorf("%s %s: run make generate", c.name, c.why))
	}
	return errors.Join(problems...)
}

// apply brings the tree up to date.
func apply(root string, changes []change) error {
	for _, c := range changes {
		target := filepath.Join(root, filepath.FromSlash(c.name))
		if c.text == nil {
			if err := os.Remove(target); err != nil {
				return err
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o750); err != nil {
			return err
		}
		if err := os.WriteFile(target, c.text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
