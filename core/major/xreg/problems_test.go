package xreg_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/internal/report"
	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

func TestNew_Problems(t *testing.T) {
	t.Run("all problems are reported, one line each", func(t *testing.T) {
		for key, value := range map[xenv.EnvKey]string{
			xenv.Port: "abc", "LOG_LEVEL": "loud", xenv.SnowflakeNodeID: "99",
			"PLINTH_TRUSTED_PROXIES": "10.0.0.0/8,nowhere",
			"PLINTH_DRAIN_DELAY":     "5", "PLINTH_MAX_BODY_BYTES": "4MB",
			xenv.DatabasePass: "s3cret",
		} {
			t.Setenv(key.String(), value)
		}
		opened := false
		node := func(context.Context) (any, error) { opened = true; return nil, nil }
		_, err := xreg.New(t.Context(), []xregnode.Node{
			{Key: xctx.DatabaseKey, Node: node}, {Key: "a", Node: node}, {Key: "a", Node: node},
		}, xoption.WithoutEnvFile(),
			withPhase(startup.Phase{
				Name: "database", Key: "d",
				Err: errors.Join(errors.New("first thing"), errors.New("second thing"),
					xenv.Validate()),
				Start: node,
			}),
			func(p *startup.Plan) {
				p.Cache = func(*startup.Plan) *startup.Phase { panic("check") }
			},
			xoption.WithTrustedProxies(), xoption.WithTrustedProxies("bad"),
			xoption.WithDrainDelay(-time.Second),
			xoption.WithShutdownTimeout(0), xoption.WithMaxBodyBytes(-1),
			xoption.WithRequestTimeout(-time.Second), xoption.WithAddress("nowhere"),
			xoption.WithListener(nil),
			xoption.WithHealthPaths("healthz", "/x"), xoption.WithHealthPaths("/x", "/x"),
			xoption.WithServer(nil), xoption.WithRoute(nil),
			xoption.WithLogger(nil), nil,
		)
		if opened {
			t.Error("a component was opened")
		}
		var got []string
		for _, p := range report.List(err) {
			got = append(got, p.Error())
		}
		for _, want := range []string{
			`PLINTH_PORT: "abc" is not an integer (accepted: 0 to 65535)`,
			`LOG_LEVEL: "loud"`, `SNOWFLAKE_NODE_ID: "99"`, `PLINTH_DRAIN_DELAY: "5"`,
			`PLINTH_MAX_BODY_BYTES: "4MB"`,
			`node 1: the key "plinth_database"`, `node 3: the key "a"`, "first thing",
			"second thing",
			"cache: check: panic: check",
			`WithTrustedProxies or PLINTH_TRUSTED_PROXIES: "bad"`, "WithDrainDelay: -1s",
			"WithShutdownTimeout: 0s", "WithMaxBodyBytes: -1", "WithRequestTimeout: -1s",
			`WithAddress: "nowhere"`,
			"WithListener", `WithHealthPaths: "healthz"`, `both paths are "/x"`, "WithServer",
			"WithRoute", "WithLogger",
		} {
			n := 0
			for _, line := range got {
				if strings.Contains(line, want) {
					n++
				}
			}
			if n != 1 {
				t.Errorf("%q is reported %d times, want once, in\n%s",
					want, n, strings.Join(got, "\n"))
			}
		}
		for _, line := range got {
			if strings.Contains(line, "\n") || strings.Contains(line, "s3cret") {
				t.Errorf("%q is not one line without a secret", line)
			}
		}
	})

	t.Run("an invalid proxy is named", func(t *testing.T) {
		t.Setenv("PLINTH_TRUSTED_PROXIES", "10.0.0.0/8, nowhere")
		base, _ := isolated(t)
		_, err := xreg.New(t.Context(), nil, base)
		if err == nil || !strings.Contains(err.Error(), `PLINTH_TRUSTED_PROXIES: "nowhere"`) ||
			strings.Contains(err.Error(), "10.0.0.0/8\"") {
			t.Errorf("New = %v, want the invalid proxy", err)
		}
	})

	t.Run("invalid ID node options are reported before anything is opened", func(t *testing.T) {
		for name, opt := range map[string]xsnowflake.Option{
			"SNOWFLAKE_NODE_ID": xsnowflake.WithNodeID(99),
			"layout":            xsnowflake.WithLayout(xsnowflake.Layout{}),
		} {
			opened := false
			got := problems(t, xoption.WithoutEnvFile(), xoption.WithSnowflake(opt),
				xoption.WithAddress("nowhere"),
				withPhase(startup.Phase{
					Name:  "database",
					Start: func(context.Context) (any, error) { opened = true; return nil, nil },
				}))
			if text := strings.Join(got, "\n"); opened || len(got) != 2 ||
				!strings.Contains(text, name) || !strings.Contains(text, "WithAddress") {
				t.Errorf("opened = %t, problems:\n%s\nwant %s and WithAddress", opened, text, name)
			}
		}
	})
}

