package client

import (
	"context"
	"fmt"
	"io"

	"google.golang.org/grpc/metadata"

	"github.com/plinthgo/plinth/grpcx/constant"
	"github.com/plinthgo/plinth/grpcx/internal/meta"
)

// application shows to a server which application calls. It implements
// credentials.PerRPCCredentials.
type application struct {
	pairs     map[string]string // never changed
	plaintext bool
}

func newApplication(id *identity, plaintext bool) *application {
	return &application{plaintext: plaintext, pairs: map[string]string{
		constant.MetadataAppAccessID.String():  id.accessID,
		constant.MetadataAppSecretKey.String(): id.secret.Reveal(),
	}}
}

// GetRequestMetadata returns what goes along with a call: nothing where the caller shows
// another application.
func (a *application) GetRequestMetadata(
	ctx context.Context, _ ...string,
) (map[string]string, error) {
	if own, ok := metadata.FromOutgoingContext(ctx); ok &&
		(meta.Has(own, keyAccessID) || meta.Has(own, keySecret)) {
		return nil, nil
	}
	return a.pairs, nil
}

// RequireTransportSecurity lets grpc refuse a connection on which others can read.
func (a *application) RequireTransportSecurity() bool { return !a.plaintext }

// Format shows nothing of the application, whatever the verb.
func (a *application) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "application credentials")
}
