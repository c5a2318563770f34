package xbind

import (
	"context"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/internal/phrase"
)

var (
	textNull  = phrase.Phrase{English: "the body is null", Chinese: "请求体为 null"}
	textMedia = phrase.Phrase{
		English: "the body must be application/json in UTF-8",
		Chinese: "请求体必须是 UTF-8 编码的 application/json",
	}
	textEncoding = phrase.Phrase{
		English: "a compressed body is not supported",
		Chinese: "不支持压缩的请求体",
	}
	textUTF8 = phrase.Phrase{
		English: "the body is not valid UTF-8 at byte {0}",
		Chinese: "请求体在第 {0} 字节处不是有效的 UTF-8",
	}
	textTrailing = phrase.Phrase{
		English: "the body goes on after its JSON value at byte {0}",
		Chinese: "请求体在第 {0} 字节处的 JSON 值之后还有数据",
	}
	textDepth = phrase.Phrase{
		English: "the body nests deeper than 100 levels",
		Chinese: "请求体的嵌套超过 100 层",
	}
	textDuplicate  = phrase.Phrase{English: "{0} occurs twice", Chinese: "{0}重复出现"}
	textUnknown    = phrase.Phrase{English: "{0} is not a known field", Chinese: "{0}是未知字段"}
	textQuery      = phrase.Phrase{English: "the query string is malformed", Chinese: "查询字符串格式错误"}
	textForm       = phrase.Phrase{English: "the body must be application/x-www-form-urlencoded in UTF-8 or multipart/form-data", Chinese: "请求体必须是 UTF-8 编码的 application/x-www-form-urlencoded 或 multipart/form-data"}
	textFormSyntax = phrase.Phrase{English: "the form is malformed", Chinese: "表单格式错误"}
	textFormParts  = phrase.Phrase{
		English: "the form has too many parts or headers",
		Chinese: "表单的部分或标头过多",
	}
	textFieldUTF8 = phrase.Phrase{English: "{0} is not valid UTF-8", Chinese: "{0}不是有效的 UTF-8"}
	textFileSize  = phrase.Phrase{
		English: "the file is larger than {0} bytes",
		Chinese: "文件超过 {0} 字节",
	}
	textUnreadable = phrase.Phrase{
		English: "the body cannot be read as the expected type",
		Chinese: "请求体不是预期的类型",
	}
)

func say(ctx context.Context, p phrase.Phrase, params ...string) xerror.ErrMessage {
	return xerror.ErrMessage(p.In(xerror.Language(ctx), params...))
}

// refuse returns an error with a message.
func refuse(
	ctx context.Context, code *xerror.ErrorCode, p phrase.Phrase, params ...string,
) *xerror.Error {
	return xerror.New(code, say(ctx, p, params...))
}
