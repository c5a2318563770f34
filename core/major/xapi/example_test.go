package xapi_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xmodels"
	"github.com/plinthgo/plinth/core/major/xresult"
)

// Book is a book of the library.
type Book struct {
	ID    xsnowflake.SnowflakeID `json:"id"`
	Title string                 `json:"title"`
}

// Books are the handlers of the books. Their dependencies are fields.
type Books struct {
	titles map[xsnowflake.SnowflakeID]string // a service has a database here
}

// CreateBook is the input of Create.
type CreateBook struct {
	Title string `binding:"required,max=200" json:"title"`
}

// Create adds a book.
func (b *Books) Create(_ context.Context, in *CreateBook) (*Book, error) {
	id := xsnowflake.SnowflakeID(len(b.titles) + 1)
	b.titles[id] = in.Title
	return &Book{ID: id, Title: in.Title}, nil
}

// GetBook is the input of Get.
type GetBook struct {
	ID xsnowflake.SnowflakeID `binding:"required" uri:"id"`
}

// Get returns a book.
func (b *Books) Get(_ context.Context, in *GetBook) (*Book, error) {
	title, ok := b.titles[in.ID]
	if !ok {
		return nil, xerror.New(xerror.NotExist, "")
	}
	return &Book{ID: in.ID, Title: title}, nil
}

// RenameBook is the input of Rename. It has fields from four parts of a request.
type RenameBook struct {
	ID     xsnowflake.SnowflakeID `binding:"required"         uri:"id"`
	DryRun bool                   `form:"dry_run"`
	Editor string                 `binding:"required"         header:"X-Editor"`
	Title  string                 `binding:"required,max=200" json:"title"`
}

// Renamed is the result of Rename.
type Renamed struct {
	Book

	Location string `header:"Location" json:"-"`
}

// Rename changes the title of a book.
func (b *Books) Rename(ctx context.Context, in *RenameBook) (*Renamed, error) {
	if _, err := b.Get(ctx, &GetBook{ID: in.ID}); err != nil {
		return nil, err
	}
	if !in.DryRun {
		b.titles[in.ID] = in.Title
	}
	return &Renamed{Book: Book{ID: in.ID, Title: in.Title}, Location: "/books/" + in.ID.String()}, nil
}

// ListBooks is the input of List.
type ListBooks struct {
	xmodels.PageRequest

	Words []string `binding:"max=5,dive,max=50" form:"q"`
}

// List returns a page of books.
func (b *Books) List(_ context.Context, in *ListBooks) (*xmodels.PageResponse[Book], error) {
	all := b.search(in.Words)
	page := in.Normalize()
	start := min(page.Offset(), len(all))
	books := all[start:min(start+page.Size, len(all))]
	return xmodels.NewPageFromRequest(page, int64(len(all)), books), nil
}

