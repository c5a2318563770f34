// Registers a user and logs in, with a client that is typed by the OpenAPI document.
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

declare const process: { argv: string[] };

type User = components["schemas"]["User"];

const client = createClient<paths, "application/json">({ baseUrl: process.argv[2] ?? "" });
const ada = { username: "ada", email: "ada@example.com", password: "correct horse" };

function equal<T>(what: string, got: T, want: T): void {
  if (got !== want) {
    throw new Error(`${what} = ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
  }
}

function defined<T>(what: string, value: T | undefined): T {
  if (value === undefined) {
    throw new Error(`${what} is missing`);
  }
  return value;
}

async function register(): Promise<User> {
  const { data, response } = await client.POST("/api/v1/user/register", { body: ada });
  const envelope = defined("the envelope", data);
  const output: "Success" = envelope.output;
  equal("output", output, "Success");
  equal("message", envelope.message, "registered");
  equal("username", envelope.data.username, ada.username);
  equal("email", envelope.data.email, ada.email);
  equal("context", envelope.context, response.headers.get("X-Request-UUID"));
  if (Number.isNaN(Date.parse(envelope.data.created_at))) {
    throw new Error(`created_at = ${envelope.data.created_at}, want a date`);
  }
  return envelope.data;
}

async function registerTwice(): Promise<void> {
  const { error, response } = await client.POST("/api/v1/user/register", { body: ada });
  equal("status", response.status, 400);
  const failure = defined("the error", error);
  equal("output", failure.output, "EXISTED");
  equal("code", failure.code, 40001);
  // @ts-expect-error: the operation has no such error
  const absent: typeof failure.output = "NOT_EXIST";
  void absent;
}

async function registerInvalid(): Promise<void> {
  const { error } = await client.POST("/api/v1/user/register", {
    body: { ...ada, email: "invalid" },
  });
  const failure = defined("the error", error);
  equal("output", failure.output, "BODY_ERROR");
  const fields = failure.data as components["schemas"]["FieldError"][];
  equal("fields", fields.length, 1);
  equal("field", fields[0]?.field, "email");
  equal("tag", fields[0]?.tag, "email");
}

async function logIn(user: User): Promise<void> {
  const path = "/api/v1/user/login";
  const { data } = await client.POST(path, { body: { username: "ada", password: ada.password } });
  equal("id", data?.data.id, user.id);

  const wrong = await client.POST(path, { body: { username: "ada", password: "wrong" } });
  equal("status", wrong.response.status, 401);
  equal("output", wrong.error?.output, "UNAUTHORIZED");
  const unknown = await client.POST(path, { body: { username: "bob", password: "wrong" } });
  equal("output", unknown.error?.output, "USER_NOT_FOUND");

  const empty = await client.POST(path, { body: { username: "", password: "" } });
  equal("status", empty.response.status, 400);
  if (empty.error?.output !== "BODY_ERROR" || !empty.error.data) {
    throw new Error(`error = ${JSON.stringify(empty.error)}, want the invalid fields`);
  }
  equal("fields", empty.error.data.map((f) => f.field).join(), "username,password");

  // @ts-expect-error: the password is required
  await client.POST(path, { body: { username: "ada" } });
}

async function get(user: User): Promise<void> {
  const path = "/api/v1/user/{id}";
  const { data } = await client.GET(path, { params: { path: { id: user.id } } });
  const envelope = defined("the envelope", data);
  equal("username", envelope.data.username, "ada");
  const detail: string | null = envelope.errorMessage; // the envelope of the Java library
  equal("errorMessage", detail, null);
  equal("type of duration", typeof envelope.duration, "number");

  const missing = await client.GET(path, { params: { path: { id: "1" } } });
  equal("status", missing.response.status, 400);
  equal("output", missing.error?.output, "NotExist");
  const invalid = await client.GET(path, { params: { path: { id: "ada" } } });
  equal("output", invalid.error?.output, "ParameterError");
}

async function ping(): Promise<void> {
  const plain = await client.GET("/ping");
  equal("message", plain.data?.message, "pong");
  const api = await client.GET("/api/ping");
  equal("data", api.data?.data, "pong");
}

const user = await register();
await registerTwice();
await registerInvalid();
await logIn(user);
await get(user);
await ping();
console.log("passed");
