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

// body is the body of a request. It marks read errors, so that a truncated body, a slow
// client or a closed connection is reported as a client error. It counts the bytes read
// against a budget, until release returns them.
type body struct {
	io.ReadCloser
	client context.Context // the server's context, canceled when the client disconnects
	form   *form           // nil unless multipart/form-data

	mu       sync.Mutex
	budget   *bodyBudget // nil if the body is not counted
	reserved int64
	err      error // set when the budget is exhausted
}

func (ex *exchange) wrapBody() {
	r := &ex.http
	if r.Body == nil || r.Body == http.NoBody {
		return
	}
	ex.body = &body{ReadCloser: r.Body, client: ex.deadline.Context, form: newForm(r.Header)}
	r.Body = ex.body
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	// readers return io.EOF unwrapped
	if b.form != nil && !b.form.complete(p[:n]) && err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if n > 0 {
		if overloadErr := b.reserve(int64(n)); overloadErr != nil {
			return 0, overloadErr
		}
	}
	switch {
	case err == nil, errors.Is(err, http.ErrBodyReadAfterClose):
		return n, err
	case err != io.EOF && errors.Is(b.client.Err(), context.Canceled):
		err = errors.Join(context.Canceled, err) // HTTP/2 returns an error without a type
	}
	return n, xerror.MarkBody(err)
}

// form detects the end of multipart/form-data. For a truncated body, mime/multipart
// returns the error of the reader, which does not show the truncation.
type form struct {
	delimiter []byte // the closing delimiter
	tail      []byte // the last bytes of earlier reads, shorter than the delimiter
	done      bool
}

// newForm returns nil if the content type is not multipart/form-data.
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

// complete adds p and reports whether the closing delimiter was read.
func (f *form) complete(p []byte) bool {
	if f.done {
		return true
	}
	text := append(f.tail, p...)
	f.done = bytes.Contains(text, f.delimiter)
	f.tail = append(text[:0], text[max(0, len(text)-len(f.delimiter)+1):]...)
	return f.done
}
