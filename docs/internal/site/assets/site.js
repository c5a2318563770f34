// Search while typing, copy buttons, color scheme switch, and highlighting in the table of contents.
// Without the script, the pages show all content and the search is a separate page.
const $ = (selector, within = document) => within.querySelector(selector);
const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];
const text = document.body.dataset;

function element(tag, properties, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

// Color scheme: cycles through automatic, light and dark.
function themes() {
  const button = $(".theme");
  const choices = ["auto", "light", "dark"];
  const root = document.documentElement;
  const show = () => {
    button.ariaLabel = button.title = `${text.theme}: ${text[root.dataset.theme || "auto"]}`;
  };
  button.addEventListener("click", () => {
    const next = choices[(choices.indexOf(root.dataset.theme || "auto") + 1) % choices.length];
    if (next === "auto") delete root.dataset.theme;
    else root.dataset.theme = next;
    try {
      if (next === "auto") localStorage.removeItem("theme");
      else localStorage.setItem("theme", next);
    } catch { /* storage is disabled: the choice applies to this page */ }
    show();
  });
  show();
  button.hidden = false;
}

// showResult shows for a moment whether a copy succeeded.
function showResult(button, done) {
  const before = button.textContent;
  if (before === text.copied) return;
  button.textContent = done ? text.copied : "×";
  setTimeout(() => { button.textContent = before; }, 1500);
}

function copyButton(block) {
  const button = element("button", { type: "button", textContent: text.copy });
  button.addEventListener("click", () => {
    navigator.clipboard.writeText($("code", block).textContent).then(() => showResult(button, true), () => showResult(button, false));
  });
  block.append(button);
}

// Elements that scroll horizontally become focusable. Code gets its copy button when it is near the viewport.
function blocks() {
  const resized = new ResizeObserver((entries) => {
    const boxes = entries.map(({ target }) => [target, target.scrollWidth > target.clientWidth]); // read all, then write
    for (const [box, wide] of boxes) {
      if (wide) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  });
  for (const box of $$(".code pre, .table, .diagram")) resized.observe(box);
  if (!navigator.clipboard) return;
  const near = new IntersectionObserver((entries) => {
    for (const { target } of entries.filter((entry) => entry.isIntersecting)) {
      near.unobserve(target);
      copyButton(target);
    }
  }, { rootMargin: "1500px" });
  for (const block of $$(".code")) near.observe(block);
}

// Copies the page as Markdown.
function copyPage() {
  const button = $(".copy-page");
  if (!button || !navigator.clipboard) return;
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      const response = await fetch(button.dataset.source);
      if (!response.ok) throw new Error(response.statusText);
      await navigator.clipboard.writeText(await response.text());
      showResult(button, true);
    } catch { showResult(button, false); }
  });
}

// Scrolls the navigation to the current page, and highlights the current section in the table of contents.
function places() {
  const side = $(".side");
  const wide = matchMedia("(min-width: 62rem)");
  const current = $("a[aria-current=page]", side);
  const reveal = () => {
    if (current && current.offsetTop > side.clientHeight * 0.8) side.scrollTop = current.offsetTop - side.clientHeight / 2;
  };
  if (wide.matches) reveal();
  side.addEventListener("toggle", reveal);
  wide.addEventListener("change", () => { if (side.matches(":popover-open")) side.hidePopover(); });

  const box = $(".toc details");
  if (!box) return;
  const column = matchMedia("(min-width: 76rem)");
  const unfold = () => { box.open = column.matches; };
  unfold();
  column.addEventListener("change", unfold);
  const links = $$("a", box).map((link) => [link, document.getElementById(decodeURIComponent(link.hash.slice(1)))]);
  let shown;
  let waiting = false;
  const follow = () => {
    waiting = false;
    let at = links[0];
    for (const entry of links) if (entry[1] && entry[1].getBoundingClientRect().top < 120) at = entry;
    if (scrollY + innerHeight >= document.documentElement.scrollHeight - 4) at = links.at(-1);
    if (at[0] === shown) return;
    shown?.removeAttribute("aria-current");
    shown = at[0];
    shown.setAttribute("aria-current", "true");
    const list = box.parentElement;
    if (list.scrollHeight > list.clientHeight) list.scrollTop = shown.offsetTop - list.clientHeight / 2;
  };
  addEventListener("scroll", () => {
    if (!waiting) requestAnimationFrame(follow);
    waiting = true;
  }, { passive: true });
  follow();
}

// Words of a query, for highlighting and for the search without a server.
const wordsOf = (query) => query.toLowerCase().match(/[\p{L}\p{N}]+/gu) || [];

// marked returns a text as nodes, with the words of the query highlighted. It never creates HTML.
function marked(content, words) {
  if (!words.length) return [content];
  const pattern = new RegExp(`(${words.toSorted((a, b) => b.length - a.length).join("|")})`, "giu");
  return content.split(pattern).map((part, i) => (i % 2 ? element("mark", { textContent: part }) : part));
}

