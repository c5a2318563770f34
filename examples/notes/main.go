// Command notes keeps notes: DATABASE_DRIVER=sqlite DATABASE_PATH=notes.db notes
package main

import (
	"context"

	"github.com/gin-gonic/gin"

	xBind "github.com/plinthgo/plinth/core/major/xbind"
	xDB "github.com/plinthgo/plinth/core/major/xdb"
	xMain "github.com/plinthgo/plinth/core/major/xmain"
	xModels "github.com/plinthgo/plinth/core/major/xmodels"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xOptDatabase "github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	xResult "github.com/plinthgo/plinth/core/major/xresult"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
)

// Note is what somebody wants to remember.
type Note struct {
	xModels.BaseEntity        // id, created_at, updated_at
	Text               string `binding:"required,max=1000" json:"text"`
}

func main() {
	xMain.Runner(xReg.Register(context.Background(), nil, options()...), nil, nil)
}

func options() []xOption.Option {
	return []xOption.Option{
		xOption.WithDatabase(xOptDatabase.FromEnv(), xOptDatabase.WithAutoMigrate(&Note{})),
		xOption.WithRoute(routes),
		xOption.WithHealth(),
	}
}

func routes(_ context.Context, engine *gin.Engine) {
	engine.POST("/notes", func(c *gin.Context) {
		note := xBind.Bind(c, &Note{}).Data()
		if note == nil {
			return // the error has been reported
		}
		if err := xDB.MustGetDB(c).Create(note).Error; err != nil {
			_ = c.Error(err) // becomes a code; nothing of its text leaves the process
			return
		}
		xResult.SuccessHasData(c, "noted", note)
	})
}
