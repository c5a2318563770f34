package notifyx_test

import (
	"errors"
	"fmt"
	htmltemplate "html/template"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/notifyx"
)

// templates returns the templates of some files.
func templates(t *testing.T, files map[string]string) *notifyx.Templates {
	t.Helper()
	all := notifyx.NewTemplates()
	if err := all.AddFS(memory(files), "*"); err != nil {
		t.Fatal(err)
	}
	return all
}

func memory(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// render renders what must succeed.
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

// quiet fails the test where an error is none of these, or shows what it must not.
func quiet(t *testing.T, err error, secret string, targets ...error) {
	t.Helper()
	for _, target := range targets {
		if !errors.Is(err, target) {
			t.Fatalf("error = %v, want one that is %v", err, target)
		}
	}
	if secret != "" && strings.Contains(err.Error(), secret) {
		t.Errorf("the error shows the value: %v", err)
	}
}

// expand fills in a text with ${name}.
func expand(part notifyx.Part, text string, variables map[string]any) (string, error) {
	all := notifyx.NewTemplates()
	if err := all.Add("text", "", part, text, notifyx.SyntaxVariables); err != nil {
		return "", err
	}
	r, err := all.Render("text", "", variables)
	return r.Text + r.HTML, err
}

func TestVariablesAreFilledIn(t *testing.T) {
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
		{"struct by its tags", "${user.name}", map[string]any{"user": &user{"Ann"}}, "Ann"},
		{"other letters", "${名字}", map[string]any{"名字": "李"}, "李"},
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
		{"lone dollars", "$5 $ $$ $$$${a} a$", nil, "$5 $ $$ $$${a} a$"},
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
}

func TestHTMLIsEscapedByContext(t *testing.T) {
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
			"trusted type is a string too", "<p>${v}</p>",
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
			"URL that is one", `<a href="${v}">`, "https://example.com/a?b=1&c=2",
			`<a href="https://example.com/a?b=1&amp;c=2">`,
		},
		{
			"URL's query", `<a href="https://example.com/?q=${v}">`, "a&b=c d",
			`<a href="https://example.com/?q=a%26b%3dc%20d">`,
		},
		{"style", `<p style="color: ${v}">`, "expression(alert(1))", `<p style="color: ZgotmplZ">`},
		{
			"script", `<script>var a = ${v}</script>`, `</script>`,
			`<script>var a = "\u003c/script\u003e"</script>`,
		},
		{"action in the value", "<p>${v}</p>", "{{.Secret}} ${v}", "<p>{{.Secret}} ${v}</p>"},
		{"action in the text", "<p>{{.Secret}} {{ ${v} }}</p>", "a", "<p>{{.Secret}} {{ a }}</p>"},
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
				map[string]string{"welcome.html.tmpl": strings.ReplaceAll(tc.text, "${v}",
					"{{.v}}")})
			r := render(t, all, "", map[string]any{"v": tc.value})
			if r.HTML != tc.want {
				t.Errorf("the Go template = %q, want %q", r.HTML, tc.want)
			}
		})
	}
}

func TestEveryMissingVariableIsNamedAtOnce(t *testing.T) {
	all := templates(t, map[string]string{
		"welcome.subject":   "${a} ${user.name} ${here}",
		"welcome.txt":       "${a} ${here.deeper} ${gone}",
		"welcome.html.tmpl": "<p>{{with .user}}{{.mail}}{{end}}</p>",
	})
	_, err := all.Render("welcome", "", map[string]any{
		"user": map[string]any{"first": "SECRET", "name": nil}, "here": "SECRET", "gone": nil,
	})
	quiet(t, err, "SECRET", notifyx.ErrTemplate, notifyx.ErrPermanent)
	var missing *notifyx.MissingVariablesError
	if !errors.As(err, &missing) {
		t.Fatalf("error = %v, want a *MissingVariablesError", err)
	}
	want := []string{"a", "user.name", "here.deeper", "gone", "mail"}
	if missing.Template != "welcome" || !slices.Equal(missing.Variables, want) {
		t.Errorf("missing = %q of %q, want %q of welcome",
			missing.Variables, missing.Template, want)
	}
	if got, want := err.Error(),
		`notifyx: template "welcome": missing variables: a, user.name, here.deeper, gone, mail`; got != want {
		t.Errorf("error = %q, want %q", got, want)
	}
}

