package xbind_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xbind"
)

type registerRequest struct {
	Username string `json:"username" binding:"required,min=3,max=32"`
	Email    string `json:"email"    binding:"required,email"`
}

func ExampleBind() {
	engine := gin.New()
	engine.Use(func(c *gin.Context) { // instead of xmiddle.ResponseMiddleware
		c.Next()
		for _, e := range c.Errors {
			err := xerror.From(e.Err)
			c.String(err.GetErrorCode().Status(), "%s: %s",
				err.GetErrorCode().GetOutput(), err.GetErrorMessage())
		}
	})
	engine.POST("/user/register", func(c *gin.Context) {
		request := xbind.Bind(c, &registerRequest{}).Data()
		if request == nil {
			return // the error has been reported
		}
		c.String(http.StatusOK, "welcome, %s", request.Username)
	})

	for _, body := range []string{
		`{"username":"ada","email":"ada@example.com"}`,
		`{"username":"ad","email":"ada@example.com"}`,
		`{"username":5}`,
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/user/register",
			strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		engine.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Body)
	}
	// Output:
	// 200 welcome, ada
	// 400 BODY_ERROR: username must be at least 3 characters in length
	// 400 BODY_TYPE: username must be a string
}

func ExampleUse() {
	engine := gin.New()
	// Bodies of this group must not contain unknown fields.
	strict := engine.Group("/v2", xbind.Use(xbind.Strictness{DisallowUnknownFields: true}))
	strict.POST("/user", func(c *gin.Context) {
		if xbind.Bind(c, &registerRequest{}).Data() == nil {
			c.String(http.StatusBadRequest, "%s",
				xerror.From(c.Errors.Last().Err).GetErrorMessage())
		}
	})
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/v2/user",
		strings.NewReader(`{"username":"ada","admin":true}`))
	r.Header.Set("Content-Type", "application/json")
	engine.ServeHTTP(w, r)
	fmt.Println(w.Body)
	// Output: admin is not a known field
}

func ExampleDisallowUnknownFields() {
	engine := gin.New()
	engine.POST("/user", func(c *gin.Context) {
		request := xbind.Bind(c, &registerRequest{}, xbind.DisallowUnknownFields(),
			xbind.WithMaxBytes(16<<10)).Data()
		if request == nil {
			c.String(http.StatusBadRequest, "%s",
				xerror.From(c.Errors.Last().Err).GetErrorMessage())
		}
	})
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/user",
		strings.NewReader(`{"role":"admin"}`))
	r.Header.Set("Content-Type", "application/json")
	engine.ServeHTTP(w, r)
	fmt.Println(w.Body)
	// Output: role is not a known field
}

type renameRequest struct {
	ID     int64  `binding:"min=1"            uri:"id"`
	DryRun bool   `form:"dry_run"`
	Editor string `binding:"required"         header:"X-Editor"`
	Name   string `binding:"required,max=100" json:"name"`
}

func ExampleBinder_Request() {
	engine := gin.New()
	engine.PUT("/files/:id", func(c *gin.Context) {
		request := xbind.Bind(c, &renameRequest{}).Request()
		if request == nil {
			return // the error has been reported
		}
		c.String(http.StatusOK, "%s renames %d to %s", request.Editor, request.ID, request.Name)
	})

	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPut,
		"/files/5?dry_run=true", strings.NewReader(`{"name":"summit.jpg"}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Editor", "ada")
	engine.ServeHTTP(w, r)
	fmt.Println(w.Code, w.Body)
	// Output: 200 ada renames 5 to summit.jpg
}

type uploadRequest struct {
	Title  string                  `form:"title"  binding:"required,max=100"`
	Cover  *multipart.FileHeader   `form:"cover"  binding:"required"`
	Photos []*multipart.FileHeader `form:"photos" binding:"max=10"`
}

func ExampleBinder_Form() {
	engine := gin.New()
	engine.POST("/album", func(c *gin.Context) {
		request := xbind.Bind(c, &uploadRequest{}, xbind.WithMaxFileBytes(1<<20)).Form()
		if request == nil {
			return // the error has been reported
		}
		c.String(http.StatusOK, "%s: %s, %d bytes",
			request.Title, request.Cover.Filename, request.Cover.Size)
	})

	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	_ = form.WriteField("title", "Alps")
	file, _ := form.CreateFormFile("cover", "../summit.jpg")
	_, _ = io.WriteString(file, "image")
	_ = form.Close()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/album", &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	engine.ServeHTTP(w, r)
	fmt.Println(w.Code, w.Body)
	// Output: 200 Alps: summit.jpg, 5 bytes
}
