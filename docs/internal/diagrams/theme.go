package main

// A theme is a color scheme of pictures.
type theme struct {
	name      string
	variables map[string]any
}

// themes returns the themes for light and dark pages.
func themes() []theme {
	return []theme{
		{name: "light", variables: colors(palette{
			page: "#ffffff", node: "#eaf2ff", border: "#5b82bd", text: "#1f2328", line: "#57606a",
			group: "#f6f8fa", groupBorder: "#afb8c1", note: "#fff8c5", noteBorder: "#bf8700",
		})},
		{name: "dark", variables: colors(palette{
			dark: true,
			page: "#0d1117", node: "#1b2b45", border: "#5f8fd6", text: "#e6edf3", line: "#9198a1",
			group: "#161b22", groupBorder: "#484f58", note: "#3a2f0b", noteBorder: "#d4a72c",
		})},
	}
}

// A palette contains the colors of a theme.
type palette struct {
	dark                                                                 bool
	page, node, border, text, line, group, groupBorder, note, noteBorder string
}

// colors returns the variables of Mermaid's theme "base".
func colors(p palette) map[string]any {
	return map[string]any{
		"darkMode":     p.dark,
		"background":   p.page,
		"fontFamily":   fonts,
		"fontSize":     "15px",
		"primaryColor": p.node, "primaryBorderColor": p.border, "primaryTextColor": p.text,
		"secondaryColor": p.group, "secondaryBorderColor": p.groupBorder,
		"secondaryTextColor": p.text,
		"tertiaryColor":      p.group, "tertiaryBorderColor": p.groupBorder,
		"tertiaryTextColor": p.text,
		"lineColor":         p.line, "textColor": p.text, "titleColor": p.text,
		"edgeLabelBackground": p.page,
		"clusterBkg":          p.group, "clusterBorder": p.groupBorder,
		"noteBkgColor": p.note, "noteBorderColor": p.noteBorder, "noteTextColor": p.text,
		"signalColor": p.line, "signalTextColor": p.text,
		"labelBoxBkgColor": p.node, "labelBoxBorderColor": p.border, "labelTextColor": p.text,
		"loopTextColor":  p.text,
		"actorLineColor": p.line, "activationBkgColor": p.group, "activationBorderColor": p.border,
		"transitionColor": p.line, "transitionLabelColor": p.text,
	}
}

// fonts are available on every system.
const fonts = "system-ui, sans-serif"
