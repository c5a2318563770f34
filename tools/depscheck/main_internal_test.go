package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// writeFiles writes files into a new directory.
func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRequirements(t *testing.T) {
	file := func(text string) *modfile.File {
		f, err := modfile.Parse("go.mod", []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	got := requirements([]workspace.Module{
		{File: file("module " + workspace.Root + "/a\n\nrequire (\n\texample.com/x v1.0.0\n\t" +
			workspace.Root + "/b v0.1.0\n)\n")},
		{File: file("module " + workspace.Root +
			"/b\n\nrequire (\n\texample.com/x v1.0.0\n\texample.com/x/y v1.2.0 // indirect\n)\n")},
	})
	if want := "example.com/x/y@v1.2.0 example.com/x@v1.0.0"; strings.Join(got, " ") != want {
		t.Errorf("requirements = %q, want %s", got, want)
	}
}

func TestCheckWorkSum(t *testing.T) {
	proxy := writeFiles(t, map[string]string{
		"example.com/lib/@v/list":        "v1.0.0\n",
		"example.com/lib/@v/v1.0.0.info": `{"Version":"v1.0.0"}`,
		"example.com/lib/@v/v1.0.0.mod":  "module example.com/lib\n",
	})
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(proxy))
	t.Setenv("GONOSUMDB", "*")
	t.Setenv("GOMODCACHE", t.TempDir())
	root := writeFiles(t, map[string]string{
		"go.work":  "go 1.26.0\n\nuse ./a\n",
		"a/go.mod": "module example.com/a\n\ngo 1.26.0\n\nrequire example.com/lib v1.0.0\n",
	})
	if err := checkWorkSum(t.Context(), root); err == nil ||
		!strings.Contains(err.Error(), "go.work.sum was out of date") {
		t.Errorf("checkWorkSum without go.work.sum = %v, want an error", err)
	}
	if err := checkWorkSum(t.Context(), root); err != nil {
		t.Errorf("checkWorkSum with the generated go.work.sum = %v", err)
	}
}

func TestRetracted(t *testing.T) {
	const mod = "module example.com/lib\n"
	proxy := writeFiles(t, map[string]string{
		"example.com/lib/@v/list":        "v1.0.0\nv1.1.0\nv1.2.0\n",
		"example.com/lib/@v/v1.0.0.info": `{"Version":"v1.0.0","Time":"2026-01-01T00:00:00Z"}`,
		"example.com/lib/@v/v1.0.0.mod":  mod,
		"example.com/lib/@v/v1.1.0.info": `{"Version":"v1.1.0","Time":"2026-02-01T00:00:00Z"}`,
		"example.com/lib/@v/v1.1.0.mod":  mod,
		"example.com/lib/@v/v1.2.0.info": `{"Version":"v1.2.0","Time":"2026-03-01T00:00:00Z"}`,
		"example.com/lib/@v/v1.2.0.mod":  mod + "\nretract v1.1.0 // a flaw\n",
	})
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(proxy))
	t.Setenv("GONOSUMDB", "*")
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOFLAGS", "-modcacherw")
	for _, tc := range []struct {
		name, version string
		strict        bool
		out, want     string
	}{
		{name: "current", version: "v1.0.0", strict: true},
		{
			name: "retracted", version: "v1.1.0",
			want: "example.com/lib@v1.1.0 is retracted (a flaw)",
		},
		{
			name: "unknown", version: "v1.3.0",
			out: "*** NOT CHECKED: retractions of example.com/lib@v1.3.0",
		},
		{
			name: "unknown and strict", version: "v1.3.0",
			strict: true, want: "retractions of example.com/lib@v1.3.0: ",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out bytes.Buffer
			err := checker{out: &out, strict: tc.strict}.retracted(t.Context(),
				[]string{"example.com/lib@v1.2.0", "example.com/lib@" + tc.version})
			if (err == nil) != (tc.want == "") || err != nil &&
				!strings.Contains(err.Error(), tc.want) {
				t.Errorf("retracted = %v, want %q", err, tc.want)
			}
			if !strings.Contains(out.String(), tc.out) || tc.out == "" && out.Len() > 0 {
				t.Errorf("output = %s, want %q", out.String(), tc.out)
			}
		})
	}
}

