// Search, color scheme, "Try it" and "Copy as curl". Without the script, the page shows the whole document.
(() => {
const $ = (selector, within = document) => within.querySelector(selector);
const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];
const root = document.documentElement;

function element(tag, properties, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

// The script runs before the page is painted, so that the chosen colors do not flash.
try {
  const theme = localStorage.getItem("theme");
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
} catch { /* storage is disabled: the system decides */ }

// Color scheme: cycles through automatic, light and dark.
function themes() {
  const button = $(".theme");
  const choices = ["automatic", "light", "dark"];
  const show = () => {
    button.ariaLabel = button.title = `Color scheme: ${root.dataset.theme || choices[0]}`;
  };
  button.addEventListener("click", () => {
    const next = choices[(choices.indexOf(root.dataset.theme || choices[0]) + 1) % choices.length];
    if (next === choices[0]) delete root.dataset.theme;
    else root.dataset.theme = next;
    try {
      if (next === choices[0]) localStorage.removeItem("theme");
      else localStorage.setItem("theme", next);
    } catch { /* storage is disabled: the choice applies to this page */ }
    show();
  });
  show();
  button.hidden = false;
}

// Operations: a link opens its operation. The description of an operation of a large document is loaded from its own page.
async function load(operation) {
  const part = $(":scope > .lazy", operation);
  if (!part || part.ariaBusy) return;
  part.ariaBusy = "true";
  try {
    const response = await fetch($("a", part).href);
    if (!response.ok) throw new Error(response.statusText);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    part.replaceWith($(".body", page));
    equip(operation);
  } catch {
    part.ariaBusy = null; // the link remains
  }
}

function equip(operation) {
  const body = $(":scope > .body[data-method]", operation);
  if (!body || $(".tools", body)) return;
  const button = element("button", { type: "button", className: "button", textContent: "Try it", ariaExpanded: "false" });
  const tools = element("div", { className: "tools" }, button);
  const before = $(":scope > .meta", body);
  before.after(tools);
  let form;
  button.addEventListener("click", () => {
    if (!form) tools.after(form = requestForm(body));
    else form.hidden = !form.hidden;
    button.ariaExpanded = String(!form.hidden);
    if (!form.hidden) $("input, select, textarea, button", form).focus();
  });
  scrollable(body);
}

// Elements that scroll become focusable.
const resized = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});
function scrollable(within) {
  for (const box of $$("pre, .table", within)) resized.observe(box);
}

function reveal(anchor) {
  const operation = document.getElementById(anchor);
  if (!operation?.matches("details.op")) return;
  operation.open = true;
  operation.scrollIntoView();
  $("summary", operation).focus({ preventScroll: true });
}

function operations() {
  document.addEventListener("toggle", (event) => {
    if (!event.target.matches?.("details.op") || !event.target.open) return;
    load(event.target);
    equip(event.target);
  }, true);
  const go = () => reveal(decodeURIComponent(location.hash.slice(1)));
  addEventListener("hashchange", go);
  document.addEventListener("click", (event) => { // the same link again does not change the hash
    const link = event.target.closest?.("a[href^='#']");
    if (!link) return;
    const side = $(".side");
    if (side.matches(":popover-open")) side.hidePopover();
    if (link.hash === location.hash) go();
  });
  go();
  const single = $("article.op");
  if (single) equip(single);
}

