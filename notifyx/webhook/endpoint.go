package webhook

import (
	"context"
	"fmt"
)

// Endpoints finds receivers; it is the application's. It is asked at each attempt, so
// that a new URL or secret holds for the repeats of older events too, and no secret is
// stored with a job. The error is ErrUnknownEndpoint where there is no receiver with the
// id, or where it was disabled; every other error is taken for temporary.
type Endpoints interface {
	Endpoint(ctx context.Context, id string) (Endpoint, error)
}

// StaticEndpoints are receivers that do not change, by their ids. An Endpoint in it needs
// no ID of its own.
type StaticEndpoints map[string]Endpoint

// Endpoint returns the receiver.
func (s StaticEndpoints) Endpoint(_ context.Context, id string) (Endpoint, error) {
	e, ok := s[id]
	if !ok {
		return Endpoint{}, ErrUnknownEndpoint
	}
	e.ID = id
	return e, nil
}

// finder is the method of an Endpoints, of which fmt prints an address. Receivers that
// are held by their interface would be printed with whatever holds them.
type finder func(ctx context.Context, id string) (Endpoint, error)

// find asks the application, and names the receiver as it was asked for.
func find(ctx context.Context, from finder, id string) (Endpoint, error) {
	e, err := from(ctx, id)
	if err != nil {
		return Endpoint{}, fmt.Errorf("webhook: find the endpoint: %w", err)
	}
	e.ID = id
	return e, nil
}