// TestRetracted_Offline uses a cached version: if the go command cannot look up its
// retractions, it reports no retraction.
func TestRetracted_Offline(t *testing.T) {
	const mod = "module example.com/lib\n"
	files := map[string]string{
		"example.com/lib/@v/list":        "v1.0.0\nv1.1.0\n",
		"example.com/lib/@v/v1.0.0.info": `{"Version":"v1.0.0","Time":"2026-01-01T00:00:00Z"}`,
		"example.com/lib/@v/v1.0.0.mod":  mod,
		"example.com/lib/@v/v1.1.0.info": `{"Version":"v1.1.0","Time":"2026-02-01T00:00:00Z"}`,
		"example.com/lib/@v/v1.1.0.mod":  mod + "\nretract v1.1.0\n",
	}
	versions := []string{"example.com/lib@v1.0.0"}
	t.Setenv("GONOSUMDB", "*")
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(writeFiles(t, files)))
	if err := (checker{out: os.Stderr, strict: true}).retracted(t.Context(), versions); err != nil {
		t.Fatalf("retracted with the proxy = %v; only the latest version is retracted, and it is not required",
			err)
	}
	for name, proxy := range map[string]string{
		"proxy off":          "off",
		"empty proxy":        "file://" + filepath.ToSlash(t.TempDir()),
		"unreachable proxy":  "http://127.0.0.1:1",
		"unreachable or off": "http://127.0.0.1:1|off",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GOPROXY", proxy)
			var out bytes.Buffer
			const what = "retractions of example.com/lib@v1.0.0: "
			if err := (checker{out: &out}).retracted(t.Context(), versions); err != nil ||
				strings.Count(out.String(), "*** NOT CHECKED: "+what) != 1 {
				t.Errorf("retracted = %v, output = %s; want it reported once as not checked",
					err, out.String())
			}
			out.Reset()
			err := checker{out: &out, strict: true}.retracted(t.Context(), versions)
			if err == nil || !strings.Contains(err.Error(), what) || out.Len() > 0 {
				t.Errorf("strict retracted = %v, output = %s; want an error with %q",
					err, out.String(), what)
			}
		})
	}
}

func TestVulnerable(t *testing.T) {
	program := writeFiles(t, map[string]string{
		"go.mod":  "module example.com/app\n\ngo 1.26.0\n",
		"main.go": "package main\n\nimport (\n\t\"os\"\n\t\"strings\"\n)\n\nfunc main() { _, _ = os.Stdout.WriteString(strings.ToUpper(os.Args[0])) }\n",
	})
	database := func(symbol string) string {
		return "file://" + filepath.ToSlash(writeFiles(t, map[string]string{
			"index/db.json":      `{"modified":"2026-01-01T00:00:00Z"}`,
			"index/modules.json": `[{"path":"stdlib","vulns":[{"id":"GO-2026-0001","modified":"2026-01-01T00:00:00Z"}]}]`,
			"index/vulns.json":   `[{"id":"GO-2026-0001","modified":"2026-01-01T00:00:00Z"}]`,
			"ID/GO-2026-0001.json": `{"schema_version":"1.3.1","id":"GO-2026-0001","modified":"2026-01-01T00:00:00Z","summary":"a flaw","details":"a flaw",` +
				`"database_specific":{"url":"https://example.com/1"},` +
				`"affected":[{"package":{"name":"stdlib","ecosystem":"Go"},"ranges":[{"type":"SEMVER","events":[{"introduced":"0"}]}],` +
				`"ecosystem_specific":{"imports":[{"path":"strings","symbols":["` + symbol +
				`"]}]}}]}`,
		}))
	}
	notFound := httptest.NewServer(http.NotFoundHandler())
	defer notFound.Close()
	t.Setenv("GOWORK", "off")
	for _, tc := range []struct {
		name, database string
		strict         bool
		out, want      string
	}{
		{name: "no vulnerability", database: database("Title"), out: "No vulnerabilities found"},
		{
			name: "vulnerability", database: database("ToUpper"), out: "GO-2026-0001",
			want: "govulncheck: ",
		},
		{name: "no database", database: notFound.URL, out: "*** NOT CHECKED: known vulnerabilities"},
		{
			name:     "no database, strict",
			database: notFound.URL, strict: true, want: "known vulnerabilities: ",
		},
		{
			name: "no server, strict", database: "http://127.0.0.1:1",
			strict: true, want: "known vulnerabilities: ",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out bytes.Buffer
			err := checker{out: &out, strict: tc.strict}.vulnerable(t.Context(), program,
				tc.database, []string{"./..."})
			if (err == nil) != (tc.want == "") || err != nil &&
				!strings.Contains(err.Error(), tc.want) {
				t.Errorf("vulnerable = %v, want %q", err, tc.want)
			}
			if !strings.Contains(out.String(), tc.out) {
				t.Errorf("output = %s, want it to contain %q", out.String(), tc.out)
			}
		})
	}
}
