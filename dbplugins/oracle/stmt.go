package oracle

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"io"
	"strings"
)

// libraryStmt contains the methods of the library's statements.
type libraryStmt interface {
	sqldriver.Stmt
	sqldriver.StmtExecContext
	sqldriver.StmtQueryContext
}

// stmt is a prepared statement.
type stmt struct {
	libraryStmt

	conn  *conn
	query string
}

// ExecContext implements driver.StmtExecContext.
func (s *stmt) ExecContext(
	ctx context.Context, args []sqldriver.NamedValue,
) (sqldriver.Result, error) {
	if isSelect(s.query) {
		return drain(s.QueryContext(ctx, args))
	}
	var result sqldriver.Result
	err := s.conn.do(ctx, func() (err error) {
		if result, err = s.libraryStmt.ExecContext(ctx, args); err != nil {
			return err
		}
		return s.conn.commitOpen(ctx, s.query)
	})
	return result, err
}

// QueryContext implements driver.StmtQueryContext.
func (s *stmt) QueryContext(
	ctx context.Context, args []sqldriver.NamedValue,
) (sqldriver.Rows, error) {
	var inner sqldriver.Rows
	err := s.conn.do(ctx, func() (err error) {
		inner, err = s.libraryStmt.QueryContext(ctx, args)
		return err
	})
	return s.conn.rows(ctx, s.query, inner, err)
}

// Close implements driver.Stmt.
func (s *stmt) Close() error {
	if !s.conn.IsValid() {
		return nil
	}
	return s.conn.within(s.libraryStmt.Close)
}

// drain reads the rows of a query that was passed to Exec. The library's Exec would only
// parse the query.
func drain(r sqldriver.Rows, err error) (sqldriver.Result, error) {
	if err != nil {
		return nil, err
	}
	row := make([]sqldriver.Value, len(r.Columns()))
	for err == nil {
		err = r.Next(row)
	}
	if err == io.EOF { // not wrapped, as database/sql requires
		err = nil
	}
	return sqldriver.RowsAffected(0), errors.Join(err, r.Close())
}

// commitOpen commits the transaction that a statement has left open outside of BeginTx,
// such as that of a CALL or of SELECT ... FOR UPDATE.
func (c *conn) commitOpen(ctx context.Context, query string) error {
	if c.inTx || !leavesOpen(query) {
		return nil
	}
	tx, err := c.libraryConn.BeginTx(context.WithoutCancel(ctx), sqldriver.TxOptions{})
	if err != nil {
		return err
	}
	return tx.Commit()
}

// leavesOpen reports whether a statement starts a transaction that the library does not
// commit.
func leavesOpen(query string) bool {
	return startsWith(query, "CALL") || startsWith(query, "LOCK") ||
		isSelect(query) && strings.Contains(strings.ToUpper(query), "FOR UPDATE")
}

// isSelect reports whether a statement returns rows.
func isSelect(query string) bool { return startsWith(query, "SELECT") || startsWith(query, "WITH") }

func startsWith(query, word string) bool {
	query = strings.TrimLeft(query, " \t\r\n(")
	return len(query) > len(word) && strings.EqualFold(query[:len(word)], word)
}
