package notifyx

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Expand fills in a text with ${name}; see SyntaxVariables. The output is not escaped.
//
// Its errors are those of Templates.Add and Templates.Render.
func Expand(text string, variables map[string]any) (string, error) {
	return expand(PartText, text, variables)
}

// ExpandHTML fills in an HTML text with ${name}. Each value is escaped for where it stands: between tags, in an attribute,
// a URL, a style or a script.
func ExpandHTML(text string, variables map[string]any) (string, error) {
	return expand(PartHTML, text, variables)
}

func expand(which Part, text string, values map[string]any) (string, error) {
	registerMapper()
	p, err := compile(&partFile{origin: "text", name: "text", part: which, text: text}, nil)
	if err != nil {
		return "", err
	}
	var f failures
	v, err := newVariables(values)
	if err != nil {
		f.add(err)
		return "", f.of("text")
	}
	out, err := p.render(v)
	if err != nil {
		f.add(err)
		return "", f.of("text")
	}
	return out, nil
}

// piece is a literal, or the path of a variable.
type piece struct {
	literal string
	path    string
}

// position is a place in a text, both from 1; the column counts characters.
func position(text string, offset int) string {
	before := text[:offset]
	line := strings.Count(before, "\n")
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	return fmt.Sprintf("%d:%d", line+1, column+1)
}

// parsePieces splits a text at its ${name}. The error begins with the position.
func parsePieces(text string) ([]piece, error) {
	var pieces []piece
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			pieces = append(pieces, piece{literal: literal.String()})
			literal.Reset()
		}
	}
	for at := 0; at < len(text); {
		next := strings.IndexByte(text[at:], '$')
		if next < 0 {
			literal.WriteString(text[at:])
			break
		}
		literal.WriteString(text[at : at+next])
		at += next
		switch rest := text[at:]; {
		case strings.HasPrefix(rest, "$${"):
			literal.WriteString("${")
			at += len("$${")
		case strings.HasPrefix(rest, "${"):
			name, err := parsePath(rest)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", position(text, at), err)
			}
			flush()
			pieces = append(pieces, piece{path: name})
			at += len("${}") + len(name)
		default:
			literal.WriteByte('$')
			at++
		}
	}
	flush()
	return pieces, nil
}

// parsePath reads the path of a text that begins with "${".
func parsePath(text string) (string, error) {
	text = text[len("${"):]
	end := strings.IndexFunc(text, func(r rune) bool { return !nameRune(r) && r != '.' })
	switch {
	case end < 0:
		return "", errors.New("\"${\" has no \"}\"")
	case text[end] != '}':
		return "", errors.New("\"${\" is followed by something that is no name; \"$${\" writes \"${\"")
	}
	for segment := range strings.SplitSeq(text[:end], ".") {
		if segment == "" {
			return "", fmt.Errorf("an empty name in \"${%s}\"", text[:end])
		}
	}
	return text[:end], nil
}

func nameRune(r rune) bool {
	return r == '_' || r == '-' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
