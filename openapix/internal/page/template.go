package page

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"
	"unicode"

	"github.com/plinthgo/plinth/openapix/internal/page/markdown"
)

// Levels that are added to those of headings in the introduction, in the description of a
// group and in an operation.
const (
	belowTitle     = 1
	belowGroup     = 2
	belowOperation = 3
)

// renderer renders pages. It is safe for concurrent use.
type renderer struct {
	frame                   *template.Template
	assets                  assets
	intro, group, operation *markdown.Renderer
}

func newRenderer() (*renderer, error) {
	r := &renderer{
		intro: markdown.New(belowTitle), group: markdown.New(belowGroup),
		operation: markdown.New(belowOperation),
	}
	var err error
	if r.assets, err = loadAssets(); err != nil {
		return nil, err
	}
	r.frame, err = template.New("frame.html").Funcs(template.FuncMap{
		"md": r.operation.HTML, "breaks": breaks, "level": level,
	}).ParseFS(embedded, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("parse the templates: %w", err)
	}
	return r, nil
}

// render renders a page. If a template fails, which only a defect of this package can
// cause, the page is the error.
func (r *renderer) render(v *view) *resource {
	var b bytes.Buffer
	if err := r.frame.Execute(&b, v); err != nil {
		b.Reset()
		template.HTMLEscape(&b, []byte("page: "+err.Error()))
	}
	return newResource(typeHTML, revalidate, b.Bytes())
}

// level returns the class of a status, such as 4 for 404.
func level(status string) string {
	if status == "" || status[0] < '1' || status[0] > '5' {
		return ""
	}
	return status[:1]
}

// breaks escapes a name and allows line breaks after its separators.
func breaks(name string) template.HTML {
	var b strings.Builder
	for i, part := range splitAfterAny(name, "/_.") {
		if i > 0 {
			b.WriteString("<wbr>")
		}
		template.HTMLEscape(&b, []byte(part))
	}
	return template.HTML(b.String()) //nolint:gosec // escaped
}

// splitAfterAny splits a text after each sequence of separators that is inside of it.
func splitAfterAny(text, separators string) []string {
	var parts []string
	start := 0
	for i := 1; i < len(text); i++ {
		if strings.IndexByte(separators, text[i-1]) >= 0 &&
			strings.IndexByte(separators, text[i]) < 0 && i-1 > start {
			parts = append(parts, text[start:i])
			start = i
		}
	}
	return append(parts, text[start:])
}

func isChinese(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}
