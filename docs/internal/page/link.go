package page

import (
	"path"
	"regexp"
	"strings"
)

var (
	// destination is that of an inline link or image, or of a link's definition.
	destination = regexp.MustCompile(`(\]\(|^\[[^\]]+\]: )([^)\s]+)`)
	code        = regexp.MustCompile("`+[^`]*`+")
)

// Target returns the page and the anchor that a relative link of p means. ok is false for
// other links; the page is nil where a link to a .md file has no page.
func (l *Library) Target(p *Page, link string) (target *Page, anchor string, ok bool) {
	if strings.Contains(link, "://") || strings.HasPrefix(link, "/") ||
		strings.HasPrefix(link, "mailto:") {
		return nil, "", false
	}
	file, anchor, _ := strings.Cut(link, "#")
	if file == "" {
		return p, anchor, true
	}
	if !strings.HasSuffix(file, ".md") {
		return nil, "", false
	}
	return l.files[path.Join(path.Dir(p.File), file)], anchor, true
}

// resolve returns the page's body with links to pages as addresses of the site. Code
// stays as it is.
func resolve(l *Library, p *Page) string {
	lines := strings.SplitAfter(p.Body, "\n")
	fence := ""
	for i, line := range lines {
		switch mark := fenceMark(line); {
		case fence != "":
			if strings.HasPrefix(mark, fence) {
				fence = ""
			}
		case mark != "":
			fence = mark
		default:
			lines[i] = resolveLine(l, p, line)
		}
	}
	return strings.Join(lines, "")
}

// fenceMark returns the marks that open or close a block of code on a line, if any.
func fenceMark(line string) string {
	line = strings.TrimLeft(line, " >\t")
	for _, mark := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, mark)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// resolveLine changes the links between the pieces of code of a line.
func resolveLine(l *Library, p *Page, line string) string {
	if !strings.Contains(line, "](") && !strings.Contains(line, "]: ") {
		return line
	}
	var b strings.Builder
	at := 0
	for _, m := range destination.FindAllStringSubmatchIndex(mask(line), -1) {
		target, anchor, ok := l.Target(p, line[m[4]:m[5]])
		if !ok || target == nil {
			continue
		}
		b.WriteString(line[at:m[4]])
		if target != p || anchor == "" {
			b.WriteString(target.URL())
		}
		if anchor != "" {
			b.WriteString("#" + anchor)
		}
		at = m[5]
	}
	b.WriteString(line[at:])
	return b.String()
}

// mask puts blanks in the place of code, so that nothing in it looks like a link. Lengths
// stay.
func mask(line string) string {
	return code.ReplaceAllStringFunc(line,
		func(s string) string { return strings.Repeat(" ", len(s)) })
}
