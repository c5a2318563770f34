// Command client registers a user and logs in, with a client that oapi-codegen generates
// from the OpenAPI document.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"

	"usercenter.test/client/api"
)

const (
	username = "grace"
	email    = "grace@example.com"
	password = "correct horse"
)

// flow calls a service. It records what differs.
type flow struct {
	client *api.ClientWithResponses
	failed bool
}

func main() {
	client, err := api.NewClientWithResponses(os.Args[1])
	if err != nil {
		exit(err)
	}
	f := &flow{client: client}
	for _, step := range []func(context.Context) error{
		f.register, f.registerTwice, f.registerInvalid, f.logIn, f.rejectedLogIn, f.get, f.ping,
	} {
		if err := step(context.Background()); err != nil {
			exit(err)
		}
	}
	if f.failed {
		os.Exit(1)
	}
	fmt.Println("passed")
}

func exit(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// equal reports a difference.
func equal[T comparable](f *flow, what string, got, want T) {
	if got != want {
		fmt.Fprintf(os.Stderr, "%s = %v, want %v\n", what, got, want)
		f.failed = true
	}
}

// unexpected returns an error with the response.
func unexpected(r *http.Response, body []byte) error {
	return fmt.Errorf("%s: %s %s", r.Request.URL.Path, r.Status, body)
}

func (f *flow) register(ctx context.Context) error {
	r, err := f.client.RegisterUserWithResponse(ctx,
		api.RegisterRequest{Username: username, Email: email, Password: password})
	if err != nil {
		return err
	}
	if r.JSON200 == nil {
		return unexpected(r.HTTPResponse, r.Body)
	}
	var user api.User = r.JSON200.Data
	equal(f, "username", user.Username, username)
	equal(f, "email", user.Email, email)
	equal(f, "creation is set", user.CreatedAt.IsZero(), false)
	equal(f, "message", r.JSON200.Message, "registered")
	equal(f, "output", r.JSON200.Output, api.RegisterUser200JSONResponseBodyOutputSuccess)
	equal(f, "context", r.JSON200.Context, r.HTTPResponse.Header.Get("X-Request-UUID"))
	return nil
}

func (f *flow) registerTwice(ctx context.Context) error {
	r, err := f.client.RegisterUserWithResponse(ctx,
		api.RegisterRequest{Username: username, Email: email, Password: password})
	if err != nil {
		return err
	}
	if r.JSON400 == nil {
		return unexpected(r.HTTPResponse, r.Body)
	}
	equal(f, "output", r.JSON400.Output, "EXISTED")
	equal(f, "code", r.JSON400.Code, 40001)
	equal(f, "output is documented", r.JSON400.Output.Valid(), true)
	return nil
}

func (f *flow) registerInvalid(ctx context.Context) error {
	r, err := f.client.RegisterUserWithResponse(ctx,
		api.RegisterRequest{Username: "x", Email: "x@example.com", Password: password})
	if err != nil {
		return err
	}
	if r.JSON400 == nil {
		return unexpected(r.HTTPResponse, r.Body)
	}
	equal(f, "output", r.JSON400.Output, "BODY_ERROR")
	return nil
}

func (f *flow) logIn(ctx context.Context) error {
	r, err := f.client.LogInWithResponse(ctx,
		api.LoginRequest{Username: username, Password: password})
	if err != nil {
		return err
	}
	if r.JSON200 == nil {
		return unexpected(r.HTTPResponse, r.Body)
	}
	equal(f, "username", r.JSON200.Data.Username, username)
	return nil
}

func (f *flow) rejectedLogIn(ctx context.Context) error {
	r, err := f.client.LogInWithResponse(ctx,
		api.LoginRequest{Username: username, Password: "wrong"})
	if err != nil {
		return err
	}
	if r.JSON401 == nil {
		return unexpected(r.HTTPResponse, r.Body)
	}
	equal(f, "output", r.JSON401.Output, api.UNAUTHORIZEDUSERNOTFOUNDOutputUNAUTHORIZED)

	r, err = f.client.LogInWithResponse(ctx, api.LoginRequest{})
	if err != nil {
		return err
	}
	if r.JSON400 == nil || r.JSON400.Data == nil {
		return unexpected(r.HTTPResponse, r.Body)
	}
	var fields []string
	for _, failure := range *r.JSON400.Data {
		fields = append(fields, failure.Field)
	}
	equal(f, "invalid fields", strings.Join(fields, ","), "username,password")
	return nil
}

// get calls an operation with the envelope of the Java library.
func (f *flow) get(ctx context.Context) error {
	in, err := f.client.LogInWithResponse(ctx,
		api.LoginRequest{Username: username, Password: password})
	if err != nil {
		return err
	}
	if in.JSON200 == nil {
		return unexpected(in.HTTPResponse, in.Body)
	}
	r, err := f.client.GetUserWithResponse(ctx, in.JSON200.Data.Id)
	if err != nil {
		return err
	}
	if r.JSON200 == nil {
		return unexpected(r.HTTPResponse, r.Body)
	}
	equal(f, "username", r.JSON200.Data.Username, username)
	equal(f, "error message", r.JSON200.ErrorMessage, nil)

	r, err = f.client.GetUserWithResponse(ctx, "1")
	if err != nil {
		return err
	}
	if r.JSON400 == nil {
		return unexpected(r.HTTPResponse, r.Body)
	}
	equal(f, "output", r.JSON400.Output, "NotExist")
	return nil
}

func (f *flow) ping(ctx context.Context) error {
	r, err := f.client.PingWithResponse(ctx)
	if err != nil {
		return err
	}
	if r.JSON200 == nil {
		return unexpected(r.HTTPResponse, r.Body)
	}
	equal(f, "message", r.JSON200.Message, "pong")
	return nil
}
