// Command xreg is the example of the page xreg: a service with a node.
package main

import (
	"context"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
	"github.com/plinthgo/plinth/core/major/xresult"
)

// searchKey is the context key of the node's value.
const searchKey xctx.ContextKey = "search"

// Search is a fake client of a search server.
type Search struct{ words []string }

// Has reports whether the index contains word.
func (s *Search) Has(word string) bool { return slices.Contains(s.words, word) }

func startSearch(context.Context) (any, error) {
	return &Search{words: []string{"plinth"}}, nil
}

func main() {
	reg := xreg.Register(context.Background(), []xregnode.Node{
		{Key: searchKey, Node: startSearch},
	}, xoption.WithRoute(routes), xoption.WithHealth())
	xmain.Runner(reg, nil, nil)
}

func routes(ctx context.Context, engine *gin.Engine) {
	search := xctxutil.MustGet[*Search](ctx, searchKey)
	engine.GET("/search/:word", handler(search))
}

func handler(search *Search) gin.HandlerFunc {
	return func(c *gin.Context) {
		xresult.SuccessHasData(c, "searched", search.Has(c.Param("word")))
	}
}
