package mcptools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xbind"
	"github.com/plinthgo/plinth/core/major/xhttp"
	"github.com/plinthgo/plinth/core/major/xroute"
)

// parts are the parts of a request.
type parts struct {
	path, query, form url.Values
	header            http.Header
	body              map[string]json.RawMessage
}

// request returns the request of a call. The operation validates the values. The error
// joins the problems of arguments that cannot be part of a request.
func (t *tool) request(arguments json.RawMessage) (*http.Request, error) {
	values := map[string]json.RawMessage{}
	if len(arguments) > 0 {
		if err := json.Unmarshal(arguments, &values); err != nil {
			return nil, errors.New("the arguments must be an object")
		}
	}
	p := &parts{
		path: url.Values{}, query: url.Values{}, form: url.Values{}, header: http.Header{},
		body: map[string]json.RawMessage{},
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if err := t.add(p, name, values[name]); err != nil {
			errs = append(errs, fmt.Errorf("argument %s %w", name, err))
		}
	}
	path, err := fillPath(t.op.Path, p.path)
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	r := &http.Request{
		Method: t.op.Method, URL: &url.URL{Path: path, RawQuery: p.query.Encode()},
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: p.header, Body: http.NoBody,
	}
	r.RequestURI = r.URL.RequestURI()
	xhttp.Accept.Set(r.Header, mimeJSON)
	return r, t.setBody(r, p)
}

// add adds the value of an argument.
func (t *tool) add(p *parts, name string, value json.RawMessage) error {
	a, ok := t.args[name]
	if !ok {
		return fmt.Errorf("is unknown (known: %s)",
			strings.Join(slices.Sorted(maps.Keys(t.args)), ", "))
	}
	if a.from == xvalid.Body && t.op.Layout.Body == xbind.BodyJSON {
		p.body[a.name] = value
		return nil
	}
	if a.from == xvalid.Body && t.wholeBody {
		return p.addForm(t.op, value)
	}
	list, err := stringsOf(value, a.separator)
	if err != nil {
		return err
	}
	switch a.from {
	case xvalid.Path:
		p.path[a.name] = list
	case xvalid.Query:
		p.query[a.name] = list
	case xvalid.Header:
		if strings.ContainsAny(strings.Join(list, ""), "\r\n\x00") {
			return errors.New("must not contain control characters")
		}
		p.header[http.CanonicalHeaderKey(a.name)] = list
	case xvalid.Body:
		p.form[a.name] = list
	}
	return nil
}

// addForm adds the members of the argument "body" to the form.
func (p *parts) addForm(op *xapi.Operation, value json.RawMessage) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(value, &members); err != nil {
		return errors.New("must be an object")
	}
	for name, member := range members {
		list, err := stringsOf(member, formSeparator(op, name))
		if err != nil {
			return fmt.Errorf("has the member %s, which %w", name, err)
		}
		p.form[name] = list
	}
	return nil
}

// stringsOf returns the text of a JSON value, or of the elements of a list, which are
// joined by separator unless it is empty. null has no text.
func stringsOf(value json.RawMessage, separator string) ([]string, error) {
	switch value[0] {
	case 'n':
		return nil, nil
	case '{':
		return nil, errors.New("must not be an object")
	case '"':
		var s string
		err := json.Unmarshal(value, &s)
		return []string{s}, err
	case '[':
		var elements []json.RawMessage
		if err := json.Unmarshal(value, &elements); err != nil {
			return nil, err
		}
		var list []string
		for _, element := range elements {
			s, err := stringsOf(element, "")
			if err != nil {
				return nil, err
			}
			list = append(list, s...)
		}
		if separator != "" && len(list) > 0 {
			list = []string{strings.Join(list, separator)}
		}
		return list, nil
	default:
		return []string{string(value)}, nil
	}
}

// fillPath returns the path of a route with values for its parameters. A value of a
// single segment must not contain a slash, because the path could be that of another
// operation.
func fillPath(route string, values url.Values) (string, error) {
	var errs []error
	segments := strings.Split(route, "/")
	for i, segment := range segments {
		at := strings.IndexAny(segment, ":*")
		if at < 0 {
			continue
		}
		name, value := segment[at+1:], strings.Join(values[segment[at+1:]], ",")
		switch {
		case segment[at] == '*':
			value = strings.TrimPrefix(value, "/")
		case value == "":
			errs = append(errs, fmt.Errorf("argument %s is required", name))
		case strings.Contains(value, "/"):
			errs = append(errs, fmt.Errorf("argument %s must not contain a slash", name))
		}
		segments[i] = segment[:at] + value
	}
	return strings.Join(segments, "/"), errors.Join(errs...)
}

func (t *tool) setBody(r *http.Request, p *parts) error {
	var body []byte
	var err error
	switch t.op.Layout.Body {
	case xbind.BodyJSON:
		xhttp.ContentType.Set(r.Header, mimeJSON)
		if t.wholeBody {
			body = p.body[bodyName]
		} else {
			body, err = json.Marshal(p.body)
		}
	case xbind.BodyForm:
		xhttp.ContentType.Set(r.Header, mimeForm)
		body = []byte(p.form.Encode())
	default:
		return nil
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return err
}

// forward adds the context and the address of the client, the headers of proxies, and the
// configured headers.
func (s *server) forward(r, caller *http.Request, route string) *http.Request {
	ctx := context.WithValue(caller.Context(), routeKey{}, &expectedRoute{path: route})
	r = r.WithContext(ctx)
	r.Host, r.RemoteAddr, r.TLS = caller.Host, caller.RemoteAddr, caller.TLS
	proxy := append([]string{
		"Forwarded", "X-Forwarded-Host", "X-Forwarded-Proto",
		s.engine.TrustedPlatform,
	}, s.engine.RemoteIPHeaders...)
	for _, name := range append(proxy, s.config.headers...) {
		name = http.CanonicalHeaderKey(name)
		if values, ok := caller.Header[name]; ok {
			r.Header[name] = values
		}
	}
	if id := xctx.RequestID(ctx); id != "" {
		xhttp.RequestUUID.Set(r.Header, id)
	}
	return r
}

type routeKey struct{}

// expectedRoute is the route of a call. Only the first request with the context is
// checked, because the operation may send other requests with its context to the engine.
type expectedRoute struct {
	path    string
	checked atomic.Bool
}

// checkRoute rejects a call whose path belongs to another route. For example, the value
// "export" of a parameter could select the route /users/export instead of /users/:id.
func checkRoute(c *gin.Context) {
	expected, ok := c.Request.Context().Value(routeKey{}).(*expectedRoute)
	if ok && !expected.checked.Swap(true) && c.FullPath() != expected.path {
		xroute.NoRoute(c)
	}
}
