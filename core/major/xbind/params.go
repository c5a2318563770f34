package xbind

import (
	"context"
	"net/http"
	"net/url"
	"reflect"

	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/binding"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/internal/phrase"
)

// source returns the values of one part of a request, for a type that they will fill.
type source func(c *gin.Context, p *formPlan) (map[string][]string, *xerror.Error)

func queryValues(c *gin.Context, _ *formPlan) (map[string][]string, *xerror.Error) {
	values, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil { // its text quotes the query
		return nil, refuse(c.Request.Context(), xerror.ParameterError, textQuery)
	}
	return values, nil
}

func pathValues(c *gin.Context, _ *formPlan) (map[string][]string, *xerror.Error) {
	values := make(map[string][]string, len(c.Params))
	for _, p := range c.Params {
		values[p.Key] = []string{p.Value}
	}
	return values, nil
}

// headerValues puts the headers under the names of the tags, since only the part of gin that also
// validates maps canonical names.
func headerValues(c *gin.Context, p *formPlan) (map[string][]string, *xerror.Error) {
	if p.open {
		return c.Request.Header, nil
	}
	values := map[string][]string{}
	for _, f := range p.fields {
		if v, ok := c.Request.Header[http.CanonicalHeaderKey(f.name)]; ok {
			values[f.name] = v
		}
	}
	return values, nil
}

// parameters fills with gin's mapping, which does not validate when called this way, then validates.
func parameters[T any](c *gin.Context, from xvalid.Source, dst *T, values source) *T {
	dst = orNew(dst)
	plan := formPlanOf(reflect.TypeFor[T](), tags[from])
	given, err := values(c, plan)
	if err == nil {
		err = fillText(c.Request.Context(), from, plan, dst, given)
	}
	if err != nil {
		report(c, err)
		return nil
	}
	if !valid(c, from, plan.tag, dst) {
		return nil
	}
	return dst
}

// fillText fills dst from text with gin's mapping, and removes its files.
func fillText[T any](ctx context.Context, from xvalid.Source, p *formPlan, dst *T, values map[string][]string) *xerror.Error {
	if p.err != nil {
		return xerror.Wrap(xerror.DeveloperError, "", p.err)
	}
	for _, name := range p.closed {
		if _, given := values[name]; given {
			return fieldError(ctx, from.Code(), phrase.Shown(name), "unknown", textUnknown)
		}
	}
	v := reflect.ValueOf(dst).Elem()
	if v.Kind() == reflect.Map && v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	p.setFiles(v, nil) // or gin would change what the pointers of dst lead to
	err := binding.MapFormWithTag(dst, values, p.tag)
	p.setFiles(v, nil)
	if err == nil {
		return nil
	}
	if list := refusedFields[T](ctx, p, values); len(list) > 0 {
		return xvalid.TypeError(from, list...)
	}
	return xvalid.BindError(ctx, from, err)
}

// refusedFields finds the fields that do not take their values, by offering them one by one: gin's error
// names no field.
func refusedFields[T any](ctx context.Context, p *formPlan, values map[string][]string) []xvalid.FieldError {
	var list []xvalid.FieldError
	for _, f := range p.fields {
		v, ok := values[f.name]
		if ok && binding.MapFormWithTag(new(T), map[string][]string{f.name: v}, p.tag) != nil {
			list = append(list, xvalid.TypeFailure(ctx, f.name, f.typ, f.format))
		}
	}
	return list[:min(len(list), xvalid.MaxFailures)]
}
