package email

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"sync"

	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/notifyx"
)

// templateFiles contains the built-in templates in English and Chinese: "welcome" for a
// new user, "verification" with a code that confirms an address, and "password_reset"
// with a link to set a new password.
//
//go:embed templates
var templateFiles embed.FS

// builtinTemplates compiles the built-in templates, once for all clients.
var builtinTemplates = sync.OnceValues(func() (*notifyx.Templates, error) {
	t := notifyx.NewTemplates()
	return t, t.AddFS(templateFiles, "templates/*")
})

// AddTemplateFS adds the template files that match pattern; see notifyx.Templates.AddFS
// for their names. A template with the name of a built-in template replaces it in all
// languages.
func (c *EmailClient) AddTemplateFS(fsys fs.FS, pattern string) error {
	if err := c.own.AddFS(fsys, pattern); err != nil {
		return fmt.Errorf("email: %w", err)
	}
	return nil
}

// render renders the template of the message in the language of the message, of the
// request, or of Config.
func (c *EmailClient) render(ctx context.Context, m *Message) (content, error) {
	templates := c.builtin
	if c.own.Has(m.Template) {
		templates = c.own
	}
	accepted := ""
	if request := xctx.RequestFrom(ctx); request != nil {
		accepted = request.AcceptLanguage()
	}
	r, err := templates.Render(m.Template, cmp.Or(m.Language, accepted, c.config.Language),
		m.Variables)
	if err != nil {
		return content{}, err
	}
	if templates == c.builtin {
		if err := checkAction(m); err != nil {
			return content{}, err
		}
	}
	return content{subject: cmp.Or(r.Subject, m.Subject), text: r.Text, html: r.HTML}, nil
}

// checkAction rejects an action_url of a built-in template that is not a web address,
// because the text part prints it unescaped.
func checkAction(m *Message) error {
	if m.Template == "verification" {
		return nil // has no link
	}
	const name = "action_url"
	var text string
	encoded, err := json.Marshal(m.Variables[name]) // the value as the template renders it
	if err == nil {
		err = json.Unmarshal(encoded, &text)
	}
	link, invalid := url.Parse(text)
	if err != nil || invalid != nil || link.Host == "" ||
		link.Scheme != "http" && link.Scheme != "https" {
		return errors.New("the variable " + name + " must be an http:// or https:// URL")
	}
	return nil
}
