/** The API as bytes, for requests that no client would send. */
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import type { V1Status } from '@kubernetes/client-node';
import type { Cluster } from './cluster.ts';

export interface Answer {
  readonly code: number;
  readonly status: V1Status;
}

/** Sends the body unchanged, as the administrator; the answer must be JSON. */
export async function send(
  cluster: Cluster,
  method: string,
  path: string,
  body: string | Uint8Array = '',
  contentType = 'application/json',
): Promise<Answer> {
  const options = { method, headers: { 'content-type': contentType } };
  await cluster.kubeConfig().applyToHTTPSOptions(options);
  return new Promise((resolve, reject) => {
    const call = request(`${cluster.url}${path}`, { ...options, timeout: 60_000 }, (response) => {
      text(response)
        .then((answer) => resolve({ code: response.statusCode ?? 0, status: JSON.parse(answer) as V1Status }))
        .catch(reject);
    });
    call.once('timeout', () => call.destroy(new Error('no answer within 60 s')));
    call.once('error', reject);
    call.end(body);
  });
}
