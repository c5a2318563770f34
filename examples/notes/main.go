// Command notes stores notes: DATABASE_DRIVER=sqlite DATABASE_PATH=notes.db notes
package main

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xmodels"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	"github.com/plinthgo/plinth/core/major/xreg"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
)

// Note is a short text that a user stores.
type Note struct {
	xmodels.BaseEntity        // id, created_at, updated_at
	Text               string `binding:"required,max=1000" json:"text"`
}

func main() {
	xmain.Runner(xreg.Register(context.Background(), nil, options()...), nil, nil)
}

func options() []xoption.Option {
	return []xoption.Option{
		xoption.WithDatabase(xoptdatabase.FromEnv(), xoptdatabase.WithAutoMigrate(&Note{})),
		xoption.WithRoute(routes),
		xoption.WithHealth(),
	}
}

func routes(_ context.Context, engine *gin.Engine) {
	xapi.Post(engine, "/notes", createNote)
}

// createNote stores a note. The client gets a code for an error, never its text.
func createNote(ctx context.Context, note *Note) (*Note, error) {
	return note, xdb.MustGetDB(ctx).Create(note).Error
}