// fileSearch searches the index file of static hosts.
async function fileSearch(address, query, signal) {
  fileSearch.sections ??= await fetch(address, { signal }).then((response) => response.json());
  const words = wordsOf(query);
  if (!words.length) return [];
  const foreign = /^[\x00-\x7f]*$/.test(query) ? 5 : 0; // penalty of Chinese pages for an English query
  const score = (s) => words.reduce((sum, word) => {
    const parts = [[s.t, 10], [s.h, 6], [s.x, 1]].filter(([part]) => part?.toLowerCase().includes(word));
    return sum + parts.reduce((total, [part, weight]) => total + weight * (part.toLowerCase() === word ? 2 : 1), parts.length ? 50 : 0);
  }, 0);
  const has = (part) => words.every((word) => part.toLowerCase().includes(word));
  const isJava = (s) => s.u.startsWith("/docs/base-java") && !words.includes("java");
  const level = (s) => (isJava(s) ? 3 : !s.h && has(s.t) ? 0 : s.h && has(s.h) ? 1 : 2); // title, heading, text
  const hits = fileSearch.sections.map((s) => [score(s), s]).filter(([points]) => points > 0)
    .map(([points, s]) => [points - (s.l ? foreign : 0), s])
    .sort((a, b) => level(a[1]) - level(b[1]) || b[0] - a[0]).slice(0, 20);
  const pages = new Map();
  for (const [, s] of hits) {
    const url = s.u.split("#")[0];
    if (!pages.has(url)) pages.set(url, [{ url, type: "page", content: s.t }]);
    if (s.h) pages.get(url).push({ url: s.u, type: "heading", content: s.h });
    const at = (s.x || "").toLowerCase().indexOf(words[0]);
    if (at >= 0) pages.get(url).push({ url: s.u, type: "text", content: s.x.slice(Math.max(0, at - 50), at + 110) });
  }
  return [...pages.values()].flat();
}

async function serverSearch(address, query, signal) {
  const response = await fetch(`${address}?query=${encodeURIComponent(query)}`, { signal });
  if (!response.ok) throw new Error(response.statusText);
  return response.json();
}

// The search box: a combobox (ARIA Authoring Practices). The field keeps the focus; the arrow keys move the selection.
function finder() {
  const opener = $(".find");
  const box = $(".finder");
  if (!box.showModal) return;
  const field = $("[role=combobox]", box);
  const list = $(".found", box);
  const status = $(".status", box);
  const all = $(".keys a", box);
  const isFile = text.search.endsWith(".json");
  const mac = /Mac|iP(hone|ad|od)/.test(navigator.platform);
  if (mac) $("kbd", opener).textContent = "⌘K";
  opener.hidden = false;
  opener.setAttribute("role", "button");
  opener.setAttribute("aria-haspopup", "dialog");
  opener.setAttribute("aria-keyshortcuts", mac ? "Meta+K /" : "Control+K /");

  let chosen = -1;
  let request;
  let timer;
  let answered; // query of the visible results
  const choose = (index) => {
    const options = list.children;
    options[chosen]?.setAttribute("aria-selected", "false");
    chosen = options.length ? (index + options.length) % options.length : -1;
    const option = options[chosen];
    if (!option) return field.removeAttribute("aria-activedescendant");
    option.setAttribute("aria-selected", "true");
    option.scrollIntoView({ block: "nearest" });
    return field.setAttribute("aria-activedescendant", option.id);
  };
  const say = (message, quiet) => {
    status.textContent = message;
    status.classList.toggle("quiet", Boolean(quiet));
  };
  const show = (results, query) => {
    const words = wordsOf(query);
    list.replaceChildren(...results.map((result, i) => {
      const option = element("a", { href: result.url, id: `found-${i}`, className: result.type, tabIndex: -1 },
        element("span", {}, ...marked(result.content, words)));
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", "false");
      if (result.breadcrumbs?.length) option.append(element("small", { textContent: result.breadcrumbs.join(" › ") }));
      return option;
    }));
    list.scrollTop = 0;
    if (all) all.search = new URLSearchParams(new FormData(field.form));
    field.setAttribute("aria-expanded", String(results.length > 0));
    answered = query;
    chosen = -1;
    choose(0);
    if (!query) say(status.dataset.hint);
    else if (!results.length) say(status.dataset.none);
    else say(status.dataset.count.replace("%d", results.length), true);
  };
  const search = async () => {
    const query = field.value.trim();
    request?.abort();
    request = new AbortController();
    if (!query) return show([], "");
    try {
      return show(await (isFile ? fileSearch : serverSearch)(text.search, query, request.signal), query);
    } catch (problem) {
      if (problem.name !== "AbortError") show([], query);
      return undefined;
    }
  };
  const close = () => {
    field.blur(); // a hidden field keeps the focus until the next frame
    box.close();
  };
  const open = () => {
    if (box.open) return;
    box.showModal();
    field.select();
    search();
  };
  const visit = async (event) => {
    event.preventDefault();
    const query = field.value.trim();
    clearTimeout(timer);
    if (query !== answered) await search(); // Enter was pressed before the response
    if (query === answered && list.children[chosen]) list.children[chosen].click();
    else if (query && !isFile) event.target.submit();
  };

  opener.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open();
  });
  addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
    const shortcut = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
    const slash = event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!shortcut && !slash) return;
    event.preventDefault();
    if (shortcut && box.open) close();
    else open();
  });
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, 120);
  });
  field.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(Math.max(chosen, 0) - 1);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  });
  $("form", box).addEventListener("submit", visit);
  $(".close", box).addEventListener("click", () => close());
  box.addEventListener("click", (event) => {
    if (event.target === box || event.target.closest("a[role=option]")) close();
  });
  list.addEventListener("mousemove", (event) => {
    const option = event.target.closest("a");
    if (option && list.children[chosen] !== option) choose([...list.children].indexOf(option));
  });
}

// Run the interactive parts first and the others in separate tasks, to keep the page responsive.
finder();
themes();
copyPage();
for (const part of [places, blocks]) setTimeout(part);
