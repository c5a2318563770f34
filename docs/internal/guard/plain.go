package guard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// decoding is how the SDK tells that the members of a request have other types than it
// wants: with the whole of what was sent, and with the names of its own types.
var decoding = regexp.MustCompile(
	`(?s)^handling '([^']*)': (?:invalid params: )?unmarshaling .* into Go (?:struct field \w+\.\w+\.([\w.]+)|value) of type (.+)$`)

// mark is a part of every such answer. In a text it cannot stand, where quotation marks
// are escaped.
const mark = `,"message":"handling '`

// plain returns an answer, or a batch of them, as it is, unless it tells of types of the
// SDK: then with a text for those who wrote the request.
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
	var answers []json.RawMessage
	if err := json.Unmarshal(sent, &answers); err != nil {
		return nil, false
	}
	for i, a := range answers {
		answers[i] = plain(a)
	}
	text, err := json.Marshal(answers)
	return text, err == nil
}

func plainOne(sent []byte) (text []byte, ok bool) {
	var a answer
	if err := json.Unmarshal(sent, &a); err != nil {
		return nil, false
	}
	found := decoding.FindStringSubmatch(a.Error.Message)
	if found == nil {
		return nil, false
	}
	what := "they"
	if found[2] != "" {
		what = `"` + found[2] + `"`
	}
	a.Error.Code = jsonrpc.CodeInvalidParams // which is 0 with initialize
	a.Error.Message = fmt.Sprintf("invalid params of %s: %s must be %s",
		found[1], what, noun(found[3]))
	text, err := json.Marshal(a)
	return text, err == nil
}

// noun is what JSON calls a value of a Go type.
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
