// Command notes stores notes over HTTP and gRPC. It is the program of the gRPC page of
// the guide.
package main

import (
	"context"
	"os"

	"google.golang.org/grpc"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	"github.com/plinthgo/plinth/core/major/xreg"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
	"github.com/plinthgo/plinth/examples/grpc/notes/notesv1"
	"github.com/plinthgo/plinth/grpcx/middleware"
	"github.com/plinthgo/plinth/grpcx/runner"
)

func main() {
	reg := xreg.Register(context.Background(), nil, options()...)
	if len(os.Args) == 2 && os.Args[1] == "app" {
		createApp(reg)
		return
	}
	xmain.Runner(reg, nil, nil, runner.New(runner.WithRegisterService(services)))
}

func options() []xoption.Option {
	return []xoption.Option{
		xoption.WithEnvDefaults(map[xenv.EnvKey]string{
			xenv.DatabaseDriver: "sqlite",
			"DATABASE_PATH":     "notes.db",
		}),
		xoption.WithDatabase(xoptdatabase.FromEnv(), xoptdatabase.WithAutoMigrate(&Note{}, &App{})),
		xoption.WithRoute(routes),
		xoption.WithHealth(),
	}
}

func services(_ context.Context, registrar grpc.ServiceRegistrar) {
	unary, stream := middleware.Guard(authenticate)
	middleware.UseUnary(notesv1.NoteService_ServiceDesc, unary)
	middleware.UseStream(notesv1.NoteService_ServiceDesc, stream)
	notesv1.RegisterNoteServiceServer(registrar, service{})
}