// The search box: a combobox (ARIA Authoring Practices). The field keeps the focus; the arrow keys move the selection.
function finder() {
  const box = $(".finder");
  if (!box?.showModal) return;
  const opener = $(".find");
  const field = $("input", box);
  const list = $(".found", box);
  const status = $(".status", box);
  const entries = $$("details.op").map((operation) => ({
    anchor: operation.id,
    method: $(".method", operation).textContent,
    path: $(".path", operation).textContent,
    title: $(".name", operation).textContent,
    find: operation.dataset.find,
  }));
  for (const entry of entries) entry.all = `${entry.method} ${entry.path} ${entry.title} ${entry.find}`.toLowerCase();
  opener.hidden = false;

  let chosen = -1;
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
  const search = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rank = ({ title, path, find }) => {
      const has = (text) => words.every((word) => text.toLowerCase().includes(word));
      return has(title) ? 0 : has(path) ? 1 : has(find.split(" ")[0]) ? 2 : 3;
    };
    const hits = words.length ? entries.filter(({ all }) => words.every((word) => all.includes(word))) : [];
    hits.sort((a, b) => rank(a) - rank(b));
    list.replaceChildren(...hits.slice(0, 50).map(({ anchor, method, path, title, find }, i) => {
      const [id, ...codes] = find.split(" ");
      const named = [id, ...codes].filter((text) => words.some((word) => text && text.toLowerCase().includes(word)));
      const option = element("a", { href: `#${anchor}`, id: `found-${i}`, tabIndex: -1, role: "option", ariaSelected: "false" },
        element("b", { className: `method ${method}`, textContent: method }), ` ${title}`,
        element("small", { textContent: [path, ...named].join(" · ") }));
      return option;
    }));
    list.scrollTop = 0;
    field.ariaExpanded = String(hits.length > 0);
    chosen = -1;
    choose(0);
    status.textContent = words.length ? `${hits.length || "No"} ${hits.length === 1 ? "operation" : "operations"} found` : "Type a word, a path, an operation ID or an error code.";
  };
  const close = () => {
    field.blur(); // a hidden field keeps the focus until the next frame
    box.close();
  };
  const open = () => {
    if (box.open || $("dialog[open]")) return;
    box.showModal();
    field.select();
    search();
  };
  opener.addEventListener("click", open);
  addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
    const shortcut = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
    const slash = event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!shortcut && !slash) return;
    event.preventDefault();
    if (shortcut && box.open) close();
    else open();
  });
  field.addEventListener("input", search);
  field.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(Math.max(chosen, 0) - 1);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  });
  $("form", box).addEventListener("submit", (event) => {
    event.preventDefault();
    list.children[chosen]?.click();
  });
  $(".close", box).addEventListener("click", close);
  box.addEventListener("click", (event) => {
    if (event.target === box || event.target.closest("a[role=option]")) close();
  });
  list.addEventListener("mousemove", (event) => {
    const option = event.target.closest("a");
    if (option && list.children[chosen] !== option) choose([...list.children].indexOf(option));
  });
}

// Credentials are only in the fields of the dialog.
function credentials(schemes) {
  return $$(".auth input").filter(({ value, dataset }) =>
    value && (!dataset.scheme || !schemes.length || schemes.includes(dataset.scheme)))
    .map(({ value, dataset }) => [dataset.in, dataset.key, credential(value.trim(), dataset.prefix)]);
}

function credential(value, prefix) {
  if (!prefix || /\s/.test(value)) return value;
  if (prefix === "Basic" && value.includes(":")) {
    value = btoa(String.fromCharCode(...new TextEncoder().encode(value)));
  }
  return `${prefix} ${value}`;
}

function authorization() {
  const box = $(".auth");
  if (!box?.showModal) return;
  const opener = $(".authorize");
  opener.hidden = false;
  opener.addEventListener("click", () => box.showModal());
  $(".close", box).addEventListener("click", () => box.close());
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // the focus returns to the opener, which the key would click
    box.close();
  });
  box.addEventListener("close", () => { opener.ariaPressed = String($$("input", box).some(({ value }) => value)); });
}

// A control for a parameter or a field of a form.
function control({ dataset }, item) {
  const required = dataset.required !== undefined;
  const value = dataset.value || "";
  const values = $$(":scope > .values code", item).map((code) => code.textContent);
  let field;
  if (dataset.file !== undefined) field = element("input", { type: "file", multiple: dataset.kind === "array" });
  else if (dataset.kind === "array") field = element("textarea", { rows: 2, value, placeholder: "one value per line" });
  else if (dataset.kind === "object") field = element("textarea", { rows: 3, value });
  else if (values.length || dataset.kind === "boolean") {
    const options = values.length ? values : ["true", "false"];
    field = element("select", {}, ...["", ...options].map((text) => element("option", { textContent: text, selected: text === value })));
  } else field = element("input", { type: "text", value, autocomplete: "off", spellcheck: false });
  field.required = required;
  field.name = dataset.name;
  return field;
}

function labeled(name, required, field) {
  const label = element("label", {}, element("code", { className: "name", textContent: name }));
  if (required) label.append(" ", element("em", { className: "required", textContent: "required" }));
  label.append(field);
  return label;
}

// fieldsOf returns the controls of a list of parameters or form fields.
function fieldsOf(body, selector) {
  return $$(selector, body).map((item) => {
    const field = control(item, item);
    const { name, joined, kind, in: place } = item.dataset;
    const read = () => {
      if (field.type === "file") return [...field.files];
      if (kind !== "array") return field.value === "" ? [] : [field.value];
      const lines = field.value.split("\n").filter(Boolean);
      return joined === undefined || !lines.length ? lines : [lines.join(",")];
    };
    return { name, place, read, label: labeled(name, field.required, field) };
  });
}

