package mcptools

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xbind"
)

// tools returns the tools of the selected operations. The error joins all problems.
func (c *config) tools(engine *gin.Engine, d *document) ([]*tool, error) {
	operations, err := xapi.Operations(engine)
	if err != nil {
		return nil, err
	}
	var list []*tool
	var errs []error
	ids, tags := map[string]bool{}, map[string]bool{}
	for _, op := range operations {
		if op == nil || d.operations[op.ID] == nil || op.Hidden {
			continue
		}
		ids[op.ID] = true
		for _, tag := range op.Tags {
			tags[tag] = true
		}
		byID := slices.Contains(c.operations, op.ID)
		if !byID && !c.selects(op) {
			continue
		}
		if reason := unsupported(op); reason != "" {
			if byID {
				errs = append(errs, fmt.Errorf("mcptools: WithOperations: %s (%s) "+
					"cannot be a tool: %s", op.ID, op.Position, reason))
			}
			continue
		}
		t, err := c.newTool(op, d)
		list, errs = append(list, t), append(errs, err)
	}
	errs = append(errs, unknown("WithOperations: no operation has the ID", c.operations, ids),
		unknown("WithTags: no operation has the tag", c.tags, tags))
	return list, errors.Join(errs...)
}

// selects reports whether a tag or WithReads selects an operation.
func (c *config) selects(op *xapi.Operation) bool {
	return c.reads && op.Method == http.MethodGet || slices.ContainsFunc(op.Tags,
		func(tag string) bool { return slices.Contains(c.tags, tag) })
}

// unknown returns an error for each name that is not in known.
func unknown(problem string, names []string, known map[string]bool) error {
	var errs []error
	for _, name := range names {
		if !known[name] {
			errs = append(errs, fmt.Errorf("mcptools: %s %q (known: %s)", problem, name,
				strings.Join(slices.Sorted(maps.Keys(known)), ", ")))
		}
	}
	return errors.Join(errs...)
}

// unsupported returns why an operation cannot be a tool, or "".
func unsupported(op *xapi.Operation) string {
	switch op.Response {
	case xapi.ResponseStream:
		return "its response is a stream"
	case xapi.ResponseDownload:
		return "its response is a file"
	default:
	}
	switch op.Layout.Body {
	case xbind.BodyFiles, xbind.BodyUpload:
		return "its input contains files"
	case xbind.BodyRaw:
		return "its input is not JSON"
	default:
		return ""
	}
}
