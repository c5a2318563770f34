package river

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/google/uuid"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

// insertRow is a job in the JSON argument of the INSERT.
type insertRow struct {
	ID          string          `json:"id"`
	Kind        string          `json:"kind"`
	Args        json.RawMessage `json:"args"`
	Priority    int             `json:"priority"`
	MaxAttempts int             `json:"max_attempts"`
	Metadata    metadata        `json:"metadata"`
	Delay       int64           `json:"delay"` // microseconds
}

// metadata contains the data of a job for which River has no column. The ID is for
// display.
type metadata struct {
	ID   string            `json:"plinth_id"`
	Meta map[string]string `json:"plinth_meta,omitempty"`
}

// Insert implements driver.Engine. It stores all jobs with one SQL statement, because
// River's client requires a pgx transaction and the application's transaction is one of
// database/sql.
func (e *engine) Insert(ctx context.Context, jobs []driver.Job) error {
	db, err := e.handle(ctx)
	if err != nil || len(jobs) == 0 {
		return err
	}
	rows := make([]insertRow, len(jobs))
	for i, j := range jobs {
		id, err := uuid.Parse(j.ID)
		if err != nil {
			return fmt.Errorf("river: insert: ID %.40q is not a UUID", j.ID)
		}
		rows[i] = insertRow{
			ID: hexOf(id), Kind: j.Kind, Args: storedArgs(j.Args), Priority: j.Priority,
			MaxAttempts: min(j.MaxAttempts, math.MaxInt16),
			Metadata:    metadata{ID: j.ID, Meta: j.Meta}, Delay: j.Delay.Microseconds(),
		}
	}
	data, err := json.Marshal(rows)
	if err != nil {
		return errors.New("river: insert: the arguments are not JSON") // err may contain them
	}
	if err := db.Exec(e.sql.insert, string(data)).Error; err != nil {
		return fmt.Errorf("river: insert: %w", err)
	}
	return nil
}

func hexOf(id uuid.UUID) string { return strings.ReplaceAll(id.String(), "-", "") }

// wrappedArgs stores arguments as a string, because PostgreSQL's jsonb would reject them.
type wrappedArgs struct {
	JSON *string `json:"plinth_json"`
}

// storedArgs returns the column value of args. It wraps args if they contain NUL or a
// surrogate, which jsonb rejects, or if they look like wrapped arguments.
func storedArgs(args []byte) []byte {
	lower := bytes.ToLower(args)
	if !bytes.Contains(lower, []byte(`\u0000`)) && !bytes.Contains(lower, []byte(`\ud`)) &&
		!bytes.Contains(args, []byte("plinth_json")) {
		return args
	}
	text := string(args)
	data, err := json.Marshal(wrappedArgs{&text})
	if err != nil {
		return args
	}
	return data
}

// originalArgs is the inverse of storedArgs.
func originalArgs(stored []byte) []byte {
	if !bytes.Contains(stored, []byte("plinth_json")) {
		return stored
	}
	var w wrappedArgs
	if json.Unmarshal(stored, &w) != nil || w.JSON == nil {
		return stored
	}
	return []byte(*w.JSON)
}
