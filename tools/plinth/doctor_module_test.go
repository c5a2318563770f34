package main_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const plinthRoot = "github.com/plinthgo/plinth/"

func TestDoctor_Modules(t *testing.T) {
	const header = "module example.com/shop\n\ngo 1.26.0\n\n"
	for _, tc := range []struct {
		name string
		mod  string
		env  []string
		want finding
	}{
		{
			"missing core", header, nil,
			finding{
				"go.mod", "problem", "go.mod does not require github.com/plinthgo/plinth/core",
				"go get github.com/plinthgo/plinth/core@latest",
			},
		},
		{
			"invalid go.mod", "modul example.com/shop\n", nil,
			finding{"go.mod", "problem", "go.mod:1", "correct go.mod"},
		},
		{
			"unavailable Go version",
			"module example.com/shop\n\ngo 1.999.0\n\nrequire " + plinthRoot + "core v0.1.0\n",
			[]string{"GOTOOLCHAIN=local"},
			finding{
				"go", "problem", "is older than go1.999.0 of go.mod",
				"install go1.999.0 or newer from https://go.dev/dl",
			},
		},
		{
			"replaced by a directory", header + "require " + plinthRoot +
				"core v0.1.0\nreplace " + plinthRoot + "core => ../core\n", nil,
			finding{
				"go.mod", "warning",
				"go.mod replaces " + plinthRoot + "core with the local directory ../core",
				"go mod edit -dropreplace=" + plinthRoot + "core",
			},
		},
		{
			"versions", header + "require " + plinthRoot + "core v0.1.0\nrequire " + plinthRoot +
				"cronx v0.2.0\n", nil,
			finding{"go.mod", "ok", "core v0.1.0, cronx v0.2.0", ""},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, map[string]string{"go.mod": tc.mod})
			found, _ := diagnose(t, dir, tc.env)
			expect(t, found, tc.want)
		})
	}
}

func TestDoctor_NoModule(t *testing.T) {
	found, _ := diagnose(t, t.TempDir(), nil)
	expect(t, found, finding{
		"go.mod", "problem", "no go.mod in this directory or its parents",
		"plinth new",
	})
}

func TestDoctor_DriverInterface(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{
		"shop/go.mod": "module example.com/shop\n\ngo 1.26.0\n\nrequire (\n\t" + plinthRoot +
			"core v0.1.0\n\t" + plinthRoot + "dbplugins/sqlite v0.1.0\n)\n\n" +
			"replace (\n\t" + plinthRoot + "core => ../core\n\t" + plinthRoot +
			"dbplugins/sqlite => ../sqlite\n)\n",
		"shop/main.go": "package main\n\nimport _ \"" + plinthRoot +
			"dbplugins/sqlite\"\n\nfunc main() {}\n",
		"core/go.mod":                "module " + plinthRoot + "core\n\ngo 1.26.0\n",
		"core/major/xdb/driver/d.go": "package driver\n\nconst InterfaceVersion = 2\n",
		"sqlite/go.mod": "module " + plinthRoot +
			"dbplugins/sqlite\n\ngo 1.26.0\n\nrequire " + plinthRoot + "core v0.1.0\n",
		"sqlite/sqlite.go": "package sqlite\n\nimport _ \"" + plinthRoot +
			"core/major/xdb/driver\"\n\ntype Driver struct{}\n\nfunc (Driver) InterfaceVersion() int { return 1 }\n",
		"sqlite/interface_test.go":        "package sqlite\n\nconst InterfaceVersion = 2\n",
		"core/major/xcache/driver/d.go":   "package driver\n\nconst InterfaceVersion = 7\n",
		"core/major/xdb/driver/d_test.go": "package driver\n",
	})
	want := finding{
		"go.mod", "problem", "dbplugins/sqlite implements version 1 of the driver interface, but core has version 2",
		"go get " + plinthRoot + "core@latest " + plinthRoot +
			"dbplugins/sqlite@latest && go mod tidy",
	}
	found, _ := diagnose(t, dir+"/shop", []string{"GOWORK=off"})
	expect(t, found, want)
	put(t, dir, map[string]string{"sqlite/sqlite.go": "package sqlite\n\nimport _ \"" + plinthRoot +
		"core/major/xdb/driver\"\n\ntype Driver struct{}\n\nfunc (Driver) InterfaceVersion() int { return 2 }\n"})
	found, _ = diagnose(t, dir+"/shop", []string{"GOWORK=off"})
	if slices.ContainsFunc(found,
		func(f finding) bool { return strings.Contains(f.Detail, "driver interface") }) {
		t.Errorf("matching versions: %+v", found)
	}
}

