package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xutil"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/examples/grpc/notes/notesv1"
	"github.com/plinthgo/plinth/grpcx/client"
	"github.com/plinthgo/plinth/grpcx/runner"
)

func TestNotes(t *testing.T) {
	app := plinthtest.New(t, options()...)
	listener := bufconn.Listen(1 << 20)
	app.Go(runner.New(runner.WithRegisterService(services), runner.WithListener(listener)))
	const secret = "cs_test"
	shop := App{Digest: xutil.Encryption().SHA256(secret)}
	if err := xdb.MustGetDB(app.Context()).Create(&shop).Error; err != nil {
		t.Fatal(err)
	}
	dial := func(id, key string) notesv1.NoteServiceClient {
		conn, err := client.Dial("passthrough:///memory", client.WithApplication(id, key),
			client.WithPlaintext(), client.WithPlaintextSecrets(),
			client.WithDialOptions(
				grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
					return listener.DialContext(ctx)
				})))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return notesv1.NewNoteServiceClient(conn)
	}
	notes := dial(shop.ID.String(), secret)

	added, err := notes.Add(t.Context(), &notesv1.AddRequest{Text: "buy milk"})
	if err != nil {
		t.Fatal(err)
	}
	var note Note
	app.Request(http.MethodGet, fmt.Sprintf("/notes/%d", added.GetId()), nil).Into(&note)
	found, err := notes.Get(t.Context(), &notesv1.GetRequest{Id: int64(note.ID)})
	if err != nil || note.Text != "buy milk" || found.GetText() != note.Text {
		t.Errorf("note = %+v, Get = %v, %v", note, found, err)
	}

	_, err = notes.Get(t.Context(), &notesv1.GetRequest{Id: 1})
	r := app.Request(http.MethodGet, "/notes/1", nil)
	if !isCode(err, xerror.ResourceNotFound) || r.Code() != xerror.ResourceNotFound.GetCode() {
		t.Errorf("Get = %v, GET = %s", err, r.Body())
	}
	_, err = notes.Add(t.Context(), &notesv1.AddRequest{})
	list, _ := xerror.From(err).GetData().([]xvalid.FieldError)
	if len(list) != 1 || list[0].Field != "text" {
		t.Errorf("Add with an empty text = %v, want a failure of text", err)
	}
	for _, unauthenticated := range []notesv1.NoteServiceClient{
		dial("1", secret),
		dial(shop.ID.String(), "cs_other"),
	} {
		if _, err := unauthenticated.Get(t.Context(),
			&notesv1.GetRequest{Id: 1}); status.Code(err) != codes.Unauthenticated {
			t.Errorf("Get without credentials = %v", err)
		}
	}
	if _, err := dial("shop", secret).Get(t.Context(), &notesv1.GetRequest{Id: 1}); !isCode(err,
		xerror.ValidationError) {
		t.Errorf("Get with an invalid id = %v", err)
	}
}

func isCode(err error, code *xerror.ErrorCode) bool {
	return xerror.From(err).GetErrorCode() == code
}
