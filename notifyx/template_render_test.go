package notifyx_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/notifyx"
)

func TestTemplates_Render_MissingVariables(t *testing.T) {
	t.Run("names every missing variable", func(t *testing.T) {
		all := templates(t, map[string]string{
			"welcome.subject":   "${a} ${user.name} ${here}",
			"welcome.txt":       "${a} ${here.deeper} ${gone}",
			"welcome.html.tmpl": "<p>{{with .user}}{{.mail}}{{end}}</p>",
		})
		_, err := all.Render("welcome", "", map[string]any{
			"user": map[string]any{"first": "SECRET", "name": nil}, "here": "SECRET", "gone": nil,
		})
		checkError(t, err, "SECRET", notifyx.ErrTemplate, notifyx.ErrPermanent)
		var missing *notifyx.MissingVariablesError
		if !errors.As(err, &missing) {
			t.Fatalf("error = %v, want a *MissingVariablesError", err)
		}
		want := []string{"a", "user.name", "here.deeper", "gone", "mail"}
		if missing.Template != "welcome" || !slices.Equal(missing.Variables, want) {
			t.Errorf("missing = %q of %q, want %q of welcome",
				missing.Variables, missing.Template, want)
		}
		const text = `notifyx: template "welcome": missing variables: ` +
			`a, user.name, here.deeper, gone, mail`
		if err.Error() != text {
			t.Errorf("error = %q, want %q", err, text)
		}
	})

	t.Run("names the variable of a Go template", func(t *testing.T) {
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
					checkError(t, err, "SECRET", notifyx.ErrTemplate)
					var missing *notifyx.MissingVariablesError
					if !errors.As(err, &missing) ||
						!slices.Equal(missing.Variables, []string{tc.want}) {
						t.Errorf("error = %v, want %s missing", err, tc.want)
					}
				})
			}
		}
	})
}

func TestTemplates_Render_Language(t *testing.T) {
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
		want := notifyx.Rendered{Subject: tc.subject, Text: tc.text, HTML: tc.html}
		if r != want {
			t.Errorf("%.40q: %+v, want %+v", tc.language, r, want)
		}
	}
}
