package notifyx_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/notifyx"
)

func TestTemplates_AddFS(t *testing.T) {
	t.Run("rejects an invalid file with its position", func(t *testing.T) {
		for _, tc := range []struct {
			name string
			file string
			text string
			want string
		}{
			{
				"open variable", "a/welcome.en.txt", "Hi\n李 ${name",
				`a/welcome.en.txt:2:3: "${" has no "}"`,
			},
			{"space", "welcome.txt", "${na me}", `welcome.txt:1:1: "${" is not followed by a name`},
			{"empty", "welcome.txt", "a${}", `welcome.txt:1:2: an empty name in "${}"`},
			{
				"empty segment", "welcome.html", "${a..b}",
				`welcome.html:1:1: an empty name in "${a..b}"`,
			},
			{
				"Go syntax", "welcome.txt.tmpl", "\n{{if}}",
				"welcome.txt.tmpl:2: missing value for if",
			},
			{"Go syntax of HTML", "welcome.html.tmpl", "\n{{.a}", "welcome.html.tmpl:2: "},
			{
				"function", "welcome.txt.tmpl", "{{exec `id`}}",
				`welcome.txt.tmpl:1: function "exec" not defined`,
			},
			{
				"context of ${}", "welcome.html", "\n<a href=\"${x}",
				"welcome.html: ends in a non-text context",
			},
			{
				"context", "welcome.html.tmpl", "<a href='{{.x}}",
				"welcome.html.tmpl: ends in a non-text context",
			},
			{
				"recursion", "welcome.txt.tmpl",
				`{{define "x"}}{{if .a}}{{template "x" .}}{{end}}{{end}}{{template "x" .}}`,
				`template "x" includes itself`,
			},
			{
				"recursion of HTML", "welcome.html.tmpl",
				`{{define "x"}}{{range .a}}{{else}}{{template "y" .}}{{end}}{{end}}` +
					`{{define "y"}}{{template "x" .}}{{end}}`,
				`includes itself`,
			},
			{
				"no such template", "welcome.txt.tmpl", `{{template "x" .}}`,
				`includes "x", which is not defined`,
			},
			{"NUL", "welcome.html", "\x00{index .}\x00", "valid UTF-8, or has a NUL"},
			{"not UTF-8", "welcome.txt", "\xff", "valid UTF-8, or has a NUL"},
			{"too long", "welcome.txt", strings.Repeat("a", 1<<20+1), "longer than 1048576 bytes"},
			{
				"action in a file with ${}", "a/welcome.en.txt", "Hi ${name},\n李 {{.name}}",
				`a/welcome.en.txt:2:3: "{{" is not supported without .tmpl: ` +
					`add .tmpl to the file's name`,
			},
			{
				"action in an HTML file with ${}", "welcome.html", "{{.name}}",
				`welcome.html:1:1: "{{" is not supported without .tmpl`,
			},
			{"unknown part", "welcome.md", "", `"md" is not a part`},
			{
				"missing part", "welcome.tmpl", "",
				"a file is named NAME[.LANGUAGE].(subject|txt|html)[.tmpl]",
			},
			{"name", "wel come.txt", "", "a template's name is 1 to 100 of"},
			{"many dots", "a.b.en.txt", "", "a file is named NAME[.LANGUAGE]"},
			{"language", "welcome.klingonish.txt", "", `"klingonish" is not a BCP 47 language tag`},
			{"empty language", "welcome..txt", "", `"" is not a BCP 47 language tag`},
		} {
			t.Run(tc.name, func(t *testing.T) {
				fsys := memoryFS(map[string]string{
					tc.file: tc.text, "good.txt": "x", "a/good.txt": "x",
				})
				all := notifyx.NewTemplates()
				err := errors.Join(all.AddFS(fsys, "*.*"),
					notifyx.NewTemplates().AddFS(fsys, "a/*.*"))
				checkError(t, err, "", notifyx.ErrTemplate)
				if !strings.Contains(err.Error(), tc.want) {
					t.Errorf("error = %v, want %s", err, tc.want)
				}
				if tc.file[:2] != "a/" && all.Has("good") {
					t.Error("a part of the files was added")
				}
			})
		}
	})

	t.Run("reports the errors of all files", func(t *testing.T) {
		all := notifyx.NewTemplates()
		err := all.AddFS(memoryFS(map[string]string{
			"a.txt": "${", "b.en.html.tmpl": "{{", "c.xml": "",
		}), "*")
		checkError(t, err, "", notifyx.ErrTemplate)
		if err = all.AddFS(memoryFS(map[string]string{"a.txt": "${", "b.en.html.tmpl": "{{"}),
			"*"); strings.Count(err.Error(), "notifyx: ") != 2 {
			t.Errorf("error = %v, want both files", err)
		}
		for _, pattern := range []string{"*.none", "["} {
			checkError(t, all.AddFS(memoryFS(nil), pattern), "", notifyx.ErrTemplate)
		}
	})
}

func TestTemplates_Add(t *testing.T) {
	t.Run("rejects a duplicate part", func(t *testing.T) {
		all := templates(t, map[string]string{"welcome.en.txt": "a", "welcome.txt": "b"})
		for _, err := range []error{
			all.Add("welcome", "en", notifyx.PartText, "x", notifyx.SyntaxGo),
			all.Add("welcome", "EN", notifyx.PartText, "x", notifyx.SyntaxVariables),
			all.Add("welcome", "", notifyx.PartText, "x", notifyx.SyntaxVariables),
			all.AddFS(memoryFS(map[string]string{
				"x/other.txt": "", "x/other.txt.tmpl": "",
			}), "x/*"),
		} {
			checkError(t, err, "", notifyx.ErrTemplate)
			if !strings.Contains(err.Error(), "has this part already") {
				t.Errorf("error = %v, want a duplicate part", err)
			}
		}
		if all.Has("other") || render(t, all, "", nil).Text != "a" {
			t.Error("a rejected part was added")
		}
	})

	t.Run("rejects an invalid name, part, language or syntax", func(t *testing.T) {
		all := notifyx.NewTemplates()
		for _, err := range []error{
			all.Add("a", "x_!", notifyx.PartText, "x", notifyx.SyntaxVariables),
			all.Add("a", "und", notifyx.PartText, "x", notifyx.SyntaxVariables),
			all.Add("a", "", "pdf", "x", notifyx.SyntaxVariables),
			all.Add("a", "", notifyx.PartText, "x", 7),
			all.Add("", "", notifyx.PartText, "x", notifyx.SyntaxGo),
		} {
			checkError(t, err, "", notifyx.ErrTemplate)
		}
	})
}
