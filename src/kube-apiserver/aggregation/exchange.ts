/** Sends one request to an extension server, and passes its answer on as it is read. */
import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import type { ReadableStream as WebStream } from 'node:stream/web';
import type { UpgradedConnection } from '../../apiserver/server-context.ts';
import { upgradedOf } from '../../apiserver/upgrade/upgraded.ts';
import { unreachable } from '../proxy/dial.ts';
import type { Connections } from './connections.ts';

/** Maximum size of an answer's head. */
const maxAnswerHeadBytes = 1024 * 1024;

export interface ExchangedRequest {
  readonly method: string;
  /** Path and query, as the client wrote them. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: ReadableStream<Uint8Array> | undefined;
  /** True if the connection may be upgraded. */
  readonly upgrade?: boolean;
  /** Ends the request, and the body of its answer. */
  readonly signal: AbortSignal;
}

export const isUpgraded = (answer: IncomingMessage | UpgradedConnection): answer is UpgradedConnection =>
  'socket' in answer && !('rawHeaders' in answer);

/**
 * Resolves to the answer, or to the upgraded connection. A kept connection that the server has closed
 * meanwhile is replaced once, if the request has no body. Rejects with the error of the connection.
 */
export async function exchange(
  connections: Connections,
  request: ExchangedRequest,
): Promise<IncomingMessage | UpgradedConnection> {
  try {
    return await attempt(connections, request);
  } catch (error) {
    if (!(error instanceof LostConnectionError) || request.body) throw error;
    return attempt(connections, request);
  }
}

/** A kept connection ended before the answer began. */
class LostConnectionError extends Error {
  override readonly name = 'LostConnectionError';
}

function attempt(
  connections: Connections,
  { method, path, headers, body, upgrade, signal }: ExchangedRequest,
): Promise<IncomingMessage | UpgradedConnection> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({
      agent: connections,
      method,
      path,
      headers,
      signal,
      maxHeaderSize: maxAnswerHeadBytes,
    });
    sent.on('error', (error) => {
      const isLost = sent.reusedSocket && !signal.aborted && 'code' in error && error.code === 'ECONNRESET';
      reject(isLost ? new LostConnectionError(error.message) : error);
    });
    // A connection that is upgraded although the request did not ask for it ends without an error.
    sent.on('close', () => reject(unreachable('the connection was closed')));
    sent.on('response', resolve);
    if (upgrade)
      sent.on('upgrade', (answer, socket, head) => resolve(upgradedOf(answer, socket as Socket, head)));
    if (!body) return void sent.end();
    // The server may answer before any of the body is sent, and disconnect before it has read all.
    sent.flushHeaders();
    pipeline(Readable.fromWeb(body as WebStream<Uint8Array>), sent, () => undefined);
  });
}
