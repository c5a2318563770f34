package site

import (
	"github.com/plinthgo/plinth/docs/internal/markup"
	"github.com/plinthgo/plinth/docs/internal/page"
)

// words contains the strings of the frame in one language.
type words struct {
	Markup markup.Words

	SiteName, Tagline, Skip, Menu, Theme, Auto, Light, Dark   string
	Documentation, OnThisPage, Breadcrumb, Pager, Prev, Next  string
	CopyPage, Copy, Copied, ViewMarkdown, Edit, OtherLanguage string
	Pages, ForModels, ForModelsText, Overview                 string

	Search, SearchHint, SearchAll, Results, Close, Navigate, Open  string
	NoResults, ResultCount, DidYouMean, EmptyQuery, Previous, More string
	NotFound, NotFoundText, Nearest, AllPages                      string
}

// wordsOf returns the strings of a language. The default is English.
func wordsOf(language string) words {
	if language == page.Chinese {
		return chinese()
	}
	return english()
}

func english() words {
	return words{
		Markup: markup.Words{
			Note: "Note", Tip: "Tip", Important: "Important", Warning: "Warning",
			Caution: "Caution",
			Done:    "done", Open: "to do", Diagram: "Diagram",
		},
		SiteName: "Plinth", Tagline: "The base for Go services on gin, gorm and grpc-go.",
		Skip: "Skip to content", Menu: "Menu", Theme: "Color scheme", Auto: "automatic",
		Light:         "light",
		Dark:          "dark",
		Documentation: "Documentation", OnThisPage: "On this page", Breadcrumb: "Breadcrumb",
		Pager: "Previous and next page", Prev: "Previous", Next: "Next",
		CopyPage: "Copy as Markdown", Copy: "Copy", Copied: "Copied", ViewMarkdown: "View Markdown",
		Edit:          "Edit this page",
		OtherLanguage: "中文", Pages: "%d pages", Overview: "Overview",
		ForModels:     "For language models",
		ForModelsText: "All pages as Markdown, and a Model Context Protocol server.",
		Search:        "Search", SearchHint: "Search the documentation", SearchAll: "All results",
		Results: "Results",
		Close:   "Close", Navigate: "to move", Open: "to open", NoResults: "Nothing was found.",
		ResultCount: "%d results",
		DidYouMean:  "Did you mean", EmptyQuery: "Type a word or a name, such as xdb.",
		Previous: "Previous results", More: "More results",
		NotFound: "Page not found", NotFoundText: "This page does not exist.",
		Nearest:  "Similar pages:",
		AllPages: "All documentation",
	}
}

func chinese() words {
	return words{
		Markup: markup.Words{
			Note: "说明", Tip: "提示", Important: "重要", Warning: "警告", Caution: "注意",
			Done: "已完成", Open: "未完成", Diagram: "示意图",
		},
		SiteName: "Plinth", Tagline: "Go 服务的基础库，基于 gin、gorm 和 grpc-go。",
		Skip: "跳到正文", Menu: "菜单", Theme: "配色方案", Auto: "自动", Light: "浅色", Dark: "深色",
		Documentation: "文档", OnThisPage: "本页内容", Breadcrumb: "当前位置",
		Pager: "相邻页面", Prev: "上一页", Next: "下一页",
		CopyPage: "复制为 Markdown", Copy: "复制", Copied: "已复制", ViewMarkdown: "查看 Markdown",
		Edit:          "编辑此页",
		OtherLanguage: "English", Pages: "%d 个页面", Overview: "概览", ForModels: "供语言模型使用",
		ForModelsText: "以 Markdown 提供的全部页面，以及模型上下文协议（MCP）服务器。",
		Search:        "搜索", SearchHint: "搜索文档", SearchAll: "全部结果", Results: "结果",
		Close: "关闭", Navigate: "移动", Open: "打开", NoResults: "未找到结果。", ResultCount: "%d 个结果",
		DidYouMean: "您是否要找", EmptyQuery: "请输入关键词或名称，例如 xdb。",
		Previous: "上一页结果", More: "下一页结果",
		NotFound: "页面不存在", NotFoundText: "该地址对应的页面不存在。", Nearest: "相似页面：",
		AllPages: "全部文档",
	}
}
