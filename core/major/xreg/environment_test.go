package xreg_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/internal/report"
	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	"github.com/plinthgo/plinth/core/major/xreg"
)

// problems returns the errors of an application that fails to start.
func problems(t *testing.T, opts ...xoption.Option) []string {
	t.Helper()
	reg, err := xreg.New(t.Context(), nil, opts...)
	if err == nil {
		_ = reg.Close(t.Context())
	}
	var lines []string
	for _, p := range report.List(err) {
		lines = append(lines, p.Error())
	}
	return lines
}

func TestNew_Environment(t *testing.T) {
	t.Run("problems of the .env file are reported together", func(t *testing.T) {
		unset(t, xenv.Port, xenv.Host)
		base, _ := isolated(t)
		file := filepath.Join(t.TempDir(), "my.env")
		text := "\ufeffPLINTH_PORT=abc\nDATABASE_PASS=\"s3cret\nPLINTH_HOST=h\n=x\n" +
			"this is no line\r\nLOG_DIR=none\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PLINTH_DEBUG", "maybe")
		got := problems(t, base, func(p *startup.Plan) { p.NoEnvFile = false },
			xoption.WithEnvFile(file, file+".none"))
		want := []string{
			"xreg: environment file: " + file + ": line 2 is not NAME=value",
			"xreg: environment file: " + file + ": line 4 is not NAME=value",
			"xreg: environment file: " + file + ": line 5 is not NAME=value",
			"xreg: environment file: open " + file + ".none: no such file or directory",
			`PLINTH_DEBUG: "maybe" is not a boolean (accepted: true, false, yes, no, on, off, 1 or 0)`,
			`PLINTH_PORT: "abc" is not an integer (accepted: 0 to 65535)`,
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("problems\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})

	t.Run("an invalid variable is reported with its accepted values", func(t *testing.T) {
		for _, tc := range []struct {
			name, value, want string
		}{
			{
				name: "SNOWFLAKE_DATACENTER_ID", value: "-1",
				want: `SNOWFLAKE_DATACENTER_ID: "-1" is out of range for the id layout default ` +
					`(accepted: 0 to 7)`,
			},
			{
				name: "SNOWFLAKE_NODE_ID", value: "4294967296",
				want: `SNOWFLAKE_NODE_ID: "4294967296" is out of range for the id layout default ` +
					`(accepted: 0 to 7)`,
			},
			{
				name: "SNOWFLAKE_NODE_ID", value: "one",
				want: `SNOWFLAKE_NODE_ID: "one" is not an integer (accepted: an integer)`,
			},
			{
				name: "CONTEXT_EXCLUDE_URLS", value: "/a,info",
				want: `xhelper: ExcludeURLs or CONTEXT_EXCLUDE_URLS: "info" does not start with ` +
					`a slash (accepted: paths such as /healthz)`,
			},
		} {
			t.Run(tc.name+"="+tc.value, func(t *testing.T) {
				t.Setenv("SNOWFLAKE_LEASE_DIR", t.TempDir())
				t.Setenv("LOG_DIR", "none")
				t.Setenv(tc.name, tc.value)
				got := problems(t, xoption.WithoutEnvFile())
				if !slices.Equal(got, []string{tc.want}) {
					t.Errorf("problems\n%s\nwant\n%s", strings.Join(got, "\n"), tc.want)
				}
			})
		}
	})

	t.Run("a required database must be configured", func(t *testing.T) {
		base, _ := isolated(t)
		for _, tc := range []struct{ driver, want string }{
			{driver: "none", want: `DATABASE_DRIVER: "none" is not a database, and the application requires one`},
			{driver: "", want: "DATABASE_DRIVER: is not set, and the application requires a database"},
		} {
			t.Setenv("DATABASE_DRIVER", tc.driver)
			got := problems(t, base, xoption.WithRequiredDatabase(xoptdatabase.FromEnv()),
				xoption.WithDatabase())
			if len(got) != 1 || !strings.HasPrefix(got[0], tc.want) ||
				!strings.Contains(got[0], "accepted: ") {
				t.Errorf("DATABASE_DRIVER=%s: problems = %q, want %q", tc.driver, got, tc.want)
			}
		}
		t.Setenv("LEASE_BACKEND", "database") // must not add a problem
		got := problems(t, base, xoption.WithRequiredDatabase(xoptdatabase.FromEnv()))
		if len(got) != 1 {
			t.Errorf("problems = %q, want the missing database only", got)
		}
	})
}

func TestNew_DrainDelay(t *testing.T) {
	base, _ := isolated(t)
	for _, tc := range []struct {
		name           string
		drain, timeout string
		opts           []xoption.Option
		want           string
	}{
		{
			name: "longer than the shutdown timeout", drain: "3s", timeout: "2s",
			want: "a drain delay below 1.6s, or a longer shutdown timeout",
		},
		{
			name: "at the start of the reserve", drain: "20s", timeout: "25s",
			want: "a drain delay below 20s",
		},
		{
			name: "default with a short timeout", drain: "", timeout: "5s",
			want: "a drain delay below 4s",
		},
		{
			name: "option and environment", timeout: "2s", drain: "0s",
			opts: []xoption.Option{xoption.WithDrainDelay(3 * time.Second)},
			want: "xoption.WithDrainDelay",
		},
		{name: "both options", opts: []xoption.Option{
			xoption.WithDrainDelay(2 * time.Second),
			xoption.WithShutdownTimeout(time.Second),
		}, want: "below 800ms"},
		{name: "just below the reserve", drain: "19999ms", timeout: "25s"},
		{name: "none", drain: "0s", timeout: "1ms"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv("PLINTH_DRAIN_DELAY", tc.drain)
			t.Setenv("PLINTH_SHUTDOWN_TIMEOUT", tc.timeout)
			got := strings.Join(problems(t, append(tc.opts, base)...), "\n")
			if tc.want == "" {
				if got != "" {
					t.Errorf("problems = %s, want none", got)
				}
				return
			}
			for _, want := range []string{
				tc.want, "PLINTH_DRAIN_DELAY", "PLINTH_SHUTDOWN_TIMEOUT",
			} {
				if strings.Count(got, "\n") != 0 || !strings.Contains(got, want) {
					t.Errorf("problems = %s, want one line with %q", got, want)
				}
			}
		})
	}
}

func TestReg_Serve_Slashes(t *testing.T) {
	routes := xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
		e.GET("/info", func(c *gin.Context) { c.String(http.StatusOK, "info") })
	})
	reg, out := start(t, nil, routes)
	for _, path := range []string{"/info/", "//info", "/INFO"} {
		w := get(reg, "GET", path)
		if w.Code != http.StatusNotFound || w.Header().Get("X-Request-UUID") == "" ||
			!strings.Contains(w.Body.String(), `"PAGE_NOT_FOUND"`) {
			t.Errorf("%s = %d %s, want 404 in the envelope with an id", path, w.Code, w.Body)
		}
	}
	if n := linesWith(out, `"status":404`); n != 3 {
		t.Errorf("%d lines in the access log, want 3:\n%s", n, out)
	}
	reg, _ = start(t, nil, routes,
		xoption.WithEngine(func(e *gin.Engine) { e.RedirectTrailingSlash = true }))
	if w := get(reg, "GET", "/info/"); w.Code != http.StatusMovedPermanently {
		t.Errorf("with RedirectTrailingSlash: %d, want 301", w.Code)
	}
}

