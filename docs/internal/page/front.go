package page

import (
	"bytes"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// frontMatter is the YAML header of a page.
type frontMatter struct {
	Title       string   `yaml:"title"`
	Description string   `yaml:"description"`
	Keywords    []string `yaml:"keywords"`
}

var (
	frontOpen  = []byte("---\n")
	frontClose = []byte("\n---\n")
)

// split returns the front matter and the remaining text.
func split(data []byte) (front frontMatter, body []byte, err error) {
	rest, ok := bytes.CutPrefix(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), frontOpen)
	head, body, closed := bytes.Cut(rest, frontClose)
	if !ok || !closed {
		return front, nil, errors.New(
			"the front matter is missing: add title and description between lines of ---")
	}
	decoder := yaml.NewDecoder(bytes.NewReader(head))
	decoder.KnownFields(true)
	if err := decoder.Decode(&front); err != nil {
		return front, nil, fmt.Errorf("front matter: %w", err)
	}
	if front.Title == "" {
		return front, nil, errors.New("front matter: the title is missing")
	}
	return front, bytes.TrimLeft(body, "\n"), nil
}
