package rpc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// decoding is how the SDK tells that the members of a request have other types than it wants: with the whole of what was sent,
// and with the names of its own types.
var decoding = regexp.MustCompile(
	`(?s)^handling '([^']*)': (?:invalid params: )?unmarshaling .* into Go (?:struct field \w+\.\w+\.([\w.]+)|value) of type (.+)$`)

// maxAnswer bounds what Plain reads: an error is short, but for what it repeats.
const maxAnswer = 2 << 20

// Plain returns an answer as it is, unless it tells of types of the SDK: then with a text for those who wrote the request.
func Plain(answer []byte) []byte {
	// The members come in the order of the SDK, with the error behind the id.
	if len(answer) > maxAnswer || !bytes.Contains(answer[:min(len(answer), 1<<10)], []byte(`,"message":"handling '`)) {
		return answer
	}
	var a Answer
	if err := json.Unmarshal(answer, &a); err != nil {
		return answer
	}
	found := decoding.FindStringSubmatch(a.Error.Message)
	if found == nil {
		return answer
	}
	a.Error.Code = InvalidParams // which is 0 with initialize
	what := "they"
	if found[2] != "" {
		what = `"` + found[2] + `"`
	}
	a.Error.Message = fmt.Sprintf("invalid params of %s: %s must be %s", found[1], what, noun(found[3]))
	text, err := json.Marshal(a)
	if err != nil {
		return answer
	}
	if bytes.HasSuffix(answer, []byte("\n")) {
		text = append(text, '\n')
	}
	return text
}

// noun is what JSON calls a value of a Go type.
func noun(goType string) string {
	switch {
	case goType == "string":
		return "a string"
	case goType == "bool":
		return "a boolean"
	case strings.HasPrefix(goType, "int"), strings.HasPrefix(goType, "uint"), strings.HasPrefix(goType, "float"):
		return "a number"
	case strings.HasPrefix(goType, "["):
		return "an array"
	}
	return "an object"
}
