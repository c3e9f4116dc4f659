/** Asks an extension server for its discovery: whether it answers, and what it serves. */
import type { IncomingMessage } from 'node:http';
import type { JsonObject } from '../../apimachinery/equality.ts';
import type { Clock } from '../../base/clock.ts';
import { errorMessage } from '../../base/log.ts';
import type { Connections } from './connections.ts';
import { resourcesOf } from './discovery-plan.ts';
import { exchange, isUpgraded } from './exchange.ts';
import { discoveryPath, type ExtensionServer, serverName } from './extension-server.ts';
import { identityHeaders } from './identity-headers.ts';

/** Milliseconds in which the server has to answer. */
const maxMs = 5_000;

/** User of the request, who may do everything. */
const asker = { name: 'system:kube-aggregator', groups: ['system:masters'] };

/** Resolves to why the server does not answer; undefined if it does. */
export async function failureOf(
  server: ExtensionServer,
  connections: Connections,
  clock: Clock,
  signal: AbortSignal,
): Promise<string | undefined> {
  const path = discoveryPath(server);
  const url = `https://${serverName(server)}:${server.port}${path}`;
  const late = new AbortController();
  const timer = clock.after(maxMs, () => late.abort());
  try {
    const status = await statusOf(connections, path, AbortSignal.any([signal, late.signal]));
    if (status >= 200 && status < 300) return undefined;
    return `failing or missing response from ${url}: bad status from ${url}: ${status}`;
  } catch (error) {
    const why = late.signal.aborted ? `timed out after ${maxMs} ms` : errorMessage(error);
    return `failing or missing response from ${url}: ${why}`;
  } finally {
    timer.cancel();
  }
}

/** Maximum size in bytes of the discovery of one version. */
const maxBytes = 1024 * 1024;

/** Resolves to the resources of the version. Rejects if the server does not answer with its discovery. */
export async function discoveredResources(
  server: ExtensionServer,
  connections: Connections,
  clock: Clock,
  signal: AbortSignal,
): Promise<readonly JsonObject[]> {
  const late = new AbortController();
  const timer = clock.after(maxMs, () => late.abort());
  try {
    const answer = await get(connections, discoveryPath(server), AbortSignal.any([signal, late.signal]));
    return resourcesOf(JSON.parse(await textOf(answer)));
  } finally {
    timer.cancel();
  }
}

/** A document of an extension server, and the tag by which the server says whether it has changed. */
export interface FetchedDocument {
  readonly body: Uint8Array;
  readonly etag: string | undefined;
}

/** Maximum size in bytes of an OpenAPI document: reading one takes part of a turn of the event loop. */
const maxDocumentBytes = 4 * 1024 * 1024;

/**
 * Resolves to the document at a path; to the former one itself if it has not changed. Rejects if the server
 * does not answer with a document.
 */
export async function fetchedDocument(
  connections: Connections,
  clock: Clock,
  { path, former }: { readonly path: string; readonly former: FetchedDocument | undefined },
  signal: AbortSignal,
): Promise<FetchedDocument> {
  const late = new AbortController();
  const timer = clock.after(maxMs, () => late.abort());
  try {
    const known: Record<string, string> = former?.etag ? { 'if-none-match': former.etag } : {};
    const answer = await get(connections, path, AbortSignal.any([signal, late.signal]), known);
    if (answer.statusCode === 304 && former) {
      answer.destroy();
      return former;
    }
    const body = await bytesOf(answer, maxDocumentBytes);
    return former && body.equals(former.body) ? former : { body, etag: answer.headers.etag };
  } finally {
    timer.cancel();
  }
}

async function textOf(answer: IncomingMessage): Promise<string> {
  return (await bytesOf(answer, maxBytes)).toString('utf8');
}

async function bytesOf(answer: IncomingMessage, max: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of answer) {
    pieces.push(piece as Buffer);
    size += (piece as Buffer).length;
    if (answer.statusCode === 200 && size <= max) continue;
    answer.destroy();
    throw new Error('its document is too large, or an error');
  }
  if (answer.statusCode !== 200) throw new Error(`it answered with the status ${answer.statusCode}`);
  return Buffer.concat(pieces);
}

async function statusOf(connections: Connections, path: string, signal: AbortSignal): Promise<number> {
  const answer = await get(connections, path, signal);
  // The body is of no use, and may be of any length.
  answer.destroy();
  return answer.statusCode ?? 0;
}

async function get(
  connections: Connections,
  path: string,
  signal: AbortSignal,
  fields: Readonly<Record<string, string>> = {},
): Promise<IncomingMessage> {
  const identity = Object.entries(identityHeaders(asker)).map(([name, value]) => [name, [value].flat()]);
  const headers = { ...Object.fromEntries(identity), accept: 'application/json', ...fields };
  const answer = await exchange(connections, { method: 'GET', path, headers, signal });
  if (!isUpgraded(answer)) return answer;
  answer.socket.destroy();
  throw new Error('it upgraded the connection');
}
