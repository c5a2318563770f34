package service_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/plinthgo/plinth/tools/plinth/internal/service"
)

var envFiles = []struct {
	name   string
	text   string
	values map[string]string
	bad    []int
}{
	{name: "nothing"},
	{
		name: "values", text: "A_1=x\nB_1='a # b'\nexport C_1=\"y\"\n# D_1=z\n",
		values: map[string]string{"A_1": "x", "B_1": "a # b", "C_1": "y"},
	},
	{name: "a byte order mark", text: "\ufeffA_1=x\n", values: map[string]string{"A_1": "x"}},
	{
		name: "carriage returns", text: "A_1=x\r\nB_1=y\r\n",
		values: map[string]string{"A_1": "x", "B_1": "y"},
	},
	{
		name: "invalid lines", text: "A_1=x\nnothing here\nB_1=y\n=z\n",
		values: map[string]string{"A_1": "x", "B_1": "y"}, bad: []int{2, 4},
	},
	{name: "no name", text: "=x\n", bad: []int{1}},
}

func TestFind_EnvFile(t *testing.T) {
	t.Run("parses .env", func(t *testing.T) {
		for _, tc := range envFiles {
			t.Run(tc.name, func(t *testing.T) {
				f, err := fileIn(folder(t, tc.text))
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(f.Bad, tc.bad) || len(f.Values) != len(tc.values) {
					t.Errorf("file = %+v, want %v and invalid lines %v", f, tc.values, tc.bad)
				}
				for name, want := range tc.values {
					if f.Values[name] != want {
						t.Errorf("%s = %q, want %q", name, f.Values[name], want)
					}
				}
			})
		}
	})

	t.Run("accepts a missing file", func(t *testing.T) {
		if f, err := fileIn(t.TempDir()); err != nil || len(f.Values) != 0 {
			t.Errorf("file = %+v, %v", f, err)
		}
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, ".env"), 0o750); err != nil {
			t.Fatal(err)
		}
		if _, err := fileIn(dir); err == nil {
			t.Error("no error for a directory")
		}
	})
}

// fileIn returns the .env of the service in dir.
func fileIn(dir string) (service.File, error) {
	s, err := service.Find(dir)
	if err != nil {
		return service.File{}, err
	}
	return s.File, s.FileErr
}

// folder returns a directory with a .env.
func folder(t *testing.T, text string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".env"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
