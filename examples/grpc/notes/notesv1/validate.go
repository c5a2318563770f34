// Package notesv1 contains the generated code of the service and the validation of its
// requests.
package notesv1

import (
	"context"

	"github.com/plinthgo/plinth/core/common/xvalid"
)

// Validate returns the errors of the note.
func (x *AddRequest) Validate() error {
	return xvalid.Validate(context.Background(), struct {
		Text string `binding:"required,max=1000" json:"text"`
	}{x.GetText()})
}
