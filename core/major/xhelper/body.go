package xhelper

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xhttp"
)

// body is the body of a request. It marks the errors of reading it, so that they get a
// code of the client's wherever they are reported: a truncated body, a slow client, a
// closed connection. It takes from a budget what is read, until release.
type body struct {
	io.ReadCloser
	client context.Context // the server's, which ends when the client is gone
	form   *form           // of multipart/form-data, else nil

	mu     sync.Mutex
	budget *bodyBudget // nil: it does not count, or no longer
	taken  int64
	err    error // of a budget that was used up
}

// wrapBody makes ex.body the request's body.
func (ex *exchange) wrapBody() {
	r := &ex.http
	if r.Body == nil || r.Body == http.NoBody {
		return
	}
	ex.body = &body{ReadCloser: r.Body, client: ex.origin.Context, form: newForm(r.Header)}
	r.Body = ex.body
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.form != nil && !b.form.ends(p[:n]) && err == io.EOF { // readers return the value itself
		err = io.ErrUnexpectedEOF
	}
	if n > 0 {
		if over := b.take(int64(n)); over != nil {
			return 0, over
		}
	}
	switch {
	case err == nil, errors.Is(err, http.ErrBodyReadAfterClose):
		return n, err
	case err != io.EOF && errors.Is(b.client.Err(), context.Canceled):
		err = errors.Join(context.Canceled, err) // HTTP/2 has an untyped error for it
	}
	return n, xerror.MarkBody(err)
}

// form finds the end of multipart/form-data. mime/multipart returns the same error for a
// body that ends too early as any other reader.
type form struct {
	delimiter []byte // the last one
	tail      []byte // the last bytes of what was read before, shorter than the delimiter
	ended     bool
}

// newForm returns nil for any other content type.
func newForm(h http.Header) *form {
	const multipart = "multipart/form-data"
	contentType := xhttp.ContentType.Get(h)
	if len(contentType) < len(multipart) ||
		!strings.EqualFold(contentType[:len(multipart)], multipart) {
		return nil
	}
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil || media != multipart || params["boundary"] == "" {
		return nil
	}
	return &form{delimiter: []byte("--" + params["boundary"] + "--")}
}

// ends reports whether the last delimiter is in p or was before it.
func (f *form) ends(p []byte) bool {
	if f.ended {
		return true
	}
	text := append(f.tail, p...)
	f.ended = bytes.Contains(text, f.delimiter)
	f.tail = append(text[:0], text[max(0, len(text)-len(f.delimiter)+1):]...)
	return f.ended
}
