/** An answer of the handler itself, in the form of Postern, so that the client reads it as one. */
export function problemResponse(
  status: number,
  code: string,
  title: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const body = {
    type: `urn:postern:problem:${code}`,
    title,
    status,
    detail: title,
    errors: [{ code, message: title }],
  };
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store', ...headers },
  });
}
