// The calls of the API document, with the names that they have in the client.

/** Names of resources for tags that are no good names of properties. */
const RESOURCES = { operating: "server" };

/** Parts of paths that are resources, whatever their tag. */
const PATHS = ["feeds", "hooks"];

/** Names of methods for which the rule (the operation's id without the words of its resource) gives no good one. */
const METHODS = {
  cancel_all: "cancelAll",
  withdraw: "withdrawAll",
  withdraw_event: "withdraw",
  change_objects: "upsertMany",
  put_object: "upsert",
  retract_object: "retract",
  change_recipients: "patchMany",
  put_recipient: "upsert",
  healthz: "health",
  readyz: "ready",
  put_preferences: "replace",
  list_subscriptions: "list",
  pending: "list",
  inbox: "list",
  suppress: "add",
  unsuppress: "remove",
  get_suppression: "get",
  list_types: "types",
  pause_type: "pauseType",
  resume_type: "resumeType",
  list_nodes: "nodes",
  get_error: "error",
  my_inbox_counts: "counts",
  delete_my_items: "delete",
  delete_items: "delete",
  join_my_push: "addPush",
  leave_my_push: "removePush",
  join_push: "addPush",
  leave_push: "removePush",
  change_tenants: "patchMany",
  put_tenant: "upsert",
  list_members: "members",
  list_event_recipients: "recipients",
  list_followers: "followers",
  list_parked: "parked",
  put_member: "addMember",
  preview_message: "previewMessage",
  cancel_messages: "cancelMany",
  resend_messages: "resendMany",
  retry_messages: "retryMany",
};

/** Names of the methods that take streams, of calls whose resource has an `import` of its own. */
const IMPORTS = { change_members: "importMembers" };

/** What a call with a choice between two answers is divided into. */
const DIVIDED = {
  get_preferences: [
    { method: "get", answer: "Preference[]", summary: "List the preferences of a recipient" },
    { method: "choices", answer: "AllPreferences", fixed: { choices: true }, summary: "Get the preferences of a recipient, with all that may be chosen" },
  ],
  my_preferences: [{ method: "preferences", answer: "AllPreferences" }],
};

const METHODS_OF_HTTP = ["get", "put", "post", "patch", "delete"];

/** The calls by the name of their resource, in the order of the document. */
export function callsOf(api) {
  const resources = {};
  for (const [path, item] of Object.entries(api.paths)) {
    for (const verb of METHODS_OF_HTTP.filter((verb) => item[verb])) {
      const operation = item[verb];
      const tag = PATHS.find((part) => path.split("/")[2] === part) ?? operation.tags?.[0] ?? "server";
      const resource = RESOURCES[tag] ?? camel(tag);
      const described = api.tags?.find((one) => one.name === tag)?.description;
      const entry = (resources[resource] ??= { described, calls: [] });
      const call = callOf(api, path, verb, operation, tag);
      const divided = DIVIDED[operation.operationId];
      const calls = divided ? divided.map((part) => ({ ...call, query: call.query.filter(({ name }) => name !== "choices"), ...part })) : [call];
      entry.calls.push(...calls);
    }
  }
  for (const [resource, { calls }] of Object.entries(resources)) {
    const names = calls.flatMap(({ id, method, lines, importing }) => [[method, id], ...(lines ? [[importing, id]] : [])]);
    const twice = names.find(([name], at) => names.findIndex(([other]) => other === name) !== at);
    if (twice) throw new Error(`${resource}.${twice[0]} is there twice: name ${twice[1]} in generate/calls.mjs`);
  }
  return resources;
}

function callOf(api, path, verb, operation, tag) {
  const parameters = (operation.parameters ?? []).map((one) => (one.$ref ? api.components.parameters[one.$ref.split("/").pop()] : one));
  const success = Object.entries(operation.responses).filter(([status]) => /^2/.test(status));
  const contents = success.flatMap(([, answer]) => Object.entries(answer.content ?? {}));
  const answer = (type) => contents.find(([name]) => name === type)?.[1].schema;
  const body = operation.requestBody;
  return {
    id: operation.operationId,
    method: METHODS[operation.operationId] ?? methodOf(operation.operationId, tag),
    verb: verb.toUpperCase(),
    path,
    summary: operation.summary,
    description: operation.description,
    inPath: parameters.filter((parameter) => parameter.in === "path"),
    query: parameters.filter((parameter) => parameter.in === "query" && parameter.name !== "answers"),
    changes: parameters.some((parameter) => parameter.name === "Idempotency-Key"),
    resumes: parameters.some((parameter) => parameter.name === "Last-Event-ID"),
    body: body?.content["application/json"]?.schema,
    bodyRequired: body?.required === true,
    lines: body?.content["application/x-ndjson"]?.schema,
    importing: IMPORTS[operation.operationId] ?? "import",
    answerSchema: answer("application/json"),
    lineAnswer: body?.content["application/x-ndjson"] && answer("application/x-ndjson"),
    kind: contents.length === 0 ? "nothing" : answer("application/json") ? "application/json" : contents[0][0],
    empty: contents.length > 0 && ["204", "304"].some((status) => operation.responses[status]),
    paged: parameters.some(({ name }) => name === "cursor") ? itemsOf(api, answer("application/json")) : undefined,
  };
}

/** The property of a page that holds its items. */
function itemsOf(api, schema) {
  const page = api.components.schemas[schema.$ref.split("/").at(-1)];
  const properties = (page.allOf ?? [page]).flatMap((part) => Object.entries(part.properties ?? {}));
  const found = properties.find(([name, property]) => property.type === "array" && property.items.$ref && name !== "missing");
  return { name: found[0], type: found[1].items.$ref.split("/").at(-1) };
}

/** `list_feeds` of the tag `feeds` is `list`, `archive_mine` of `me` is `archive`. */
function methodOf(id, tag) {
  const own = tag === "me" ? ["my", "mine"] : [tag, tag.replace(/s$/, ""), tag.replace(/ies$/, "y")];
  const words = id.split("_").filter((word) => !own.includes(word));
  return camel(words.length ? words.join("_") : id);
}

function camel(text) {
  return text.replace(/[_-](\w)/g, (_, letter) => letter.toUpperCase());
}
