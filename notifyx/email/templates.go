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

// templateFiles are the templates that every client has, in English and Chinese:
// "welcome" greets a new user, "verification" holds a code that proves an address,
// "password_reset" the link that sets a new password.
//
//go:embed templates
var templateFiles embed.FS

// builtinTemplates are compiled once for all clients, which only read them.
var builtinTemplates = sync.OnceValues(func() (*notifyx.Templates, error) {
	t := notifyx.NewTemplates()
	return t, t.AddFS(templateFiles, "templates/*")
})

// AddTemplateFS adds the templates in the files that match pattern, see
// notifyx.Templates.AddFS for their names. A template that has the name of a built-in one
// replaces it, in all languages.
func (c *EmailClient) AddTemplateFS(fsys fs.FS, pattern string) error {
	if err := c.own.AddFS(fsys, pattern); err != nil {
		return fmt.Errorf("email: %w", err)
	}
	return nil
}

// render returns what the message's template makes of its variables. The language is the
// message's, the request's, or Config.Language.
func (c *EmailClient) render(ctx context.Context, m *Message) (content, error) {
	templates := c.builtin
	if c.own.Has(m.Template) {
		templates = c.own
	}
	asked := ""
	if request := xctx.RequestFrom(ctx); request != nil {
		asked = request.AcceptLanguage()
	}
	r, err := templates.Render(m.Template, cmp.Or(m.Language, asked, c.config.Language),
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

// checkAction refuses a link of a built-in template that is no web address: their text
// prints it as it is.
func checkAction(m *Message) error {
	if m.Template == "verification" {
		return nil // it has none
	}
	const name = "action_url"
	var text string
	encoded, err := json.Marshal(m.Variables[name]) // what the template is filled in with
	if err == nil {
		err = json.Unmarshal(encoded, &text)
	}
	link, invalid := url.Parse(text)
	if err != nil || invalid != nil || link.Host == "" || link.Scheme != "http" &&
		link.Scheme != "https" {
		return errors.New("the variable " + name +
			" is no address that begins with http:// or https://")
	}
	return nil
}
