// Package entity holds what the database keeps.
package entity

import (
	"time"

	xSnowflake "github.com/plinthgo/plinth/core/common/xsnowflake"
	xModels "github.com/plinthgo/plinth/core/major/xmodels"
)

// User is somebody who has signed up.
type User struct {
	xModels.BaseEntity
	Username string `gorm:"size:64;not null;uniqueIndex"  json:"username"`
	Email    string `gorm:"size:128;not null;uniqueIndex" json:"email"`
	// ReportedAt is when the team was told of the user; nil is not yet.
	ReportedAt *time.Time `gorm:"index" json:"-"`
}

// GetGene makes the ids of users ids of users.
func (User) GetGene() xSnowflake.Gene { return xSnowflake.GeneUser }
