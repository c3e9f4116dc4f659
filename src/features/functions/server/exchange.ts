/** Sends one call over one connection to an instance, and returns its answer as a stream. */
import { type Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { type Readable, Transform } from 'node:stream';
import { newStatusError } from '../../../apimachinery/status-error.ts';
import { errorMessage } from '../../../base/log.ts';

/** Maximum size of a body in bytes. */
export const maxBodyBytes = 16 * 1024 * 1024;

export type CallBody =
  /** Can be sent again. */
  | Buffer
  /** Cannot be sent again once any of it was read. */
  | Readable
  | undefined;

export interface Exchange {
  readonly agent: Agent;
  readonly method: string;
  /** Path with the query. */
  readonly path: string;
  /** Names and values alternately. */
  readonly headers: readonly string[];
  readonly body: CallBody;
  readonly signal: AbortSignal;
}

/** Result of an exchange: an answer, or the reason why the instance certainly did not get the call. */
export type Outcome = { readonly answer: IncomingMessage } | { readonly notTaken: string };

/** Header by which an instance guarantees that it has not called the handler. */
export const notCalledHeader = 'function-not-called';

export const tooLarge = () =>
  newStatusError('RequestEntityTooLarge', `the body of a call may not be more than ${maxBodyBytes} bytes`);

/** Sends the call. Rejects with a Status if the call may have been made and there is no answer. */
export function exchange({ agent, method, path, headers, body, signal }: Exchange): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    let isSent = false;
    let isSettled = false;
    const sent = httpRequest({ agent, method, path, headers });
    const abort = () => sent.destroy();
    signal.addEventListener('abort', abort, { once: true });
    const settle = (outcome: Outcome) => {
      isSettled = true;
      resolve(outcome);
    };
    const fail = (error: unknown) => {
      isSettled = true;
      reject(error);
    };
    sent.on('error', (error) => {
      if (isSettled) return;
      if (signal.aborted) fail(signal.reason);
      else if (!isSent) settle({ notTaken: errorMessage(error) });
      else fail(ended(errorMessage(error)));
    });
    sent.on('close', () => {
      signal.removeEventListener('abort', abort);
      if (isSettled) return;
      // A program that answers with an upgrade, although none was requested, closes without a response.
      fail(signal.aborted ? signal.reason : ended('the connection was closed'));
    });
    sent.on('response', (answer) => {
      // The `close` of an answer waits for the rest of the request.
      answer.once('end', () => leaveRest(body, sent));
      const isRefused = answer.statusCode === 503 && answer.headers[notCalledHeader] !== undefined;
      if (!isRefused || isStream(body)) return settle({ answer });
      answer.resume();
      settle({ notTaken: String(answer.headers[notCalledHeader]) });
    });
    // From here on bytes may reach the instance: the socket is assigned only when there is a connection.
    sent.on('socket', () => {
      isSent = true;
      if (body === undefined || Buffer.isBuffer(body)) return void sent.end(body);
      sent.flushHeaders();
      const limited = bounded().once('error', (error) => {
        if (!isSettled) fail(error);
        sent.destroy();
      });
      body.pipe(limited).pipe(sent);
    });
    if (signal.aborted) abort();
  });
}

/**
 * Closes the connection to a program that has answered without reading the whole body: the rest would
 * never be read.
 */
function leaveRest(body: CallBody, sent: ClientRequest): void {
  if (body === undefined || Buffer.isBuffer(body) || sent.writableFinished) return;
  body.unpipe();
  body.resume();
  sent.destroy();
}

const isStream = (body: CallBody) => body !== undefined && !Buffer.isBuffer(body);

const ended = (why: string) =>
  newStatusError('BadGateway', `the instance ended before it had answered the call: ${why}`);

function bounded(): Transform {
  let left = maxBodyBytes;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      left -= chunk.length;
      if (left < 0) done(tooLarge());
      else done(null, chunk);
    },
  });
}
