package xapi

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/major/internal/probe"
	"github.com/plinthgo/plinth/core/major/xbind"
)

// check returns the contradictions between the route and the types of its handler. Each
// error names the route and the position of the handler.
func (op *Operation) check() error {
	op.checkPath()
	if op.Layout.Body != xbind.BodyNone && (op.Method == http.MethodGet ||
		op.Method == http.MethodHead) {
		op.fail("the input %s has a body, which a %s request cannot have: "+
			"add the tag form for a query parameter", op.In, op.Method)
	}
	op.err = errors.Join(op.err, xvalid.Check(op.In))
	var errs []error
	for _, problem := range probe.Split(op.err) {
		errs = append(errs,
			fmt.Errorf("xapi: %s %s (%s): %w", op.Method, op.Path, op.Position, problem))
	}
	return errors.Join(errs...)
}

// checkPath compares the uri tags with the parameters of the path.
func (op *Operation) checkPath() {
	names := PathParams(op.Path)
	for _, p := range op.Layout.Params {
		if p.From == xvalid.Path && !slices.Contains(names, p.Name) {
			op.fail("field %s of %s has the tag uri:%q, but the path has no parameter :%s",
				p.Field.Name, op.In, p.Name, p.Name)
		}
	}
}

// PathParams returns the names of the parameters in a path of gin.
func PathParams(path string) []string {
	var names []string
	for segment := range strings.SplitSeq(path, "/") {
		if i := strings.IndexAny(segment, ":*"); i >= 0 {
			names = append(names, segment[i+1:])
		}
	}
	return names
}
