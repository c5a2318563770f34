// Command openapi serves articles, their OpenAPI document and its reference page.
package main

import (
	"context"
	_ "embed"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xresult"
	"github.com/plinthgo/plinth/openapix"
)

//go:embed openapi.json
var document []byte

var outOfStock = xerror.MustErrorCode(40971, "OUT_OF_STOCK", "Out of stock", "缺货")

// Article is an article that the shop sells.
type Article struct {
	ID int `json:"id"`
	// Name is unique in the shop.
	Name  string `example:"Lamp" json:"name"`
	Price int    `doc:"Price in cents." example:"1999" json:"price"`
}

// CreateArticle is the input of POST /articles.
type CreateArticle struct {
	DryRun bool     `form:"dry_run"`
	Name   string   `binding:"required,max=80" example:"Lamp" json:"name"`
	Price  int      `binding:"min=1" doc:"Price in cents." example:"1999" json:"price"`
	Kind   string   `binding:"oneof=new used" json:"kind"`
	Email  string   `binding:"omitempty,email" json:"email"`
	Tags   []string `binding:"max=5,unique,dive,min=2" json:"tags"`
}

// GetArticle is the input of GET /articles/{id}.
type GetArticle struct {
	ID int `binding:"min=1" uri:"id"`
}

func main() {
	xmain.Runner(xreg.Register(context.Background(), nil, options()...), nil, nil)
}

func options() []xoption.Option {
	return []xoption.Option{
		xoption.WithRoute(routes),
		openapix.Serve(
			openapix.WithReference("/reference"),
			openapix.WithTitle("Shop"),
			openapix.WithVersion("1.2.0"),
			openapix.WithTag("articles", "Articles that the shop sells."),
			openapix.WithSecurityScheme("staff", openapix.Bearer("JWT")),
			openapix.WithDescriptions(document),
		),
	}
}

func routes(_ context.Context, engine *gin.Engine) {
	articles := xapi.Group(engine, "/articles", xapi.Tag("articles"))
	xapi.Get(articles, "/:id", getArticle, xapi.Errors(xerror.NotExist))

	staff := xapi.Group(articles, "", xapi.Use(requireStaff), xapi.Security("staff"),
		xapi.Errors(xerror.Unauthorized))
	xapi.Post(staff, "", createArticle, xapi.Status(http.StatusCreated), xapi.Errors(outOfStock))

	xapi.Get(engine, "/debug/stock", stock, xapi.Hidden())
	v1 := xapi.Group(engine, "/v1", xapi.Profile(xbase.ProfileJava), xapi.Deprecated())
	xapi.Get(v1, "/articles/:id", getArticle, xapi.ID("getArticleV1"),
		xapi.Errors(xerror.NotExist))
	engine.GET("/latest", xapi.Describe[struct{}, *Article](latest,
		xapi.ID("getLatest"), xapi.Summary("Get the latest article")))
}

// requireStaff rejects requests without credentials.
func requireStaff(c *gin.Context) {
	if c.GetHeader("Authorization") == "" {
		xresult.AbortError(c, xerror.Unauthorized, "", nil)
	}
}

// getArticle returns an article.
func getArticle(_ context.Context, in *GetArticle) (*Article, error) {
	if in.ID > 1 {
		return nil, xerror.New(xerror.NotExist, "")
	}
	return &Article{ID: 1, Name: "Lamp", Price: 1999}, nil
}

// createArticle adds an article. The name of an article cannot be changed later.
func createArticle(_ context.Context, in *CreateArticle) (*Article, error) {
	if in.Name == "gone" {
		return nil, xerror.New(outOfStock, "")
	}
	return &Article{ID: 2, Name: in.Name, Price: in.Price}, nil
}

func stock(context.Context, *struct{}) (int, error) { return 3, nil }

func latest(c *gin.Context) {
	xresult.SuccessHasData(c, "found", &Article{ID: 1, Name: "Lamp", Price: 1999})
}
