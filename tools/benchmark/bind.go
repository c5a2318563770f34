package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/binding"
	"github.com/go-playground/locales/en"
	ut "github.com/go-playground/universal-translator"
	"github.com/go-playground/validator/v10"
	translations "github.com/go-playground/validator/v10/translations/en"

	"github.com/plinthgo/plinth/core/major/xbind"
	"github.com/plinthgo/plinth/core/major/xresult"
)

// registration has three fields with the rules of the sample service.
type registration struct {
	Username string `json:"username" binding:"required,min=3,max=32"`
	Email    string `json:"email"    binding:"required,email"`
	Password string `json:"password" binding:"required,min=6"`
}

const (
	validBody   = `{"username":"ada_lovelace","email":"ada@example.com","password":"correct horse"}`
	invalidBody = `{"username":"ad","email":"ada.example.com","password":"horse"}`
)

// bindings compares requests with binding, validation and a response.
func bindings() []comparison {
	ours := plinthEngine(func(e *gin.Engine) {
		e.POST("/register", func(c *gin.Context) {
			if xbind.Bind(c, &registration{}).Data() != nil {
				xresult.Success(c, "registered")
			}
		})
	})
	peer := handWritten(func(e *gin.Engine) { e.POST("/register", handBind) })
	return []comparison{
		{
			name: "three fields, valid", peer: "gin by hand", target: 0.65, allocs: 20,
			ours: benchPost(ours, validBody), theirs: benchPost(peer, validBody),
		},
		{
			name: "three fields, three failures", peer: "gin by hand", target: 0.70, allocs: 52,
			ours: benchPost(ours, invalidBody), theirs: benchPost(peer, invalidBody),
		},
	}
}

// body is a request body that can be rewound.
type body struct{ bytes.Reader }

// Close implements io.Closer.
func (*body) Close() error { return nil }

// benchPost measures a POST request with text as its body.
func benchPost(h http.Handler, text string) func(*testing.B) {
	w, data, content := newSink(), []byte(text), &body{}
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/register",
		http.NoBody)
	r.Header.Set("Content-Type", "application/json")
	r.ContentLength = int64(len(data))
	return repeat(func() {
		content.Reset(data)
		r.Body = content
		h.ServeHTTP(w, r)
		w.reset()
	})
}

var _ io.ReadCloser = (*body)(nil)

// english returns a translator that gives gin's validator English messages.
var english = sync.OnceValue(func() ut.Translator {
	locale := en.New()
	t, _ := ut.New(locale, locale).GetTranslator("en")
	v, ok := binding.Validator.Engine().(*validator.Validate)
	if !ok {
		panic("gin does not use go-playground/validator")
	}
	if err := translations.RegisterDefaultTranslations(v, t); err != nil {
		panic(err)
	}
	return t
})

// handFailure is the failure of one field in a response.
type handFailure struct {
	Field   string `json:"field"`
	Tag     string `json:"tag"`
	Message string `json:"message"`
}

// handBind binds with gin's decoder and a translated validator.
func handBind(c *gin.Context) {
	t := english()
	var r registration
	err := c.ShouldBindJSON(&r)
	var failed validator.ValidationErrors
	switch {
	case err == nil:
		c.JSON(http.StatusOK, handEnvelope{
			Context: c.GetString("request_id"), Output: "Success",
			Code: http.StatusOK, Message: "registered",
		})
	case errors.As(err, &failed):
		list := make([]handFailure, 0, len(failed))
		for _, f := range failed {
			list = append(list, handFailure{f.Field(), f.Tag(), f.Translate(t)})
		}
		c.JSON(http.StatusBadRequest, handEnvelope{
			Context: c.GetString("request_id"), Output: "BODY_ERROR", Code: 40014, Data: list,
		})
	default:
		_ = c.Error(err)
	}
}
