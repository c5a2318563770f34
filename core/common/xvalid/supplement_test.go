package xvalid_test

import (
	"os"
	"strings"
	"testing"

	localeEnglish "github.com/go-playground/locales/en"
	localeChinese "github.com/go-playground/locales/zh"
	ut "github.com/go-playground/universal-translator"
	"github.com/go-playground/validator/v10"
	english "github.com/go-playground/validator/v10/translations/en"
	chinese "github.com/go-playground/validator/v10/translations/zh"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
)

func TestSupplement(t *testing.T) {
	text, err := os.ReadFile("supplement.tsv")
	if err != nil {
		t.Fatal(err)
	}
	inEnglish, _ := ut.New(localeEnglish.New()).GetTranslator("en")
	inChinese, _ := ut.New(localeChinese.New()).GetTranslator("zh")
	library := validator.New()
	if err := english.RegisterDefaultTranslations(library, inEnglish); err != nil {
		t.Fatal(err)
	}
	if err := chinese.RegisterDefaultTranslations(library, inChinese); err != nil {
		t.Fatal(err)
	}
	translators := map[string]ut.Translator{xerror.English: inEnglish, xerror.Chinese: inChinese}
	previous := ""
	for line := range strings.Lines(string(text)) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") {
			continue
		}
		if len(columns) != 3 || translators[columns[1]] == nil {
			t.Fatalf("%q is not a rule, a language and a message", line)
		}
		tag, lang, message := columns[0], columns[1], columns[2]
		if strings.TrimSpace(message) != message || !strings.HasPrefix(message, "{0}") {
			t.Errorf("message %q, want the field and a text", message)
		}
		key := tag + " " + lang
		if key <= previous {
			t.Errorf("%q follows %q, want unique rules in order", key, previous)
		}
		previous = key
		if !isRule(library, tag) {
			t.Errorf("unknown rule %s", tag)
		}
		if text, err := translators[lang].T(tag, "field", "parameter"); err == nil {
			t.Errorf("the validator already has a message for %s in %s: %q", tag, lang, text)
		}
		for _, lang := range []string{xerror.English, xerror.Chinese} {
			if !xvalid.HasMessage(lang, tag) {
				t.Errorf("%s has no message in %s", tag, lang)
			}
		}
	}
	if previous == "" {
		t.Error("no messages")
	}
}

func isRule(v *validator.Validate, tag string) (known bool) {
	defer func() {
		if p, ok := recover().(string); ok {
			known = !strings.HasPrefix(p, "Undefined validation function")
		}
	}()
	_ = v.Var("x", tag)
	return true
}
