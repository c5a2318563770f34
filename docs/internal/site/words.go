package site

import (
	"github.com/plinthgo/plinth/docs/internal/markup"
	"github.com/plinthgo/plinth/docs/internal/page"
)

// words are the texts of the frame around a page, in one language.
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

// wordsOf returns the words of a language, English for one that is unknown.
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
		SiteName: "Plinth", Tagline: "The base that a Go service stands on: glue around gin, gorm and grpc-go.",
		Skip: "Skip to content", Menu: "Menu", Theme: "Colours", Auto: "automatic", Light: "light",
		Dark:          "dark",
		Documentation: "Documentation", OnThisPage: "On this page", Breadcrumb: "Breadcrumb",
		Pager: "Neighbouring pages", Prev: "Previous", Next: "Next",
		CopyPage: "Copy as Markdown", Copy: "Copy", Copied: "Copied", ViewMarkdown: "View Markdown",
		Edit:          "Edit this page",
		OtherLanguage: "中文", Pages: "%d pages", Overview: "Overview",
		ForModels:     "For language models",
		ForModelsText: "The same pages as plain Markdown, and over the Model Context Protocol.",
		Search:        "Search", SearchHint: "Search the documentation", SearchAll: "All results",
		Results: "Results",
		Close:   "Close", Navigate: "to move", Open: "to open", NoResults: "Nothing was found.",
		ResultCount: "%d results",
		DidYouMean:  "Did you mean", EmptyQuery: "Type a word, a name such as xdb, or part of one.",
		Previous: "Previous results", More: "More results",
		NotFound: "Page not found", NotFoundText: "There is no page at this address.",
		Nearest:  "These look most like it:",
		AllPages: "All of the documentation",
	}
}

func chinese() words {
	return words{
		Markup: markup.Words{
			Note: "说明", Tip: "提示", Important: "重要", Warning: "警告", Caution: "注意",
			Done: "已完成", Open: "未完成", Diagram: "示意图",
		},
		SiteName: "Plinth", Tagline: "Go 服务的基座：把 gin、gorm 与 grpc-go 连接在一起。",
		Skip: "跳到正文", Menu: "菜单", Theme: "配色", Auto: "自动", Light: "浅色", Dark: "深色",
		Documentation: "文档", OnThisPage: "本页内容", Breadcrumb: "当前位置",
		Pager: "相邻页面", Prev: "上一页", Next: "下一页",
		CopyPage: "复制为 Markdown", Copy: "复制", Copied: "已复制", ViewMarkdown: "查看 Markdown",
		Edit:          "编辑此页",
		OtherLanguage: "English", Pages: "%d 个页面", Overview: "概览", ForModels: "供语言模型使用",
		ForModelsText: "同样的页面，以纯 Markdown 和模型上下文协议（MCP）提供。",
		Search:        "搜索", SearchHint: "搜索文档", SearchAll: "全部结果", Results: "结果",
		Close: "关闭", Navigate: "移动", Open: "打开", NoResults: "没有找到结果。", ResultCount: "%d 个结果",
		DidYouMean: "您是不是要找", EmptyQuery: "请输入一个词，或名称的一部分，例如 xdb。",
		Previous: "前面的结果", More: "更多结果",
		NotFound: "找不到页面", NotFoundText: "这个地址没有页面。", Nearest: "最接近的页面：",
		AllPages: "全部文档",
	}
}
