// Command xreg is the program on the page of xReg: a service with a node.
package main

import (
	"context"
	"slices"

	"github.com/gin-gonic/gin"

	xCtxUtil "github.com/plinthgo/plinth/core/common/xctxutil"
	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
	xMain "github.com/plinthgo/plinth/core/major/xmain"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	xRegNode "github.com/plinthgo/plinth/core/major/xreg/xregnode"
	xResult "github.com/plinthgo/plinth/core/major/xresult"
)

// searchKey is where the node's value is found.
const searchKey xCtx.ContextKey = "search"

// Search stands for the client of a search server.
type Search struct{ words []string }

// Has reports whether a word is known.
func (s *Search) Has(word string) bool { return slices.Contains(s.words, word) }

func startSearch(context.Context) (any, error) {
	return &Search{words: []string{"plinth"}}, nil
}

func main() {
	reg := xReg.Register(context.Background(), []xRegNode.RegNodeList{
		{Key: searchKey, Node: startSearch},
	}, xOption.WithRoute(routes), xOption.WithHealth())
	xMain.Runner(reg, nil, nil)
}

func routes(ctx context.Context, engine *gin.Engine) {
	search := xCtxUtil.MustGet[*Search](ctx, searchKey)
	engine.GET("/search/:word", handler(search)) //nolint:contextcheck // a request has its own
}

func handler(search *Search) gin.HandlerFunc {
	return func(c *gin.Context) { xResult.SuccessHasData(c, "searched", search.Has(c.Param("word"))) }
}