// bodyOf returns the controls of the request body and a function that reads it.
function bodyOf(body) {
  const contents = $$(":scope > .content[data-request]", body);
  if (!contents.length) return { nodes: [], read: () => ({}) };
  const holder = element("div", {});
  const choice = element("select", {}, ...contents.map(({ dataset }) => element("option", { textContent: dataset.media })));
  let read;
  const show = () => {
    const content = contents[choice.selectedIndex];
    const { media } = content.dataset;
    if (/^(multipart\/form-data|application\/x-www-form-urlencoded)/.test(media)) {
      const fields = fieldsOf(content, ":scope > .data > .inputs > li");
      read = () => ({ media, parts: fields.flatMap(({ name, read }) => read().map((value) => [name, value])) });
      holder.replaceChildren(...fields.map(({ label }) => label));
    } else if (/json|text|xml|yaml/.test(media)) {
      const text = $(":scope > .example code", content)?.textContent || "";
      const field = element("textarea", { value: text, rows: Math.min(Math.max(text.split("\n").length, 3), 20), spellcheck: false });
      read = () => ({ media, text: field.value });
      holder.replaceChildren(labeled("body", false, field));
    } else {
      const field = element("input", { type: "file" });
      read = () => ({ media, file: field.files[0] });
      holder.replaceChildren(labeled("body", false, field));
    }
  };
  choice.addEventListener("change", show);
  show();
  return { nodes: contents.length > 1 ? [labeled("content type", false, choice), holder] : [holder], read: () => read() };
}

// acceptOf returns a control for the media type of the response, or null if there is no choice.
function acceptOf(body) {
  const types = [...new Set($$(":scope > .content:not([data-request])", body).map(({ dataset }) => dataset.media))];
  if (types.length < 2) return null;
  return element("select", {}, ...types.map((type) => element("option", { textContent: type })));
}

// prefix is the path that a proxy adds to those of the service.
function prefix() {
  const { base } = document.body.dataset;
  const at = base ? location.pathname.indexOf(base) : 0;
  return location.pathname.slice(0, Math.max(at, 0)) || "/";
}

// The request of a form: method, url, headers and content.
function requestOf(body, server, accept, parameters, content) {
  const { method, path, schemes } = body.dataset;
  const headers = accept ? [["Accept", accept]] : [];
  const query = new URLSearchParams();
  let filled = path;
  for (const { name, place, read } of parameters) {
    const values = read();
    if (place === "path") {
      if (values[0] === "." || values[0] === "..") throw new Error(`${name} must not be ${values[0]}, because browsers shorten the path`);
      filled = filled.replaceAll(`{${name}}`, encodeURIComponent(values[0] ?? ""));
    } else if (place === "query") values.forEach((value) => query.append(name, value));
    else if (place === "header" && values.length) headers.push([name, values[0]]);
  }
  for (const [place, key, value] of credentials(schemes.split(" ").filter(Boolean))) {
    if (place === "query") query.append(key, value);
    else headers.push([key, value]);
  }
  const base = new URL(server || prefix(), document.baseURI).href.replace(/\/$/, "");
  const text = query.toString();
  const request = { method, url: base + filled + (text && `?${text}`), headers, ...content };
  const multipart = /^multipart/.test(request.media);
  if (request.media && !multipart && (request.text || request.file || request.parts)) headers.push(["Content-Type", request.media]);
  return request;
}

function payload({ media, text, file, parts }) {
  if (!parts) return text || file;
  if (!/^multipart/.test(media)) return new URLSearchParams(parts).toString();
  const form = new FormData();
  for (const [name, value] of parts) form.append(name, value);
  return form;
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

// curl returns the request as a command of a POSIX shell.
function curl(request) {
  const { method, url, headers, media, text, file, parts } = request;
  const words = ["curl"];
  if (/[[\]{}]/.test(url)) words.push("--globoff");
  if (method === "HEAD") words.push("--head");
  else if (method !== "GET" || text || file || parts) words.push(`--request ${method}`);
  words.push(quoted(url));
  for (const [name, value] of headers) words.push(`--header ${quoted(value ? `${name}: ${value}` : `${name};`)}`);
  if (text) words.push(`--data-raw ${quoted(text)}`);
  if (file) words.push(`--data-binary ${quoted(`@${file.name}`)}`);
  if (parts && !/^multipart/.test(media)) words.push(`--data-raw ${quoted(payload(request))}`);
  else {
    for (const [name, value] of parts || []) {
      if (value instanceof File) words.push(`--form ${quoted(`${name}=@"${value.name.replace(/["\\]/g, "\\$&")}"`)}`);
      else words.push(`--form-string ${quoted(`${name}=${value}`)}`);
    }
  }
  return words.join(" \\\n  ");
}

