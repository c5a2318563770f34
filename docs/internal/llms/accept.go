package llms

import "github.com/plinthgo/plinth/docs/internal/accept"

// PrefersMarkdown reports whether the values of Accept contain text/markdown with at
// least the weight of text/html (RFC 9110, section 12.5.1).
func PrefersMarkdown(values []string) bool {
	markdown, html := -1.0, -1.0
	for kind, q := range accept.Items(values) {
		switch kind {
		case "text/markdown", "text/x-markdown":
			markdown = max(markdown, q)
		case "text/html", "application/xhtml+xml":
			html = max(html, q)
		}
	}
	return markdown > 0 && markdown >= html
}
