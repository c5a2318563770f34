// Package xmodels provides base entities, optimistic locking and pagination for gorm.
//
//	type User struct {
//		xmodels.BaseEntity
//		Username string `gorm:"size:64;uniqueIndex" json:"username"`
//	}
//
//	func (User) GetGene() xsnowflake.Gene { return xsnowflake.GeneUser }
//
// Plugin, which xdb.Open registers, sets the id before the insert. It uses the id node in
// the context of the statement, so use xdb.GetDB or db.WithContext(ctx).
//
// The package is portable: it uses no type or clause that is specific to one database.
package xmodels

import (
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
)

// BaseEntity contains the primary key and the times of creation and last update. Embed it
// in an entity.
//
// An insert keeps an id or a time that is already set. In JSON the id is a decimal
// string, because JavaScript cannot represent all integers above 2^53.
type BaseEntity struct {
	ID        xsnowflake.SnowflakeID `gorm:"primaryKey;autoIncrement:false;type:int" json:"id"`
	CreatedAt time.Time              `gorm:"not null" json:"created_at"`
	UpdatedAt time.Time              `gorm:"not null" json:"updated_at"`
}

// GetID returns the primary key.
func (e BaseEntity) GetID() xsnowflake.SnowflakeID { return e.ID }

// BaseEntityWithSoftDelete is BaseEntity with soft delete: a delete only marks the row.
// gorm excludes marked rows from queries. db.Unscoped() includes them, and deletes rows
// permanently:
//
//	db.Unscoped().Model(&user).Update("deleted_at", nil) // restores the row
//
// A unique index also counts marked rows. To reuse a deleted name, index only the
// unmarked rows:
//
//	Name string `gorm:"size:64;uniqueIndex:idx_users_name,where:deleted_at IS NULL"`
//
// SQLite, PostgreSQL and SQL Server support such an index. MySQL and Oracle do not, and
// gorm omits the condition. For these databases, index an expression that is NULL for
// marked rows, because a unique index permits several NULLs:
//
//	Name string `gorm:"size:64;uniqueIndex:idx_users_name,expression:(CASE WHEN deleted_at IS NULL THEN name END)"`
//
// For the same reason, a unique index on the name and deleted_at does not prevent
// duplicate names of unmarked rows.
type BaseEntityWithSoftDelete struct {
	BaseEntity
	DeletedAt gorm.DeletedAt `gorm:"index" json:"-"`
}
