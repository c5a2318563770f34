// Package xmodels holds what entities share: ids, times, soft delete, versions, pages.
//
//	type User struct {
//		xmodels.BaseEntity
//		Username string `gorm:"size:64;uniqueIndex" json:"username"`
//	}
//
//	func (User) GetGene() xsnowflake.Gene { return xsnowflake.GeneUser }
//
// The id is set before the insert by Plugin, which xdb.Open registers; it comes from the
// id node in the statement's context, so use xdb.GetDB or db.WithContext(ctx).
//
// Everything here is portable: no type or clause of one database.
package xmodels

import (
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
)

// BaseEntity is embedded in every entity: the primary key and the times of creation and
// last change.
//
// An id or a time that is set already stays. The id is a decimal string in JSON, because
// a number above 2^53 does not survive JavaScript.
type BaseEntity struct {
	ID        xsnowflake.SnowflakeID `gorm:"primaryKey;autoIncrement:false;type:int" json:"id"`
	CreatedAt time.Time              `gorm:"not null" json:"created_at"`
	UpdatedAt time.Time              `gorm:"not null" json:"updated_at"`
}

// GetID returns the primary key.
func (e BaseEntity) GetID() xsnowflake.SnowflakeID { return e.ID }

// BaseEntityWithSoftDelete is BaseEntity for rows that are only marked when they are
// deleted. gorm leaves marked rows out of every query; db.Unscoped() sees them, and
// deletes for good:
//
//	db.Unscoped().Model(&user).Update("deleted_at", nil) // takes the mark off
//
// A unique index also counts marked rows. If a deleted name is to be free again, index
// the unmarked ones:
//
//	Name string `gorm:"size:64;uniqueIndex:idx_users_name,where:deleted_at IS NULL"`
//
// SQLite, PostgreSQL and SQL Server have such an index. MySQL and Oracle have not, and
// gorm leaves the condition out; there, index an expression that is NULL for marked rows,
// since no NULL is equal to another:
//
//	Name string `gorm:"size:64;uniqueIndex:idx_users_name,expression:(CASE WHEN deleted_at IS NULL THEN name END)"`
//
// For the same reason an index of the name and deleted_at would let unmarked rows be
// alike.
type BaseEntityWithSoftDelete struct {
	BaseEntity
	DeletedAt gorm.DeletedAt `gorm:"index" json:"-"`
}
