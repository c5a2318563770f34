//go:build unix

package newservice_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// acme is the module of a third-party SQLite driver with its own variables.
var acme = map[string]string{
	"go.mod": "module example.com/acme\n\ngo 1.26.0\n",
	"acme.go": `// Package acme registers the database driver "acme".
package acme

import (
	"errors"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/sqlite"
)

type settings struct {
	File   string      ` + "`env:\"ACME_FILE\" required:\"true\" doc:\"File of the database.\"`" + `
	Region string      ` + "`env:\"ACME_REGION\" default:\"north\" oneof:\"north south\" doc:\"Where the data is kept.\"`" + `
	Token  xenv.Secret ` + "`env:\"ACME_TOKEN\" doc:\"Opens the region.\"`" + `
}

func init() {
	xenv.Register[settings]("Database: Acme")
	xdb.Register(Driver{})
}

// Driver opens a file.
type Driver struct{ sqlite.Driver }

// Name is the value of DATABASE_DRIVER that selects this driver.
func (Driver) Name() string { return "acme" }

// Variable names the file.
func (Driver) Variable() xenv.EnvKey { return "ACME_FILE" }

// DSN reads the driver's own variables.
func (d Driver) DSN(c driver.Config) (string, error) {
	own, err := xenv.Load[settings](c.Source)
	if err != nil {
		return "", err
	}
	if own.Token.Reveal() == "" {
		return "", errors.New("ACME_TOKEN: is missing")
	}
	c.Source = xenv.Map(map[string]string{"DATABASE_PATH": own.File + "." + own.Region})
	return d.Driver.DSN(c)
}
`,
}

// newAcmeProject creates a service that uses the driver.
func newAcmeProject(t *testing.T) *project {
	t.Helper()
	p := newProject(t, options{database: "sqlite", cache: "none"})
	for name, text := range acme {
		writeFile(t, filepath.Join(filepath.Dir(p.dir), "acme", name), text)
	}
	writeFile(t, filepath.Join(p.dir, "acme.go"), "package main\n\nimport _ \"example.com/acme\"\n")
	p.goCommand("mod", "edit", "-require=example.com/acme@v0.0.0",
		"-replace=example.com/acme=../acme")
	p.goCommand("mod", "tidy")
	return p
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestDriver_ThirdParty uses a driver that no module of Plinth imports.
func TestDriver_ThirdParty(t *testing.T) {
	p := newAcmeProject(t)
	invalid := []string{"DATABASE_DRIVER=acme", "ACME_REGION=nowhere", "ACME_TOKEN=hunter2"}
	t.Run("starts with the variables of the driver", func(t *testing.T) {
		p.goCommand("build", "-o", "service", ".")
		out, err := p.command(invalid, filepath.Join(p.dir, "service")).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "ACME_REGION") ||
			!strings.Contains(string(out), "north, south") ||
			!strings.Contains(string(out), "ACME_FILE") ||
			strings.Contains(string(out), "hunter2") {
			t.Errorf("%v, want both errors in the variables of the driver:\n%s", err, out)
		}
		valid := []string{"DATABASE_DRIVER=acme", "ACME_FILE=acme.db", "ACME_TOKEN=hunter2"}
		r := p.start(nil, valid, filepath.Join(p.dir, "service"))
		if code := r.stop(); code != 0 || strings.Contains(r.output(), "hunter2") {
			t.Errorf("exit code = %d:\n%s", code, r.output())
		}
		if _, err := os.Stat(filepath.Join(p.dir, "acme.db.north")); err != nil {
			t.Errorf("the driver did not open its file: %v", err)
		}
	})
	t.Run("plinth env lists the variables of the driver", func(t *testing.T) {
		out, err := p.command(invalid, p.sandbox.Path("plinth"), "env", "--json").Output()
		if err != nil {
			t.Fatal(err)
		}
		var list struct {
			Variables []struct {
				Name, Value, Group, Problem string
				Packages                    []string
			}
		}
		if err := json.Unmarshal(out, &list); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		found := map[string]string{}
		for _, v := range list.Variables {
			if slices.Contains(v.Packages, "example.com/acme") {
				found[v.Name] = v.Group + "|" + v.Value + "|" + v.Problem
			}
			if v.Name == "DATABASE_TIMEZONE" || v.Name == "NOSQL_MODE" {
				t.Errorf("%s is listed, but no package that reads it is linked", v.Name)
			}
		}
		if len(found) != 3 || found["ACME_TOKEN"] != "Database: Acme|***|" ||
			!strings.HasPrefix(found["ACME_REGION"], "Database: Acme|nowhere|ACME_REGION") ||
			!strings.HasPrefix(found["ACME_FILE"], "Database: Acme||ACME_FILE") {
			t.Errorf("variables of the driver = %q", found)
		}
	})
	t.Run("plinth doctor checks the variables of the driver", func(t *testing.T) {
		out, err := p.command(invalid, p.sandbox.Path("plinth"), "doctor").Output()
		if err == nil || !strings.Contains(string(out), "ACME_REGION") ||
			!strings.Contains(string(out), "ACME_FILE is not set") ||
			strings.Contains(string(out), "hunter2") {
			t.Errorf("%v, want the errors in the variables of the driver:\n%s", err, out)
		}
	})
	t.Run("plinth env documents the variables of the driver", func(t *testing.T) {
		out, err := p.plinth("env", "--format", "dotenv")
		if err != nil || !strings.Contains(out,
			"## Database: Acme\n\n# File of the database.\n# ACME_FILE=\n") ||
			!strings.Contains(out, "\n# Accepted: north, south.\n# ACME_REGION=north\n") {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

func TestEnv_BuildFailure(t *testing.T) {
	p := newAcmeProject(t)
	writeFile(t, filepath.Join(p.dir, "broken.go"), "package main\n\nvar broken int = \"text\"\n")
	var errs strings.Builder
	cmd := p.command(nil, p.sandbox.Path("plinth"), "env", "--format", "dotenv")
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), "# DATABASE_TIMEZONE=") ||
		strings.Contains(string(out), "ACME") ||
		!strings.Contains(errs.String(), "cannot list the variables of the service") ||
		!strings.Contains(errs.String(), "broken.go:3") {
		t.Errorf("%v\n%s\n%s", err, errs.String(), out)
	}
}
