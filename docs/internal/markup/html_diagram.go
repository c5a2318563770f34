package markup

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// figure writes the pictures of a diagram; the style sheet shows one of them. It reports
// whether there are pictures.
func (r *nodes) figure(w util.BufWriter, source []byte, node ast.Node, code string) bool {
	code = strings.TrimSpace(code)
	if r.Diagram == nil {
		return false
	}
	diagram, ok := r.Diagram(code)
	if !ok {
		return false
	}
	alt := escape(cmp.Or(accessibleText(code), headingBefore(node, source), r.Words.Diagram))
	_, _ = w.WriteString(`<figure class="diagram">`)
	for _, picture := range []struct{ class, address string }{
		{"light", diagram.Light},
		{"dark", diagram.Dark},
	} {
		_, _ = fmt.Fprintf(w, `<img class="%s" src="%s" alt="%s" width="%d" height="%d" loading="lazy">`,
			picture.class, escape(picture.address), alt, diagram.Width, diagram.Height)
	}
	_, _ = w.WriteString("</figure>\n")
	return true
}

// accessibleText returns the accessible title and description of a Mermaid diagram:
// "accTitle: text", "accDescr: text", or "accDescr { several lines }".
func accessibleText(code string) string {
	var title, description string
	block := false
	for line := range strings.SplitSeq(code, "\n") {
		line = strings.TrimSpace(line)
		if block {
			text, _, closed := strings.Cut(line, "}")
			description = strings.TrimSpace(description + " " + strings.TrimSpace(text))
			block = !closed
			continue
		}
		if text, ok := strings.CutPrefix(line, "accTitle:"); ok {
			title = strings.TrimSpace(text)
		} else if text, ok := strings.CutPrefix(line, "accDescr:"); ok {
			description = strings.TrimSpace(text)
		} else if text, ok := strings.CutPrefix(strings.ReplaceAll(line, " ", ""),
			"accDescr{"); ok {
			block = !strings.HasSuffix(text, "}")
			if inner, found := strings.CutSuffix(line[strings.IndexByte(line, '{')+1:],
				"}"); found {
				description = strings.TrimSpace(inner)
			}
		}
	}
	if title != "" && description != "" {
		return strings.TrimRight(title, ".") + ". " + description
	}
	return title + description
}

// headingBefore returns the text of the last heading before a node.
func headingBefore(node ast.Node, source []byte) string {
	for node.Parent() != nil && node.Parent().Kind() != ast.KindDocument {
		node = node.Parent()
	}
	for n := node.PreviousSibling(); n != nil; n = n.PreviousSibling() {
		if heading, ok := n.(*ast.Heading); ok {
			return plain(heading, source)
		}
	}
	return ""
}
