package webhook

import (
	"context"
	"fmt"
)

// Endpoints returns the receivers of an application. It is called at each attempt, so
// that retries use the current URL and secrets, and jobs store no secret. Endpoint
// returns ErrUnknownEndpoint if the receiver does not exist or is disabled; other errors
// are temporary.
type Endpoints interface {
	Endpoint(ctx context.Context, id string) (Endpoint, error)
}

// StaticEndpoints is a fixed set of receivers by ID. The ID field of its values is
// ignored.
type StaticEndpoints map[string]Endpoint

// Endpoint implements Endpoints.
func (s StaticEndpoints) Endpoint(_ context.Context, id string) (Endpoint, error) {
	e, ok := s[id]
	if !ok {
		return Endpoint{}, ErrUnknownEndpoint
	}
	e.ID = id
	return e, nil
}

// finder is the method of an Endpoints. Storing a func instead of the interface prevents
// fmt from printing the receivers: it prints an address.
type finder func(ctx context.Context, id string) (Endpoint, error)

// find returns the receiver with the given ID.
func find(ctx context.Context, from finder, id string) (Endpoint, error) {
	e, err := from(ctx, id)
	if err != nil {
		return Endpoint{}, fmt.Errorf("webhook: find the endpoint: %w", err)
	}
	e.ID = id
	return e, nil
}
