// Command streaming receives and serves files, streams events and JSON lines, and
// connects clients with WebSockets.
//
//	curl -F file=@photo.jpg localhost:1118/files
//	curl -O -J localhost:1118/files/photo.jpg
//	curl -N -H 'Accept: text/event-stream' localhost:1118/events
//	curl localhost:1118/lines
//	curl --data-binary '{"text":"hello"}' localhost:1118/import
//
// FILES_DIR is the directory of the files.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
)

func main() {
	root, err := openFiles(xenv.GetEnvString("FILES_DIR", "files"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "streaming:", err)
		os.Exit(1)
	}
	xmain.Runner(xreg.Register(context.Background(), nil, options(root)...), nil, nil)
}

func openFiles(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}

const (
	maxUpload = 1 << 30
	maxImport = 64 << 20
)

func options(root *os.Root) []xoption.Option {
	return []xoption.Option{
		xoption.WithHealth(),
		xoption.WithRoute(func(_ context.Context, e *gin.Engine) { routes(e, root) }),
		xoption.WithServe(func(c *xhelper.Config) {
			c.RouteMaxBodyBytes = map[string]int64{"/files": maxUpload, "/import": maxImport}
		}),
	}
}

func routes(e *gin.Engine, root *os.Root) {
	feed, room := newHistory(), newRoom()
	store := &files{root: root}
	xapi.Post(e, "/files", store.upload, xapi.Status(201))
	xapi.Get(e, "/files/:name", store.download)
	xapi.Get(e, "/lines", store.list)
	xapi.Get(e, "/events", feed.stream)
	xapi.Post(e, "/import", feed.importLines)
	e.GET("/ws", room.serve)
}
