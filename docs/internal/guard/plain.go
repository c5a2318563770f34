package guard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// decoding is the start of SDK errors about members of a wrong type. They quote the whole
// request and name Go types.
var decoding = regexp.MustCompile(
	`(?s)^handling '([^']*)': (?:invalid params: )?unmarshaling .* into Go (?:struct field \w+\.\w+\.([\w.]+)|value) of type (.+)$`)

// mark occurs in each of these responses. It cannot occur in a string, in which quotation
// marks are escaped.
const mark = `,"message":"handling '`

// plain returns a response, or a batch, unchanged, unless it names types of the SDK; such
// errors are rewritten for the client.
func plain(sent []byte) []byte {
	if !bytes.Contains(sent, []byte(mark)) {
		return sent
	}
	rewrite := plainOne
	if bytes.HasPrefix(sent, []byte("[")) {
		rewrite = plainBatch
	}
	changed, ok := rewrite(sent)
	if !ok {
		return sent
	}
	return append(changed, sent[len(bytes.TrimRight(sent, "\n")):]...)
}

func plainBatch(sent []byte) (text []byte, ok bool) {
	var responses []json.RawMessage
	if err := json.Unmarshal(sent, &responses); err != nil {
		return nil, false
	}
	for i, response := range responses {
		responses[i] = plain(response)
	}
	text, err := json.Marshal(responses)
	return text, err == nil
}

func plainOne(sent []byte) (text []byte, ok bool) {
	var a errorResponse
	if err := json.Unmarshal(sent, &a); err != nil {
		return nil, false
	}
	found := decoding.FindStringSubmatch(a.Error.Message)
	if found == nil {
		return nil, false
	}
	what := "params"
	if found[2] != "" {
		what = `"` + found[2] + `"`
	}
	a.Error.Code = jsonrpc.CodeInvalidParams // it is 0 for initialize
	a.Error.Message = fmt.Sprintf("invalid params of %s: %s must be %s",
		found[1], what, noun(found[3]))
	text, err := json.Marshal(a)
	return text, err == nil
}

// noun returns the JSON name of a Go type.
func noun(goType string) string {
	switch {
	case goType == "string":
		return "a string"
	case goType == "bool":
		return "a boolean"
	case strings.HasPrefix(goType, "int"), strings.HasPrefix(goType, "uint"),
		strings.HasPrefix(goType, "float"):
		return "a number"
	case strings.HasPrefix(goType, "["):
		return "an array"
	}
	return "an object"
}
