/** functions/NAME/invoke: one call, given to an instance when one has room, and its answer. */
import type { IncomingMessage } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import { newStatusError } from '../../apimachinery/status-error.ts';
import type { Handler, RequestScope } from '../../apiserver/request-scope.ts';
import { endToEnd, requestHeaders } from '../proxy/headers.ts';
import { type CallBody, exchange, mostBodyBytes, tooLarge } from './exchange.ts';
import type { Call, FunctionCalls } from './function-calls.ts';
import type { Gateway } from './gateway.ts';
import type { InstanceConnections } from './instance-connections.ts';

/** Bytes of a body that is kept until the call is made, so that it can be given to another instance. */
const mostKept = 256 * 1024;

/** The id of a call: a caller's own, to find it in the logs of the function, or a new one. */
export const callIdHeader = 'function-call-id';

export const invokeFunction =
  (gateway: Gateway, connections: InstanceConnections): Handler =>
  async (scope) => {
    const { info, server } = scope;
    const calls = gateway.callsOf(info.namespace, info.name);
    const body = await bodyOf(scope);
    const call = calls.begin();
    const over = new AbortController();
    const signal = AbortSignal.any([scope.signal, over.signal]);
    const leave = () => call.end();
    signal.addEventListener('abort', leave, { once: true });
    const { timeoutSeconds } = calls.function.spec;
    let late: { cancel(): void } | undefined;
    const finish = () => {
      late?.cancel();
      signal.removeEventListener('abort', leave);
      call.end();
    };
    try {
      const answer = await made(scope, calls, call, connections, body, signal, () => {
        late ??= server.clock.after(timeoutSeconds * 1000, () => over.abort(tooLate(timeoutSeconds)));
      });
      answer.once('close', finish);
      return answerOf(scope, answer, signal);
    } catch (error) {
      finish();
      throw error;
    }
  };

const tooLate = (seconds: number) =>
  newStatusError('Timeout', `the function did not answer within its timeoutSeconds of ${seconds}`);

/** Until an instance has taken the call; `onTaken` is called when one is about to. */
async function made(
  scope: RequestScope,
  calls: FunctionCalls,
  call: Call,
  connections: InstanceConnections,
  body: CallBody,
  signal: AbortSignal,
  onTaken: () => void,
): Promise<IncomingMessage> {
  const { method } = scope.request;
  const url = new URL(scope.request.url);
  const path = `${scope.info.rest || '/'}${url.search}`;
  const headers = headersOf(scope, calls, url);
  for (;;) {
    const instance = await call.place();
    onTaken();
    const agent = connections.agentOf(instance);
    const outcome = await exchange({ agent, method, path, headers, body, signal });
    if ('answer' in outcome) {
      call.taken();
      return outcome.answer;
    }
    call.notTaken();
  }
}

function headersOf({ request, remoteAddress, server }: RequestScope, calls: FunctionCalls, url: URL) {
  const { headers } = request;
  const { name, namespace = '' } = calls.function.metadata;
  const given = { headers, path: url.pathname, host: url.host, remoteAddress, upgrade: false };
  return {
    ...requestHeaders(given),
    connection: 'keep-alive',
    [callIdHeader]: headers.get(callIdHeader)?.slice(0, 128) || server.random.uuid(),
    'function-name': name,
    'function-namespace': namespace,
  };
}

async function bodyOf({ request, remoteAddress }: RequestScope): Promise<CallBody> {
  // A caller in this process has the whole body at hand.
  if (remoteAddress === undefined) return Buffer.from(await request.arrayBuffer());
  const length = Number(request.headers.get('content-length') ?? Number.NaN);
  if (length > mostBodyBytes) throw tooLarge();
  if (length <= mostKept) return Buffer.from(await request.arrayBuffer());
  const isChunked = request.headers.has('transfer-encoding');
  return isChunked || length > 0 ? ((request.body as CallBody) ?? undefined) : undefined;
}

/** Statuses whose answers have no body. */
const withoutBody = [204, 205, 304];

function answerOf(scope: RequestScope, answer: IncomingMessage, signal: AbortSignal): Response {
  const status = answer.statusCode ?? 0;
  if (status < 200 || status > 599) {
    answer.destroy();
    throw newStatusError('BadGateway', `the function answered with the status ${status}`);
  }
  const headers = endToEnd(answer.rawHeaders);
  if (scope.request.method === 'HEAD' || withoutBody.includes(status)) {
    answer.resume();
    return new Response(null, { status, headers });
  }
  const body = new PassThrough();
  const cut = () => {
    answer.destroy();
    // The only way to show that the answer is not whole.
    scope.hangUp?.();
    body.end();
  };
  signal.addEventListener('abort', cut, { once: true });
  answer.once('error', cut);
  answer.once('close', () => signal.removeEventListener('abort', cut));
  return new Response(Readable.toWeb(answer.pipe(body)) as ReadableStream<Uint8Array>, { status, headers });
}
