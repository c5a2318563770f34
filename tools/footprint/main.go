// Footprint builds the smallest program of each module and prints its size and the number of modules
// that it links, with plain gin beside it, and grpc-go alone beside grpcx.
//
//	footprint          print the table
//	footprint -check   and fail where core is over its budget, or a program links a driver that it does not import
//	footprint -write   and put the table into README.md
//
// The programs are built without cgo, stripped and with trimmed paths, for the machine at hand.
package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// The budget of core over plain gin.
const (
	budgetBytes   = 3_000_000
	budgetModules = 15
)

// The marks in README.md between which the table stands.
const (
	begin = "<!-- footprint: written by `make footprint-table` -->\n"
	end   = "<!-- /footprint -->\n"
)

// A program is a folder below hello, what it shows, the one whose size it is compared with, and which of the libraries it links
// that only those may which need them: of a backend, of gRPC, of an engine, of mail.
type program struct {
	folder, shows, peer string
	libraries           []string
}

// The libraries that more than one program needs.
const (
	sqliteLibrary   = "modernc.org/sqlite"
	postgresLibrary = "github.com/jackc/pgx/v5"
	redisLibrary    = "github.com/redis/go-redis/v9"
	grpcLibrary     = "google.golang.org/grpc"
	poolLibrary     = "github.com/alitto/pond/v2"
)

// programs are in the order of the table.
var programs = []program{
	{"gin", "gin alone: one route", "gin", nil},
	{"core", "`core`: one route, with ids, logs, errors, health and shutdown", "gin", nil},
	{"memory", "`core` and `cacheplugins/memory`", "gin", []string{"github.com/maypok86/otter/v2"}},
	{"redis", "`core` and `cacheplugins/redis`", "gin", []string{redisLibrary}},
	{"ginsqlite", "gin, gorm and glebarez/sqlite, without Plinth", "gin", []string{sqliteLibrary}},
	{"sqlite", "`core` and `dbplugins/sqlite`", "gin", []string{sqliteLibrary}},
	{"postgres", "`core` and `dbplugins/postgres`", "gin", []string{postgresLibrary}},
	{"mysql", "`core` and `dbplugins/mysql`", "gin", []string{"github.com/go-sql-driver/mysql"}},
	{"sqlserver", "`core` and `dbplugins/sqlserver`", "gin", []string{"github.com/microsoft/go-mssqldb"}},
	{"oracle", "`core` and `dbplugins/oracle`", "gin", []string{"github.com/sijms/go-ora/v2"}},
	{"async", "`core` and `asyncx`: work in the background", "gin", []string{poolLibrary}},
	{"jobs", "`core`, `dbplugins/sqlite` and `asyncx`: durable jobs in a table", "gin", []string{sqliteLibrary}},
	{"river", "`core`, `dbplugins/postgres` and `asyncx/river`", "gin", []string{postgresLibrary, "github.com/riverqueue/river"}},
	{"asynq", "`core`, `cacheplugins/redis` and `asyncx/asynq`", "gin", []string{redisLibrary, "github.com/hibiken/asynq"}},
	{"cron", "`core` and `cronx`", "gin", []string{"github.com/netresearch/go-cron"}},
	{"email", "`core` and `notifyx/email`", "gin", []string{"github.com/wneessen/go-mail"}},
	{"webhook", "`core` and `notifyx/webhook`", "gin", []string{"github.com/sony/gobreaker/v2"}},
	{"docs", "`core` and `docs`: the documentation beside a service", "gin", []string{"github.com/modelcontextprotocol/go-sdk", "github.com/alecthomas/chroma/v2"}},
	{"gingrpc", "gin and grpc-go, without Plinth", "gin", []string{grpcLibrary}},
	{"coregrpc", "`core` and `grpcx`", "gin", []string{grpcLibrary}},
	{"baregrpc", "grpc-go alone: its health service", "baregrpc", []string{grpcLibrary}},
	{"grpc", "`grpcx` without HTTP: health, reflection, ids, logs, errors, shutdown", "baregrpc", []string{grpcLibrary}},
}