// inDirectory runs the test in a temporary directory with a .env file.
func inDirectory(t *testing.T, env string) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile(".env", []byte(env), 0o600); err != nil {
		t.Fatal(err)
	}
}

// unset removes variables until the test completes.
func unset(t *testing.T, keys ...xenv.EnvKey) {
	t.Helper()
	for _, key := range keys {
		t.Setenv(key.String(), "")
		if err := os.Unsetenv(key.String()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNew_EnvFile(t *testing.T) {
	t.Run("is loaded first and does not override the environment", func(t *testing.T) {
		inDirectory(t, "PLINTH_PORT=4711\nPLINTH_HOST=example.org\nSNOWFLAKE_NODE_ID=5\n"+
			"SNOWFLAKE_DATACENTER_ID=1\nLOG_DIR=none\nLOG_LEVEL=error\n")
		unset(t, xenv.Port, xenv.SnowflakeNodeID, xenv.SnowflakeDatacenterID, "LOG_DIR",
			"LOG_LEVEL")
		t.Setenv("PLINTH_HOST", "127.0.0.1")
		seen := ""
		reg, err := xreg.New(t.Context(), nil, withPhase(startup.Phase{
			Name: "p", Key: "p", Start: func(context.Context) (any, error) {
				seen = xenv.GetEnvString(xenv.Port, "")
				return nil, nil
			},
		}))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = reg.Close(t.Context()) }()
		if s := reg.Settings(); s.Address != "127.0.0.1:4711" || seen != "4711" {
			t.Errorf("address = %s, port in the phase = %s; "+
				"want the file's port and the environment's host", s.Address, seen)
		}
		if d := detail(reg, "snowflake"); d != "datacenter 1, node 5" {
			t.Errorf("ID node = %s, want the node ID of the file", d)
		}
	})

	t.Run("an error names the line without its text", func(t *testing.T) {
		inDirectory(t, "A=1\nDATABASE_PASS=\"s3cret\nB=2\n")
		_, err := xreg.New(t.Context(), nil)
		if err == nil || !strings.Contains(err.Error(), ".env: line 2") ||
			strings.Contains(err.Error(), "s3cret") {
			t.Errorf("New = %v, want line 2 without its text", err)
		}
	})

	t.Run("a configured file must exist", func(t *testing.T) {
		_, err := xreg.New(t.Context(), nil,
			xoption.WithEnvFile(filepath.Join(t.TempDir(), "none.env")))
		if !errors.Is(err, os.ErrNotExist) {
			t.Errorf("New = %v, want os.ErrNotExist", err)
		}
	})
}

func TestNew_EmptyValues(t *testing.T) {
	inDirectory(t, "PLINTH_HOST=127.0.0.1\nPLINTH_PORT=\n"+
		"PLINTH_TRUSTED_PROXIES=10.0.0.0/8\nLOG_DIR=none\n")
	unset(t, xenv.Port, "LOG_DIR")
	t.Setenv("PLINTH_HOST", "")
	t.Setenv("PLINTH_TRUSTED_PROXIES", "none")
	reg, err := xreg.New(t.Context(), nil,
		xoption.WithEnvDefaults(map[xenv.EnvKey]string{xenv.Port: "4712"}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reg.Close(t.Context()) }()
	if got := reg.Settings().Address; got != "127.0.0.1:4712" {
		t.Errorf("address = %s, want the file's host and the port of WithEnvDefaults", got)
	}
	if got := xenv.GetEnvList("PLINTH_TRUSTED_PROXIES"); len(got) != 0 {
		t.Errorf("trusted proxies = %v, want none", got)
	}
}

func TestReg_Settings_Precedence(t *testing.T) {
	unset(t, xenv.Host, xenv.Port, "PLINTH_DRAIN_DELAY", "PLINTH_SHUTDOWN_TIMEOUT", xenv.Debug)
	base, _ := isolated(t)
	settings := func(opts ...xoption.Option) startup.Settings {
		t.Helper()
		reg, err := xreg.New(t.Context(), nil, append(opts, base)...)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = reg.Close(t.Context()) }()
		return reg.Settings()
	}
	if s := settings(); s.Address != "localhost:1118" || s.DrainDelay != 5*time.Second ||
		s.ShutdownTimeout != 25*time.Second || s.Serve.Debug {
		t.Errorf("defaults = %+v", s)
	}
	t.Setenv("PLINTH_HOST", "::1")
	t.Setenv("PLINTH_DEBUG", "true")
	if s := settings(); s.Address != "[::1]:1118" || s.DrainDelay != 0 || !s.Serve.Debug {
		t.Errorf("debug mode = %+v, want no drain delay", s)
	}
	if s := settings(xoption.WithDebug(false)); s.DrainDelay != 5*time.Second {
		t.Errorf("drain delay = %s, want 5s", s.DrainDelay)
	}
	t.Setenv("PLINTH_DRAIN_DELAY", "3s")
	if s := settings(); s.DrainDelay != 3*time.Second {
		t.Errorf("drain delay = %s, want the environment's also in debug mode", s.DrainDelay)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	s := settings(xoption.WithAddress("127.0.0.1:0"), xoption.WithListener(l),
		xoption.WithDrainDelay(time.Second), xoption.WithShutdownTimeout(time.Minute))
	if s.Address != "127.0.0.1:0" || s.Listener != l || s.DrainDelay != time.Second ||
		s.ShutdownTimeout != time.Minute {
		t.Errorf("options = %+v", s)
	}
}

func TestNew_Log(t *testing.T) {
	t.Run("is the default of the process until Close", func(t *testing.T) {
		t.Setenv("LOG_DIR", filepath.Join(t.TempDir(), "logs"))
		t.Setenv("SNOWFLAKE_NODE_ID", "1")
		var out bytes.Buffer
		before := xlog.Default()
		reg, err := xreg.New(t.Context(), nil, xoption.WithoutEnvFile(),
			xoption.WithLogConfig(func(c *xlog.Config) { c.Writer = &out }))
		if err != nil {
			t.Fatal(err)
		}
		slog.Info("through slog")
		if err := reg.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := reg.Close(t.Context()); err != nil {
			t.Errorf("second Close = %v, want nil", err)
		}
		if xlog.Default() != before {
			t.Error("the previous default was not restored")
		}
		if !strings.Contains(out.String(), "through slog") {
			t.Errorf("log = %s, want the line of slog", &out)
		}
	})

	t.Run("a read-only directory does not abort the startup", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o400); err != nil {
			t.Fatal(err)
		}
		t.Setenv("LOG_DIR", filepath.Join(file, "logs")) // cannot be created: its parent is a file
		t.Setenv("SNOWFLAKE_NODE_ID", "1")
		var out bytes.Buffer
		reg, err := xreg.New(t.Context(), nil, xoption.WithoutEnvFile(),
			xoption.WithLogConfig(func(c *xlog.Config) { c.Writer = &out }))
		if err != nil {
			t.Fatalf("New = %v, want nil", err)
		}
		if err := reg.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if !strings.Contains(out.String(), "warn") {
			t.Errorf("log = %s, want a warning", &out)
		}
	})
}

func TestRegister_Problems(t *testing.T) {
	t.Setenv("PLINTH_PORT", "abc")
	t.Setenv("PLINTH_DEBUG", "maybe")
	code := -1
	defer xreg.SetExit(func(c int) { code = c })()
	base, out := isolated(t)
	if reg := xreg.Register(t.Context(), nil, base); reg != nil || code != 1 {
		t.Errorf("Register = %v with exit code %d, want nil and 1", reg, code)
	}
	if linesWith(out, "start failed: PLINTH_PORT") != 1 ||
		linesWith(out, "start failed: PLINTH_DEBUG") != 1 || linesWith(out, "start failed") != 2 {
		t.Errorf("log\n%s\nwant one line for each of the two problems", out)
	}
}

func ExampleNew() {
	_, err := xreg.New(context.Background(), []xregnode.Node{{Key: xctx.DatabaseKey}},
		xoption.WithoutEnvFile())
	for _, problem := range report.List(err) {
		_, _ = os.Stdout.WriteString(problem.Error() + "\n")
	}
	// Output:
	// node 1 ("plinth_database"): the function is nil
	// node 1: the key "plinth_database" is reserved for the framework
}
