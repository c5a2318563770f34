package main

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/plinthgo/plinth/docs/internal/markup"
	"github.com/plinthgo/plinth/docs/internal/site"
)

// A source is a Mermaid diagram.
type source struct {
	file string // first page with the diagram
	code string // trimmed
}

// name returns the name of the pictures, without theme and extension.
func (s source) name() string { return site.DiagramName(s.code) }

// find returns the diagrams of all pages by name.
func find(content fs.FS) (map[string]source, error) {
	found := map[string]source{}
	err := fs.WalkDir(content, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(file) != ".md" {
			return err
		}
		page, err := fs.ReadFile(content, file)
		if err != nil {
			return err
		}
		for _, fence := range markup.Fences(page) {
			if fence.Language != "mermaid" {
				continue
			}
			s := source{file: file, code: strings.TrimSpace(fence.Code)}
			if _, known := found[s.name()]; !known {
				found[s.name()] = s
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for diagrams: %w", err)
	}
	return found, nil
}