func TestNew_NodeID(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "leases")
	t.Setenv("SNOWFLAKE_LEASE_DIR", dir)
	for _, tc := range []struct {
		name, node string
		opts       []xsnowflake.Option
		want       string
	}{
		{name: "environment", node: "3", want: "SNOWFLAKE_NODE_ID"},
		{name: "lease", want: "a lease in " + dir + " (scope: host)"},
		{
			name: "option", opts: []xsnowflake.Option{xsnowflake.WithNodeID(3)},
			want: "xoption.WithSnowflake: a configured node ID",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv("SNOWFLAKE_NODE_ID", tc.node)
			base, out := isolated(t)
			reg, err := xreg.New(t.Context(), nil, base,
				func(p *startup.Plan) { p.Snowflake = tc.opts })
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = reg.Close(t.Context()) }()
			text := out.String()
			if !strings.Contains(text, `"level":"info"`) ||
				!strings.Contains(text, `"source":"`+tc.want+`"`) ||
				strings.Contains(text, `"node":`) != (tc.name != "lease") {
				t.Errorf("log\n%s\nwant the node ID and %q", text, tc.want)
			}
		})
	}
}

func TestNew_MisspelledVariable(t *testing.T) {
	t.Setenv("PLINTH_PROT", "80")
	const want = "PLINTH_PROT is set, and no linked package reads it: did you mean PLINTH_PORT?"
	t.Run("is reported if the startup succeeds", func(t *testing.T) {
		if _, out := start(t, nil); linesWith(out, want) != 1 {
			t.Errorf("log\n%s\nwant %q once", out, want)
		}
	})
	t.Run("is reported if the startup fails", func(t *testing.T) {
		t.Setenv("PLINTH_PORT", "x")
		base, out := isolated(t)
		if _, err := xreg.New(t.Context(), nil, base); err == nil || linesWith(out, want) != 1 {
			t.Errorf("New = %v, log\n%s\nwant an error and %q once", err, out, want)
		}
	})
}
