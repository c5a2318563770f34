// Package repository reads and writes entities.
package repository

import (
	"context"
	"time"

	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/examples/notifications/internal/entity"
)

// Create inserts a new user and sets its ID and times. It returns gorm.ErrDuplicatedKey
// if the name or the address exists.
func Create(ctx context.Context, user *entity.User) error {
	return xdb.MustGetDB(ctx).Create(user).Error
}

// MarkReported marks the users that are not reported yet, and returns their number.
func MarkReported(ctx context.Context, at time.Time) (int64, error) {
	marked := xdb.MustGetDB(ctx).Model(&entity.User{}).Where("reported_at IS NULL").UpdateColumn(
		"reported_at", at)
	return marked.RowsAffected, marked.Error
}
