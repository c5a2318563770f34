// Envdoc generates .env.example and the configuration page of the guide, in English and
// Chinese, from the registered environment variables. With -check it writes nothing and
// fails if a file is out of date.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	_ "github.com/plinthgo/plinth/openapix"
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
	zh, err := chineseTables(xenv.Table())
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		".env.example": envtable.Example(xenv.Table(), nil),
		"docs/content/guide/environment.md": strings.Replace(page, tables,
			envtable.Markdown(xenv.Table()), 1),
		"docs/content/guide/environment.zh.md": strings.Replace(chinesePage, tables, zh, 1),
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

// tables is the line of a page that the generated tables replace.
const tables = "TABLES\n"

// page is the page of the guide.
//
//go:embed environment.md
var page string

// chinesePage is the page of the guide in Chinese.
//
//go:embed environment.zh.md
var chinesePage string

// chineseGroups maps the groups of variables to headings of the Chinese page.
var chineseGroups = map[string]string{
	"Application and server":      "应用与服务器",
	"Cache":                       "缓存",
	"Cache: memory":               "缓存：内存",
	"Cache: Redis":                "缓存：Redis",
	"Database":                    "数据库",
	"Database: MySQL and MariaDB": "数据库：MySQL 与 MariaDB",
	"Database: Oracle":            "数据库：Oracle",
	"Database: PostgreSQL":        "数据库：PostgreSQL",
	"Database: SQLite":            "数据库：SQLite",
	"gRPC":                        "gRPC",
	"IDs":                         "ID",
	"Logs":                        "日志",
	"Mail":                        "邮件",
	"OpenAPI":                     "OpenAPI",
	"Request context":             "请求上下文",
}

// chineseTables returns the tables with Chinese headings. It returns an error if a group
// has no Chinese heading.
func chineseTables(vars []xenv.Var) (string, error) {
	vars = slices.Clone(vars)
	for i, v := range vars {
		heading, ok := chineseGroups[v.Group]
		if !ok {
			return "", fmt.Errorf("group %q has no Chinese heading: add it to chineseGroups", v.Group)
		}
		vars[i].Group = heading
	}
	return strings.ReplaceAll(envtable.Markdown(vars),
		"| Variable | Default | Accepts | Meaning |", "| 变量 | 默认值 | 取值 | 含义 |"), nil
}
