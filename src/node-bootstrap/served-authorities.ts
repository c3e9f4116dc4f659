/** The authorities of the cluster as its API server serves them to nodes, over a verified connection. */
import { text } from 'node:stream/consumers';
import { authorityPath } from '../api/certificates/v1/conditions.ts';
import type { Transport } from '../client/transport.ts';
import { lines } from '../client/watch-stream.ts';
import { certificatesOf } from '../os/certificate-bundle.ts';

export interface ServedAuthorities {
  /** PEM of the authorities to trust. */
  readonly trusted: string;
  /** PEM of the authority that signs certificates of nodes. */
  readonly signer: string;
}

/**
 * Resolves to undefined if the server does not serve them, as an earlier version does. Rejects with the
 * error of the transport, or for an answer that has no authorities.
 */
export async function readServedAuthorities(
  transport: Transport,
  signal: AbortSignal,
): Promise<ServedAuthorities | undefined> {
  const response = await transport.request({ method: 'GET', path: authorityPath, signal });
  const body = await text(response.body);
  return response.status === 200 ? parseAuthorities(body) : undefined;
}

/**
 * Calls `take` with the authorities that the API server serves, at once and after each change. Resolves when
 * the server ends the watch: to false if it is of a version that sends them only once. Rejects with the error
 * of the transport or of `take`, for an answer that has no authorities, and for one that refuses the watch.
 */
export async function watchServedAuthorities(
  transport: Transport,
  take: (served: ServedAuthorities) => Promise<void>,
  signal: AbortSignal,
): Promise<boolean> {
  const path = `${authorityPath}?watch=true`;
  const response = await transport.request({ method: 'GET', path, signal });
  if (response.header('content-type')?.endsWith(';stream=watch')) {
    for await (const line of lines(response.body)) await take(parseAuthorities(line));
    return true;
  }
  const body = await text(response.body);
  if (response.status === 200) await take(parseAuthorities(body));
  else if (response.status !== 404) throw new Error(`the API server answers ${response.status}`);
  return false;
}

/** Throws an Error unless the text has authorities that can be read, the signer among them. */
export function parseAuthorities(body: string): ServedAuthorities {
  const { trusted, signer } = JSON.parse(body) as Partial<Record<keyof ServedAuthorities, unknown>>;
  if (typeof trusted === 'string' && typeof signer === 'string') {
    const known = certificatesOf(trusted);
    const [own] = certificatesOf(signer);
    const isKnown = known.some(({ fingerprint256 }) => fingerprint256 === own?.fingerprint256);
    if (isKnown && known.every(({ ca }) => ca)) return { trusted, signer };
  }
  throw new Error('the API server serves no authorities that can be read');
}
