package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestBudget(t *testing.T) {
	gin := measured{bytes: 14_000_000, modules: 19}
	for _, tc := range []struct {
		name string
		core measured
		want string
	}{
		{name: "within", core: measured{bytes: 17_000_000, modules: 34}},
		{name: "too large", core: measured{bytes: 17_000_001, modules: 34}, want: "MB over gin"},
		{name: "too many modules", core: measured{bytes: 14_000_000, modules: 35}, want: "16 modules"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := budget(gin, tc.core)
			if (err != nil) != (tc.want != "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("budget = %v, want %q", err, tc.want)
			}
		})
	}
}

func TestProgramThatLinksAnotherBackendIsRefused(t *testing.T) {
	sizes := map[string]measured{}
	for _, p := range programs {
		sizes[p.folder] = measured{links: append([]string{"gorm.io/gorm"}, p.libraries...)}
	}
	if err := foreign(sizes); err != nil {
		t.Fatal(err)
	}
	sizes["core"] = measured{links: []string{"github.com/jackc/pgx/v5"}}
	sizes["mysql"] = measured{}
	err := foreign(sizes)
	for _, want := range []string{"core links github.com/jackc/pgx/v5: true", "mysql links github.com/go-sql-driver/mysql: false"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want %q", err, want)
		}
	}
}

func TestTableIsPutBetweenItsMarks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "README.md")
	if err := os.WriteFile(file, []byte("a\n"+begin+"old\n"+end+"b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := put(file, "new\n"); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "a\n"+begin+"new\n"+end+"b\n" {
		t.Errorf("file = %q, %v", got, err)
	}
	if err := os.WriteFile(file, []byte("no marks\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := put(file, "new\n"); err == nil {
		t.Error("a file without marks was accepted")
	}
}

func TestProgramIsComparedWithItsPeer(t *testing.T) {
	sizes := map[string]measured{"gin": {bytes: 14_000_000}, "core": {bytes: 16_000_000}, "baregrpc": {bytes: 10_000_000}}
	text := table(sizes)
	for _, want := range []string{"| 16.0 MB | +2.0 MB |", "| 10.0 MB | +0.0 MB |"} {
		if !strings.Contains(text, want) {
			t.Errorf("table has no %q:\n%s", want, text)
		}
	}
	for _, p := range programs {
		if !slices.ContainsFunc(programs, func(other program) bool { return other.folder == p.peer }) {
			t.Errorf("the peer of %s is no program: %q", p.folder, p.peer)
		}
	}
}
