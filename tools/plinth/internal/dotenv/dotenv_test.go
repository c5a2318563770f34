package dotenv_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	xEnv "github.com/plinthgo/plinth/core/defined/xenv"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/tools/plinth/internal/dotenv"
)

var texts = []struct {
	name   string
	text   string
	values map[string]string
	bad    []int
}{
	{name: "nothing"},
	{name: "values", text: "A_1=x\nB_1='a # b'\nexport C_1=\"y\"\n# D_1=z\n", values: map[string]string{"A_1": "x", "B_1": "a # b", "C_1": "y"}},
	{name: "a byte order mark", text: "\ufeffA_1=x\n", values: map[string]string{"A_1": "x"}},
	{name: "carriage returns", text: "A_1=x\r\nB_1=y\r\n", values: map[string]string{"A_1": "x", "B_1": "y"}},
	{name: "wrong lines", text: "A_1=x\nnothing here\nB_1=y\n=z\n", values: map[string]string{"A_1": "x", "B_1": "y"}, bad: []int{2, 4}},
	{name: "no name", text: "=x\n", bad: []int{1}},
}

func TestReadSaysWhatTheFileSaysAndWhereItIsWrong(t *testing.T) {
	for _, tc := range texts {
		t.Run(tc.name, func(t *testing.T) {
			f, err := dotenv.Read(write(t, tc.text))
			if err != nil {
				t.Fatal(err)
			}
			if !f.Exists || !slices.Equal(f.Bad, tc.bad) || len(f.Values) != len(tc.values) {
				t.Errorf("file = %+v, want %v and wrong lines %v", f, tc.values, tc.bad)
			}
			for name, want := range tc.values {
				if f.Values[name] != want {
					t.Errorf("%s = %q, want %q", name, f.Values[name], want)
				}
			}
		})
	}
}

// The two readers are written separately: core's is its own affair. This holds them together.
func TestReadFindsTheWrongLinesThatAStartFinds(t *testing.T) {
	for _, tc := range texts {
		t.Run(tc.name, func(t *testing.T) {
			for _, name := range []string{"A_1", "B_1", "C_1", "D_1"} {
				t.Setenv(name, "set") // so that the start sets none
			}
			t.Setenv(xEnv.LogDir.String(), "none")
			t.Setenv(xEnv.SnowflakeNodeID.String(), "0")
			path := write(t, tc.text)
			reg, err := xReg.New(t.Context(), nil, xOption.WithEnvFile(path))
			if reg != nil {
				defer func() { _ = reg.Close(t.Context()) }()
			}
			var bad []int
			for _, problem := range xReg.Problems(err) {
				_, rest, found := strings.Cut(problem.Error(), ": line ")
				number, _, _ := strings.Cut(rest, " ")
				n, err := strconv.Atoi(number)
				if !found || err != nil {
					t.Fatalf("the start fails otherwise: %v", problem)
				}
				bad = append(bad, n)
			}
			if !slices.Equal(bad, tc.bad) {
				t.Errorf("the start finds %v wrong, and Read %v", bad, tc.bad)
			}
		})
	}
}

func TestAFileThatIsNotThereSaysNothing(t *testing.T) {
	f, err := dotenv.Read(filepath.Join(t.TempDir(), ".env"))
	if err != nil || f.Exists || len(f.Values) != 0 {
		t.Errorf("file = %+v, %v", f, err)
	}
	if _, err := dotenv.Read(t.TempDir()); err == nil {
		t.Error("a folder reads as a file")
	}
}

func write(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), ".env")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
