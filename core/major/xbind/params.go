package xbind

import (
	"context"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/binding"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/internal/jsonplan"
)

// source returns the values of one part of a request, for a type that they will fill.
type source func(c *gin.Context, t reflect.Type) (map[string][]string, *xerror.Error)

func queryValues(c *gin.Context, _ reflect.Type) (map[string][]string, *xerror.Error) {
	values, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil { // its text quotes the query
		return nil, xerror.New(xerror.ParameterError, say(c.Request.Context(), textQuery, ""))
	}
	return values, nil
}

func pathValues(c *gin.Context, _ reflect.Type) (map[string][]string, *xerror.Error) {
	values := make(map[string][]string, len(c.Params))
	for _, p := range c.Params {
		values[p.Key] = []string{p.Value}
	}
	return values, nil
}

// headerValues puts the headers under the names of the tags, since only the part of gin that also
// validates maps canonical names.
func headerValues(c *gin.Context, t reflect.Type) (map[string][]string, *xerror.Error) {
	if t.Kind() == reflect.Map {
		return c.Request.Header, nil
	}
	values := map[string][]string{}
	for _, p := range parametersOf(t, tags[xvalid.Header]) {
		if v, ok := c.Request.Header[http.CanonicalHeaderKey(p.name)]; ok {
			values[p.name] = v
		}
	}
	return values, nil
}

// parameters fills with gin's mapping, which does not validate when called this way, then validates.
func parameters[T any](c *gin.Context, from xvalid.Source, dst *T, values source) *T {
	dst = orNew(dst)
	given, err := values(c, reflect.TypeFor[T]())
	if err == nil {
		err = fillParameters(c.Request.Context(), from, tags[from], dst, given)
	}
	if err != nil {
		report(c, err)
		return nil
	}
	if !valid(c, from, tags[from], dst) {
		return nil
	}
	return dst
}

// fillParameters fills dst from text with gin's mapping. Text fills no file: those that dst has remain.
func fillParameters[T any](ctx context.Context, from xvalid.Source, tag string, dst *T, values map[string][]string) *xerror.Error {
	files := filesOf(reflect.TypeFor[T](), tag)
	if files.err != nil {
		return xerror.Wrap(xerror.DeveloperError, "", files.err)
	}
	for _, name := range files.closed {
		if _, given := values[name]; given {
			return fieldError(ctx, from.Code(), name, "unknown", textUnknown)
		}
	}
	v := reflect.ValueOf(dst).Elem()
	if v.Kind() == reflect.Map && v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	taken := files.take(v)
	err := binding.MapFormWithTag(dst, values, tag)
	files.restore(v, taken)
	if err == nil {
		return nil
	}
	if list := refusedParameters[T](ctx, tag, values); len(list) > 0 {
		return xvalid.TypeError(ctx, from, list...)
	}
	return xvalid.BindError(ctx, from, err)
}

// refusedParameters finds the parameters that their fields do not take, by offering them one by one:
// gin's error names no field.
func refusedParameters[T any](ctx context.Context, tag string, values map[string][]string) []xvalid.FieldError {
	var list []xvalid.FieldError
	for _, p := range parametersOf(reflect.TypeFor[T](), tag) {
		v, ok := values[p.name]
		if !ok || binding.MapFormWithTag(new(T), map[string][]string{p.name: v}, tag) == nil {
			continue
		}
		if list = append(list, p.failure(ctx)); len(list) == xvalid.MaxFailures {
			break
		}
	}
	return list
}

// parameter is a field that a request parameter can fill.
type parameter struct {
	name   string
	typ    reflect.Type // of one value
	format string       // of a time
}

// failure says that the value cannot become the type of the field.
func (p parameter) failure(ctx context.Context) xvalid.FieldError {
	if p.typ == timeType {
		return xvalid.TimeFailure(ctx, p.name, p.format)
	}
	return xvalid.TypeFailure(ctx, p.name, p.typ)
}

var timeType = reflect.TypeFor[time.Time]()

// parameterKey finds the parameters of a type by a tag.
type parameterKey struct {
	typ reflect.Type
	tag string
}

var knownParameters jsonplan.Cache[parameterKey, []parameter]

// parametersOf returns the parameters that gin maps onto a type by a tag.
func parametersOf(t reflect.Type, tag string) []parameter {
	key := parameterKey{t, tag}
	if list, ok := knownParameters.Load(key); ok {
		return list
	}
	list := appendParameters(nil, t, tag, map[reflect.Type]bool{})
	knownParameters.Store(key, list)
	return list
}

func appendParameters(list []parameter, t reflect.Type, tag string, above map[reflect.Type]bool) []parameter {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || above[t] {
		return list
	}
	above[t] = true
	defer delete(above, t)
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get(tag), ",")
		if name == "-" || !f.IsExported() && !f.Anonymous || oneOf(f.Type) == headerType {
			continue
		}
		if name == "" {
			name = f.Name
		}
		if !f.Anonymous || indirect(f.Type).Kind() != reflect.Struct {
			list = append(list, parameter{name: name, typ: oneOf(f.Type), format: f.Tag.Get("time_format")})
		}
		list = appendParameters(list, f.Type, tag, above)
	}
	return list
}

func indirect(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// oneOf returns the type of one of the values that fill t.
func oneOf(t reflect.Type) reflect.Type {
	t = indirect(t)
	if k := t.Kind(); k == reflect.Slice || k == reflect.Array {
		return oneOf(t.Elem())
	}
	return t
}
