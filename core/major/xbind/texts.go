package xbind

import (
	"context"
	"strings"

	"github.com/plinthgo/plinth/core/common/xerror"
)

// phrase is a text in both languages; {} stands for its parameter.
type phrase struct{ english, chinese string }

var (
	textEmpty      = phrase{"the request has no body", "请求体为空"}
	textNull       = phrase{"the body is null", "请求体为 null"}
	textMedia      = phrase{"the body must be application/json in UTF-8", "请求体必须是 UTF-8 编码的 application/json"}
	textEncoding   = phrase{"a compressed body is not supported", "不支持压缩的请求体"}
	textTooLarge   = phrase{"the body is larger than {} bytes", "请求体超过 {} 字节"}
	textUTF8       = phrase{"the body is not valid UTF-8 at byte {}", "请求体在第 {} 字节处不是有效的 UTF-8"}
	textTrailing   = phrase{"the body goes on after its JSON value at byte {}", "请求体在第 {} 字节处的 JSON 值之后还有数据"}
	textDepth      = phrase{"the body nests deeper than {} levels", "请求体的嵌套超过 {} 层"}
	textSyntax     = phrase{"the body is not valid JSON at byte {}", "请求体在第 {} 字节处不是有效的 JSON"}
	textDuplicate  = phrase{"{} occurs twice", "{}重复出现"}
	textUnknown    = phrase{"{} is not a known field", "{}是未知字段"}
	textQuery      = phrase{"the query string is malformed", "查询字符串格式错误"}
	textForm       = phrase{"the body must be application/x-www-form-urlencoded in UTF-8 or multipart/form-data", "请求体必须是 UTF-8 编码的 application/x-www-form-urlencoded 或 multipart/form-data"}
	textFormSyntax = phrase{"the form is malformed", "表单格式错误"}
	textFormParts  = phrase{"the form has too many parts or headers", "表单的部分或标头过多"}
	textFieldUTF8  = phrase{"{} is not valid UTF-8", "{}不是有效的 UTF-8"}
	textFileSize   = phrase{"the file is larger than {} bytes", "文件超过 {} 字节"}
	textUnreadable = phrase{"the body cannot be read as the expected type", "请求体不是预期的类型"}
)

func say(ctx context.Context, p phrase, parameter string) xerror.ErrMessage {
	text := p.english
	if xerror.Language(ctx) == xerror.Chinese {
		text = p.chinese
	}
	return xerror.ErrMessage(strings.Replace(text, "{}", parameter, 1))
}