// search returns the books whose titles contain all words.
func (b *Books) search(words []string) (list []Book) {
	for id, title := range b.titles {
		missing := func(word string) bool { return !strings.Contains(title, word) }
		if !slices.ContainsFunc(words, missing) {
			list = append(list, Book{ID: id, Title: title})
		}
	}
	slices.SortFunc(list, func(a, b Book) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// Delete removes a book.
func (b *Books) Delete(_ context.Context, in *GetBook) (xapi.Empty, error) {
	delete(b.titles, in.ID)
	return xapi.Empty{}, nil
}

// Cover is the input of SetCover, a multipart form with a file.
type Cover struct {
	ID      xsnowflake.SnowflakeID `binding:"required"         uri:"id"`
	Caption string                 `binding:"max=200"          form:"caption"`
	Image   *xapi.File             `binding:"required"         form:"image"`
}

// SetCover stores the cover of a book.
func (b *Books) SetCover(_ context.Context, in *Cover) (string, error) {
	return fmt.Sprintf("%s, %d bytes", in.Image.Filename, in.Image.Size), nil
}

func bookRoutes(engine *gin.Engine) {
	books := &Books{titles: map[xsnowflake.SnowflakeID]string{}}

	v1 := xapi.Group(engine, "/v1", xapi.Tag("books"))
	xapi.Post(v1, "/books", books.Create, xapi.Status(http.StatusCreated))
	xapi.Get(v1, "/books", books.List)
	xapi.Get(v1, "/books/:id", books.Get, xapi.Errors(xerror.NotExist))

	admin := xapi.Group(v1, "", xapi.Use(requireEditor), xapi.Security("editor"))
	xapi.Put(admin, "/books/:id/title", books.Rename, xapi.Errors(xerror.NotExist))
	xapi.Put(admin, "/books/:id/cover", books.SetCover)
	xapi.Delete(admin, "/books/:id", books.Delete)
}

func requireEditor(c *gin.Context) {
	if c.GetHeader("X-Editor") == "" {
		xresult.AbortError(c, xerror.Unauthorized, "", nil)
	}
}

// newLibrary returns an engine as xreg builds it. In a service, xoption.WithRoute
// registers the routes.
func newLibrary(routes func(*gin.Engine)) *gin.Engine {
	log, err := xlog.New(xlog.Config{Writer: io.Discard})
	if err != nil {
		panic(err)
	}
	engine := gin.New()
	engine.ContextWithFallback = true
	engine.Use(xhelper.Serve(xhelper.Config{Base: xlog.NewContext(context.Background(), log)}))
	routes(engine)
	return engine
}

// send returns the status and the envelope of a response, without the request ID.
func send(engine *gin.Engine, method, path, body string) string {
	r := httptest.NewRequestWithContext(context.Background(), method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Editor", "ada")
	w := httptest.NewRecorder()
	engine.ServeHTTP(w, r)
	_, envelope, _ := strings.Cut(w.Body.String(), `,`)
	return fmt.Sprint(w.Code, " ", envelope)
}

func TestBooks_Rename(t *testing.T) {
	books := &Books{titles: map[xsnowflake.SnowflakeID]string{1: "Emma"}}
	renamed, err := books.Rename(t.Context(), &RenameBook{ID: 1, Title: "Persuasion"})
	if err != nil || renamed.Title != "Persuasion" || renamed.Location != "/books/1" {
		t.Errorf("Rename = %+v, %v", renamed, err)
	}
	_, err = books.Rename(t.Context(), &RenameBook{ID: 2})
	if xerror.From(err).GetErrorCode() != xerror.NotExist {
		t.Errorf("error %v, want NotExist", err)
	}
}

func ExampleGet() {
	engine := newLibrary(func(engine *gin.Engine) {
		xapi.Get(engine, "/hello/:name", func(_ context.Context, in *struct {
			Name string `binding:"max=20" uri:"name"`
		},
		) (string, error) {
			return "Hello, " + in.Name, nil
		})
	})
	fmt.Println(send(engine, http.MethodGet, "/hello/Ada", ""))
	// Output:
	// 200 "output":"Success","code":200,"message":"OK","data":"Hello, Ada"}
}

func ExamplePost() {
	engine := newLibrary(bookRoutes)
	fmt.Println(send(engine, http.MethodPost, "/v1/books", `{"title":"Emma"}`))
	fmt.Println(send(engine, http.MethodPost, "/v1/books", `{"title":""}`))
	fmt.Println(send(engine, http.MethodGet, "/v1/books/2", ""))
	fmt.Println(send(engine, http.MethodGet, "/v1/books?q=mm&size=5", ""))
	// Output:
	// 201 "output":"Success","code":200,"message":"Created","data":{"id":"1","title":"Emma"}}
	// 400 "output":"BODY_ERROR","code":40014,"message":"The request body is not valid","error_message":"title is a required field","data":[{"field":"title","tag":"required","message":"title is a required field"}]}
	// 400 "output":"NOT_EXIST","code":40000,"message":"The requested item does not exist"}
	// 200 "output":"Success","code":200,"message":"OK","data":{"current_page":1,"total_pages":1,"total_items":1,"size":5,"items":[{"id":"1","title":"Emma"}]}}
}

func ExampleGroup() {
	engine := newLibrary(bookRoutes)
	fmt.Println(send(engine, http.MethodPost, "/v1/books", `{"title":"Emma"}`))
	fmt.Println(send(engine, http.MethodPut, "/v1/books/1/title?dry_run=true", `{"title":"Persuasion"}`))
	fmt.Println(send(engine, http.MethodDelete, "/v1/books/1", ""))
	// Output:
	// 201 "output":"Success","code":200,"message":"Created","data":{"id":"1","title":"Emma"}}
	// 200 "output":"Success","code":200,"message":"OK","data":{"id":"1","title":"Persuasion"}}
	// 204
}

func ExampleDescribe() {
	engine := newLibrary(func(engine *gin.Engine) {
		engine.GET("/books/:id", xapi.Describe[GetBook, *Book](func(c *gin.Context) {
			xresult.SuccessHasData(c, "found", &Book{ID: 1, Title: "Emma"})
		}, xapi.ID("getBook")))
	})
	operations, err := xapi.Operations(engine)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, op := range operations {
		fmt.Println(op.Method, op.Path, op.ID, op.In, op.Data)
	}
	// Output: GET /books/:id getBook xapi_test.GetBook *xapi_test.Book
}

func ExampleOperations() {
	engine := gin.New()
	xapi.Get(engine, "/books/:book", new(Books).Get)
	_, err := xapi.Operations(engine)
	fmt.Println(err != nil && strings.Contains(err.Error(), `the path has no parameter :id`))
	// Output: true
}
