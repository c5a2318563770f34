// Envdoc writes what is made from the table of environment variables: .env.example and the
// documentation's page. With -check it writes nothing and fails where one is out of date.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

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
		".env.example":                      envtable.Example(xenv.Table(), nil),
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
	return "---\ntitle: Environment variables\ndescription: Every variable that Plinth reads, its default and what it accepts.\n" +
		"keywords: [configuration, environment, settings]\n---\n\n" +
		"A value that does not parse fails the start with a line that names the variable and what it accepts. `.env` in the\n" +
		"working directory is read at the start and never overrides the real environment.\n\n" +
		"## Empty values and `none`\n\n" +
		"An empty value counts as not set, in the environment and in `.env`: it overrides neither `.env` nor the defaults of\n" +
		"the application. So `NOSQL_HOST=${NOSQL_HOST:-}` of a Compose file changes nothing while the variable is empty.\n\n" +
		"A deployment switches off what `.env` or the application sets by a value of the variable itself:\n\n" +
		"- A variable without a default (–) accepts `none`, which counts as not set: `PLINTH_TRUSTED_PROXIES=none`,\n" +
		"  `DATABASE_DSN=none`, `DATABASE_PREFIX=none`, `NOSQL_URL=none`, `SNOWFLAKE_NODE_ID=none`. A user, a password or a\n" +
		"  database that is really called `none` belongs in `DATABASE_DSN` or `NOSQL_URL`.\n" +
		"- `DATABASE_DRIVER`, `NOSQL_DRIVER`, `LEASE_BACKEND`, `LOG_DIR` and `EMAIL_TLS` accept `none`, limits accept `0`,\n" +
		"  and switches accept `false`. Every other variable has a default that is set by its value in the table.\n\n" +
		"## Values in `.env`\n\n" +
		"In `.env` put a value with spaces, `#`, `$` or double quotes between single quotes, where it is taken as it stands. One\n" +
		"that holds a single quote, or ends in a backslash, belongs into the real environment.\n" +
		envtable.Markdown(xenv.Table()) +
		"\n## Variables of other programs\n\n" +
		"Plinth follows these conventions. They are read from the real environment, not from `.env`.\n\n" +
		"| Variable | Accepts | Meaning |\n|---|---|---|\n" +
		"| `NO_COLOR` | any text | If it is set, log lines at a terminal have no color ([no-color.org](https://no-color.org)). |\n" +
		"| `TERM` | the type of the terminal | If it is `dumb`, log lines have no color. |\n" +
		"| `GRPC_GO_LOG_SEVERITY_LEVEL` | error, warning, info | If it is set, grpc-go writes its own lines to standard error; otherwise " +
		"its errors go to the log of the application. |\n"
}