func TestDoctor_Drivers(t *testing.T) {
	for _, tc := range []struct {
		name    string
		imports []string
		env     []string
		want    finding
	}{
		{
			"imported, not set",
			[]string{"dbplugins/sqlite"},
			nil,
			finding{"drivers", "skipped", "DATABASE_DRIVER is not set (imported: sqlite)", ""},
		},
		{"third-party driver", nil, []string{"DATABASE_DRIVER=cockroach"}, finding{
			"drivers", "skipped",
			"DATABASE_DRIVER=cockroach is a third-party driver", "",
		}},
		{
			"near cache without memory driver",
			[]string{"cacheplugins/redis"},
			[]string{
				"NOSQL_DRIVER=redis", "NOSQL_NEAR_MAX_ENTRIES=10", "NOSQL_HOST=127.0.0.1",
				"NOSQL_PORT=1",
			},
			finding{
				"drivers", "problem", "NOSQL_NEAR_MAX_ENTRIES enables the near cache",
				"plinth add cache memory",
			},
		},
		{
			"memory",
			[]string{"cacheplugins/memory"},
			[]string{"NOSQL_DRIVER=memory"},
			finding{"cache", "ok", "memory", ""},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			found, _ := diagnose(t, service(t, tc.imports...), tc.env)
			expect(t, found, tc.want)
		})
	}
	dir := service(t, "dbplugins/sqlite")
	put(t, dir, map[string]string{"go.mod": "module example.com/shop\n\ngo 1.26.0\n\nrequire " +
		plinthRoot + "core v0.1.0\n"})
	found, _ := diagnose(t, dir, []string{"DATABASE_DRIVER=sqlite", "DATABASE_PATH=x.db"})
	expect(t, found, finding{
		"drivers", "problem",
		"the code imports the driver, but go.mod does not require it",
		"go get " + plinthRoot + "dbplugins/sqlite",
	})
}

// TestDoctor_LinkedDrivers checks drivers whose modules are required. They are imported
// by no file, by an excluded file, or by another module.
func TestDoctor_LinkedDrivers(t *testing.T) {
	dir := t.TempDir()
	const mod = "module example.com/shop\n\ngo 1.26.0\n\nrequire (\n\t" + plinthRoot +
		"core v0.1.0\n\t" + plinthRoot +
		"dbplugins/sqlite v0.1.0 // indirect\n\texample.com/kit v0.1.0\n)\n\n" +
		"replace (\n\t" + plinthRoot + "core => ../core\n\t" + plinthRoot +
		"dbplugins/sqlite => ../sqlite\n\texample.com/kit => ../kit\n)\n"
	put(t, dir, map[string]string{
		"shop/go.mod": mod, "shop/main.go": "package main\n\nfunc main() {}\n",
		"core/go.mod":      "module " + plinthRoot + "core\n\ngo 1.26.0\n",
		"sqlite/go.mod":    "module " + plinthRoot + "dbplugins/sqlite\n\ngo 1.26.0\n",
		"sqlite/sqlite.go": "package sqlite\n",
		"kit/go.mod": "module example.com/kit\n\ngo 1.26.0\n\nrequire " + plinthRoot +
			"dbplugins/sqlite v0.1.0\n",
		"kit/kit.go": "package kit\n\nimport _ \"" + plinthRoot + "dbplugins/sqlite\"\n",
	})
	env := []string{"GOWORK=off", "DATABASE_DRIVER=sqlite", "DATABASE_PATH=x.db"}
	missing := finding{
		"drivers", "problem",
		"DATABASE_DRIVER=sqlite, but the driver is not imported",
		"plinth add db sqlite",
	}
	found, _ := diagnose(t, dir+"/shop", env)
	expect(t, found, missing)
	put(t, dir, map[string]string{"shop/off.go": "//go:build never\n\npackage main\n\nimport _ \"" +
		plinthRoot + "dbplugins/sqlite\"\n"})
	found, _ = diagnose(t, dir+"/shop", env)
	expect(t, found, missing)
	put(t, dir, map[string]string{"shop/main.go": "package main\n\nimport _ \"example.com/kit\"\n\nfunc main() {}\n"})
	found, _ = diagnose(t, dir+"/shop", env)
	expect(t, found, finding{
		"drivers", "ok", "DATABASE_DRIVER=sqlite, and the code imports the driver", "",
	})
	put(t, dir, map[string]string{"shop/go.mod": strings.Replace(mod, "../kit", "../gone", 1)})
	found, _ = diagnose(t, dir+"/shop", env)
	expect(t, found, finding{"drivers", "warning", "cannot be checked", "go mod download"})
}

