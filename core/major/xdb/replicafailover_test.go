package xdb_test

import (
	sqldriver "database/sql/driver"
	"errors"
	"io"
	"testing"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

func TestReplica_Failover(t *testing.T) {
	t.Run("retries a rejected read on the primary", func(t *testing.T) {
		for _, tc := range []struct {
			name string
			err  error
		}{
			{name: "read-only", err: errReadOnly},
			{
				name: "missing grant",
				err:  driver.Translate(driver.Authentication, errors.New("42501"), ""),
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				c := &cluster{}
				db := openCluster(t.Context(), t, c, nil)
				c.at(firstDSN).failWith.Store(&tc.err)
				c.at(secondDSN).failWith.Store(&tc.err)
				primary, replicas := c.statements(func() {
					for range 4 {
						if err := rows(db.Raw("SELECT count_visit(1)").Rows()); err != nil {
							t.Error(err)
						}
					}
				})
				if primary != 4 || replicas != 4 { // the replicas are still in use
					t.Errorf("statements = %d on the primary and %d on replicas, want 4 and 4",
						primary, replicas)
				}
			})
		}
	})

	t.Run("does not repeat a read that returned rows", func(t *testing.T) {
		c := &cluster{}
		db := openCluster(t.Context(), t, c, nil)
		for _, dsn := range []string{firstDSN, secondDSN} {
			c.at(dsn).rows = func() sqldriver.Rows { return &oneRow{} }
		}
		var got []map[string]any
		primary, _ := c.statements(func() {
			if err := db.Model(&article{}).Find(&got).Error; !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("error = %v, want the error after the first row", err)
			}
		})
		if primary != 0 || len(got) != 1 {
			t.Errorf("statements on the primary = %d and rows = %d, want 0 and 1",
				primary, len(got))
		}
	})

	t.Run("still uses the replica after an invalid statement", func(t *testing.T) {
		c := &cluster{}
		db := openCluster(t.Context(), t, c, nil)
		invalid := driver.Translate(driver.Syntax, io.EOF, "")
		c.at(firstDSN).failWith.Store(&invalid)
		c.at(secondDSN).failWith.Store(&invalid)
		primary, replicas := c.statements(func() {
			for range 4 {
				if err := db.Find(&[]article{}).Error; driver.KindOf(err) != driver.Syntax {
					t.Errorf("error = %v, want the error of the replica", err)
				}
			}
		})
		if primary != 0 || replicas != 4 {
			t.Errorf("reads = %d on the primary and %d on replicas, want 0 and 4",
				primary, replicas)
		}
	})

	t.Run("uses the primary at the connection limit", func(t *testing.T) {
		c := &cluster{}
		db := openCluster(t.Context(), t, c, nil)
		full := driver.Translate(driver.TooManyConnections, errors.New("53300"), "")
		c.at(firstDSN).failWith.Store(&full)
		c.at(secondDSN).failWith.Store(&full)
		primary, replicas := c.statements(func() {
			for range 4 {
				if err := db.Find(&[]article{}).Error; err != nil {
					t.Error(err)
				}
			}
		})
		if primary != 4 || replicas != 2 { // each replica is tried once and then marked as down
			t.Errorf("reads = %d on the primary and %d on replicas, want 4 and 2",
				primary, replicas)
		}
	})
}

// oneRow returns one row and then an error.
type oneRow struct {
	noRows

	done bool
}

func (r *oneRow) Next(dest []sqldriver.Value) error {
	if r.done {
		return io.ErrUnexpectedEOF
	}
	dest[0], r.done = int64(1), true
	return nil
}
