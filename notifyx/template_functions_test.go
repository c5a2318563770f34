package notifyx_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/notifyx"
)

func TestTemplates_GoFunctions(t *testing.T) {
	t.Run("index fails for a missing value", func(t *testing.T) {
		variables := map[string]any{"m": map[string]any{"a": "x", "none": nil}, "l": []any{"first"}}
		for _, text := range []string{
			`{{printf "%v" (index . "zz")}}`, `{{print (index .m "zz") "y"}}`,
			`{{html (index .m "zz")}}`, `{{index .m "none"}}`,
			`{{js (index . "zz")}}`,
			`{{index .l 1}}`, `{{index .l -1}}`, `{{index .m 1}}`, `{{index .l "a"}}`,
			`{{index "text" 0}}`,
		} {
			for _, part := range []notifyx.Part{notifyx.PartText, notifyx.PartHTML} {
				templates := notifyx.NewTemplates()
				if err := templates.Add("t", "", part, text, notifyx.SyntaxGo); err != nil {
					continue // html/template rejects its own escapers within a pipeline
				}
				if r, err := templates.Render("t", "", variables); err == nil {
					t.Errorf("%s: got %q, want an error", text, r.Text+r.HTML)
				}
			}
		}
		templates := notifyx.NewTemplates()
		if err := templates.Add("t", "", notifyx.PartText,
			`{{index .m "a"}} {{index .l 0}} {{index . "m" "a"}}`, notifyx.SyntaxGo); err != nil {
			t.Fatal(err)
		}
		if r, err := templates.Render("t", "", variables); err != nil || r.Text != "x first x" {
			t.Errorf("Render = %q, %v", r.Text, err)
		}
	})

	t.Run("print functions are available", func(t *testing.T) {
		templates := notifyx.NewTemplates()
		text := `{{print .a 1}} {{printf "%s-%d" .a .n}} {{println .a}}` +
			`{{html .a}} {{js .a}} {{urlquery .a}} {{.a | html}}`
		if err := templates.Add("t", "", notifyx.PartText, text, notifyx.SyntaxGo); err != nil {
			t.Fatal(err)
		}
		r, err := templates.Render("t", "", map[string]any{"a": "<a b>", "n": 2})
		const want = "<a b>1 <a b>-2 <a b>\n" +
			"&lt;a b&gt; \\u003Ca b\\u003E %3Ca+b%3E &lt;a b&gt;"
		if err != nil || r.Text != want {
			t.Errorf("Render = %q, %v; want %q", r.Text, err, want)
		}
	})
}

func TestTemplates_NestedDefinitions(t *testing.T) {
	var text strings.Builder
	const depth = 200
	for i := range depth {
		fmt.Fprintf(&text, `{{define "t%d"}}{{template "t%d" .}}{{template "t%d" .}}{{end}}`,
			i, i+1, i+1)
	}
	fmt.Fprintf(&text, `{{define "t%d"}}.{{end}}{{if false}}{{template "t0" .}}{{end}}ok`, depth)
	templates := notifyx.NewTemplates()
	if err := templates.Add("t", "",
		notifyx.PartText, text.String(), notifyx.SyntaxGo); err != nil {
		t.Fatal(err)
	}
	if r, err := templates.Render("t", "", nil); err != nil || r.Text != "ok" {
		t.Errorf("Render = %q, %v", r.Text, err)
	}
}

func TestTemplates_ZeroValue(t *testing.T) {
	var templates notifyx.Templates
	if _, err := templates.Render("t", "", nil); !errors.Is(err, notifyx.ErrNoTemplate) ||
		templates.Has("t") {
		t.Errorf("Render = %v, want ErrNoTemplate", err)
	}
	if err := templates.Add("t", "", notifyx.PartText, "x", notifyx.SyntaxVariables); err != nil ||
		!templates.Has("t") {
		t.Errorf("Add = %v", err)
	}
}

func TestTemplates_Add_Srcdoc(t *testing.T) {
	for _, text := range []string{
		"<iframe srcdoc='${x}'></iframe>",
		`<IFRAME SrcDoc = "${x}"></IFRAME>`, `<iframe srcdoc="{{.x}}"></iframe>`,
	} {
		for _, syntax := range []notifyx.Syntax{notifyx.SyntaxVariables, notifyx.SyntaxGo} {
			if err := notifyx.NewTemplates().Add("t", "",
				notifyx.PartHTML, text, syntax); !errors.Is(err, notifyx.ErrTemplate) {
				t.Errorf("Add(%s) = %v, want ErrTemplate", text, err)
			}
		}
	}
	if _, err := expand(notifyx.PartHTML, "<iframe srcdoc='${x}'></iframe>",
		map[string]any{"x": "<script>"}); !errors.Is(err, notifyx.ErrTemplate) {
		t.Errorf("expand = %v, want ErrTemplate", err)
	}
	if _, err := expand(notifyx.PartHTML, "<p>srcdoc</p>", nil); err != nil {
		t.Error(err)
	}
}
