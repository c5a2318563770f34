package llms

import (
	"strconv"
	"strings"
)

// PrefersMarkdown reads the values of Accept: whether they name text/markdown and weigh it at least as much as text/html
// (RFC 9110, 12.5.1).
func PrefersMarkdown(accept []string) bool {
	markdown, html := -1.0, -1.0
	for item := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		kind, parameters, _ := strings.Cut(item, ";")
		q := weight(parameters)
		switch strings.ToLower(strings.TrimSpace(kind)) {
		case "text/markdown", "text/x-markdown":
			markdown = max(markdown, q)
		case "text/html", "application/xhtml+xml":
			html = max(html, q)
		}
	}
	return markdown > 0 && markdown >= html
}

// weight is the q of a list item's parameters: 1 where there is none, 0 where it is no number.
func weight(parameters string) float64 {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(parameter, "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				return 0
			}
			return q
		}
	}
	return 1
}
