package email

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// plainText returns what a reader without HTML sees: the text, one line for each block, links with their address in brackets,
// images by their alt text.
func plainText(document string) string {
	t := html.NewTokenizer(strings.NewReader(document))
	w := textWriter{}
	for {
		kind := t.Next()
		if kind == html.ErrorToken {
			return w.text()
		}
		w.add(t.Token())
	}
}

// textWriter collects lines.
type textWriter struct {
	b      strings.Builder
	hidden int      // depth of elements that are not shown
	links  []string // addresses of the open links
}

func (w *textWriter) add(t html.Token) {
	switch t.Type {
	case html.TextToken:
		if w.hidden == 0 {
			w.word(t.Data)
		}
	case html.StartTagToken:
		w.start(t)
	case html.EndTagToken:
		w.end(t.DataAtom)
	case html.SelfClosingTagToken:
		if !isHidden(t.DataAtom) {
			w.start(t)
		}
	default:
	}
}

func (w *textWriter) start(t html.Token) {
	switch {
	case isHidden(t.DataAtom):
		w.hidden++
	case w.hidden > 0:
	case t.DataAtom == atom.A:
		w.links = append(w.links, attribute(t, "href"))
	case t.DataAtom == atom.Img:
		w.word(attribute(t, "alt"))
	case t.DataAtom == atom.Li:
		w.line()
		w.b.WriteString("- ")
	case t.DataAtom == atom.Td, t.DataAtom == atom.Th:
		w.b.WriteString(" ")
	case isBlock(t.DataAtom):
		w.line()
	}
}

func (w *textWriter) end(a atom.Atom) {
	switch {
	case isHidden(a):
		w.hidden = max(0, w.hidden-1)
	case w.hidden > 0:
	case a == atom.A && len(w.links) > 0:
		last := len(w.links) - 1
		address := w.links[last]
		w.links = w.links[:last]
		if strings.HasPrefix(address, "http") && !strings.HasSuffix(w.b.String(), address) {
			w.b.WriteString(" <" + address + ">")
		}
	case isBlock(a):
		w.line()
	}
}

// word adds text, in which line breaks mean no more than a space.
func (w *textWriter) word(text string) {
	fields := strings.Join(strings.Fields(text), " ")
	if text != strings.TrimLeft(text, " \t\r\n") {
		w.b.WriteString(" ")
	}
	w.b.WriteString(fields)
	if fields != "" && text != strings.TrimRight(text, " \t\r\n") {
		w.b.WriteString(" ")
	}
}

func (w *textWriter) line() { w.b.WriteString("\n") }

// text returns the lines without superfluous space, at most one empty line between two.
func (w *textWriter) text() string {
	var out []string
	for line := range strings.SplitSeq(w.b.String(), "\n") {
		line = strings.Join(strings.Fields(line), " ")
		if line == "" && (len(out) == 0 || out[len(out)-1] == "") {
			continue
		}
		out = append(out, line)
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}

func attribute(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func isHidden(a atom.Atom) bool {
	return a == atom.Style || a == atom.Script || a == atom.Title || a == atom.Template
}

func isBlock(a atom.Atom) bool {
	switch a {
	case atom.P, atom.Div, atom.Br, atom.Tr, atom.Table, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Ul, atom.Ol,
		atom.Li, atom.Hr, atom.Blockquote, atom.Pre, atom.Section, atom.Article, atom.Header, atom.Footer:
		return true
	default:
		return false
	}
}
