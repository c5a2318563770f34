// Envdoc generates .env.example and the configuration page of the guide from the
// registered environment variables. With -check it writes nothing and fails if a file is
// out of date.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	_ "github.com/plinthgo/plinth/cacheplugins/memory"
	_ "github.com/plinthgo/plinth/cacheplugins/redis"
	"github.com/plinthgo/plinth/core/defined/xenv"
	_ "github.com/plinthgo/plinth/core/major/xreg"
	_ "github.com/plinthgo/plinth/dbplugins/mysql"
	_ "github.com/plinthgo/plinth/dbplugins/oracle"
	_ "github.com/plinthgo/plinth/dbplugins/postgres"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
	_ "github.com/plinthgo/plinth/dbplugins/sqlserver"
	_ "github.com/plinthgo/plinth/grpcx/runner"
	_ "github.com/plinthgo/plinth/notifyx/email"
	"github.com/plinthgo/plinth/tools/internal/workspace"
	"github.com/plinthgo/plinth/tools/plinth/envtable"
)

func main() {
	check := flag.Bool("check", false, "fail if a file is out of date instead of writing it")
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
		".env.example": envtable.Example(xenv.Table(), nil),
		"docs/content/guide/environment.md": strings.Replace(page, "TABLES\n",
			envtable.Markdown(xenv.Table()), 1),
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

// page is the page of the guide. The line TABLES is replaced by the generated tables.
//
//go:embed environment.md
var page string
