package main_test

import (
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

func TestEnv(t *testing.T) {
	t.Run("prints the source of each value", func(t *testing.T) {
		dir := t.TempDir()
		put(t, dir, map[string]string{
			"go.mod":              "module example.com/shop\n\ngo 1.26.0\n",
			".env":                "PLINTH_PORT=8080\nAPP_NAME=file\nDATABASE_DRIVER=\nNOSQL_HOST=file\nNOSQL_URL=redis://file\n",
			"internal/logic/x.go": "package logic\n",
		})
		env := []string{"APP_NAME=real", "NOSQL_HOST=", "NOSQL_URL=none"}
		var got struct {
			Variables []struct{ Name, Type, Group, Default, Value, Source, Meaning string }
		}
		decode(t, plinth(t, dir+"/internal/logic", env, "env", "--json").out, &got)
		want := map[string][2]string{
			"APP_NAME": {"real", "environment"}, "PLINTH_PORT": {"8080", ".env"},
			"PLINTH_HOST":     {"localhost", "default"},
			"DATABASE_DRIVER": {"none", "default"}, "DATABASE_NAME": {"", "unset"},
			"NOSQL_HOST": {"file", ".env"}, "NOSQL_URL": {"", "unset"},
		}
		for _, v := range got.Variables {
			if w, ok := want[v.Name]; ok && (v.Value != w[0] || v.Source != w[1]) {
				t.Errorf("%s = %q from %s, want %q from %s", v.Name, v.Value, v.Source, w[0], w[1])
			}
			if v.Type == "" || v.Group == "" || v.Meaning == "" {
				t.Errorf("%+v is incomplete", v)
			}
			delete(want, v.Name)
		}
		if len(want) > 0 {
			t.Errorf("not listed: %v", want)
		}
	})

	t.Run("prints plain text without a terminal", func(t *testing.T) {
		got := plinth(t, t.TempDir(), nil, "env", "--group", "ids")
		lines := strings.Split(strings.TrimSpace(got.out), "\n")
		if len(lines) != 7 || !strings.HasPrefix(lines[0], "VARIABLE ") ||
			!strings.HasPrefix(lines[6], "LEASE_BACKEND ") {
			t.Errorf("%d lines, want a header and 6 rows:\n%s", len(lines), got.out)
		}
		if strings.ContainsAny(got.out, "\x1b─│") {
			t.Errorf("plain output has colors or a box:\n%q", got.out)
		}
	})

	t.Run("reports invalid lines of .env", func(t *testing.T) {
		dir := t.TempDir()
		put(t, dir, map[string]string{
			"go.mod": "module example.com/shop\n",
			".env":   "PLINTH_PORT=1\nhunter2 is my password\nAPP_NAME=x\n",
		})
		got := plinth(t, dir, nil, "env", "--check", "--set")
		if got.code != 3 || !strings.Contains(got.err, "line 2 is not NAME=value") ||
			strings.Contains(got.out+got.err, "hunter2") {
			t.Errorf("exit code %d, %q", got.code, got.err)
		}
		if !strings.Contains(got.out, "PLINTH_PORT") || !strings.Contains(got.out, "APP_NAME") {
			t.Errorf("the valid lines were ignored:\n%s", got.out)
		}
	})
}

func TestEnv_Redaction(t *testing.T) {
	t.Run("masks secrets in all formats", func(t *testing.T) {
		dir := t.TempDir()
		put(t, dir, map[string]string{
			"go.mod": "module example.com/shop\n",
			".env":   "NOSQL_PASS=hunter2file\nNOSQL_URL=redis://:hunter2url@h\n",
		})
		env := []string{
			"DATABASE_PASS=hunter2real", "DATABASE_DSN=postgres://u:hunter2dsn@h/d",
			"EMAIL_PASS=hunter2mail",
		}
		for _, args := range [][]string{
			{"env"},
			{"env", "--json"},
			{"env", "--set"},
			{"env", "--check"},
			{"env", "--format", "markdown"},
			{"env", "--format", "dotenv"},
			{"env", "--format", "schema"},
			{"env", "--format", "schema", "--json"},
			{"doctor", "--timeout", "5s"},
			{"doctor", "--json"},
		} {
			got := plinth(t, dir, env, args...)
			if text := got.out + got.err; strings.Contains(text, "hunter2") ||
				!strings.Contains(text, "DATABASE_P") && args[0] == "env" {
				t.Errorf("%v prints a secret, or no variable:\n%s", args, text)
			}
		}
	})

	t.Run("masks credentials in all variables", func(t *testing.T) {
		var env []string
		for _, v := range xenv.Table() {
			env = append(env, v.Key.String()+"=u:hunter2@h")
		}
		for _, args := range [][]string{
			{"env"},
			{"env", "--json"},
			{"env", "--set"},
			{"env", "--check"},
			{"env", "--format", "markdown"},
			{"env", "--format", "dotenv"},
			{"env", "--format", "schema"},
			{"doctor", "--timeout", "5s"},
			{"doctor", "--json", "--timeout", "5s"},
			{"migrate", "up"},
		} {
			got := plinth(t, t.TempDir(), env, args...)
			if text := got.out + got.err; strings.Contains(text, "hunter2") {
				t.Errorf("%v prints a password:\n%s", args, text)
			}
		}
	})

	// Connecting fails, so that drivers and migrate report errors with the address.
	t.Run("masks passwords in all forms of an address", func(t *testing.T) {
		port := closedPort(t)
		dir := t.TempDir()
		put(t, dir, map[string]string{
			"go.mod":                        "module example.com/shop\n",
			"internal/migration/0001_a.sql": "CREATE TABLE a (id INTEGER);\n",
		})
		for _, env := range [][]string{
			{
				"DATABASE_DRIVER=postgres",
				"DATABASE_DSN=postgres://u:hunter2@127.0.0.1:" + port + "/d",
			},
			{
				"DATABASE_DRIVER=postgres",
				"DATABASE_DSN=host=127.0.0.1 port=" + port + " user=u password=hunter2 dbname=d",
			},
			{
				"DATABASE_DRIVER=postgres",
				"DATABASE_DSN=postgres://127.0.0.1:" + port + "/d?user=u&password=hunter2",
			},
			{"DATABASE_DRIVER=postgres", "DATABASE_DSN=postgres://u:hunter2%@127.0.0.1:x/d"},
			{
				"DATABASE_DRIVER=postgres", "DATABASE_HOST=postgres://u:hunter2@127.0.0.1:" + port,
				"DATABASE_USER=u", "DATABASE_NAME=d",
			},
			{"DATABASE_DRIVER=mysql", "DATABASE_DSN=u:hunter2@tcp(127.0.0.1:" + port + ")/d"},
			{"DATABASE_DRIVER=mysql", "DATABASE_DSN=u:hunter2@nonsense"},
			{
				"DATABASE_DRIVER=sqlserver",
				"DATABASE_DSN=sqlserver://u:hunter2@127.0.0.1:" + port + "?database=d",
			},
			{
				"DATABASE_DRIVER=sqlserver",
				"DATABASE_DSN=server=127.0.0.1;port=" + port + ";user id=u;password=hunter2",
			},
			{"DATABASE_DRIVER=oracle", "DATABASE_DSN=oracle://u:hunter2@127.0.0.1:" + port + "/s"},
			{"DATABASE_DRIVER=oracle", "DATABASE_DSN=oracle://u:hunter2%@x"},
			{"NOSQL_DRIVER=redis", "NOSQL_URL=redis://u:hunter2@127.0.0.1:" + port + "/0"},
			{"NOSQL_DRIVER=redis", "NOSQL_URL=redis://u:hunter2%@127.0.0.1"},
			{"NOSQL_DRIVER=redis", "NOSQL_URL=tcp://:hunter2@127.0.0.1"},
			{"NOSQL_DRIVER=redis", "NOSQL_HOST=redis://:hunter2@127.0.0.1"},
			{"NOSQL_DRIVER=redis", "NOSQL_HOST=u:hunter2@127.0.0.1:" + port},
			{"NOSQL_DRIVER=redis", "NOSQL_HOST=127.0.0.1:" + port + ",u:hunter2@127.0.0.1"},
			{
				"NOSQL_DRIVER=redis", "NOSQL_HOST=u:hunter2@h1,u:hunter2@h2", "NOSQL_MODE=sentinel",
				"NOSQL_MASTER=m",
			},
			{"NOSQL_DRIVER=redis", "NOSQL_HOST=u:hunter2@h1,u:hunter2@h2", "NOSQL_MODE=cluster"},
			{
				"DATABASE_DRIVER=postgres", "DATABASE_HOST=u:hunter2@127.0.0.1", "DATABASE_USER=u",
				"DATABASE_NAME=d",
			},
			{
				"DATABASE_DRIVER=postgres", "DATABASE_HOST=host=127.0.0.1 password=hunter2",
				"DATABASE_USER=u", "DATABASE_NAME=d",
			},
			{
				"DATABASE_DRIVER=mysql", "DATABASE_HOST=u:hunter2@tcp(127.0.0.1)", "DATABASE_USER=u",
				"DATABASE_NAME=d",
			},
			{
				"DATABASE_DRIVER=sqlserver", "DATABASE_HOST=u:hunter2@127.0.0.1", "DATABASE_USER=u",
				"DATABASE_NAME=d",
			},
			{
				"DATABASE_DRIVER=oracle", "DATABASE_HOST=u:hunter2@127.0.0.1", "DATABASE_USER=u",
				"DATABASE_SERVICE_NAME=s",
			},
			{
				"DATABASE_DRIVER=oracle", "DATABASE_HOST=127.0.0.1", "DATABASE_USER=u",
				"DATABASE_SERVICE_NAME=u:hunter2@s",
			},
			{"DATABASE_DRIVER=sqlite", "DATABASE_PATH=missing/x.db?_auth_pass=hunter2"},
		} {
			env = append(env, "DATABASE_CONNECT_TIMEOUT=0s")
			for _, args := range [][]string{
				{"env"},
				{"env", "--format", "dotenv"},
				{"doctor", "--timeout", "5s"},
				{"migrate", "up"},
			} {
				got := plinth(t, dir, env, args...)
				if text := got.out + got.err; strings.Contains(text, "hunter2") {
					t.Errorf("%v with %s prints the password:\n%s", args, env[1], text)
				}
				if args[0] == "doctor" && got.code != 3 {
					t.Errorf("doctor with %s: exit code %d, want a problem\n%s",
						env[1], got.code, got.out)
				}
			}
		}
	})
}
