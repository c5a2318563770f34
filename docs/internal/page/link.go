package page

import (
	"path"
	"regexp"
	"strings"
)

var (
	// destination matches the target of an inline link, an image, or a link definition.
	destination = regexp.MustCompile(`(\]\(|^\[[^\]]+\]: )([^)\s]+)`)
	code        = regexp.MustCompile("`+[^`]*`+")
)

// Target returns the page and the anchor of a relative link of p. It returns false for
// other links, and a nil page if the .md file does not exist.
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

// resolve returns the body of a page with links to pages replaced by addresses. It does
// not change code.
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

// fenceMark returns the marker that opens or closes a code block on a line, if any.
func fenceMark(line string) string {
	line = strings.TrimLeft(line, " >\t")
	for _, mark := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, mark)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// resolveLine replaces the links of a line.
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

// mask replaces code by spaces of the same length, so that it contains no links.
func mask(line string) string {
	return code.ReplaceAllStringFunc(line,
		func(s string) string { return strings.Repeat(" ", len(s)) })
}