func TestDoctor_CodeDefaults(t *testing.T) {
	dir := service(t, "cacheplugins/redis")
	put(t, dir, map[string]string{"options.go": `package main

import "github.com/plinthgo/plinth/core/major/xoption"

var o = xoption.WithEnvDefaults(map[string]string{
	"PLINTH_DRAIN_DELAY": "5", "SNOWFLAKE_NODE_ID": "1", "LOG_DIR": dir(), "NOSQL_DRIVER": "redis", "NOSQL_HOST": "127.0.0.1", "NOSQL_PORT": "1",
})
`})
	found, _ := diagnose(t, dir, nil)
	expect(t, found, finding{
		"environment", "problem", `PLINTH_DRAIN_DELAY: "5" has no unit`,
		"change PLINTH_DRAIN_DELAY in the code",
	})
	expect(t, found, finding{
		"environment", "skipped",
		"options.go:6: WithEnvDefaults gets a value for LOG_DIR that is not constant", "",
	})
	expect(t, found, finding{
		"node", "warning", "SNOWFLAKE_NODE_ID=1 is set in the code",
		"remove it, so that each replica leases a node ID from the cache",
	})
}

func TestDoctor_Environment(t *testing.T) {
	t.Run("warns about a connection without a driver", func(t *testing.T) {
		for env, key := range map[string]string{
			"DATABASE_DSN=postgres://u@h/d": "DATABASE_DRIVER",
			"DATABASE_HOST=h":               "DATABASE_DRIVER",
			"NOSQL_URL=redis://h":           "NOSQL_DRIVER",
		} {
			name, _, _ := strings.Cut(env, "=")
			found, r := diagnose(t, service(t), []string{env})
			expect(t, found, finding{"", "warning", name + " is set, but " + key +
				" is not: the service starts without it", "set " + key + ", or remove " + name})
			if r.code != 0 {
				t.Errorf("exit code %d, want 0 for a warning", r.code)
			}
		}
		found, _ := diagnose(t, service(t),
			[]string{"DATABASE_DSN=postgres://u@h/d", "DATABASE_DRIVER=none"})
		expect(t, found, finding{"database", "skipped", "DATABASE_DRIVER is not set", ""})
	})

	t.Run("suggests names for unknown variables", func(t *testing.T) {
		for name, want := range map[string]string{
			"DATABASE_PASSWORD":           "did you mean DATABASE_PASS?",
			"DATABASE_URL":                "did you mean DATABASE_DSN?",
			"PLINTH_PROT":                 "did you mean PLINTH_PORT?",
			"NOSQL_HOTS":                  "did you mean NOSQL_HOST?",
			"PLINTH_SOMETHING_ELSE_AGAIN": "run plinth env",
		} {
			found, r := diagnose(t, service(t), []string{name + "=hunter2"})
			expect(t, found, finding{
				"environment", "warning",
				"unknown variable " + name + " (in the environment)", want,
			})
			if r.code != 0 || strings.Contains(r.out, "hunter2") {
				t.Errorf("exit code %d, want 0 for a warning:\n%s", r.code, r.out)
			}
		}
	})

	t.Run("reports secrets tracked by git", func(t *testing.T) {
		if _, err := exec.LookPath("git"); err != nil {
			t.Skip("git is not installed")
		}
		dir := service(t)
		put(t, dir, map[string]string{".env": "EMAIL_PASS=hunter2\nAPP_NAME=x\n"})
		git := func(args ...string) {
			t.Helper()
			cmd := exec.CommandContext(t.Context(), "git", args...)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %v: %v\n%s", args, err, out)
			}
		}
		git("init", "--quiet")
		found, _ := diagnose(t, dir, nil)
		expect(t, found, finding{"environment", "ok", "", ""})
		git("add", "-f", ".env")
		found, r := diagnose(t, dir, nil)
		expect(t, found, finding{
			"environment", "problem", "git tracks .env, which contains EMAIL_PASS",
			"git rm --cached .env",
		})
		if strings.Contains(r.out, "hunter2") {
			t.Errorf("the output contains the secret:\n%s", r.out)
		}
	})
}

