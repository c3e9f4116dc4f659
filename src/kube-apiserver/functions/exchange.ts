/** One call over one connection to an instance, and its answer as it comes. */
import { type Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { pipeline, Readable, Transform } from 'node:stream';
import type { ReadableStream as WebStream } from 'node:stream/web';
import { newStatusError, StatusError } from '../../apimachinery/status-error.ts';
import { errorMessage } from '../../base/log.ts';

/** Bytes of a body. */
export const mostBodyBytes = 16 * 1024 * 1024;

export type CallBody =
  /** Can be sent again. */
  | Buffer
  /** Is gone once anything of it was read. */
  | WebStream<Uint8Array>
  | undefined;

export interface Exchange {
  readonly agent: Agent;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: CallBody;
  readonly signal: AbortSignal;
}

/** How it went: answered, or the instance was certainly not given the call. */
export type Outcome = { readonly answer: IncomingMessage } | { readonly notTaken: string };

/** By it an instance promises that it has not called the handler. */
export const notCalledHeader = 'function-not-called';

export const tooLarge = () =>
  newStatusError('RequestEntityTooLarge', `the body of a call may not be more than ${mostBodyBytes} bytes`);

/** Rejects with a Status when the call may have been made and there is no answer. */
export function exchange({ agent, method, path, headers, body, signal }: Exchange): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    let isSent = false;
    const sent = httpRequest({ agent, method, path, headers, signal });
    sent.on('error', (error) => {
      if (!isSent && !signal.aborted) resolve({ notTaken: errorMessage(error) });
      else if (error instanceof StatusError) reject(error);
      else reject(signal.aborted ? signal.reason : ended(errorMessage(error)));
    });
    // What the program leaves HTTP for is nothing that was asked for.
    sent.on('close', () => reject(ended('the connection was closed')));
    sent.on('response', (answer) => {
      const isRefused = answer.statusCode === 503 && answer.headers[notCalledHeader] !== undefined;
      if (!isRefused || isGone(body)) return resolve({ answer });
      answer.resume();
      resolve({ notTaken: String(answer.headers[notCalledHeader]) });
    });
    // From then on bytes may reach the instance: not before there is a connection.
    sent.on('socket', () => {
      isSent = true;
      if (body === undefined || Buffer.isBuffer(body)) return void sent.end(body);
      sent.flushHeaders();
      pipeline(Readable.fromWeb(body), bounded(), sent, (error) => {
        if (error instanceof StatusError) sent.destroy(error);
      });
    });
  });
}

const isGone = (body: CallBody) => body !== undefined && !Buffer.isBuffer(body);

const ended = (why: string) =>
  newStatusError('BadGateway', `the instance ended before it had answered the call: ${why}`);

function bounded(): Transform {
  let left = mostBodyBytes;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      left -= chunk.length;
      if (left < 0) done(tooLarge());
      else done(null, chunk);
    },
  });
}
