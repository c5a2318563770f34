package main

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xbind"
	"github.com/plinthgo/plinth/core/major/xresult"
)

// registered is the response of the typed handlers.
type registered struct {
	Username string `json:"username"`
	Email    string `json:"email"`
}

// maxTypedAllocs is the number of allocations of a direct handler, plus two.
const maxTypedAllocs = 16

// typedHandlers compares a typed handler with the full stack with a direct handler with
// the full stack, and with peers without request ID, access log and envelope.
func typedHandlers() []comparison {
	typed := benchPost(plinthEngine(typedRoutes), validBody)
	return []comparison{
		{
			name: "three fields, full stack", peer: "direct handler, full stack",
			target: 1.10, allocs: maxTypedAllocs,
			ours: typed, theirs: benchPost(plinthEngine(directRoutes), validBody),
		},
		{
			name: "three fields, full stack", peer: "gin bind and JSON, bare",
			allocs: maxTypedAllocs,
			ours:   typed, theirs: benchPost(bareGin(), validBody),
		},
		{
			name: "three fields, full stack", peer: "huma on gin, bare",
			target: 1, allocs: maxTypedAllocs,
			ours: typed, theirs: benchPost(humaOnGin(), validBody),
		},
	}
}

func typedRoutes(e *gin.Engine) {
	xapi.Post(e, "/register", func(_ context.Context, in *registration) (*registered, error) {
		return &registered{Username: in.Username, Email: in.Email}, nil
	})
}

func directRoutes(e *gin.Engine) {
	e.POST("/register", func(c *gin.Context) {
		in := xbind.Bind(c, &registration{}).Data()
		if in == nil {
			return
		}
		xresult.SuccessHasData(c, "OK", &registered{Username: in.Username, Email: in.Email})
	})
}

func bareGin() http.Handler {
	e := gin.New()
	e.POST("/register", func(c *gin.Context) {
		var in registration
		if err := c.ShouldBindJSON(&in); err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
			return
		}
		c.JSON(http.StatusOK, &registered{Username: in.Username, Email: in.Email})
	})
	return e
}

// humaInput is registration with the tags of huma.
type humaInput struct {
	Body struct {
		Username string `json:"username" maxLength:"32"   minLength:"3"`
		Email    string `format:"email"  json:"email"`
		Password string `json:"password" minLength:"6"`
	}
}

type humaOutput struct{ Body registered }

func humaOnGin() http.Handler {
	e := gin.New()
	api := humagin.New(e, huma.DefaultConfig("users", "1"))
	huma.Post(api, "/register", func(_ context.Context, in *humaInput) (*humaOutput, error) {
		return &humaOutput{Body: registered{Username: in.Body.Username, Email: in.Body.Email}}, nil
	})
	return e
}
