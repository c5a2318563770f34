// Command notes keeps notes over HTTP and gRPC. It is the program of the guide's page about gRPC.
package main

import (
	"context"
	"os"

	"google.golang.org/grpc"

	xEnv "github.com/plinthgo/plinth/core/defined/xenv"
	xMain "github.com/plinthgo/plinth/core/major/xmain"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xOptDatabase "github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
	"github.com/plinthgo/plinth/examples/grpc/notes/notesv1"
	xGrpcMiddle "github.com/plinthgo/plinth/grpcx/middleware"
	xGrpcRunner "github.com/plinthgo/plinth/grpcx/runner"
)

func main() {
	reg := xReg.Register(context.Background(), nil, options()...)
	if len(os.Args) == 2 && os.Args[1] == "app" {
		createApp(reg)
		return
	}
	xMain.Runner(reg, nil, nil, xGrpcRunner.New(xGrpcRunner.WithRegisterService(services)))
}

func options() []xOption.Option {
	return []xOption.Option{
		xOption.WithEnvDefaults(map[xEnv.EnvKey]string{xEnv.DatabaseDriver: "sqlite", xEnv.DatabasePath: "notes.db"}),
		xOption.WithDatabase(xOptDatabase.FromEnv(), xOptDatabase.WithAutoMigrate(&Note{}, &App{})),
		xOption.WithRoute(routes),
		xOption.WithHealth(),
	}
}

func services(_ context.Context, registrar grpc.ServiceRegistrar) {
	unary, stream := xGrpcMiddle.Guard(authenticate)
	xGrpcMiddle.UseUnary(notesv1.NoteService_ServiceDesc, unary)
	xGrpcMiddle.UseStream(notesv1.NoteService_ServiceDesc, stream)
	notesv1.RegisterNoteServiceServer(registrar, service{})
}
