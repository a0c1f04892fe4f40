// Requests to the server that sent this page. The token stands in the fragment of the address.

const headers = () => ({ Authorization: `Bearer ${location.hash.slice(1)}` });

export async function get(path) {
  return answer(await fetch(path, { headers: headers() }));
}

export async function post(path, body) {
  return answer(await fetch(path, { method: "POST", headers: headers(), body: JSON.stringify(body) }));
}

async function answer(response) {
  if (response.headers.get("Content-Type") !== "application/json") return response.blob();
  const body = await response.json();
  if (!response.ok) throw new Error(body.error);
  return body;
}

/** Calls `each` with every line; returns when the server ends the stream. */
export async function lines(path, each) {
  const response = await fetch(path, { headers: headers() });
  if (!response.ok) return answer(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return undefined;
    const found = (rest + value).split("\n");
    rest = found.pop();
    found.forEach((line) => each(JSON.parse(line)));
  }
}
