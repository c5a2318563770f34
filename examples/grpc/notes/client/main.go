// Command client adds a note, gets it, and gets a note that does not exist.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"google.golang.org/grpc/status"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/examples/grpc/notes/notesv1"
	"github.com/plinthgo/plinth/grpcx/client"
)

func main() {
	if err := run(context.Background()); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	conn, err := client.Dial("localhost:1119",
		client.WithApplication(xenv.GetEnvString("APP_ACCESS_ID", ""),
			xenv.GetEnvString("APP_SECRET_KEY", "")),
		client.WithPlaintext(), client.WithPlaintextSecrets(), // without TLS, on this host only
	)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	notes := notesv1.NewNoteServiceClient(conn)

	added, err := notes.Add(ctx, &notesv1.AddRequest{Text: "buy milk"})
	if err != nil {
		return err
	}
	found, err := notes.Get(ctx, &notesv1.GetRequest{Id: added.GetId()})
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(os.Stdout, added.GetId(), found.GetText(), found.GetBaseResponse())

	_, err = notes.Get(ctx, &notesv1.GetRequest{Id: 1})
	var e *xerror.Error
	if errors.Is(err, xerror.ResourceNotFound) && errors.As(err, &e) {
		_, _ = fmt.Fprintln(os.Stdout, e.GetErrorCode().GetCode(), e.GetErrorCode().GetOutput(),
			e.GetErrorMessage(), status.Code(err))
	}
	return nil
}
