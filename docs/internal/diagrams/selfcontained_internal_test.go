package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// outside matches an external address in a style sheet.
var outside = regexp.MustCompile(`(?i)@import|url\(\s*['"]?[^#'")\s]`)

// checkSelfContained returns an error unless the picture has a size and a view box, and
// contains no script, HTML or external reference.
func checkSelfContained(svg string) error {
	root, d := true, xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the picture is no XML: %w", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if err := element(token, root); err != nil {
				return err
			}
			root = false
		case xml.CharData:
			if outside.Match(token) {
				return errors.New("the picture has an address in its style sheet")
			}
		}
	}
}

// element returns an error for a forbidden element.
func element(e xml.StartElement, root bool) error {
	switch e.Name.Local {
	case "script", "foreignObject", "image", "iframe", "a":
		return fmt.Errorf("the picture has an element %s", e.Name.Local)
	}
	attributes := map[string]string{}
	for _, a := range e.Attr {
		attributes[a.Name.Local] = a.Value
		switch name := strings.ToLower(a.Name.Local); {
		case strings.HasPrefix(name, "on"), name == "href" && !strings.HasPrefix(a.Value, "#"),
			outside.MatchString(a.Value):
			return fmt.Errorf("the picture has an attribute %s=%q", a.Name.Local, a.Value)
		}
	}
	if !root {
		return nil
	}
	for _, name := range []string{"viewBox", "width", "height"} {
		if attributes[name] == "" {
			return fmt.Errorf("the picture has no %s", name)
		}
	}
	return nil
}
