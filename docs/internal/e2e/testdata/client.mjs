// Lists and calls the four tools with a TypeScript client, and writes what it got as JSON.
//
//   node client.mjs legacy|modern URL
//
// legacy is the client before the protocol of 2026-07-28, modern the one after it.
const [generation, url] = process.argv.slice(2);

async function legacy() {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const client = new Client({ name: "e2e", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}

async function modern() {
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const client = new Client({ name: "e2e", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}

const client = await (generation === "modern" ? modern() : legacy());
const call = async (name, args) => {
  const result = await client.callTool({ name, arguments: args });
  return { isError: result.isError ?? false, text: result.content[0].text, ...result.structuredContent };
};
const { tools } = await client.listTools();
const { sectors } = await call("sector", {});
const sector = sectors[0];
const list = await call("list", { sector });
const detail = await call("detail", { sector, path: list.documents[0].path });
const search = await call("search", { query: "database" });
const unknown = await call("detail", { sector, path: "/no/such/page" });
const protocol = client.getNegotiatedProtocolVersion?.() ?? client.transport?.protocolVersion ?? "";
console.log(JSON.stringify({ protocol, tools: tools.map((t) => t.name), sectors, list, detail, search, unknown }));
await client.close();
