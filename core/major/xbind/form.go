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

// formMemory is the maximum size of files in memory; larger forms use temporary files.
// net/http and gin have the same default.
const formMemory = 32 << 20

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

// parseForm parses the form unless another handler has parsed it. The request middleware
// removes the temporary files of the form.
func parseForm(r *http.Request, s *Strictness) (form multipart.Form, err *xerror.Error) {
	switch {
	case isEncoded(r):
		return form, newError(r.Context(), xerror.UnsupportedMedia, msgEncoding)
	case !isForm(r.Header.Get("Content-Type")):
		return form, newError(r.Context(), xerror.UnsupportedMedia, msgForm)
	case isEmpty(r):
		return form, newError(r.Context(), xerror.BodyEmpty, phrase.NoBody)
	}
	// Without a limit, net/http reads at most 10 MB of a form that is not multipart.
	if err := limitBody(r, cmp.Or(s.MaxBytes, math.MaxInt64)); err != nil {
		return form, err
	}
	parseErr := r.ParseForm() // ParseMultipartForm hides its error
	if parseErr == nil {
		parseErr = r.ParseMultipartForm(formMemory)
	}
	if parseErr != nil && !errors.Is(parseErr, http.ErrNotMultipart) {
		return form, formError(r.Context(), parseErr)
	}
	form.Value = r.PostForm
	if r.MultipartForm != nil {
		form.File = r.MultipartForm.File
	}
	return form, nil
}

func isForm(contentType string) bool {
	media, params, err := mime.ParseMediaType(contentType)
	return err == nil && isUTF8(params) &&
		(media == gin.MIMEPOSTForm || media == gin.MIMEMultipartPOSTForm &&
			params["boundary"] != "")
}

// formError converts a parsing error into a client error. It drops most messages, because
// they quote the form.
func formError(ctx context.Context, err error) *xerror.Error {
	if errors.Is(err, multipart.ErrMessageTooLarge) {
		return newError(ctx, xerror.UploadTooLarge, msgFormParts)
	}
	e := xvalid.BindError(ctx, xvalid.Body, err)
	if code := e.GetErrorCode(); code == xerror.Canceled || code.Status() != http.StatusBadRequest {
		return e
	}
	return newError(ctx, xerror.BodyError, msgFormSyntax)
}

// checkNames reports unknown fields and invalid UTF-8. It sorts the names, so that the
// error is deterministic.
func (p *formPlan) checkNames(
	ctx context.Context, s *Strictness, form multipart.Form,
) *xerror.Error {
	invalid := func(text string) bool { return !utf8.ValidString(text) }
	for _, name := range slices.Sorted(maps.Keys(form.Value)) {
		if invalid(name) || slices.ContainsFunc(form.Value[name], invalid) {
			return fieldError(ctx, xerror.BodyError, phrase.Shown(name), "utf8", msgFieldUTF8)
		}
		known := slices.ContainsFunc(p.fields, func(f formField) bool { return f.name == name })
		if s.DisallowUnknownFields && !known {
			return fieldError(ctx, xerror.BodyError, phrase.Shown(name), "unknown", msgUnknown)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(form.File)) {
		known := slices.ContainsFunc(p.files, func(f fileField) bool { return f.name == name })
		if s.DisallowUnknownFields && !known {
			return fieldError(ctx, xerror.BodyError, phrase.Shown(name), "unknown", msgUnknown)
		}
	}
	return nil
}
