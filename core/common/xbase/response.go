package xbase

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
)

// What a response says when nothing went wrong.
const (
	// OutputSuccess is the output of a success.
	OutputSuccess = "Success"
	// CodeSuccess is the code of a success.
	CodeSuccess = 200
)

// BaseResponse is the envelope of every response.
//
// The zero value of a field that may be absent (ErrorMessage, Overhead, Data) says that
// it is absent.
type BaseResponse struct { //nolint:recvcheck // MarshalJSON serves values too
	// Context is the request id.
	Context string
	// Output is the label: OutputSuccess, or that of an error code.
	Output string
	// Code is CodeSuccess, or the number of an error code.
	Code int
	// Message says in the client's language what happened.
	Message string
	// ErrorMessage is what the developer adds for the client.
	ErrorMessage string
	// Overhead is the time spent on the request, in microseconds.
	Overhead int64
	// Data is the payload. It is absent when it encodes as null.
	Data any
}

const (
	null = "null"

	// microsPerMilli turns the envelope's microseconds into the Java profile's
	// milliseconds.
	microsPerMilli = 1000
)

// AppendJSON appends the envelope in the shape of p to dst.
//
// When Data cannot be encoded the error says why, and dst comes back as it was.
func (r *BaseResponse) AppendJSON(dst []byte, p Profile) ([]byte, error) {
	out := append(dst, `{"context":`...)
	out = encoder.AppendString(out, r.Context)
	out = append(out, `,"output":`...)
	out = encoder.AppendString(out, r.Output)
	out = append(out, `,"code":`...)
	out = strconv.AppendInt(out, int64(r.Code), 10)
	out = append(out, `,"message":`...)
	out = encoder.AppendString(out, r.Message)

	var err error
	if p.IsJava() {
		out, err = r.appendJava(out)
	} else {
		out, err = r.appendPlinth(out)
	}
	if err != nil {
		return dst, err
	}
	return append(out, '}'), nil
}

// appendPlinth appends the fields that may be absent, and leaves out those that are.
func (r *BaseResponse) appendPlinth(out []byte) ([]byte, error) {
	if r.ErrorMessage != "" {
		out = append(out, `,"error_message":`...)
		out = encoder.AppendString(out, r.ErrorMessage)
	}
	if r.Overhead != 0 {
		out = append(out, `,"overhead":`...)
		out = strconv.AppendInt(out, r.Overhead, 10)
	}
	const key = `,"data":`
	withData, err := AppendValue(append(out, key...), r.Data)
	if err != nil || string(withData[len(out)+len(key):]) == null {
		return out, err
	}
	return withData, nil
}

// appendJava appends the fields that may be absent, and writes null for those that are.
func (r *BaseResponse) appendJava(out []byte) ([]byte, error) {
	out = append(out, `,"errorMessage":`...)
	if r.ErrorMessage == "" {
		out = append(out, null...)
	} else {
		out = encoder.AppendString(out, r.ErrorMessage)
	}
	out = append(out, `,"duration":`...)
	out = strconv.AppendInt(out, r.Overhead/microsPerMilli, 10)
	out = append(out, `,"data":`...)
	return AppendValue(out, r.Data)
}

// MarshalJSON writes the plinth profile. It implements json.Marshaler.
func (r BaseResponse) MarshalJSON() ([]byte, error) { return r.AppendJSON(nil, ProfilePlinth) }

// UnmarshalJSON reads either profile; a duration becomes microseconds.
//
// Data that holds a non-nil pointer is decoded into what it points to, as encoding/json
// does.
func (r *BaseResponse) UnmarshalJSON(text []byte) error {
	wire := struct {
		Context      string `json:"context"`
		Output       string `json:"output"`
		Code         int    `json:"code"`
		Message      string `json:"message"`
		ErrorMessage string `json:"error_message"`
		Overhead     int64  `json:"overhead"`
		JavaMessage  string `json:"errorMessage"`
		JavaDuration int64  `json:"duration"`
		Data         any    `json:"data"`
	}{Data: r.Data}
	if err := json.Unmarshal(text, &wire); err != nil {
		return fmt.Errorf("xbase: not an envelope: %w", err)
	}
	*r = BaseResponse{
		Context: wire.Context, Output: wire.Output, Code: wire.Code, Message: wire.Message,
		Data:         wire.Data,
		ErrorMessage: cmp.Or(wire.JavaMessage, wire.ErrorMessage),
		Overhead:     cmp.Or(wire.JavaDuration*microsPerMilli, wire.Overhead),
	}
	return nil
}
