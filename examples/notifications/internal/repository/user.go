// Package repository reads and writes entities.
package repository

import (
	"context"
	"time"

	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/examples/notifications/internal/entity"
)

// Create writes a new user and fills in the id and the times. A name or an address that
// is taken is a gorm.ErrDuplicatedKey.
func Create(ctx context.Context, user *entity.User) error {
	return xdb.MustGetDB(ctx).Create(user).Error
}

// MarkReported marks the users of whom the team was not told, and returns how many there
// were.
func MarkReported(ctx context.Context, at time.Time) (int64, error) {
	marked := xdb.MustGetDB(ctx).Model(&entity.User{}).Where("reported_at IS NULL").UpdateColumn(
		"reported_at", at)
	return marked.RowsAffected, marked.Error
}
