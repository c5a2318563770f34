package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/plinthgo/plinth/asyncx/job"
)

// Letter is an event that is not sent any more by itself.
type Letter struct {
	// Job is what Replay takes.
	Job string
	// ID, Endpoint, Type, Timestamp and Data are the event's.
	ID        string
	Endpoint  string
	Type      string
	Timestamp time.Time
	Data      json.RawMessage
	// Attempts is how often it was tried, and Error what the last attempt failed with.
	Attempts int
	Error    string
	// StoredAt is when Enqueue was called.
	StoredAt time.Time
}

// DeadQuery chooses a page of dead letters.
type DeadQuery struct {
	// After is the Job of the last letter of the page before; "" begins.
	After string
	// Limit is the length of a page; 0 is 100.
	Limit int
}

// Dead returns a page of dead letters, the oldest first.
func (d *Dispatcher) Dead(ctx context.Context, query DeadQuery) ([]Letter, error) {
	queue, xerr := job.GetQueue(ctx)
	if xerr != nil {
		return nil, xerr
	}
	records, err := queue.List(ctx, job.Query{State: job.StateDead, Kind: d.kindName, After: query.After, Limit: query.Limit})
	if err != nil {
		return nil, fmt.Errorf("webhook: list dead letters: %w", err)
	}
	letters := make([]Letter, len(records))
	for i, r := range records {
		var args delivery
		_ = json.Unmarshal(r.Args, &args) // what cannot be read is listed with its job and its error
		letters[i] = Letter{
			Job: r.ID, ID: args.ID, Endpoint: args.Endpoint, Type: args.Type, Timestamp: args.Timestamp, Data: args.Data,
			Attempts: r.Attempt, Error: r.Error, StoredAt: r.CreatedAt,
		}
	}
	return letters, nil
}

// Replay lets a dead letter be sent again, at once and from its first attempt on. It keeps the event's id, so that a receiver
// that has got it already knows. The error is job.ErrNotFound where there is no such letter, and job.ErrState where it is
// not dead.
func (d *Dispatcher) Replay(ctx context.Context, id string) error {
	queue, xerr := job.GetQueue(ctx)
	if xerr != nil {
		return xerr
	}
	record, err := queue.Get(ctx, id)
	if err == nil && record.Kind != d.kindName {
		err = job.ErrNotFound
	}
	if err == nil {
		err = queue.Replay(ctx, id)
	}
	if err != nil {
		return fmt.Errorf("webhook: replay: %w", err)
	}
	return nil
}
