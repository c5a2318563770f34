package xbase

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
)

// The output and code of a success.
const (
	// OutputSuccess is the output of a success.
	OutputSuccess = "Success"
	// CodeSuccess is the code of a success.
	CodeSuccess = 200
)

// BaseResponse is the envelope of all responses.
//
// ErrorMessage, Overhead and Data are absent if they have their zero value.
type BaseResponse struct { //nolint:recvcheck // MarshalJSON also supports values
	// Context is the request ID.
	Context string
	// Output is OutputSuccess or the label of an error code.
	Output string
	// Code is CodeSuccess or the number of an error code.
	Code int
	// Message describes the result in the client's language.
	Message string
	// ErrorMessage is the developer's additional message for the client.
	ErrorMessage string
	// Overhead is the duration of the request in microseconds.
	Overhead int64
	// Data is the payload. It is absent if it encodes as null.
	Data any
}

const (
	null = "null"

	microsPerMilli = 1000
)

// AppendJSON appends the envelope to dst, in the format of p.
//
// If Data cannot be encoded, AppendJSON returns dst unchanged and an error that wraps the
// cause.
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

// appendPlinth appends the optional fields and omits absent ones.
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

// appendJava appends the optional fields, with null for an absent message or payload.
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

// MarshalJSON implements json.Marshaler with ProfilePlinth.
func (r BaseResponse) MarshalJSON() ([]byte, error) { return r.AppendJSON(nil, ProfilePlinth) }

// UnmarshalJSON decodes all profiles. It converts durations to microseconds.
//
// If Data contains a non-nil pointer, UnmarshalJSON decodes the payload into it, as
// encoding/json does.
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
		return fmt.Errorf("xbase: decode envelope: %w", err)
	}
	*r = BaseResponse{
		Context: wire.Context, Output: wire.Output, Code: wire.Code, Message: wire.Message,
		Data:         wire.Data,
		ErrorMessage: cmp.Or(wire.JavaMessage, wire.ErrorMessage),
		Overhead:     cmp.Or(wire.JavaDuration*microsPerMilli, wire.Overhead),
	}
	return nil
}
