package markup

import (
	"cmp"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// fence renders a code block or a diagram.
func (r *nodes) fence(w util.BufWriter, source []byte, node ast.Node) {
	language, code := "", lines(node, source)
	if block, ok := node.(*ast.FencedCodeBlock); ok {
		language = string(block.Language(source))
	}
	if language == "mermaid" && r.figure(w, source, node, code) {
		return
	}
	_, _ = w.WriteString(`<div class="code"`)
	if language != "" {
		_, _ = w.WriteString(` data-lang="` + escape(language) + `"`)
	}
	_, _ = w.WriteString("><pre><code>")
	highlight(w, language, strings.TrimRight(code, "\n"))
	_, _ = w.WriteString("</code></pre></div>\n")
}

// highlight writes code with classes for its tokens. It merges adjacent tokens of the
// same class, and adds spaces to the token before them, to keep pages small.
func highlight(w util.BufWriter, language, code string) {
	tokens := tokenise(language, code)
	for len(tokens) > 0 {
		class := classOf(tokens[0].Type)
		var text strings.Builder
		for i := 0; len(tokens) > 0 && (i == 0 || joins(tokens[0], class)); i++ {
			text.WriteString(tokens[0].Value)
			tokens = tokens[1:]
		}
		if class == "" || text.Len() == 0 {
			_, _ = w.WriteString(escape(text.String()))
		} else {
			_, _ = w.WriteString(`<b class="` + class + `">` + escape(text.String()) + "</b>")
		}
	}
}

func joins(t chroma.Token, class string) bool {
	return strings.TrimSpace(t.Value) == "" || classOf(t.Type) == class
}

// tokenise returns the tokens of code, or a single token if the language is unknown.
func tokenise(language, code string) []chroma.Token {
	whole := []chroma.Token{{Type: chroma.Text, Value: code}}
	lexer := lexers.Get(language)
	if language == "" || lexer == nil {
		return whole
	}
	tokens, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root", EnsureLF: true}, code)
	if err != nil {
		return whole
	}
	list := tokens.Tokens()
	// some lexers require a final line break, which is not part of the code
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Value != "" {
			list[i].Value = strings.TrimSuffix(list[i].Value, "\n")
			break
		}
	}
	return list
}

// classes maps kinds of tokens to short class names: k keyword, t type, f function, s
// string, m number or constant, c comment, p property, v variable, i inserted, d deleted.
var classes = map[chroma.TokenType]string{
	chroma.Comment: "c", chroma.KeywordType: "t", chroma.NameClass: "t",
	chroma.KeywordConstant: "m", chroma.LiteralNumber: "m", chroma.NameConstant: "m",
	chroma.Keyword: "k", chroma.OperatorWord: "k", chroma.NameDecorator: "k",
	chroma.NameFunction: "f", chroma.NameBuiltin: "f",
	chroma.NameTag: "p", chroma.NameAttribute: "p", chroma.NameProperty: "p",
	chroma.NameVariable: "v", chroma.LiteralString: "s", chroma.GenericInserted: "i",
	chroma.GenericDeleted: "d",
}

// classOf returns the class of a kind of token, or "" for plain text.
func classOf(t chroma.TokenType) string {
	return cmp.Or(classes[t], classes[t.SubCategory()], classes[t.Category()])
}
