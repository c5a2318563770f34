package snippets_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xoption"
)

// UploadFiles is a form with files.
type UploadFiles struct {
	Upload *xapi.Upload
}

// bucket is the part of an object storage that an upload needs. Most SDKs have such a
// function, for example an uploader of multipart objects.
type bucket interface {
	Put(ctx context.Context, key string, content io.Reader) error
}

// uploadObjects stores the files of a form in a bucket.
func uploadObjects(ctx context.Context, b bucket, in *UploadFiles) error {
	for part, err := range in.Upload.Parts() {
		if err != nil {
			return err
		}
		if part.FileName == "" {
			continue
		}
		if err := b.Put(ctx, rand.Text(), part); err != nil {
			return err
		}
	}
	return nil
}

// memoryBucket stores complete objects only.
type memoryBucket map[string]string

func (m memoryBucket) Put(_ context.Context, key string, content io.Reader) error {
	data, err := io.ReadAll(content)
	if err == nil {
		m[key] = string(data)
	}
	return err
}

func TestFileUpload_ObjectStorage(t *testing.T) {
	t.Parallel()
	objects := memoryBucket{}
	app := plinthtest.New(t, xoption.WithEngine(func(e *gin.Engine) {
		xapi.Post(e, "/objects", func(ctx context.Context, in *UploadFiles) (xapi.Empty, error) {
			return xapi.Empty{}, uploadObjects(ctx, objects, in)
		})
	}))
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "a.txt")
	if err == nil {
		_, err = io.WriteString(part, "hello")
	}
	if err := errors.Join(err, form.WriteField("title", "x"), form.Close()); err != nil {
		t.Fatal(err)
	}
	post := func(body string) *plinthtest.Response {
		return app.Request(http.MethodPost, "/objects", body,
			plinthtest.WithHeader("Content-Type", form.FormDataContentType()))
	}
	if r := post(body.String()); r.Status() != http.StatusNoContent {
		t.Errorf("response = %d %s, want 204", r.Status(), r.Body())
	}
	if r := post(body.String()[:body.Len()/2]); r.Status() != http.StatusBadRequest {
		t.Errorf("response to a truncated form = %d %s, want 400", r.Status(), r.Body())
	}
	for key, content := range objects {
		if content != "hello" {
			t.Errorf("object %s = %q, want hello", key, content)
		}
	}
	if len(objects) != 1 {
		t.Errorf("%d objects, want 1", len(objects))
	}
}
