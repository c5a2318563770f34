package openapix_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/openapix"
)

type article struct {
	Name  string `json:"name"`
	Price int    `json:"price" doc:"Price in cents." example:"1999"`
}

type articleID struct {
	ID int `uri:"id" binding:"min=1" doc:"Number of the article."`
}

func getArticle(context.Context, *articleID) (*article, error) {
	return &article{Name: "lamp", Price: 1999}, nil
}

func ExampleServe() {
	shop := func(_ context.Context, engine *gin.Engine) {
		xapi.Get(engine, "/articles/:id", getArticle, xapi.Errors(xerror.NotExist),
			xapi.Security("token"))
	}
	opts := []xoption.Option{ // of xreg.Register
		xoption.WithRoute(shop),
		openapix.Serve(openapix.WithSecurityScheme("token", openapix.Bearer("JWT"))),
	}
	fmt.Println(len(opts), "options")
	// Output: 2 options
}

func ExampleDocument() {
	engine := gin.New()
	xapi.Get(engine, "/articles/:id", getArticle)

	text, err := openapix.Document(engine, openapix.WithTitle("Shop"), openapix.WithVersion("1.0.0"))
	if err != nil {
		fmt.Println(err)
		return
	}
	var document struct {
		Paths map[string]map[string]struct {
			ID string `json:"operationId"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(document.Paths["/articles/{id}"]["get"].ID)
	// Output: getArticle
}