func TestNoMethodOfAValueIsCalledAndNoTypeIsTrusted(t *testing.T) {
	all := templates(t, map[string]string{
		"welcome.txt.tmpl": "{{.v.Secret}}",
		"trust.html.tmpl":  "<p>{{.v}}</p><!-- gone -->",
	})
	_, err := all.Render("welcome", "", map[string]any{"v": angry{}})
	quiet(t, err, "SECRET", notifyx.ErrTemplate)
	_, err = all.Render("welcome", "", map[string]any{"v": struct {
		Name func() string `json:"-"`
	}{func() string { return "SECRET" }}})
	quiet(t, err, "SECRET", notifyx.ErrTemplate)
	r, err := all.Render("trust", "", map[string]any{"v": htmltemplate.HTML("<b>")})
	if want := "<p>&lt;b&gt;</p>"; err != nil || r.HTML != want {
		t.Errorf("HTML = %q, %v; want %q", r.HTML, err, want)
	}
}

func TestAGoTemplateThatWouldPrintNothingNamesTheVariable(t *testing.T) {
	for _, tc := range []struct {
		name string
		text string
		want string
	}{
		{"field", "{{.name}}", "name"},
		{"nested field", "{{.user.name}}", "user.name"},
		{"missing object", "{{.other.name}}", "other"},
		{"nil", "{{.nil}}", "nil"},
		{"index", `{{index . "name"}}`, `name`},
		{"escaped", `{{index . "name" | html}}`, `name`},
		{"argument", `{{printf "%s" .name}}`, "name"},
		{"within a block", `{{range .list}}{{.name}}{{end}}`, "name"},
		{"within a template", `{{define "x"}}{{.name}}{{end}}{{template "x" .}}`, "name"},
	} {
		for _, ext := range []string{"subject", "txt", "html"} {
			t.Run(tc.name+" "+ext, func(t *testing.T) {
				all := templates(t, map[string]string{"welcome." + ext + ".tmpl": tc.text})
				_, err := all.Render("welcome", "", map[string]any{
					"nil": nil, "user": map[string]any{"x": "SECRET"},
					"list": []any{map[string]any{"x": "SECRET"}},
				})
				quiet(t, err, "SECRET", notifyx.ErrTemplate)
				var missing *notifyx.MissingVariablesError
				if !errors.As(err, &missing) ||
					!slices.Equal(missing.Variables, []string{tc.want}) {
					t.Errorf("error = %v, want that %s is missing", err, tc.want)
				}
			})
		}
	}
}

func TestAnErrorOfAGoTemplateShowsNoValue(t *testing.T) {
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
			quiet(t, err, "SECRET", notifyx.ErrTemplate, notifyx.ErrPermanent)
			if !strings.Contains(err.Error(), "welcome."+ext+".tmpl:") &&
				!strings.Contains(err.Error(), "missing variables") {
				t.Errorf("%s: error = %v, want the place", text, err)
			}
		}
	}
}

func TestGoTemplatesCompareAndPrintNumbers(t *testing.T) {
	all := templates(t, map[string]string{"welcome.txt.tmpl": `{{if gt .n 2}}{{.n}} {{.f}} {{.id}}{{end}}{{range $i, $e := .list}} {{$i}}={{$e}}{{end}}`})
	r := render(t, all, "", map[string]any{
		"n": 3, "f": 1234567.25,
		"id": uint64(18446744073709551615), "list": []string{"a", "b"},
	})
	if want := "3 1234567.25 18446744073709551615 0=a 1=b"; r.Text != want {
		t.Errorf("text = %q, want %q", r.Text, want)
	}
}

func TestASubjectIsOneLine(t *testing.T) {
	for _, syntax := range []string{"${v}", "{{.v}}"} {
		name := "welcome.subject"
		if syntax == "{{.v}}" {
			name += ".tmpl"
		}
		all := templates(t, map[string]string{name: "\nHi " + syntax + "\r\n"})
		if r := render(t, all, "", map[string]any{"v": "Ann 李"}); r.Subject != "Hi Ann 李" {
			t.Errorf("subject = %q, want the line end of the file gone", r.Subject)
		}
		for _, bad := range []string{
			"\n", "a\r\nBcc: SECRET", "\r", "\t", "\x00", "\x7f", "\u0085",
			"\u2028", "\u2029", "\x1b[2J",
		} {
			_, err := all.Render("welcome", "", map[string]any{"v": "SECRET" + bad})
			quiet(t, err, "SECRET", notifyx.ErrTemplate, notifyx.ErrPermanent)
		}
	}
}

