package markup

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// anchors sets the ID of each heading like GitHub.
type anchors struct{}

// Transform implements parser.ASTTransformer.
func (anchors) Transform(doc *ast.Document, reader text.Reader, _ parser.Context) {
	used := map[string]int{}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if heading, ok := n.(*ast.Heading); ok {
			heading.SetAttributeString("id",
				[]byte(free(used, slug(plain(heading, reader.Source())))))
		}
	}
}

// free returns base, with the first number as a suffix that makes it unique if needed.
func free(used map[string]int, base string) string {
	name := base
	for {
		n, taken := used[name]
		used[name] = max(n, 1)
		if !taken {
			return name
		}
		name = base + "-" + strconv.Itoa(used[base])
		used[base]++
	}
}

// slug returns the anchor of a heading like GitHub: lower case, hyphens for spaces, and
// otherwise only letters, marks, digits, hyphens and underscores.
func slug(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(heading)) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsMark(r), unicode.IsNumber(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}
