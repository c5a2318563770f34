package notifyx_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/notifyx"
)

const layout = `<html><body>{{block "title" .}}Plinth{{end}}: ` +
	`{{block "content" .}}{{end}}</body></html>`

func TestTemplates_SharedTemplate(t *testing.T) {
	t.Run("fills blocks of a layout", func(t *testing.T) {
		all := templates(t, map[string]string{
			"_layout.html.tmpl": layout,
			"welcome.html.tmpl": `{{define "title"}}Welcome{{end}}` +
				`{{define "content"}}<a title="{{.name}}">{{.name}}</a>{{end}}` +
				`{{template "_layout" .}}`,
			"bye.html.tmpl": `{{template "_layout" .}}` +
				`{{define "content"}}Bye, {{.name}}{{end}}`,
		})
		for name, want := range map[string]string{
			"welcome": `<html><body>Welcome: <a title="a&lt;b">a&lt;b</a></body></html>`,
			"bye":     `<html><body>Plinth: Bye, a&lt;b</body></html>`,
		} {
			if r, err := all.Render(name, "", map[string]any{"name": "a<b"}); err != nil ||
				r.HTML != want {
				t.Errorf("%s = %q, %v; want %q", name, r.HTML, err, want)
			}
		}
	})

	t.Run("works for every part", func(t *testing.T) {
		for _, ext := range []string{"subject", "txt", "html"} {
			all := templates(t, map[string]string{
				"welcome." + ext + ".tmpl": `{{define "name"}}{{.name}}{{end}}` +
					`{{template "_outer" .}}`,
				"_outer." + ext + ".tmpl": "[{{template \"_inner\" .}}]\n",
				"_inner." + ext + ".tmpl": `Hi {{block "name" .}}there{{end}}`,
			})
			r := render(t, all, "", map[string]any{"name": "Ann"})
			if got := strings.TrimSpace(r.Subject + r.Text + r.HTML); got != "[Hi Ann]" {
				t.Errorf("%s = %q, want [Hi Ann]", ext, got)
			}
		}
	})

	t.Run("prefers the nearest definition of a block", func(t *testing.T) {
		files := map[string]string{
			"_outer.txt.tmpl": `{{block "a" .}}outer{{end}} {{block "b" .}}outer{{end}} ` +
				`{{block "c" .}}outer{{end}}`,
			"_inner.txt.tmpl": `{{define "a"}}inner{{end}}{{define "b"}}inner{{end}}` +
				`{{template "_outer" .}}`,
			"welcome.txt.tmpl": `{{define "a"}}part{{end}}{{template "_inner" .}}`,
		}
		for range 20 { // the result must not depend on the order of a map
			if got := render(t, templates(t, files), "", nil).Text; got != "part inner outer" {
				t.Fatalf("text = %q, want part inner outer", got)
			}
		}
	})

	t.Run("falls back to a parent language", func(t *testing.T) {
		all := templates(t, map[string]string{
			"_foot.txt.tmpl": "none", "_foot.zh.txt.tmpl": "zh", "_foot.en-GB.txt.tmpl": "en-GB",
			"_foot.zh.html.tmpl":          "html",
			"welcome.zh-Hans-CN.txt.tmpl": `{{template "_foot" .}}`,
			"welcome.en.txt.tmpl":         `{{template "_foot" .}}`,
			"welcome.en-GB.txt.tmpl":      `{{template "_foot" .}}`,
			"welcome.fr.txt.tmpl":         `{{template "_foot" .}}`,
			"welcome.txt.tmpl":            `{{template "_foot" .}}`,
		})
		for language, want := range map[string]string{
			"zh-Hans-CN": "zh", "en": "none", "en-GB": "en-GB", "fr": "none",
		} {
			if got := render(t, all, language, nil).Text; got != want {
				t.Errorf("%s: text = %q, want %q", language, got, want)
			}
		}
	})

	t.Run("is available to parts added later", func(t *testing.T) {
		all := templates(t, map[string]string{"_foot.txt.tmpl": "Yours"})
		if err := all.Add("welcome", "", notifyx.PartText, `{{template "_foot" .}}`,
			notifyx.SyntaxGo); err != nil {
			t.Fatal(err)
		}
		if got := render(t, all, "", nil).Text; got != "Yours" {
			t.Errorf("text = %q, want Yours", got)
		}
		if err := all.Add("_foot", "en", notifyx.PartText, "Truly", notifyx.SyntaxGo); err != nil {
			t.Fatal(err)
		}
		if got := render(t, all, "en", nil).Text; got != "Yours" {
			t.Errorf("text = %q, want what the shared template was when the part was added", got)
		}
	})

	t.Run("cannot be rendered by name", func(t *testing.T) {
		all := templates(t, map[string]string{"_foot.txt.tmpl": "Yours"})
		if all.Has("_foot") {
			t.Error("Has finds a shared template")
		}
		_, err := all.Render("_foot", "", nil)
		checkError(t, err, "", notifyx.ErrNoTemplate)
	})
}

