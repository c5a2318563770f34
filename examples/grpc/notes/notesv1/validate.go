// Package notesv1 is the interface of the service, and the bounds of its requests.
package notesv1

import (
	"context"

	"github.com/plinthgo/plinth/core/common/xvalid"
)

// Validate returns what is wrong with the note.
func (x *AddRequest) Validate() error {
	return xvalid.Validate(context.Background(), struct {
		Text string `binding:"required,max=1000" json:"text"`
	}{x.GetText()})
}