// pretty indents JSON and preserves the literals of numbers, which JSON.parse would round.
function pretty(text) {
  try { JSON.parse(text); } catch { return text; }
  let indent = "\n";
  let before = "";
  let out = "";
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[^\s{}[\],:"]+|[{}[\],:]/g)) {
    const closing = token === "}" || token === "]";
    if (closing) indent = indent.slice(0, -2);
    const opened = before === "{" || before === "[";
    if (opened && closing) out += token;
    else if (opened || closing || before === ",") out += indent + token;
    else out += token === ":" ? ": " : token;
    if (token === "{" || token === "[") indent += "  ";
    before = token;
  }
  return out;
}

const shownLength = 500_000; // characters of a body
const isText = (media) => !media || /^text\/|json|xml|yaml|javascript|urlencoded|event-stream/.test(media);
const isStream = (media) => /event-stream|ndjson|jsonl|json-lines|json-seq|x-json-stream/.test(media);

// receive shows a text while it arrives.
async function receive(response, output) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let length = 0;
  for (let part = await reader?.read(); part && !part.done; part = await reader.read()) {
    length += part.value.length;
    output.append(part.value);
    while (length > shownLength && output.childNodes.length > 1) { // only the last part of a long stream is shown
      length -= output.firstChild.data.length;
      output.firstChild.remove();
    }
    output.scrollTop = output.scrollHeight;
  }
}

async function show(response, output, area) {
  const media = response.headers.get("content-type") || "";
  if (isStream(media)) return receive(response, output);
  if (isText(media)) {
    const text = await response.text();
    const shown = /json/.test(media) ? pretty(text) : text;
    output.textContent = shown.slice(0, shownLength);
    if (shown.length > shownLength) output.append(`\n… ${shown.length - shownLength} more characters`);
    return undefined;
  }
  const blob = await response.blob();
  const name = /filename="?([^";]+)/.exec(response.headers.get("content-disposition"))?.[1] || "response";
  const link = element("a", { href: URL.createObjectURL(blob), download: name, textContent: `Save ${name} (${blob.size} bytes)` });
  area.append(element("p", {}, link));
  return undefined;
}

// The form of an operation.
function requestForm(body) {
  const parameters = fieldsOf(body, ":scope > .inputs > li").filter(({ place }) => place !== "cookie");
  const content = bodyOf(body);
  const accept = acceptOf(body);
  const servers = document.body.dataset.servers.split(" ");
  const server = element("select", {}, ...servers.map((text) => element("option", { textContent: text })));
  const send = element("button", { className: "button main", textContent: "Send" });
  const stop = element("button", { type: "button", className: "button", textContent: "Stop", disabled: true });
  const copy = element("button", { type: "button", className: "button", textContent: "Copy as curl" });
  const result = element("p", { className: "result", role: "status" });
  const area = element("div", { className: "area" });
  const form = element("form", { className: "try", ariaLabel: `Request: ${body.dataset.method} ${body.dataset.path}` });
  if (servers.length > 1) form.append(labeled("server", false, server));
  if (accept) form.append(labeled("response type", false, accept));
  form.append(element("div", { className: "grid" }, ...parameters.map(({ label }) => label)), ...content.nodes,
    element("div", { className: "tools" }, send, stop, copy), result, area);
  const request = () => requestOf(body, server.value, accept?.value, parameters, content.read());
  const block = (text) => {
    const pre = element("pre", {}, text);
    resized.observe(pre);
    return pre;
  };

  copy.addEventListener("click", async () => {
    try {
      const command = curl(request());
      area.replaceChildren(block(command));
      result.textContent = "Command";
      await navigator.clipboard?.writeText(command);
      if (navigator.clipboard) result.textContent = "Command copied";
    } catch (problem) { result.textContent = problem.message; }
  });

  let control;
  stop.addEventListener("click", () => control?.abort());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    control?.abort();
    const own = control = new AbortController();
    const started = performance.now();
    const elapsed = () => `${Math.round(performance.now() - started)} ms`;
    area.replaceChildren();
    result.textContent = "Sending …";
    stop.disabled = false;
    try {
      const r = request();
      const response = await fetch(r.url, {
        method: r.method, headers: r.headers, body: r.method === "GET" || r.method === "HEAD" ? undefined : payload(r), signal: own.signal,
      });
      const line = `${response.status} ${response.statusText}`.trim();
      result.textContent = `${line} · ${elapsed()}`;
      const lines = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
      const output = block("");
      area.append(element("details", {}, element("summary", { textContent: "Headers" }), block(lines)), output);
      await show(response, output, area);
      if (!output.textContent) output.remove();
      result.textContent = `${line} · ${elapsed()}`;
    } catch (problem) {
      if (own === control) result.textContent += problem.name === "AbortError" ? " · stopped" : ` · ${problem.message}`;
    }
    if (own === control) stop.disabled = true;
  });
  return form;
}

document.addEventListener("DOMContentLoaded", () => {
  themes();
  finder();
  authorization();
  operations();
});
})();
