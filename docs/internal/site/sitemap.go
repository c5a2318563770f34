package site

import (
	"bytes"
	"encoding/xml"

	"github.com/plinthgo/plinth/docs/internal/page"
)

// robots returns robots.txt, which excludes search results.
func (s *Site) robots() []byte {
	text := "User-agent: *\nDisallow: /search\nDisallow: /api/\n"
	if s.config.BaseURL != "" {
		text += "\nSitemap: " + s.config.BaseURL + "/sitemap.xml\n"
	}
	return []byte(text)
}

// sitemap returns the sitemap (sitemaps.org) with all pages and their translations.
func (s *Site) sitemap() []byte {
	var b bytes.Buffer
	b.WriteString(xml.Header +
		`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">` + "\n")
	write := func(path string, alternates map[string]string) {
		b.WriteString("<url><loc>")
		_ = xml.EscapeText(&b, []byte(s.config.BaseURL+path)) // writes to a buffer do not fail
		b.WriteString("</loc>")
		for _, language := range []string{page.English, page.Chinese} {
			if alternates[language] != "" {
				b.WriteString(`<xhtml:link rel="alternate" hreflang="` + language + `" href="`)
				_ = xml.EscapeText(&b, []byte(s.config.BaseURL+alternates[language]))
				b.WriteString(`"/>`)
			}
		}
		b.WriteString("</url>\n")
	}
	homes := map[string]string{
		page.English: homePath(page.English),
		page.Chinese: homePath(page.Chinese),
	}
	write(homes[page.English], homes)
	write(homes[page.Chinese], homes)
	for _, sector := range s.config.Library.Sectors() {
		if s.config.Library.Find(sector.Name, "/") == nil {
			write("/docs/"+sector.Name, nil)
		}
	}
	for _, p := range s.config.Library.Pages() {
		var alternates map[string]string
		if p.Twin != nil {
			alternates = map[string]string{p.Language: p.URL(), p.Twin.Language: p.Twin.URL()}
		}
		write(p.URL(), alternates)
	}
	b.WriteString("</urlset>\n")
	return b.Bytes()
}