func TestDoctor_PortsAndNodeID(t *testing.T) {
	port := closedPort(t)
	for _, tc := range []struct {
		name    string
		imports []string
		env     []string
		want    finding
	}{
		{
			"free port", nil,
			[]string{"PLINTH_HOST=127.0.0.1", "PLINTH_PORT=" + port},
			finding{"ports", "ok", "127.0.0.1:" + port + " is free", ""},
		},
		{
			"any free port", nil,
			[]string{"PLINTH_PORT=0"},
			finding{"ports", "ok", "PLINTH_PORT=0 selects a free port", ""},
		},
		{"address of another machine", nil, []string{"PLINTH_HOST=192.0.2.1"}, finding{
			"ports", "problem",
			"192.0.2.1 is not an address of this machine", "set PLINTH_HOST",
		}},
		{
			"duplicate port",
			[]string{"grpcx/runner"},
			[]string{"PLINTH_PORT=" + port, "GRPC_PORT=" + port},
			finding{
				"ports", "problem",
				"PLINTH_PORT and GRPC_PORT are both " + port, "set one of them to another port",
			},
		},
		{"no gRPC", nil, nil, finding{
			"ports", "skipped", "GRPC_PORT: the service does not import gRPC", "",
		}},
		{"node ID out of range", nil, []string{"SNOWFLAKE_NODE_ID=8"}, finding{
			"node", "problem",
			`SNOWFLAKE_NODE_ID: "8" is out of range`, "set a valid ID",
		}},
		{
			"datacenter ID out of range", nil,
			[]string{"SNOWFLAKE_DATACENTER_ID=9"},
			finding{
				"node", "problem",
				`SNOWFLAKE_DATACENTER_ID: "9" is out of range`, "set a valid ID",
			},
		},
		{"fixed node ID", nil, []string{"SNOWFLAKE_NODE_ID=7"}, finding{
			"node", "ok",
			"SNOWFLAKE_NODE_ID=7 is fixed; every replica needs a different node ID", "",
		}},
		{
			"lease backend without a driver", nil,
			[]string{"LEASE_BACKEND=database"},
			finding{
				"node", "problem", "LEASE_BACKEND=database, but DATABASE_DRIVER is not set",
				"set DATABASE_DRIVER, or LEASE_BACKEND=auto",
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			found, _ := diagnose(t, service(t, tc.imports...), tc.env)
			expect(t, found, tc.want)
		})
	}
	dir := service(t, "cacheplugins/redis")
	put(t, dir, map[string]string{".env": "SNOWFLAKE_NODE_ID=1\nNOSQL_DRIVER=redis\nNOSQL_HOST=127.0.0.1\nNOSQL_PORT=1\n"})
	found, _ := diagnose(t, dir, nil)
	expect(t, found, finding{
		"node", "warning", "SNOWFLAKE_NODE_ID=1 is set in .env",
		"remove it, so that each replica leases a node ID from the cache",
	})
	put(t, dir, map[string]string{
		".env":    "SNOWFLAKE_NODE_ID=900\n",
		"main.go": "package main\n\nvar wide = xsnowflake.WithLayout(xsnowflake.LayoutWide)\n",
	})
	found, r := diagnose(t, dir, nil)
	if r.code != 0 {
		t.Errorf("node ID of a wide layout: %+v", found)
	}
}
