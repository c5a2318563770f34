package notifyx_test

import (
	"errors"
	"fmt"
	htmltemplate "html/template"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/notifyx"
)

// templates returns the templates of files.
func templates(t *testing.T, files map[string]string) *notifyx.Templates {
	t.Helper()
	all := notifyx.NewTemplates()
	if err := all.AddFS(memoryFS(files), "*"); err != nil {
		t.Fatal(err)
	}
	return all
}

func memoryFS(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// render fails the test on an error.
func render(
	t *testing.T, all *notifyx.Templates, language string, variables map[string]any,
) notifyx.Rendered {
	t.Helper()
	r, err := all.Render("welcome", language, variables)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// checkError fails the test if err is not one of targets or contains secret.
func checkError(t *testing.T, err error, secret string, targets ...error) {
	t.Helper()
	for _, target := range targets {
		if !errors.Is(err, target) {
			t.Fatalf("error = %v, want %v", err, target)
		}
	}
	if secret != "" && strings.Contains(err.Error(), secret) {
		t.Errorf("the error contains the value: %v", err)
	}
}

// expand renders a text with ${name} placeholders.
func expand(part notifyx.Part, text string, variables map[string]any) (string, error) {
	all := notifyx.NewTemplates()
	if err := all.Add("text", "", part, text, notifyx.SyntaxVariables); err != nil {
		return "", err
	}
	r, err := all.Render("text", "", variables)
	return r.Text + r.HTML, err
}

func TestTemplates_Render(t *testing.T) {
	t.Run("replaces variables", func(t *testing.T) {
		type user struct {
			Name string `json:"name"`
		}
		at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
		for _, tc := range []struct {
			name      string
			text      string
			variables map[string]any
			want      string
		}{
			{"plain", "Hi ${name}!", map[string]any{"name": "Ann"}, "Hi Ann!"},
			{"path", "${user.name}", map[string]any{"user": map[string]any{"name": "Ann"}}, "Ann"},
			{"struct with tags", "${user.name}", map[string]any{"user": &user{"Ann"}}, "Ann"},
			{"non-Latin name", "${名字}", map[string]any{"名字": "李"}, "李"},
			{"twice", "${a}${a}-${b}", map[string]any{"a": 1, "b": true}, "11-true"},
			{
				"large integer", "${id}",
				map[string]any{"id": int64(9007199254740993)},
				"9007199254740993",
			},
			{"float", "${price}", map[string]any{"price": 1234567.5}, "1234567.5"},
			{"time", "${at}", map[string]any{"at": at}, "2026-03-04T05:06:07Z"},
			{"empty", "[${a}]", map[string]any{"a": ""}, "[]"},
			{"escape", "$${name} is ${name}", map[string]any{"name": "x"}, "${name} is x"},
			{"unescaped dollars", "$5 $ $$ $$$${a} a$", nil, "$5 $ $$ $$${a} a$"},
			{"braces are text", "{{.name}} }} {name}", nil, "{{.name}} }} {name}"},
			{"secret", "${s}", map[string]any{"s": xlog.Secret("hush")}, "***"},
			{
				"value that looks like a variable", "${a}",
				map[string]any{"a": "${b}", "b": "no"},
				"${b}",
			},
			{
				"value that looks like an action", "${a}",
				map[string]any{"a": "{{.b}}", "b": "no"},
				"{{.b}}",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				got, err := expand(notifyx.PartText, tc.text, tc.variables)
				if err != nil || got != tc.want {
					t.Errorf("expand = %q, %v; want %q", got, err, tc.want)
				}
			})
		}
	})

	t.Run("escapes HTML by context", func(t *testing.T) {
		for _, tc := range []struct {
			name  string
			text  string
			value any
			want  string
		}{
			{
				"element", "<p>${v}</p>", "<script>alert(1)</script>",
				"<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>",
			},
			{
				"trusted type", "<p>${v}</p>",
				htmltemplate.HTML("<b>"), "<p>&lt;b&gt;</p>",
			},
			{
				"quoted attribute", `<a title="${v}">`, `" onclick="x`,
				`<a title="&#34; onclick=&#34;x">`,
			},
			{
				"attribute without quotes", `<a title=${v}>`, `x onclick=y`,
				`<a title=x&#32;onclick&#61;y>`,
			},
			{"URL", `<a href="${v}">`, "javascript:alert(1)", `<a href="#ZgotmplZ">`},
			{
				"safe URL", `<a href="${v}">`, "https://example.com/a?b=1&c=2",
				`<a href="https://example.com/a?b=1&amp;c=2">`,
			},
			{
				"URL query", `<a href="https://example.com/?q=${v}">`, "a&b=c d",
				`<a href="https://example.com/?q=a%26b%3dc%20d">`,
			},
			{
				"style", `<p style="color: ${v}">`, "expression(alert(1))",
				`<p style="color: ZgotmplZ">`,
			},
			{
				"script", `<script>var a = ${v}</script>`, `</script>`,
				`<script>var a = "\u003c/script\u003e"</script>`,
			},
			{"action in the value", "<p>${v}</p>", "{{.Secret}} ${v}", "<p>{{.Secret}} ${v}</p>"},
			{
				"action in the text", "<p>{{.Secret}} {{ ${v} }}</p>", "a",
				"<p>{{.Secret}} {{ a }}</p>",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				got, err := expand(notifyx.PartHTML, tc.text, map[string]any{"v": tc.value})
				if err != nil || got != tc.want {
					t.Errorf("expand = %q, %v; want %q", got, err, tc.want)
				}
				if strings.Contains(tc.text, "{{") {
					return
				}
				all := templates(t,
					map[string]string{
						"welcome.html.tmpl": strings.ReplaceAll(tc.text, "${v}", "{{.v}}"),
					})
				r := render(t, all, "", map[string]any{"v": tc.value})
				if r.HTML != tc.want {
					t.Errorf("the Go template = %q, want %q", r.HTML, tc.want)
				}
			})
		}
	})

	t.Run("calls no method and trusts no type", func(t *testing.T) {
		all := templates(t, map[string]string{
			"welcome.txt.tmpl": "{{.v.Secret}}",
			"trust.html.tmpl":  "<p>{{.v}}</p><!-- gone -->",
		})
		_, err := all.Render("welcome", "", map[string]any{"v": failingVariable{}})
		checkError(t, err, "SECRET", notifyx.ErrTemplate)
		_, err = all.Render("welcome", "", map[string]any{"v": struct {
			Name func() string `json:"-"`
		}{func() string { return "SECRET" }}})
		checkError(t, err, "SECRET", notifyx.ErrTemplate)
		r, err := all.Render("trust", "", map[string]any{"v": htmltemplate.HTML("<b>")})
		if want := "<p>&lt;b&gt;</p>"; err != nil || r.HTML != want {
			t.Errorf("HTML = %q, %v; want %q", r.HTML, err, want)
		}
	})

	t.Run("returns errors without values", func(t *testing.T) {
		for _, text := range []string{
			"{{range .s}}{{end}}", "{{.s.name}}", "{{index .s .s}}", "{{index .m .s .s}}",
			"{{slice .s 10 20}}", "{{call .s}}", "{{lt .s 3}}",
			"{{len 3}}{{.s}}", "{{template \"x\" .}}{{define \"x\"}}\n{{range .s}}{{end}}{{end}}",
			`{{and (len .s) (index .l .s)}}`,
		} {
			for _, ext := range []string{"txt", "html"} {
				all := templates(t, map[string]string{"welcome." + ext + ".tmpl": text})
				_, err := all.Render("welcome", "",
					map[string]any{"s": "SECRET", "m": map[string]any{"SECRET": 1}, "l": []any{1}})
				checkError(t, err, "SECRET", notifyx.ErrTemplate, notifyx.ErrPermanent)
				if !strings.Contains(err.Error(), "welcome."+ext+".tmpl:") &&
					!strings.Contains(err.Error(), "missing variables") {
					t.Errorf("%s: error = %v, want the position", text, err)
				}
			}
		}
	})

	t.Run("compares and prints numbers", func(t *testing.T) {
		all := templates(t, map[string]string{
			"welcome.txt.tmpl": `{{if gt .n 2}}{{.n}} {{.f}} {{.id}}{{end}}` +
				`{{range $i, $e := .list}} {{$i}}={{$e}}{{end}}`,
		})
		r := render(t, all, "", map[string]any{
			"n": 3, "f": 1234567.25, "id": uint64(18446744073709551615), "list": []string{"a", "b"},
		})
		if want := "3 1234567.25 18446744073709551615 0=a 1=b"; r.Text != want {
			t.Errorf("text = %q, want %q", r.Text, want)
		}
	})

	t.Run("requires a single-line subject", func(t *testing.T) {
		for _, syntax := range []string{"${v}", "{{.v}}"} {
			name := "welcome.subject"
			if syntax == "{{.v}}" {
				name += ".tmpl"
			}
			all := templates(t, map[string]string{name: "\nHi " + syntax + "\r\n"})
			if r := render(t, all, "", map[string]any{"v": "Ann 李"}); r.Subject != "Hi Ann 李" {
				t.Errorf("subject = %q, want no line break", r.Subject)
			}
			for _, bad := range []string{
				"\n", "a\r\nBcc: SECRET", "\r", "\t", "\x00", "\x7f", "\u0085",
				"\u2028", "\u2029", "\x1b[2J",
			} {
				_, err := all.Render("welcome", "", map[string]any{"v": "SECRET" + bad})
				checkError(t, err, "SECRET", notifyx.ErrTemplate, notifyx.ErrPermanent)
			}
		}
	})

	t.Run("returns ErrNoTemplate for an unknown template", func(t *testing.T) {
		all := templates(t, map[string]string{"welcome.zh.txt": "你好"})
		for _, name := range []string{"welcome", "other"} {
			_, err := all.Render(name, "fr", nil)
			checkError(t, err, "", notifyx.ErrNoTemplate, notifyx.ErrTemplate)
			if errors.Is(err, notifyx.ErrPermanent) || !strings.Contains(err.Error(), name) {
				t.Errorf("error = %v, want one that names %s and is not permanent", err, name)
			}
		}
		if !all.Has("welcome") || all.Has("other") {
			t.Error("Has(\"welcome\") or Has(\"other\") is wrong")
		}
	})

	t.Run("limits the output", func(t *testing.T) {
		const loops = "{{range .list}}{{range $.list}}{{range $.list}}" +
			"{{$.a}}{{end}}{{end}}{{end}}"
		all := templates(t, map[string]string{
			"plain.txt": strings.Repeat("${a}", 40), "html.html": strings.Repeat("${a}", 40),
			"go.txt.tmpl": loops, "go2.html.tmpl": loops,
		})
		variables := map[string]any{"a": strings.Repeat("x", 1<<15), "list": make([]int, 100)}
		for _, name := range []string{"plain", "html", "go", "go2"} {
			_, err := all.Render(name, "", variables)
			checkError(t, err, "xxx", notifyx.ErrTemplate)
			if !strings.Contains(err.Error(), "longer than 1048576 bytes") {
				t.Errorf("%s: error = %v, want the limit", name, err)
			}
		}
		_, err := expand(notifyx.PartText, "a", map[string]any{"a": strings.Repeat("x", 1<<20)})
		checkError(t, err, "xxx", notifyx.ErrTemplate)
	})

	t.Run("rejects values that are not text", func(t *testing.T) {
		loop := map[string]any{"s": "SECRET"}
		loop["self"] = loop
		for name, value := range map[string]any{
			"function": func() {}, "channel": make(chan int), "loop": loop,
			"marshaler": failingVariable{},
			"list":      []any{"SECRET"}, "object": map[string]any{"a": "SECRET"},
			"nil in a list":      []any{"SECRET", nil},
			"nil deep in a list": []any{[]any{nil}},
		} {
			t.Run(name, func(t *testing.T) {
				_, err := expand(notifyx.PartText, "${v}", map[string]any{"v": value})
				checkError(t, err, "SECRET", notifyx.ErrTemplate, notifyx.ErrPermanent)
				if !strings.Contains(err.Error(), `variable "v"`) {
					t.Errorf("error = %v, want the variable", err)
				}
			})
		}
	})
}

