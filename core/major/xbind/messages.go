package xbind

import (
	"context"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/internal/phrase"
)

var (
	msgNull  = phrase.Phrase{English: "the body is null", Chinese: "请求体为 null"}
	msgMedia = phrase.Phrase{
		English: "the body must be application/json in UTF-8",
		Chinese: "请求体必须是 UTF-8 编码的 application/json",
	}
	msgEncoding = phrase.Phrase{
		English: "a compressed body is not supported",
		Chinese: "不支持压缩的请求体",
	}
	msgUTF8 = phrase.Phrase{
		English: "the body is not valid UTF-8 at byte {0}",
		Chinese: "请求体在第 {0} 字节处不是有效的 UTF-8",
	}
	msgTrailing = phrase.Phrase{
		English: "the body has data after its JSON value at byte {0}",
		Chinese: "请求体在第 {0} 字节处的 JSON 值之后还有数据",
	}
	msgDepth = phrase.Phrase{
		English: "the body is nested deeper than 100 levels",
		Chinese: "请求体的嵌套超过 100 层",
	}
	msgDuplicate = phrase.Phrase{English: "{0} occurs twice", Chinese: "{0}重复出现"}
	msgUnknown   = phrase.Phrase{English: "{0} is not a known field", Chinese: "{0}是未知字段"}
	msgQuery     = phrase.Phrase{
		English: "the query string is malformed",
		Chinese: "查询字符串格式错误",
	}
	msgForm = phrase.Phrase{
		English: "the body must be application/x-www-form-urlencoded in UTF-8 or multipart/form-data",
		Chinese: "请求体必须是 UTF-8 编码的 application/x-www-form-urlencoded 或 multipart/form-data",
	}
	msgMultipart = phrase.Phrase{
		English: "the body must be multipart/form-data",
		Chinese: "请求体必须是 multipart/form-data",
	}
	msgFormSyntax = phrase.Phrase{English: "the form is malformed", Chinese: "表单格式错误"}
	msgFormParts  = phrase.Phrase{
		English: "the form has too many parts or headers",
		Chinese: "表单的部分或标头过多",
	}
	msgFieldUTF8 = phrase.Phrase{English: "{0} is not valid UTF-8", Chinese: "{0}不是有效的 UTF-8"}
	msgFileSize  = phrase.Phrase{
		English: "the file is larger than {0} bytes",
		Chinese: "文件超过 {0} 字节",
	}
	msgTextSize = phrase.Phrase{
		English: "the field is larger than {0} bytes",
		Chinese: "字段超过 {0} 字节",
	}
	msgUnreadable = phrase.Phrase{
		English: "the body does not have the expected type",
		Chinese: "请求体不是预期的类型",
	}
)

func localize(ctx context.Context, p phrase.Phrase, params ...string) xerror.ErrMessage {
	return xerror.ErrMessage(p.In(xerror.Language(ctx), params...))
}

// newError returns an error with a message in the language of the request.
func newError(
	ctx context.Context, code *xerror.ErrorCode, p phrase.Phrase, params ...string,
) *xerror.Error {
	return xerror.New(code, localize(ctx, p, params...))
}
