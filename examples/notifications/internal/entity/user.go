// Package entity defines the database models.
package entity

import (
	"time"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xmodels"
)

// User is a registered user.
type User struct {
	xmodels.BaseEntity
	Username string `gorm:"size:64;not null;uniqueIndex"  json:"username"`
	Email    string `gorm:"size:128;not null;uniqueIndex" json:"email"`
	// ReportedAt is the time of the report that counts the user, or nil before it.
	ReportedAt *time.Time `gorm:"index" json:"-"`
}

// GetGene returns the gene of user IDs.
func (User) GetGene() xsnowflake.Gene { return xsnowflake.GeneUser }
