/** The authorities of the cluster as its API server serves them to nodes, over a verified connection. */
import { text } from 'node:stream/consumers';
import { authorityPath } from '../api/certificates/v1/conditions.ts';
import type { Transport } from '../client/transport.ts';
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
