// Envdoc writes what is made from the table of environment variables: .env.example and the
// documentation's page. With -check it writes nothing and fails where one is out of date.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	xEnv "github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/tools/internal/envtable"
	"github.com/plinthgo/plinth/tools/internal/workspace"
)

func main() {
	check := flag.Bool("check", false, "fail where a file is out of date")
	flag.Parse()
	put := write
	if *check {
		put = compare
	}
	if err := run(put); err != nil {
		fmt.Fprintln(os.Stderr, "envdoc:", err)
		os.Exit(1)
	}
}

func run(put func(path, text string) error) error {
	root, err := workspace.Find()
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		".env.example":                      xEnv.Example(),
		"docs/content/guide/environment.md": page(),
	} {
		if err := put(filepath.Join(root, filepath.FromSlash(name)), text); err != nil {
			return err
		}
	}
	return nil
}

func write(path, text string) error {
	return os.WriteFile(path, []byte(text), 0o644)
}

func compare(path, text string) error {
	have, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if string(have) != text {
		return fmt.Errorf("%s is out of date: run make generate", filepath.Base(path))
	}
	return nil
}

// page is the documentation's list of variables.
func page() string {
	return "---\ntitle: Environment variables\ndescription: Every variable that Plinth reads, its default and what it accepts.\n---\n\n" +
		"A variable that is set to nothing counts as not set. A value that does not parse ends the start with a line that\n" +
		"names the variable and what it accepts. `.env` in the working directory is read at the start and never overrides\n" +
		"the real environment.\n\n" +
		"In `.env` put a value with spaces, `#`, `$` or double quotes between single quotes, where it is taken as it stands. One\n" +
		"that holds a single quote, or ends in a backslash, belongs into the real environment.\n" +
		envtable.Markdown(xEnv.Table())
}