// measured is what one program costs.
type measured struct {
	bytes   int64
	modules int
	links   []string // the paths of the modules
}

func main() {
	check := flag.Bool("check", false, "fail where core is over its budget")
	update := flag.Bool("write", false, "put the table into README.md")
	flag.Parse()
	sizes, root, err := measure(context.Background())
	if err == nil {
		fmt.Fprint(os.Stdout, table(sizes))
	}
	if err == nil && *update {
		err = put(filepath.Join(root, "README.md"), table(sizes))
	}
	if err == nil && *check {
		err = errors.Join(budget(sizes["gin"], sizes["core"]), foreign(sizes))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "footprint:", err)
		os.Exit(1)
	}
}

// measure builds every program.
func measure(ctx context.Context) (sizes map[string]measured, root string, err error) {
	root, err = workspace.Find()
	if err != nil {
		return nil, "", err
	}
	dir, err := os.MkdirTemp("", "plinth-footprint-")
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	sizes = map[string]measured{}
	for _, p := range programs {
		m, err := build(ctx, root, p.folder, filepath.Join(dir, p.folder))
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", p.folder, err)
		}
		sizes[p.folder] = m
	}
	return sizes, root, nil
}

func build(ctx context.Context, root, folder, binary string) (measured, error) {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, "./footprint/hello/"+folder)
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
	m := measured{bytes: info.Size(), modules: len(linked.Deps)}
	for _, dep := range linked.Deps {
		m.links = append(m.links, dep.Path)
	}
	return m, nil
}

// table is the result in Markdown.
func table(sizes map[string]measured) string {
	var b strings.Builder
	b.WriteString("| Program | Size | Over gin, or grpc-go alone | Linked modules |\n|---|---|---|---|\n")
	for _, p := range programs {
		m := sizes[p.folder]
		fmt.Fprintf(&b, "| %s | %.1f MB | %+.1f MB | %d |\n", p.shows, mb(m.bytes), mb(m.bytes-sizes[p.peer].bytes), m.modules)
	}
	fmt.Fprintf(&b, "\nStripped, without cgo, %s, %s/%s.\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return b.String()
}

func mb(bytes int64) float64 { return float64(bytes) / 1e6 }

// budget refuses a core that costs more than was promised.
func budget(gin, core measured) error {
	var problems []error
	if over := core.bytes - gin.bytes; over > budgetBytes {
		problems = append(problems, fmt.Errorf("core is %.2f MB over gin; the budget is %.1f MB", mb(over), mb(budgetBytes)))
	}
	if over := core.modules - gin.modules; over > budgetModules {
		problems = append(problems, fmt.Errorf("core links %d modules more than gin; the budget is %d", over, budgetModules))
	}
	return errors.Join(problems...)
}

// guarded returns every library that some program names.
func guarded() []string {
	var all []string
	for _, p := range programs {
		all = append(all, p.libraries...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// foreign refuses a program that links the library of a backend which it does not import, or not that of its own.
func foreign(sizes map[string]measured) error {
	var problems []error
	for _, p := range programs {
		for _, library := range guarded() {
			links := slices.Contains(sizes[p.folder].links, library)
			if own := slices.Contains(p.libraries, library); links != own {
				problems = append(problems, fmt.Errorf("program %s links %s: %t, want %t", p.folder, library, links, own))
			}
		}
	}
	return errors.Join(problems...)
}

// put replaces what stands between the marks in the file.
func put(file, text string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	head, rest, opened := strings.Cut(string(data), begin)
	_, tail, closed := strings.Cut(rest, end)
	if !opened || !closed {
		return errors.New(file + " has no marks for the table")
	}
	return os.WriteFile(file, []byte(head+begin+text+end+tail), 0o644)
}
