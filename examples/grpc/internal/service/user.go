// Package service implements the gRPC service of users.
package service

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/examples/grpc/internal/entity"
	"github.com/plinthgo/plinth/examples/grpc/internal/feed"
	"github.com/plinthgo/plinth/examples/grpc/internal/logic"
	"github.com/plinthgo/plinth/examples/grpc/userv1"
	"github.com/plinthgo/plinth/grpcx/result"
)

// users implements userv1.UserServiceServer. Requests are validated before each method.
type users struct {
	userv1.UnimplementedUserServiceServer
}

// Register implements userv1.UserServiceServer.
func (users) Register(
	ctx context.Context, request *userv1.RegisterRequest,
) (*userv1.RegisterResponse, error) {
	user, err := logic.Register(ctx, request.Registration())
	if err != nil {
		return nil, err
	}
	response := result.SuccessWith[*userv1.RegisterResponse](ctx, "registered")
	response.User = message(user)
	return response, nil
}

// Get implements userv1.UserServiceServer.
func (users) Get(ctx context.Context, request *userv1.GetRequest) (*userv1.GetResponse, error) {
	user, err := logic.Find(ctx, request.UserID())
	if err != nil {
		return nil, err
	}
	response := result.SuccessWith[*userv1.GetResponse](ctx, "found")
	response.User = message(user)
	return response, nil
}

// Watch implements userv1.UserServiceServer. It returns when the service starts draining;
// otherwise shutdown would wait for the stream and force close it.
func (users) Watch(
	_ *userv1.WatchRequest, stream grpc.ServerStreamingServer[userv1.WatchResponse],
) error {
	ctx := stream.Context()
	changes, stop := feed.From(ctx).Watch()
	defer stop()
	if err := stream.SendHeader(nil); err != nil {
		return err
	}
	for {
		select {
		case user, ok := <-changes:
			if !ok {
				return xerror.New(xerror.ConcurrentLimit, "the watcher is too slow")
			}
			if err := stream.Send(&userv1.WatchResponse{User: message(user)}); err != nil {
				return err
			}
		case <-xhook.Draining(ctx):
			return xerror.New(xerror.ServiceUnavailable,
				"the service is shutting down; watch again")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Import implements userv1.UserServiceServer.
func (users) Import(
	stream grpc.ClientStreamingServer[userv1.ImportRequest, userv1.ImportResponse],
) error {
	ctx := stream.Context()
	var imported, known int64
	for {
		request, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			response := result.SuccessWith[*userv1.ImportResponse](ctx, "imported")
			response.Imported, response.Known = imported, known
			return stream.SendAndClose(response)
		}
		if err != nil {
			return err
		}
		_, err = logic.Register(ctx, request.GetUser().Registration())
		switch {
		case errors.Is(err, xerror.DuplicateEntry):
			known++
		case err != nil:
			return err
		default:
			imported++
		}
	}
}

// message converts a user for clients.
func message(user *entity.User) *userv1.User {
	return &userv1.User{
		Id: int64(user.ID), Username: user.Username, Email: user.Email,
		CreatedAt: timestamppb.New(user.CreatedAt),
	}
}
