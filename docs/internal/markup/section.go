package markup

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// A Section is a heading with the text up to the next heading. The first section of a
// page has no heading and contains the text before the first heading.
type Section struct {
	Heading string // plain text
	Anchor  string // without the number sign
	Level   int    // 2 to 6; 0 without a heading
	Text    string // text of paragraphs, lists, tables and code, in one line with single spaces
}

var plainMarkdown = newMarkdown()

// Sections splits a page into at least one section, which may be empty.
func Sections(source []byte) []Section {
	sections := []Section{{}}
	var words strings.Builder
	flush := func() {
		sections[len(sections)-1].Text = strings.Join(strings.Fields(words.String()), " ")
		words.Reset()
	}
	for n := parse(plainMarkdown, source).FirstChild(); n != nil; n = n.NextSibling() {
		heading, ok := n.(*ast.Heading)
		if !ok {
			appendText(&words, n, source)
			continue
		}
		flush()
		sections = append(sections, Section{
			Heading: plain(heading, source),
			Anchor:  anchor(heading), Level: heading.Level,
		})
	}
	flush()
	return sections
}

// Links returns the targets of the links and images of a page in order.
func Links(source []byte) []string {
	var links []string
	_ = ast.Walk(parse(plainMarkdown, source),
		func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			switch n := n.(type) {
			case *ast.Link:
				if entering {
					links = append(links, string(n.Destination))
				}
			case *ast.Image:
				if entering {
					links = append(links, string(n.Destination))
				}
			}
			return ast.WalkContinue, nil
		})
	return links
}

// A Fence is a fenced code block.
type Fence struct {
	Language string // first word of the info string
	Code     string
	Line     int // line of the first line of code in the source; starts at 1
}

// Fences returns the fenced code blocks of a page in order, including those in lists and
// block quotes.
func Fences(source []byte) []Fence {
	var fences []Fence
	_ = ast.Walk(parse(plainMarkdown, source),
		func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			block, ok := n.(*ast.FencedCodeBlock)
			if !ok || !entering {
				return ast.WalkContinue, nil
			}
			fence := Fence{Language: string(block.Language(source)), Code: lines(block, source)}
			if block.Lines().Len() > 0 {
				fence.Line = 1 + strings.Count(string(source[:block.Lines().At(0).Start]), "\n")
			}
			fences = append(fences, fence)
			return ast.WalkSkipChildren, nil
		})
	return fences
}

func anchor(heading *ast.Heading) string {
	id, _ := heading.AttributeString("id")
	text, _ := id.([]byte)
	return string(text)
}

// plain returns the text of a node without markup.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	appendText(&b, n, source)
	return strings.Join(strings.Fields(b.String()), " ")
}

// appendText writes the text of a node. Spaces separate table cells, line breaks separate
// blocks.
func appendText(b *strings.Builder, node ast.Node, source []byte) {
	_ = ast.Walk(node, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			b.WriteString(words(n, source))
			return ast.WalkContinue, nil
		}
		if _, isCell := n.(*east.TableCell); isCell {
			b.WriteByte(' ')
		} else if n.Type() == ast.TypeBlock {
			b.WriteByte('\n')
		}
		return ast.WalkContinue, nil
	})
}

// words returns the text that a node adds to the text of its children.
func words(n ast.Node, source []byte) string {
	switch n := n.(type) {
	case *ast.Text:
		text := string(n.Value(source))
		if n.HardLineBreak() || n.SoftLineBreak() && !betweenWide(n, source) {
			text += " "
		}
		return text
	case *ast.String:
		return string(n.Value)
	case *ast.AutoLink:
		return string(n.Label(source))
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		return lines(n, source)
	}
	return ""
}

// lines returns the text of a code block.
func lines(n ast.Node, source []byte) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(source))
	}
	return b.String()
}