func TestTemplates_AddFS_SharedTemplate(t *testing.T) {
	t.Run("rejects an invalid shared template", func(t *testing.T) {
		const include = `{{template "_layout" .}}`
		for _, tc := range []struct {
			name  string
			files map[string]string
			want  string
		}{
			{
				"missing",
				map[string]string{"welcome.en.html.tmpl": include},
				`notifyx: welcome.en.html.tmpl: template "welcome.en.html.tmpl" ` +
					`includes "_layout", which is not defined: ` +
					`no file _layout[.LANGUAGE].html.tmpl was added before or with this one`,
			},
			{
				"missing in a shared template",
				map[string]string{
					"welcome.txt.tmpl": include,
					"_layout.txt.tmpl": `{{template "_foot" .}}`,
				},
				`template "_layout" includes "_foot", which is not defined: ` +
					`no file _foot[.LANGUAGE].txt.tmpl`,
			},
			{
				"in another part only",
				map[string]string{"welcome.txt.tmpl": include, "_layout.html.tmpl": "x"},
				"no file _layout[.LANGUAGE].txt.tmpl",
			},
			{"in another language only", map[string]string{
				"welcome.txt.tmpl":    include,
				"_layout.en.txt.tmpl": "x",
			}, "no file _layout[.LANGUAGE].txt.tmpl"},
			{
				"recursion",
				map[string]string{"welcome.txt.tmpl": include, "_layout.txt.tmpl": include},
				`template "_layout" includes itself`,
			},
			{
				"indirect recursion",
				map[string]string{
					"welcome.txt.tmpl": include, "_layout.txt.tmpl": `{{template "_a" .}}`,
					"_a.txt.tmpl": include,
				},
				`template "_layout" includes itself`,
			},
			{
				"redefinition",
				map[string]string{"_layout.txt.tmpl": `{{define "_layout"}}x{{end}}`},
				`_layout.txt.tmpl: template "_layout" is the file itself: ` +
					`do not define it within the file`,
			},
			{
				"syntax error",
				map[string]string{
					"welcome.txt.tmpl": include, "bye.txt.tmpl": include,
					"_layout.txt.tmpl": "\n{{if}}",
				},
				"notifyx: _layout.txt.tmpl:2: missing value for if",
			},
			{"changed HTML context", map[string]string{
				"welcome.html.tmpl": include,
				"_layout.html.tmpl": `<a href="`,
			}, "ends in a non-text context"},
			{
				"srcdoc",
				map[string]string{"_layout.html.tmpl": `<iframe srcdoc="">`},
				"_layout.html.tmpl:1:9: srcdoc",
			},
			{
				"duplicate",
				map[string]string{"_layout.txt.tmpl": "a", "x/_layout.txt.tmpl": "b"},
				`template "_layout" has this part already`,
			},
			{
				"without .tmpl",
				map[string]string{"_layout.txt": "x"},
				"_layout.txt: a shared template, whose name begins with _, " +
					"is a Go template: add .tmpl",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				files := memoryFS(tc.files)
				files["good.txt"] = memoryFS(map[string]string{"a": "x"})["a"]
				all := notifyx.NewTemplates()
				var err error
				if _, nested := files["x/_layout.txt.tmpl"]; nested {
					err = errors.Join(all.AddFS(files, "*.*"), all.AddFS(files, "x/*"))
				} else if err = all.AddFS(files, "*"); all.Has("good") {
					t.Error("a part of the files was added")
				}
				checkError(t, err, "", notifyx.ErrTemplate)
				if !strings.Contains(err.Error(), tc.want) ||
					strings.Count(err.Error(), "notifyx: ") != 1 {
					t.Errorf("error = %v, want once %s", err, tc.want)
				}
			})
		}
	})

	t.Run("does not add a rejected shared template", func(t *testing.T) {
		all := notifyx.NewTemplates()
		if err := all.AddFS(memoryFS(map[string]string{"_foot.txt.tmpl": "Yours", "bad.txt": "${"}),
			"*"); err == nil {
			t.Fatal("a malformed file was added")
		}
		err := all.Add("welcome", "", notifyx.PartText, `{{template "_foot" .}}`, notifyx.SyntaxGo)
		checkError(t, err, "", notifyx.ErrTemplate)
	})
}

func TestTemplates_Render_SharedTemplateError(t *testing.T) {
	all := templates(t, map[string]string{
		"_layout.html.tmpl": "<p>\n{{range .s}}{{end}}</p>",
		"welcome.html.tmpl": `{{template "_layout" .}}`,
	})
	_, err := all.Render("welcome", "", map[string]any{"s": "SECRET"})
	checkError(t, err, "SECRET", notifyx.ErrTemplate)
	if !strings.Contains(err.Error(), "_layout.html.tmpl:2") {
		t.Errorf("error = %v, want the position in the layout", err)
	}
	all = templates(t, map[string]string{
		"_layout.html.tmpl": "<p>{{.user.name}}</p>",
		"welcome.html.tmpl": `{{template "_layout" .}}`,
	})
	_, err = all.Render("welcome", "", map[string]any{"user": map[string]any{}})
	var missing *notifyx.MissingVariablesError
	if !errors.As(err, &missing) || !slices.Equal(missing.Variables, []string{"user.name"}) {
		t.Errorf("error = %v, want user.name missing", err)
	}
}
