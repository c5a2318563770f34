package xapi

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/major/internal/report"
	"github.com/plinthgo/plinth/core/major/xbind"
)

// check returns the contradictions between the route and the types of its handler. Each
// error names the route and the position of the handler.
func (op *Operation) check() error {
	op.checkPath()
	if op.Method == http.MethodGet || op.Method == http.MethodHead {
		op.checkNoBody()
	}
	op.err = errors.Join(op.err, xvalid.Check(op.In))
	var errs []error
	for _, problem := range report.List(op.err) {
		errs = append(errs,
			fmt.Errorf("xapi: %s %s (%s): %w", op.Method, op.Path, op.Position, problem))
	}
	return errors.Join(errs...)
}

// checkStatus checks the status of a success.
func (op *Operation) checkStatus() {
	switch {
	case op.Status < http.StatusOK || op.Status > 299:
		op.fail("the status %d is not a success (accepted: 200 to 299)", op.Status)
	case op.Response == ResponseEnvelope && (op.Status == http.StatusNoContent ||
		op.Status == http.StatusResetContent):
		op.fail("the status %d has no body: return xapi.Empty", op.Status)
	}
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

func (op *Operation) checkNoBody() {
	switch op.Layout.Body {
	case xbind.BodyNone:
	case xbind.BodyJSON:
		op.fail("the input %s has a JSON body, which a %s request cannot have: "+
			"add the tag form to query parameters, and json:\"-\" to other fields",
			op.In, op.Method)
	default:
		op.fail("the input %s reads the body, which a %s request cannot have: "+
			"use another method", op.In, op.Method)
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
