/** Requests of the app to the API server: the browser adds the session. Failures reject with StatusError. */
import { responseError } from '../../../client/response-error.ts';
import { fetchPatiently } from './patient-fetch.ts';
import { proofHeaders, proofProtocols, sessionEnded } from './session.ts';

/** Sends a request; rejects with the server's StatusError unless the answer's status is 2xx. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  for (const [name, value] of Object.entries(proofHeaders())) headers.set(name, value);
  const response = await fetchPatiently(path, { ...init, headers });
  if (response.ok) return response;
  if (response.status === 401) sessionEnded();
  throw responseError(`${init.method ?? 'GET'} ${path}`, response.status, await response.text());
}

export async function requestJson<T>(path: string, init: RequestInit = {}): Promise<T> {
  const headers = new Headers(init.headers);
  if (!headers.has('accept')) headers.set('accept', 'application/json');
  const response = await request(path, { ...init, headers });
  return (await response.json()) as T;
}

/** Sends a JSON body by `method`; `type` is its media type, such as that of a patch. */
export const sendJson = <T>(method: string, path: string, body: unknown, type = 'application/json') =>
  requestJson<T>(path, { method, headers: { 'content-type': type }, body: JSON.stringify(body) });

/** Opens a WebSocket to a path of the API server, such as the `exec` of a pod. */
export function openStream(path: string, protocols: readonly string[] = ['v5.channel.k8s.io']): WebSocket {
  const address = new URL(path, location.href);
  address.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
  const stream = new WebSocket(address, [...protocols, ...proofProtocols()]);
  stream.binaryType = 'arraybuffer';
  return stream;
}
