// Depscheck checks the dependencies of all modules. It fails on a retracted requirement,
// on a known vulnerability that the code reaches, and on an outdated go.work.sum.
//
//	depscheck [-strict]
//
// Retractions come from the module proxy, and vulnerabilities from https://vuln.go.dev or
// GOVULNDB. If a source does not respond, depscheck prints a line in capitals; with
// -strict, it fails.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/vuln/scan"

	"github.com/plinthgo/plinth/tools/internal/workspace"
)

func main() {
	strict := flag.Bool("strict", false, "fail if something cannot be checked")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := checker{out: os.Stdout, strict: *strict}.run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "depscheck:", err)
		os.Exit(1)
	}
}

// checker checks the dependencies of the modules.
type checker struct {
	out    io.Writer
	strict bool // fail if something cannot be checked
}

func (c checker) run(ctx context.Context) error {
	root, err := workspace.Find()
	if err != nil {
		return err
	}
	modules, err := workspace.Modules(root)
	if err != nil {
		return err
	}
	patterns := make([]string, len(modules))
	for i, m := range modules {
		patterns[i] = "./" + m.Name + "/..."
	}
	database := os.Getenv("GOVULNDB")
	if database == "" {
		database = "https://vuln.go.dev"
	}
	return errors.Join(
		checkWorkSum(ctx, root),
		c.retracted(ctx, requirements(modules)),
		c.vulnerable(ctx, root, database, patterns),
	)
}

// unchecked prints what was not checked, or returns it as an error if strict is set.
func (c checker) unchecked(what string, err error) error {
	if c.strict {
		return fmt.Errorf("%s: %w", what, err)
	}
	_, err = fmt.Fprintf(c.out, "*** NOT CHECKED: %s: %v ***\n", what, err)
	return err
}

// checkWorkSum returns an error if go.work.sum lacks a hash. The go command adds the
// missing hashes to the file.
func checkWorkSum(ctx context.Context, root string) error {
	name := filepath.Join(root, "go.work.sum")
	before, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "all")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOWORK="+filepath.Join(root, "go.work"), "GOFLAGS=")
	var problem bytes.Buffer
	cmd.Stderr = &problem
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go list: %w\n%s", err, problem.Bytes())
	}
	after, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !bytes.Equal(before, after) {
		return errors.New("go.work.sum was out of date: commit the updated file")
	}
	return nil
}

// requirements returns the third-party requirements of the modules as path@version.
func requirements(modules []workspace.Module) []string {
	var all []string
	for _, m := range modules {
		for _, r := range m.File.Require {
			if !strings.HasPrefix(r.Mod.Path, workspace.Root+"/") {
				all = append(all, r.Mod.String())
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// retracted returns an error that lists the retracted versions.
func (c checker) retracted(ctx context.Context, versions []string) error {
	latest := latestOf(versions)
	list, err := lookUp(ctx, append(slices.Clone(versions), latest...))
	if err != nil {
		return err
	}
	if got, want := len(list), len(versions)+len(latest); got != want {
		return fmt.Errorf("go list printed %d modules, want %d", got, want)
	}
	// The latest version contains the retractions. If the go command cannot find it, it
	// reports no retraction of a cached version.
	unknown := map[string]string{}
	for _, m := range list[len(versions):] {
		if m.Error != nil {
			unknown[m.Path] = m.Error.Err
		}
	}
	var problems []error
	for _, m := range list[:len(versions)] {
		problem := unknown[m.Path]
		if m.Error != nil {
			problem = m.Error.Err
		}
		switch {
		case problem != "":
			problems = append(problems,
				c.unchecked("retractions of "+m.Path+"@"+m.Version, errors.New(problem)))
		case m.Retracted != nil:
			problems = append(problems,
				fmt.Errorf("%s@%s is retracted (%s): require another version, then run make tidy",
					m.Path, m.Version, strings.Join(m.Retracted, "; ")))
		}
	}
	return errors.Join(problems...)
}

// latestOf returns path@latest for each module of the versions.
func latestOf(versions []string) []string {
	var latest []string
	for _, v := range versions {
		path, _, _ := strings.Cut(v, "@")
		latest = append(latest, path+"@latest")
	}
	slices.Sort(latest)
	return slices.Compact(latest)
}

// module is a module in the output of go list.
type module struct {
	Path, Version string
	Retracted     []string
	Error         *struct{ Err string }
}

// lookUp returns the modules of the path@version queries, in their order.
func lookUp(ctx context.Context, queries []string) ([]module, error) {
	// outside of a module, go list does not change versions
	empty, err := os.MkdirTemp("", "plinth-deps-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(empty) }()
	cmd := exec.CommandContext(ctx, "go",
		append([]string{"list", "-m", "-e", "-retracted", "-json"}, queries...)...)
	cmd.Dir, cmd.Env = empty, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	var problem bytes.Buffer
	cmd.Stderr = &problem
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, problem.Bytes())
	}
	var list []module
	for decoder := json.NewDecoder(bytes.NewReader(text)); decoder.More(); {
		var m module
		if err := decoder.Decode(&m); err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// vulnerable returns an error if the packages in dir reach a known vulnerability.
func (c checker) vulnerable(ctx context.Context, dir, database string, packages []string) error {
	if err := checkResponse(ctx, database); err != nil {
		return c.unchecked("known vulnerabilities", err)
	}
	cmd := scan.Command(ctx, append([]string{"-C", dir, "-db", database}, packages...)...)
	cmd.Stdout, cmd.Stderr = c.out, c.out
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("govulncheck: %w", err)
	}
	return nil
}

// checkResponse returns an error if the database does not respond. It does not check a
// local directory.
func checkResponse(ctx context.Context, database string) error {
	if !strings.HasPrefix(database, "http") {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	address := strings.TrimSuffix(database, "/") + "/index/db.json"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody) //nolint:gosec // the developer selects the server
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request) //nolint:gosec // as above
	if err != nil {
		return err
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", request.URL, response.Status)
	}
	return nil
}
