package main

import (
	"context"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/examples/grpc/notes/notesv1"
	"github.com/plinthgo/plinth/grpcx/result"
)

// service implements notesv1.NoteServiceServer.
type service struct {
	notesv1.UnimplementedNoteServiceServer
}

// Add implements notesv1.NoteServiceServer.
func (service) Add(ctx context.Context, request *notesv1.AddRequest) (*notesv1.AddResponse, error) {
	note := &Note{Text: request.GetText()}
	if err := add(ctx, note); err != nil {
		return nil, err
	}
	response := result.SuccessWith[*notesv1.AddResponse](ctx, "noted")
	response.Id = int64(note.ID)
	return response, nil
}

// Get implements notesv1.NoteServiceServer.
func (service) Get(ctx context.Context, request *notesv1.GetRequest) (*notesv1.GetResponse, error) {
	note, err := find(ctx, xsnowflake.SnowflakeID(request.GetId()))
	if err != nil {
		return nil, err
	}
	response := result.SuccessWith[*notesv1.GetResponse](ctx, "found")
	response.Text = note.Text
	return response, nil
}
