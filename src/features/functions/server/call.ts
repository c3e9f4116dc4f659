/** One call of a function, from any entry: passes it to an instance with room, and returns the answer. */
import type { IncomingMessage } from 'node:http';
import { newStatusError } from '../../../apimachinery/status-error.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Random } from '../../../base/random.ts';
import { currentSpan } from '../../../base/tracing/current-span.ts';
import { formatTraceparent, traceparentHeader } from '../../../base/tracing/trace-context.ts';
import { hasAnswerBody, isFinalStatus } from '../../../kube-apiserver/forwarding/answer-body.ts';
import {
  endToEnd,
  type ForwardedRequest,
  requestHeaders,
} from '../../../kube-apiserver/forwarding/headers.ts';
import { callIdHeader, idOfCall, isOwnHeader, onceHeader } from '../api/own-headers.ts';
import { type CallBody, exchange } from './exchange.ts';
import type { Call, FunctionCalls } from './function-calls.ts';
import { codeOf } from './function-metrics.ts';
import type { Gateway } from './gateway.ts';
import type { InstanceConnections } from './instance-connections.ts';

export interface AskedCall extends Pick<ForwardedRequest, 'headers' | 'path' | 'host' | 'remoteAddress'> {
  readonly method: string;
  /** Path and query that the instance receives. */
  readonly target: string;
  readonly body: CallBody;
  /** True if the call delivers an event, whose headers are set by the cluster. */
  readonly isDelivery: boolean;
  /** Aborts when the caller has disconnected. */
  readonly signal: AbortSignal;
}

export interface CallServer {
  readonly connections: InstanceConnections;
  readonly clock: Clock;
  readonly random: Random;
  readonly gateway: Pick<Gateway, 'metrics'>;
}

export interface CallAnswer {
  readonly status: number;
  /** Names and values alternately. */
  readonly fields: readonly string[];
  /** Undefined for an answer without a body. */
  readonly body: IncomingMessage | undefined;
}

/**
 * Calls a function. Resolves when the answer begins; rejects with a Status if there is none. The call ends
 * when its answer is closed.
 */
export async function callFunction(
  server: CallServer,
  calls: FunctionCalls,
  request: AskedCall,
): Promise<CallAnswer> {
  const report = server.gateway.metrics.begin(calls);
  try {
    const answer = await answered(server, calls, request);
    report(answer.status);
    return answer;
  } catch (error) {
    report(codeOf(error));
    throw error;
  }
}

async function answered(server: CallServer, calls: FunctionCalls, request: AskedCall): Promise<CallAnswer> {
  const { method, signal: gone } = request;
  const call = calls.begin();
  const over = new AbortController();
  const end = (reason: unknown) => {
    call.end(reason);
    over.abort(reason);
  };
  const leave = () => end(gone.reason);
  if (gone.aborted) leave();
  else gone.addEventListener('abort', leave, { once: true });
  const { timeoutSeconds } = calls.function.spec;
  let late: { cancel(): void } | undefined;
  const finish = () => {
    late?.cancel();
    gone.removeEventListener('abort', leave);
    call.end();
  };
  try {
    const answer = await made(server, calls, call, request, over.signal, () => {
      late ??= server.clock.after(timeoutSeconds * 1000, () => end(tooLate(timeoutSeconds)));
    });
    answer.once('close', finish);
    const status = answer.statusCode ?? 0;
    if (!isFinalStatus(status)) {
      answer.destroy();
      throw newStatusError('BadGateway', `the function answered with the status ${status}`);
    }
    const fields = endToEnd(answer.rawHeaders);
    if (hasAnswerBody(method, status)) return { status, fields, body: answer };
    answer.resume();
    return { status, fields, body: undefined };
  } catch (error) {
    finish();
    throw error;
  }
}

const tooLate = (seconds: number) =>
  newStatusError('Timeout', `the function did not answer within its timeoutSeconds of ${seconds}`);

/** Retries until an instance has accepted the call; `onAttempt` is called before each attempt. */
async function made(
  server: CallServer,
  calls: FunctionCalls,
  call: Call,
  request: AskedCall,
  signal: AbortSignal,
  onAttempt: () => void,
): Promise<IncomingMessage> {
  const { method, target: path, body } = request;
  const headers = headersOf(server, calls, request);
  for (;;) {
    const instance = await call.place();
    onAttempt();
    const agent = server.connections.agentOf(instance);
    const outcome = await exchange({ agent, method, path, headers, body, signal });
    if ('answer' in outcome) {
      call.taken();
      return outcome.answer;
    }
    call.notTaken();
  }
}

function headersOf({ random }: CallServer, calls: FunctionCalls, request: AskedCall): readonly string[] {
  const { headers, method, body, isDelivery } = request;
  const { name, namespace = '' } = calls.function.metadata;
  const isWhole = body === undefined || Buffer.isBuffer(body);
  const own: Record<string, string> = {
    [callIdHeader]: idOfCall(headers, isDelivery) ?? random.uuid(),
    'function-name': name,
    'function-namespace': namespace,
    ...traceHeaders(),
  };
  const given: Record<string, string> = {
    ...requestHeaders({ ...request, upgrade: false }),
    connection: 'keep-alive',
    ...own,
  };
  const fields: string[] = [];
  for (const field in given) {
    // The length of a buffered body is set below.
    const isLeftOut = (isWhole && isOfBody(field)) || (isForged(field, isDelivery) && !(field in own));
    if (!isLeftOut) fields.push(field, given[field] ?? '');
  }
  const length = lengthOf(body, method);
  if (length !== undefined) fields.push('content-length', String(length));
  return fields;
}

/**
 * Returns the trace headers: a recorded call continues in its own span, any other call in its caller's trace.
 */
function traceHeaders(): Record<string, string> {
  const span = currentSpan();
  return span?.context.sampled ? { [traceparentHeader]: formatTraceparent(span.context) } : {};
}

/** Returns the length of a buffered body; undefined for a stream, and for a request without a length. */
function lengthOf(body: AskedCall['body'], method: string): number | undefined {
  if (Buffer.isBuffer(body)) return body.length;
  return body === undefined && !withoutRequestBody.includes(method) ? 0 : undefined;
}

const isOfBody = (field: string) => field === 'content-length' || field === 'transfer-encoding';

/**
 * Returns true for a header that only the cluster may set. A delivery may set all of them but Function-Once.
 */
const isForged = (field: string, isDelivery: boolean) =>
  isOwnHeader(field) && !(isDelivery && field !== onceHeader);

/** Methods whose requests omit the length if they have no body (RFC 9110 §8.6). */
const withoutRequestBody = ['DELETE', 'GET', 'HEAD', 'OPTIONS'];
