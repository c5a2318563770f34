package envlist_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/joho/godotenv"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/tools/plinth/envtable"
	"github.com/plinthgo/plinth/tools/plinth/internal/envlist"
	_ "github.com/plinthgo/plinth/tools/plinth/internal/plugins" // registers variables
	"github.com/plinthgo/plinth/tools/plinth/internal/service"
)

// rows returns the list for the environment env.
func rows(t *testing.T, env map[xenv.EnvKey]string) []envlist.Row {
	t.Helper()
	for _, v := range xenv.Table() {
		t.Setenv(v.Key.String(), env[v.Key])
	}
	s, err := service.Find(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	return envlist.Read(s, envlist.Filter{})
}

func TestDotenv(t *testing.T) {
	t.Run("equals the example for an empty environment", func(t *testing.T) {
		if got := envlist.Dotenv(rows(t, nil)); got != envtable.Example(xenv.Table(), nil) {
			t.Errorf("the .env file differs from the example:\n%s", got)
		}
	})

	t.Run("quotes values so that they can be parsed", func(t *testing.T) {
		for _, value := range []string{
			"plain", "a b", "it's", `back\slash`, "$HOME", "#1", `"quoted"`,
			"two\nlines", "中文", "a=b", " ends ", `a\nb`, "a\tb", "$1 'x' y",
		} {
			text := envlist.Dotenv(rows(t, map[xenv.EnvKey]string{xenv.AppName: value}))
			got, err := godotenv.Unmarshal(text)
			if err != nil || got["APP_NAME"] != value || len(got) != 1 {
				t.Errorf("%q is parsed as %q (%v)", value, got, err)
			}
		}
	})

	t.Run("omits values that a file cannot represent", func(t *testing.T) {
		for _, value := range []string{`ends with \`, `it's "x"`, "two\nlines\""} {
			text := envlist.Dotenv(rows(t, map[xenv.EnvKey]string{xenv.AppName: value}))
			if got, err := godotenv.Unmarshal(text); err != nil || len(got) != 0 ||
				!strings.Contains(text, "cannot represent") {
				t.Errorf("%q is parsed as %q (%v)", value, got, err)
			}
		}
	})

	t.Run("contains only the listed groups", func(t *testing.T) {
		all := rows(t, nil)
		text := envlist.Dotenv(slices.DeleteFunc(all,
			func(r envlist.Row) bool { return r.Group != "Mail" }))
		if strings.Count(text, "## ") != 1 || !strings.Contains(text, "## Mail") ||
			strings.Count(text, "=") != strings.Count(text, "EMAIL_") {
			t.Errorf("text:\n%s", text)
		}
	})
}

func TestRead_Redaction(t *testing.T) {
	t.Run("masks passwords in addresses", func(t *testing.T) {
		all := rows(t, map[xenv.EnvKey]string{
			xenv.NoSqlHost:    "redis://:hunter2@h:6379",
			xenv.DatabaseHost: "postgres://u:hunter2@x@h/d?a=b", xenv.AppName: "http://h:80/a",
		})
		text := envlist.Dotenv(all) + envlist.Markdown(all) +
			strings.Join(envlist.Problems(all), "\n")
		if strings.Contains(text, "hunter2") || !strings.Contains(text, "redis://:***@h:6379") ||
			!strings.Contains(text, "postgres://u:***@h/d?a=b") ||
			!strings.Contains(text, "# NOSQL_HOST=***") ||
			!strings.Contains(text, "APP_NAME=http://h:80/a") {
			t.Errorf("text:\n%s", text)
		}
	})

	t.Run("masks secrets in all formats", func(t *testing.T) {
		env := map[xenv.EnvKey]string{}
		for _, v := range xenv.Table() {
			if v.Secret {
				env[v.Key] = "hunter2"
			}
		}
		all := rows(t, env)
		schema, err := json.Marshal(envlist.SchemaOf(all))
		if err != nil {
			t.Fatal(err)
		}
		list, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		for format, text := range map[string]string{
			"Markdown": envlist.Markdown(all), "dotenv": envlist.Dotenv(all),
			"schema": string(schema), "JSON": string(list),
		} {
			if strings.Contains(text, "hunter2") {
				t.Errorf("%s contains a secret", format)
			}
			if !strings.Contains(text, "DATABASE_PASS") {
				t.Errorf("%s lacks a secret variable", format)
			}
		}
	})
}

func TestMarkdown(t *testing.T) {
	text := envlist.Markdown(rows(t, map[xenv.EnvKey]string{xenv.Port: "8080"}))
	if !strings.Contains(text,
		"| `PLINTH_PORT` | `1118` | 0 to 65535 | int | `8080` | environment | HTTP listen port") {
		t.Errorf("unexpected row of PLINTH_PORT:\n%s", text)
	}
	for _, v := range xenv.Table() {
		if !strings.Contains(text, "| `"+v.Key.String()+"` |") {
			t.Errorf("%s is missing", v.Key)
		}
	}
}

func TestSchemaOf(t *testing.T) {
	text, err := json.Marshal(envlist.SchemaOf(rows(t, nil)))
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		t.Fatal(err)
	}
	values := []string{
		"", "true", "TRUE", "T", "off", "Yes", "maybe", "0", "1", " 42 ", "+7", "-3", "4.2", "abc",
		"5s", "1m30s", "500ms", ".5h", "1h0m", "5", "s", "5 s",
		"disable", "verify-full", "prefer", "plinth", "java", "info", "loud", "a,b", "none",
	}
	for _, v := range xenv.Table() {
		for _, value := range values {
			accepted := value == "" || value == "none" && v.Default == "" || v.Check(value) == nil
			if err := v.Check(value); err != nil && strings.Contains(err.Error(), "out of range") {
				continue // the schema checks ranges of numbers only, not of strings
			}
			err := resolved.Validate(map[string]any{v.Key.String(): value})
			if accepted != (err == nil) {
				t.Errorf("%s=%q: accepted by the service: %v, by the schema: %v",
					v.Key, value, accepted, err)
			}
		}
	}
	for _, tc := range []struct {
		name  string
		value any
		want  bool
	}{
		{"PLINTH_PORT", 8080.0, true},
		{"PLINTH_PORT", 70000.0, false},
		{"PLINTH_DEBUG", true, true},
		{"PLINTH_HOST", true, false},
		{"SOMETHING_ELSE", true, true},
	} {
		if err := resolved.Validate(map[string]any{tc.name: tc.value}); (err == nil) != tc.want {
			t.Errorf("%s: %v: %v, want accepted = %v", tc.name, tc.value, err, tc.want)
		}
	}
}
