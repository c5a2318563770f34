package markup

import (
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// text drops the end of a line between two wide characters, since Chinese has no blanks
// between words, and keeps all others. goldmark's own renderer also drops it before a
// link, emphasis or code in any language.
func (r *nodes) text(w util.BufWriter, source []byte, node ast.Node) {
	n, ok := node.(*ast.Text)
	if !ok {
		return
	}
	value := n.Value(source)
	if n.IsRaw() {
		r.writer.RawWrite(w, value)
		return
	}
	r.writer.Write(w, value)
	switch {
	case n.HardLineBreak():
		_, _ = w.WriteString("<br>\n")
	case n.SoftLineBreak() && !betweenWide(n, source):
		_ = w.WriteByte('\n')
	}
}

// betweenWide tells whether a text ends in a wide character and what follows it begins
// with one.
func betweenWide(n *ast.Text, source []byte) bool {
	before, _ := utf8.DecodeLastRune(n.Value(source))
	if !util.IsEastAsianWideRune(before) || n.NextSibling() == nil {
		return false
	}
	after, _ := utf8.DecodeRuneInString(plain(n.NextSibling(), source))
	return util.IsEastAsianWideRune(after)
}
