// Package spec reads OpenAPI 3.1 documents for display: it resolves references, merges
// schemas and creates examples.
//
// It accepts any document and ignores parts that it does not understand.
package spec

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/plinthgo/plinth/openapix/internal/page/jsontree"
)

// Document is an OpenAPI document. It is safe for concurrent use.
type Document struct {
	root *jsontree.Value
}

// Parse reads a document of OpenAPI 3.
func Parse(text []byte) (*Document, error) {
	root, err := jsontree.Parse(text)
	if err != nil {
		return nil, err
	}
	if version := root.Get("openapi").Str(); !strings.HasPrefix(version, "3.") {
		return nil, fmt.Errorf("spec: the version %q is not supported (accepted: 3.1)", version)
	}
	if root.Get("info", "title").Str() == "" {
		return nil, errors.New("spec: the document has no title; set info.title")
	}
	return &Document{root: root}, nil
}

// Get returns the value at the path, or nil.
func (d *Document) Get(path ...string) *jsontree.Value { return d.root.Get(path...) }

// maxReferences limits chains of references.
const maxReferences = 32

// Resolve follows the references of an object other than a schema. It returns nil if the
// target does not exist.
func (d *Document) Resolve(v *jsontree.Value) *jsontree.Value {
	for range maxReferences {
		reference := v.Get("$ref")
		if reference.Kind() != jsontree.String {
			return v
		}
		v = d.target(reference.Str())
	}
	return nil
}

// target returns the value of a reference to the same document.
func (d *Document) target(reference string) *jsontree.Value {
	pointer, ok := strings.CutPrefix(reference, "#")
	if !ok {
		return nil
	}
	if decoded, err := url.PathUnescape(pointer); err == nil {
		pointer = decoded
	}
	v := d.root
	for name := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		name = strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
		if items := v.Items(); items != nil {
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(items) {
				return nil
			}
			v = items[i]
		} else {
			v = v.Get(name)
		}
	}
	return v
}

// referenceName returns the last part of a reference.
func referenceName(reference string) string {
	name := reference[strings.LastIndexByte(reference, '/')+1:]
	if decoded, err := url.PathUnescape(name); err == nil {
		name = decoded
	}
	return strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
}
