// Package openapi generates the OpenAPI document of a service and compares documents.
package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/plinthgo/plinth/tools/plinth/internal/comments"
	"github.com/plinthgo/plinth/tools/plinth/internal/service"
)

// Module is the module that writes the document.
const Module = service.Project + "openapix"

// The variables that make a service write its document and exit. The first is the file to
// write, the second a JSON file with the doc comments by qualified name. The third makes
// the start of a service fail that lacks the option.
const (
	outputVariable   = "PLINTH_OPENAPI_OUTPUT"
	commentsVariable = "PLINTH_OPENAPI_COMMENTS"
	inspectVariable  = "PLINTH_INSPECT"
)

const fix = `add the import "` + Module + `" and the option openapix.Serve() to the service`

// killDelay is the time after which the output of a killed service is abandoned.
const killDelay = 5 * time.Second

// Document is a generated document.
type Document struct {
	// Text is the indented JSON document.
	Text []byte
	// Operations is the number of its operations.
	Operations int
}

// Generate builds the program and runs it until it has written its document. If the
// program runs longer than timeout, Generate kills its process group.
func Generate(
	ctx context.Context, s *service.Service, program service.Program, timeout time.Duration,
) (d *Document, err error) {
	if program.Packages[Module] == nil {
		return nil, fmt.Errorf("%s does not import %s; run go get %[2]s and %s",
			program.Folder, Module, fix)
	}
	found, err := comments.Read(program)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(found)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "plinth-openapi-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file, output := filepath.Join(dir, "comments.json"), filepath.Join(dir, "openapi.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	binary := filepath.Join(dir, "service.exe") // Windows needs the suffix
	if err := s.Build(ctx, program, binary); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary)
	cmd.Dir = s.Root
	cmd.Env = append(os.Environ(), inspectVariable+"=openapix.Serve()", outputVariable+"="+output, commentsVariable+"="+file)
	log, err := run(cmd)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("the service did not exit within %s; %s, or increase --timeout%s",
			timeout, fix, log)
	case err != nil:
		return nil, fmt.Errorf("the service failed: %w%s", err, log)
	}
	text, err = os.ReadFile(output)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the service exited without writing its document; %s%s", fix, log)
	} else if err != nil {
		return nil, err
	}
	return read(text)
}

// run runs cmd and returns the last lines of its output, each after a line break.
func run(cmd *exec.Cmd) (log string, err error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &out, killDelay
	separate(cmd)
	err = cmd.Run()
	const maxLines = 20
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if log = strings.Join(lines[max(0, len(lines)-maxLines):], "\n"); log != "" {
		log = "\n" + log
	}
	return log, err
}

// methods are the keys of the operations of a path.
var methods = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace"}

// read parses and indents a document.
func read(text []byte) (*Document, error) {
	var content struct {
		OpenAPI string                                `json:"openapi"`
		Paths   map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(text, &content); err != nil {
		return nil, fmt.Errorf("the service wrote an invalid document: %w", err)
	}
	if content.OpenAPI == "" {
		return nil, errors.New(`the service wrote an invalid document: "openapi" is missing`)
	}
	d := &Document{}
	for _, operations := range content.Paths {
		for _, method := range methods {
			if operations[method] != nil {
				d.Operations++
			}
		}
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, bytes.TrimSpace(text), "", "  "); err != nil {
		return nil, err
	}
	d.Text = append(indented.Bytes(), '\n')
	return d, nil
}
