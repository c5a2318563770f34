package xbind_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/binding"
	"github.com/go-playground/locales/en"
	ut "github.com/go-playground/universal-translator"
	"github.com/go-playground/validator/v10"
	translations "github.com/go-playground/validator/v10/translations/en"

	xBind "github.com/plinthgo/plinth/core/major/xbind"
)

// benchRequest has the three fields that the targets of performance.md speak of.
type benchRequest struct {
	Username string `json:"username" binding:"required,min=3,max=32"`
	Email    string `json:"email"    binding:"required,email"`
	Password string `json:"password" binding:"required,min=6"`
}

const (
	benchValid   = `{"username":"ada_lovelace","email":"ada@example.com","password":"correct horse"}`
	benchInvalid = `{"username":"ad","email":"ada.example.com","password":"horse"}`
)

// benchBody is a request body that can be read again and again.
type benchBody struct{ bytes.Reader }

func (*benchBody) Close() error { return nil }

// benchContext is a gin context for one body, whose rewind makes it ready for the next round.
func benchContext(text string) (c *gin.Context, rewind func()) {
	c, _ = gin.CreateTestContext(httptest.NewRecorder())
	body := &benchBody{}
	c.Request = httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/", nil)
	c.Request.Header.Set("Content-Type", "application/json")
	c.Request.ContentLength = int64(len(text))
	data := []byte(text)
	return c, func() {
		body.Reset(data)
		c.Request.Body = body
		c.Errors = c.Errors[:0]
	}
}

func bindWithXBind(c *gin.Context) bool {
	return xBind.Bind(c, &benchRequest{}).Data() != nil
}

// ginPeer is what a careful author writes by hand with gin: its binding, then the validator's
// translations.
func ginPeer(tb testing.TB) func(c *gin.Context) bool {
	tb.Helper()
	english := en.New()
	trans, _ := ut.New(english, english).GetTranslator("en")
	v := validator.New()
	v.SetTagName("binding")
	if err := translations.RegisterDefaultTranslations(v, trans); err != nil {
		tb.Fatal(err)
	}
	before := binding.Validator
	binding.Validator = peerValidator{v}
	tb.Cleanup(func() { binding.Validator = before })
	type failure struct{ Field, Tag, Message string }
	return func(c *gin.Context) bool {
		var r benchRequest
		err := c.ShouldBindJSON(&r)
		if err == nil {
			return true
		}
		var failed validator.ValidationErrors
		if !errors.As(err, &failed) {
			_ = c.Error(err)
			return false
		}
		list := make([]failure, 0, len(failed))
		for _, fe := range failed {
			list = append(list, failure{fe.Field(), fe.Tag(), fe.Translate(trans)})
		}
		_ = c.Error(err).SetMeta(list)
		c.Abort()
		return false
	}
}

type peerValidator struct{ v *validator.Validate }

func (p peerValidator) ValidateStruct(value any) error { return p.v.Struct(value) }
func (p peerValidator) Engine() any                    { return p.v }

func BenchmarkBind(b *testing.B) {
	gin.SetMode(gin.ReleaseMode)
	peer := ginPeer(b)
	for _, body := range []struct {
		name, text string
		want       bool
	}{
		{name: "valid", text: benchValid, want: true},
		{name: "three_failures", text: benchInvalid, want: false},
	} {
		for _, candidate := range []struct {
			name string
			bind func(*gin.Context) bool
		}{
			{name: "xbind", bind: bindWithXBind},
			{name: "gin", bind: peer},
		} {
			b.Run(body.name+"/"+candidate.name, func(b *testing.B) {
				c, rewind := benchContext(body.text)
				b.ReportAllocs()
				for b.Loop() {
					rewind()
					if candidate.bind(c) != body.want {
						b.Fatal("wrong outcome")
					}
				}
			})
		}
	}
}

var _ io.ReadCloser = (*benchBody)(nil)
