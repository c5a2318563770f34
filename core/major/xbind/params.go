package xbind

import (
	"context"
	"mime/multipart"
	"net/http"
	"net/url"
	"reflect"

	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/binding"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/internal/phrase"
)

// source returns the values and files of one part of a request. The plan describes the
// destination type.
type source func(c *gin.Context, p *formPlan, opts []Option) (multipart.Form, *xerror.Error)

func queryValues(c *gin.Context, _ *formPlan, _ []Option) (form multipart.Form, err *xerror.Error) {
	values, parseErr := url.ParseQuery(c.Request.URL.RawQuery)
	if parseErr != nil { // it quotes the query, so the response does not contain it
		return form, newError(c.Request.Context(), xerror.ParameterError, msgQuery)
	}
	form.Value = values
	return form, nil
}

func pathValues(c *gin.Context, _ *formPlan, _ []Option) (multipart.Form, *xerror.Error) {
	values := make(map[string][]string, len(c.Params))
	for _, p := range c.Params {
		values[p.Key] = []string{p.Value}
	}
	return multipart.Form{Value: values}, nil
}

// headerValues returns the headers under the names in the tags, because MapFormWithTag
// does not convert names to their canonical form. The header binding of gin does, but it
// also validates.
func headerValues(c *gin.Context, p *formPlan, _ []Option) (multipart.Form, *xerror.Error) {
	if p.isMap {
		return multipart.Form{Value: c.Request.Header}, nil
	}
	values := map[string][]string{}
	for _, f := range p.fields {
		if v, ok := c.Request.Header[http.CanonicalHeaderKey(f.name)]; ok {
			values[f.name] = v
		}
	}
	return multipart.Form{Value: values}, nil
}

var tags = map[xvalid.Source]string{
	xvalid.Body: "form", xvalid.Query: "form", xvalid.Path: "uri",
	xvalid.Header: "header",
}

// bind fills the destination from one part of the request and validates it.
func (b *Binder[T]) bind(from xvalid.Source, values source) *T {
	dst := orNew(b.dst)
	plan := formPlanOf(reflect.TypeFor[T](), tags[from])
	if plan.err != nil {
		report(b.c, xerror.Wrap(xerror.DeveloperError, "", plan.err))
		return nil
	}
	form, err := values(b.c, plan, b.opts)
	if err == nil {
		err = fill(b.c.Request.Context(), from, plan, dst, form)
	}
	if (err == nil || report(b.c, err)) && valid(b.c, from, plan.tag, dst) {
		return dst
	}
	return nil
}

// fill maps the text values onto dst with gin, and then sets the files. MapFormWithTag
// does not validate.
func fill[T any](
	ctx context.Context, from xvalid.Source, p *formPlan, dst *T, form multipart.Form,
) *xerror.Error {
	for _, name := range p.fileStructs {
		if _, ok := form.Value[name]; ok {
			return fieldError(ctx, from.Code(), phrase.Shown(name), "unknown", msgUnknown)
		}
	}
	v := reflect.ValueOf(dst).Elem()
	if v.Kind() == reflect.Map && v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	p.setFiles(v, nil) // so that gin does not change the targets of dst's pointers
	if err := binding.MapFormWithTag(dst, form.Value, p.tag); err != nil {
		p.setFiles(v, nil)
		if list := invalidFields[T](ctx, p, form.Value); len(list) > 0 {
			return xvalid.TypeError(from, list...)
		}
		return xvalid.BindError(ctx, from, err)
	}
	p.setFiles(v, form.File)
	return nil
}

// invalidFields maps each field separately and returns those that fail, because gin's
// error does not name the field.
func invalidFields[T any](
	ctx context.Context, p *formPlan, values map[string][]string,
) []xvalid.FieldError {
	var list []xvalid.FieldError
	for _, f := range p.fields {
		v, ok := values[f.name]
		if ok && binding.MapFormWithTag(new(T), map[string][]string{f.name: v}, p.tag) != nil {
			list = append(list, xvalid.TypeFailure(ctx, f.name, f.typ, f.format))
		}
	}
	return list[:min(len(list), xvalid.MaxFailures)]
}
