package term_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/plinthgo/plinth/tools/plinth/internal/term"
)

// printer returns a printer to files, which are not terminals.
func printer(t *testing.T, isJSON, noColor bool) (p *term.Printer, out, errs func() string) {
	t.Helper()
	open := func(name string) (*os.File, func() string) {
		path := filepath.Join(t.TempDir(), name)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f, func() string {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
	}
	o, out := open("out")
	e, errs := open("err")
	p = term.New(nil, o, e)
	p.Configure(isJSON, noColor)
	return p, out, errs
}

func TestPrinter(t *testing.T) {
	t.Run("prints plain text to files", func(t *testing.T) {
		p, out, errs := printer(t, false, false)
		if p.Interactive || p.Colour || p.IsTerminal() {
			t.Errorf("a file is treated as a terminal: %+v", p)
		}
		p.Step("waiting")
		p.Done("written to %s", "x")
		p.Note("%s", p.Paint(term.Bad, "a note"))
		p.Warn("careful")
		p.Table([]string{"NAME", "TEXT"}, [][]string{{"a", "one\ntwo"}, {"longer", "x\ty"}})
		if want := "written to x\na note\nNAME    TEXT\na       one two\nlonger  x y\n"; out() != want {
			t.Errorf("output = %q, want %q", out(), want)
		}
		if want := "warning: careful\n"; errs() != want {
			t.Errorf("errors = %q, want %q", errs(), want)
		}
	})

	t.Run("prints a single JSON document", func(t *testing.T) {
		p, out, _ := printer(t, true, false)
		p.Done("done")
		p.Note("a note")
		if err := p.WriteJSON(map[string]string{"a": "<b>"}); err != nil {
			t.Fatal(err)
		}
		var v map[string]string
		if err := json.Unmarshal([]byte(out()), &v); err != nil || v["a"] != "<b>" ||
			bytes.Contains([]byte(out()), []byte(`\u003c`)) {
			t.Errorf("output = %q, %v", out(), err)
		}
	})

	t.Run("prints colors if CLICOLOR_FORCE is set", func(t *testing.T) {
		t.Setenv("NO_COLOR", "")
		t.Setenv("CLICOLOR_FORCE", "1")
		p, out, _ := printer(t, false, false)
		green := "\x1b[32mx\x1b[0m"
		if got := p.Paint(term.Good, "x"); got != green {
			t.Errorf("painted = %q, want %q", got, green)
		}
		p.Table([]string{"A", "B"}, [][]string{{p.Paint(term.Good, "x"), "1"}, {"yyy", "2"}})
		if got, want := out(), "\x1b[1mA\x1b[0m    \x1b[1mB\x1b[0m\n"+green+
			"    1\nyyy  2\n"; got != want {
			t.Errorf("table = %q, want %q", got, want)
		}
		p.Configure(false, true)
		if got := p.Paint(term.Good, "x"); got != "x" {
			t.Errorf("with --no-color = %q", got)
		}
	})
}