func TestTheLanguageIsChosenOnceForAllParts(t *testing.T) {
	all := templates(t, map[string]string{
		"welcome.subject": "none", "welcome.txt": "none", "welcome.html": "none",
		"welcome.en.subject": "en", "welcome.en.txt": "en",
		"welcome.zh.subject": "zh", "welcome.pt-BR.txt": "pt",
	})
	for _, tc := range []struct {
		language            string
		subject, text, html string
	}{
		{"", "en", "en", "none"},
		{"en", "en", "en", "none"},
		{"en-GB", "en", "en", "none"},
		{"zh", "zh", "none", "none"},
		{"zh-CN,en;q=0.8", "zh", "none", "none"},
		{"fr;q=0.9, zh-Hans-CN;q=0.2, en;q=0.8", "en", "en", "none"},
		{"fr", "en", "en", "none"},
		{"fr, pt", "none", "pt", "none"},
		{"*", "en", "en", "none"},
		{"!!! ;;; \x00", "en", "en", "none"},
		{strings.Repeat("fr,", 200) + "zh", "en", "en", "none"},
		{"zh," + strings.Repeat("fr,", 200), "zh", "none", "none"},
	} {
		r := render(t, all, tc.language, nil)
		if want := (notifyx.Rendered{
			Subject: tc.subject, Text: tc.text,
			HTML: tc.html,
		}); r != want {
			t.Errorf("%.40q: %+v, want %+v", tc.language, r, want)
		}
	}
}

func TestWhatIsNotThereIsErrNoTemplate(t *testing.T) {
	all := templates(t, map[string]string{"welcome.zh.txt": "你好"})
	for _, name := range []string{"welcome", "other"} {
		_, err := all.Render(name, "fr", nil)
		quiet(t, err, "", notifyx.ErrNoTemplate, notifyx.ErrTemplate)
		if errors.Is(err, notifyx.ErrPermanent) || !strings.Contains(err.Error(), name) {
			t.Errorf("error = %v, want one that names %s and is not permanent", err, name)
		}
	}
	if !all.Has("welcome") || all.Has("other") {
		t.Error("Has does not tell the two apart")
	}
}

func TestWhatIsRenderedHasABound(t *testing.T) {
	all := templates(t, map[string]string{
		"plain.txt": strings.Repeat("${a}", 40), "html.html": strings.Repeat("${a}", 40),
		"go.txt.tmpl":   "{{range .list}}{{range $.list}}{{range $.list}}{{$.a}}{{end}}{{end}}{{end}}",
		"go2.html.tmpl": "{{range .list}}{{range $.list}}{{range $.list}}{{$.a}}{{end}}{{end}}{{end}}",
	})
	variables := map[string]any{"a": strings.Repeat("x", 1<<15), "list": make([]int, 100)}
	for _, name := range []string{"plain", "html", "go", "go2"} {
		_, err := all.Render(name, "", variables)
		quiet(t, err, "xxx", notifyx.ErrTemplate)
		if !strings.Contains(err.Error(), "longer than 1048576 bytes") {
			t.Errorf("%s: error = %v, want the bound", name, err)
		}
	}
	_, err := expand(notifyx.PartText, "a", map[string]any{"a": strings.Repeat("x", 1<<20)})
	quiet(t, err, "xxx", notifyx.ErrTemplate)
}

// angry fails to be written, and says what it is.
type angry struct{}

// MarshalJSON implements json.Marshaler.
func (angry) MarshalJSON() ([]byte, error) { return nil, errors.New("SECRET") }

func TestValuesThatAreNoTextAreErrorsThatShowNone(t *testing.T) {
	loop := map[string]any{"s": "SECRET"}
	loop["self"] = loop
	for name, value := range map[string]any{
		"function": func() {}, "channel": make(chan int), "loop": loop, "marshaler": angry{},
		"list": []any{"SECRET"}, "object": map[string]any{"a": "SECRET"},
		"nil in a list":      []any{"SECRET", nil},
		"nil deep in a list": []any{[]any{nil}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := expand(notifyx.PartText, "${v}", map[string]any{"v": value})
			quiet(t, err, "SECRET", notifyx.ErrTemplate, notifyx.ErrPermanent)
			if !strings.Contains(err.Error(), `variable "v"`) {
				t.Errorf("error = %v, want the variable", err)
			}
		})
	}
}

func TestTemplatesAreSafeForConcurrentUse(t *testing.T) {
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
		"${a}", "$${a}", "${a.b}", "${", "$", "{{.a}}",
		"<a href=\"${a}\">", "${a}\x00", "$$${a}",
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
			t.Fatalf("expand(%q) = %q, with the value's own tag", again, html)
		}
	})
}
