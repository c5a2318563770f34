package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func reports(t *testing.T, texts ...string) []report {
	t.Helper()
	dir := t.TempDir()
	for i, text := range texts {
		file := filepath.Join(dir, "run-"+string(rune('a'+i))+".json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

const (
	onSQLite  = `{"family":"database","backend":"sqlite","source":"in process","server":"SQLite 3","tests":7,"outcome":"passed"}`
	onMemory  = `{"family":"cache","backend":"memory","source":"in process","tests":3,"outcome":"passed"}`
	noRedis   = `{"family":"cache","backend":"redis","tests":3,"outcome":"skipped","reason":"no server"}`
	onPostfix = `{"family":"mail","backend":"postfix","source":"private server","server":"Postfix 3","tests":4,"outcome":"passed"}`
	failover  = `{"family":"failover","backend":"redis","source":"private server","tests":1,"outcome":"passed","notes":["back in %s"]}`
)

func TestTable(t *testing.T) {
	t.Run("sorts databases first and prints skips in capitals", func(t *testing.T) {
		got := table(reports(t, onPostfix, onMemory, noRedis, onSQLite))
		lines := strings.Split(strings.TrimSpace(got), "\n")
		if len(lines) != 5 || !strings.HasPrefix(lines[1], "database") ||
			!strings.Contains(lines[3], "SKIPPED: no server") ||
			!strings.HasPrefix(lines[4], "mail") {
			t.Errorf("table =\n%s", got)
		}
		if empty := table(nil); !strings.Contains(empty, "no suite ran") {
			t.Errorf("empty table =\n%s", empty)
		}
	})

	t.Run("merges failovers and prints their notes", func(t *testing.T) {
		lease := strings.Replace(onSQLite, "database", "lease", 1)
		got := table(reports(t, fmt.Sprintf(failover, "2s"), lease, fmt.Sprintf(failover, "3s"),
			onMemory, onSQLite))
		rows, notes, _ := strings.Cut(got, "\n\n")
		var families []string
		for line := range strings.Lines(rows) {
			families = append(families, strings.Fields(line)[0])
		}
		want := []string{"FAMILY", "database", "cache", "lease", "failover"}
		if !slices.Equal(families, want) {
			t.Errorf("families = %q, want %q", families, want)
		}
		if words := strings.Fields(rows); !slices.Equal(words[len(words)-2:], []string{"2", "passed"}) {
			t.Errorf("the last row does not have two tests:\n%s", got)
		}
		if want := "failover, redis:\n  back in 2s\n  back in 3s\n"; notes != want {
			t.Errorf("notes = %q, want %q", notes, want)
		}
	})
}

func TestMissing(t *testing.T) {
	lease := strings.NewReplacer("database", "lease", "sqlite", "mysql").Replace(onSQLite)
	all := reports(t, onMemory, noRedis, onSQLite, onPostfix, fmt.Sprintf(failover, "2s"), lease)
	for _, tc := range []struct {
		name     string
		required string
		want     string
	}{
		{name: "empty", required: "", want: ""},
		{name: "all backends ran", required: "sqlite, memory, postfix", want: ""},
		{name: "one was skipped", required: "sqlite,redis", want: "redis"},
		{name: "two are absent", required: "postgres,mysql", want: "postgres, mysql"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv("PLINTH_TEST_REQUIRE", tc.required)
			err := missing(all, required())
			if (err != nil) != (tc.want != "") || err != nil &&
				!strings.HasSuffix(err.Error(), "no suite ran on "+tc.want) {
				t.Errorf("missing = %v, want %q", err, tc.want)
			}
		})
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "run-1.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := read(dir); err == nil {
		t.Error("read accepted a broken report")
	}
}
