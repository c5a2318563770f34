// draw returns the SVG of a Mermaid diagram, as a text that stands alone: with a size, without HTML in it.
async function draw(code, id, themeVariables, fontFamily) {
  const sized = { useMaxWidth: false };
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: "strict",
    look: "classic",
    theme: "base",
    themeVariables,
    themeCSS: ".edgeLabel rect { opacity: 1; }", // a line does not strike through its text
    fontFamily,
    htmlLabels: false,
    deterministicIds: true,
    deterministicIDSeed: id,
    flowchart: { ...sized, htmlLabels: false, wrappingWidth: 280 },
    sequence: sized,
    state: sized,
    class: { ...sized, htmlLabels: false },
    er: sized,
    gantt: sized,
  });
  const { svg } = await mermaid.render(id, code);
  const holder = document.createElement("div");
  holder.innerHTML = svg;
  const root = holder.querySelector("svg");
  document.body.append(holder);
  for (const state of root.querySelectorAll(".statediagram-state")) center(state);
  const { width, height } = root.viewBox.baseVal;
  root.setAttribute("width", Math.ceil(width));
  root.setAttribute("height", Math.ceil(height));
  root.removeAttribute("style");
  return new XMLSerializer().serializeToString(root);
}

// center moves the text of a state to the middle of its box, where the library leaves it at the left.
function center(state) {
  const [box, label] = [state.querySelector(":scope > rect"), state.querySelector(":scope > .label")];
  const moved = label?.transform.baseVal.consolidate();
  if (!box || !moved) return;
  const [outer, inner] = [box.getBBox(), label.getBBox()];
  label.setAttribute("transform", `translate(${outer.x + outer.width / 2 - inner.x - inner.width / 2}, ${moved.matrix.f})`);
}
