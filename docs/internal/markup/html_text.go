package markup

import (
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// text omits a line break between two wide characters, because Chinese has no spaces
// between words. goldmark's renderer also omits it before links, emphasis and code in any
// language.
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

// betweenWide reports whether the last character of a text and the first character of the
// next one are wide.
func betweenWide(n *ast.Text, source []byte) bool {
	before, _ := utf8.DecodeLastRune(n.Value(source))
	if !util.IsEastAsianWideRune(before) || n.NextSibling() == nil {
		return false
	}
	after, _ := utf8.DecodeRuneInString(plain(n.NextSibling(), source))
	return util.IsEastAsianWideRune(after)
}