// failingVariable is a variable whose MarshalJSON fails with an error that contains its
// value.
type failingVariable struct{}

// MarshalJSON implements json.Marshaler.
func (failingVariable) MarshalJSON() ([]byte, error) { return nil, errors.New("SECRET") }

func TestTemplates_Concurrency(t *testing.T) {
	all := templates(t, map[string]string{
		"welcome.en.html":     "<p>${a}</p>",
		"welcome.en.txt.tmpl": "{{.a}}", "welcome.subject": "${a}",
	})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 25 {
				r, err := all.Render("welcome", "en", map[string]any{"a": i})
				if want := fmt.Sprintf("<p>%d</p>", i); err != nil || r.HTML != want {
					t.Errorf("Render = %+v, %v; want %s", r, err, want)
				}
				if err := all.Add(fmt.Sprintf("t%d-%d", i, j), "", notifyx.PartText, "x",
					notifyx.SyntaxGo); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzTemplates_Add(f *testing.F) {
	for _, text := range []string{
		"${a}", "$${a}", "${a.b}", "${", "$", "{{.a}}", "<a href=\"${a}\">", "${a}\x00", "$$${a}",
	} {
		f.Add(text, "<b>{{.x}} ${a} \"'")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		variables := map[string]any{"a": value, "b": map[string]any{"a": value}}
		out, err := expand(notifyx.PartText, text, variables)
		if err != nil && !errors.Is(err, notifyx.ErrTemplate) {
			t.Fatalf("error = %v, want an ErrTemplate", err)
		}
		if err == nil && !strings.Contains(text, "$") && out != text {
			t.Fatalf("expand(%q) = %q, want it unchanged", text, out)
		}
		again := "<p>" + strings.NewReplacer("$", "$$", "<", "", "&", "").Replace(text) + "</p>"
		if html, err := expand(notifyx.PartHTML, again+"${a}", variables); err == nil &&
			strings.Contains(html[len("<p>"):], "<b>") {
			t.Fatalf("expand(%q) = %q, with a tag of the value", again, html)
		}
	})
}
