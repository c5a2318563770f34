package client

import (
	"context"
	"fmt"
	"io"

	"google.golang.org/grpc/metadata"

	"github.com/plinthgo/plinth/grpcx/constant"
	"github.com/plinthgo/plinth/grpcx/internal/meta"
)

// application sends the credentials of the calling application. It implements
// credentials.PerRPCCredentials.
type application struct {
	pairs     map[string]string // immutable
	plaintext bool
}

func newApplication(id *identity, plaintext bool) *application {
	return &application{plaintext: plaintext, pairs: map[string]string{
		constant.MetadataAppAccessID.String():  id.accessID,
		constant.MetadataAppSecretKey.String(): id.secret.Reveal(),
	}}
}

// GetRequestMetadata returns the credentials, or nil if the outgoing metadata already
// contains credentials.
func (a *application) GetRequestMetadata(
	ctx context.Context, _ ...string,
) (map[string]string, error) {
	if md, ok := metadata.FromOutgoingContext(ctx); ok &&
		(meta.Has(md, keyAccessID) || meta.Has(md, keySecret)) {
		return nil, nil
	}
	return a.pairs, nil
}

// RequireTransportSecurity reports whether grpc must reject connections without TLS.
func (a *application) RequireTransportSecurity() bool { return !a.plaintext }

// Format hides the credentials from all verbs.
func (a *application) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "application credentials")
}
