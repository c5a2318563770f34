package mcptools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/openapix"
)

// document is the part of an OpenAPI document from which tools are generated.
type document struct {
	Info struct {
		Title, Version, Description string
	}
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]object }

	operations map[string]*operation // by ID
}

// object is a JSON object, such as a schema. Numbers have the type json.Number.
type object = map[string]any

type operation struct {
	OperationID          string
	Summary, Description string
	Deprecated           bool
	Parameters           []parameter
	RequestBody          struct{ Content content }
	Responses            map[string]struct{ Content content }
}

type parameter struct {
	Name, In, Description string
	Required, Deprecated  bool
	Schema                object
}

// content contains schemas by media type.
type content map[string]struct{ Schema object }

// newDocument generates and decodes the document of the application.
func (c *config) newDocument(engine *gin.Engine) (*document, error) {
	text, err := openapix.Document(engine, c.document...)
	if err := errors.Join(c.err, err); err != nil {
		return nil, err
	}
	d := &document{operations: map[string]*operation{}}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // the limits of 64-bit integers
	if err := decoder.Decode(d); err != nil {
		return nil, fmt.Errorf("mcptools: decode the document: %w", err)
	}
	for _, item := range d.Paths {
		for _, o := range item {
			d.operations[o.OperationID] = &o
		}
	}
	return d, nil
}
