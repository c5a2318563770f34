package xbind

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/internal/phrase"
)

// formMemory is how much of a form's files stays in memory; the rest are temporary files.
// It is the number of net/http and gin.
const formMemory = 32 << 20

// formValues returns the fields and the files of the form in the body.
func formValues(c *gin.Context, p *formPlan, opts []Option) (multipart.Form, *xerror.Error) {
	s := strictnessOf(c, opts)
	form, err := parseForm(c.Request, &s)
	if err == nil {
		err = p.checkNames(c.Request.Context(), &s, form)
	}
	if err == nil {
		err = p.checkFiles(c.Request.Context(), &s, form.File)
	}
	return form, err
}

// parseForm returns the form, which another middleware may have read already. The request
// middleware removes its temporary files.
func parseForm(r *http.Request, s *Strictness) (form multipart.Form, err *xerror.Error) {
	switch {
	case isEncoded(r):
		return form, refuse(r.Context(), xerror.UnsupportedMedia, textEncoding)
	case !isForm(r.Header.Get("Content-Type")):
		return form, refuse(r.Context(), xerror.UnsupportedMedia, textForm)
	case isEmpty(r):
		return form, refuse(r.Context(), xerror.BodyEmpty, phrase.NoBody)
	}
	// Without a limit, net/http would read at most 10 MB of a form that is not multipart.
	if err := limitBody(r, cmp.Or(s.MaxBytes, math.MaxInt64)); err != nil {
		return form, err
	}
	failed := r.ParseForm() // whose errors ParseMultipartForm hides
	if failed == nil {
		failed = r.ParseMultipartForm(formMemory)
	}
	if failed != nil && !errors.Is(failed, http.ErrNotMultipart) {
		return form, formError(r.Context(), failed)
	}
	form.Value = r.PostForm
	if r.MultipartForm != nil {
		form.File = r.MultipartForm.File
	}
	return form, nil
}

// isForm accepts the media type of a form in UTF-8.
func isForm(contentType string) bool {
	media, params, err := mime.ParseMediaType(contentType)
	return err == nil && isUTF8(params) &&
		(media == gin.MIMEPOSTForm || media == gin.MIMEMultipartPOSTForm &&
			params["boundary"] != "")
}

// formError turns an error of parsing a form into one for the client. Most of them quote
// the form.
func formError(ctx context.Context, err error) *xerror.Error {
	if errors.Is(err, multipart.ErrMessageTooLarge) {
		return refuse(ctx, xerror.UploadTooLarge, textFormParts)
	}
	e := xvalid.BindError(ctx, xvalid.Body, err)
	if code := e.GetErrorCode(); code == xerror.Canceled || code.Status() != http.StatusBadRequest {
		return e
	}
	return refuse(ctx, xerror.BodyError, textFormSyntax)
}

// checkNames finds unknown fields and text that is not UTF-8. It looks at the names in
// their order, so that the same form always gets the same error.
func (p *formPlan) checkNames(
	ctx context.Context, s *Strictness, form multipart.Form,
) *xerror.Error {
	invalid := func(text string) bool { return !utf8.ValidString(text) }
	for _, name := range slices.Sorted(maps.Keys(form.Value)) {
		if invalid(name) || slices.ContainsFunc(form.Value[name], invalid) {
			return fieldError(ctx, xerror.BodyError, phrase.Shown(name), "utf8", textFieldUTF8)
		}
		known := slices.ContainsFunc(p.fields, func(f formField) bool { return f.name == name })
		if s.DisallowUnknownFields && !known {
			return fieldError(ctx, xerror.BodyError, phrase.Shown(name), "unknown", textUnknown)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(form.File)) {
		known := slices.ContainsFunc(p.files, func(f fileField) bool { return f.name == name })
		if s.DisallowUnknownFields && !known {
			return fieldError(ctx, xerror.BodyError, phrase.Shown(name), "unknown", textUnknown)
		}
	}
	return nil
}
