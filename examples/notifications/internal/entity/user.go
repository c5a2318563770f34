// Package entity holds what the database keeps.
package entity

import (
	"time"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xmodels"
)

// User is somebody who has signed up.
type User struct {
	xmodels.BaseEntity
	Username string `gorm:"size:64;not null;uniqueIndex"  json:"username"`
	Email    string `gorm:"size:128;not null;uniqueIndex" json:"email"`
	// ReportedAt is when the team was told of the user; nil is not yet.
	ReportedAt *time.Time `gorm:"index" json:"-"`
}

// GetGene makes the ids of users ids of users.
func (User) GetGene() xsnowflake.Gene { return xsnowflake.GeneUser }
