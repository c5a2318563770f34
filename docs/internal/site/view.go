package site

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"strings"

	"github.com/plinthgo/plinth/docs/internal/page"
)

//go:embed templates
var templateFiles embed.FS

// A view is the data of the frame around a page. Body is the data of the page's template.
type view struct {
	W           words
	Lang        string
	Title       string // without the site name
	Description string
	Home        string
	Search      string // address for the search script
	Version     string
	Static      bool
	Live        bool
	Hidden      bool // noindex
	Base        string
	Canonical   string
	Markdown    string
	Alternates  []link // versions by language, with absolute addresses
	Twin        *link  // translation
	Sectors     []link
	Nav         []navNode
	Body        any
}

// kinds returns the names of the page templates.
func kinds() []string { return []string{"page", "sector", "home", "search", "notfound"} }

func loadTemplates(a assets) (map[string]*template.Template, error) {
	frame, err := template.New("frame.html").Funcs(template.FuncMap{
		"asset":  a.url,
		"printf": fmt.Sprintf,
	}).
		ParseFS(templateFiles, "templates/frame.html", "templates/nav.html")
	if err != nil {
		return nil, err
	}
	templates := map[string]*template.Template{}
	for _, kind := range kinds() {
		t, err := frame.Clone()
		if err != nil {
			return nil, err
		}
		if templates[kind], err = t.ParseFS(templateFiles, "templates/"+kind+".html"); err != nil {
			return nil, err
		}
	}
	return templates, nil
}

// execute renders the template of a kind of page.
func (s *Site) execute(kind string, v view) ([]byte, error) {
	var b bytes.Buffer
	if err := s.templates[kind].Execute(&b, v); err != nil {
		return nil, fmt.Errorf("site: %w", err)
	}
	return b.Bytes(), nil
}

// frame returns the view data common to pages of a language.
func (s *Site) frame(f form, language string) view {
	v := view{
		W: wordsOf(language), Lang: language, Home: homePath(language), Search: "/api/search",
		Base:   s.config.BaseURL,
		Static: f == static, Live: s.config.Live && f == served,
	}
	if strings.HasPrefix(s.config.Version, "v") {
		v.Version = s.config.Version
	}
	if v.Static {
		v.Search = searchFile
	}
	return v
}

// address sets the canonical address and the alternates. The argument other is the
// address of the translation, or "".
func (s *Site) address(v *view, own, other string) {
	otherLanguage := page.English
	if v.Lang == page.English {
		otherLanguage = page.Chinese
	}
	if other != "" {
		v.Twin = &link{Title: v.W.OtherLanguage, URL: other, Lang: otherLanguage}
	}
	if s.config.BaseURL == "" {
		return
	}
	v.Canonical = s.config.BaseURL + own
	if other != "" {
		v.Alternates = []link{
			{URL: s.config.BaseURL + own, Lang: v.Lang},
			{URL: s.config.BaseURL + other, Lang: otherLanguage},
		}
	}
}

// homePath returns the address of the home page in a language.
func homePath(language string) string {
	if language == page.Chinese {
		return "/zh"
	}
	return "/"
}
