/** Stores the result of a function call, for triggers on its results, before the caller receives it. */

import { StatusError } from '../../../apimachinery/status-error.ts';
import type { Handler, RequestScope } from '../../../apiserver/request/request-scope.ts';
import { rfc3339 } from '../../../base/time.ts';
import { idOfCall, isDeliverer } from '../../functions/api/own-headers.ts';
import type { Trigger } from '../api/trigger.ts';
import { chainHeader, chainOf } from '../api/trigger-chain.ts';
import { depthHeader, maxEventData, retriedHeader } from '../api/trigger-event.ts';
import type { CallOutcome } from '../api/trigger-fields.ts';
import { bodyData } from './body-data.ts';
import type { Intake } from './intake.ts';

/** Maximum number of bytes of an answer that an event contains. */
const maxBody = maxEventData / 2;

/** Result of a call: an answer, or none. */
interface Result {
  readonly outcome: CallOutcome;
  readonly status: number;
  readonly more: Readonly<Record<string, unknown>>;
}

/**
 * Wraps `call`, which calls a function. Without triggers it costs only a lookup. The result of a call whose
 * client has disconnected is not reported to triggers either.
 */
export const reportResults =
  (intake: Intake, call: Handler): Handler =>
  async (scope) => {
    const { namespace, name } = scope.info;
    const triggers = intake.triggersOfResults(namespace, name);
    if (triggers.length === 0) return call(scope);
    const report = (result: Result) => reportResult(intake, triggers, scope, result);
    let answer: Response;
    try {
      answer = await call(scope);
    } catch (error) {
      const result = scope.signal.aborted ? undefined : resultOfError(error);
      if (result) await report(result);
      throw error;
    }
    return passOn(answer, scope, report);
  };

/** Reports the result, and returns the answer with all of its body. */
async function passOn(
  answer: Response,
  scope: Parameters<Handler>[0],
  report: (result: Result) => Promise<unknown>,
): Promise<Response> {
  const { status, headers } = answer;
  const beginning = await beginningOf(answer.body);
  const passed = new Response(beginning.body, { status, headers });
  if (scope.signal.aborted) return passed;
  try {
    await report(resultOf(answer, beginning));
  } catch (error) {
    // The rest of the answer is not read, so the instance can stop.
    await passed.body?.cancel();
    throw error;
  }
  // Only closing the connection shows the client that the answer is incomplete.
  if (beginning.isCut) scope.hangUp?.();
  return passed;
}

/** Returns undefined if the function does not exist: nothing was called. */
function resultOfError(error: unknown): Result | undefined {
  const failed = error instanceof StatusError ? error.status : undefined;
  if (failed?.reason === 'NotFound') return undefined;
  return { outcome: 'Failure', status: failed?.code ?? 500, more: { error: failed?.message } };
}

function resultOf({ status, headers }: Response, { bytes, isWhole, isCut }: Beginning): Result {
  if (isCut) return { outcome: 'Failure', status, more: { truncated: true, error: 'the answer broke off' } };
  const more = isWhole ? bodyData(headers.get('content-type') ?? '', bytes) : { truncated: true };
  return { outcome: status >= 200 && status < 300 ? 'Success' : 'Failure', status, more: { ...more } };
}

async function reportResult(
  intake: Intake,
  triggers: readonly Trigger[],
  { info, request, server, user }: RequestScope,
  { outcome, status, more }: Result,
): Promise<void> {
  // Each attempt would begin a chain of its own, and a cycle of triggers would grow without end.
  const isDelivery = isDeliverer(user);
  if (outcome === 'Failure' && isDelivery && request.headers.has(retriedHeader)) return;
  const { namespace, name } = info;
  const time = rfc3339(server.clock.now());
  const callId = idOfCall(request.headers, isDelivery);
  const about = { function: name, outcome, status, ...(callId !== undefined && { callId }) };
  const happening = {
    key: ['result', server.random.uuid()],
    type: `minik8s.io/function.${outcome.toLowerCase()}`,
    source: `/namespaces/${namespace}/functions/${name}`,
    subject: name,
    time,
    data: { ...about, ...more },
    lessData: { ...about, truncated: true },
    depth: isDelivery ? depthOf(request) + 1 : 1,
    chain: isDelivery ? chainOf(request.headers.get(chainHeader)) : [],
  };
  const selected = triggers.filter(({ spec }) => spec.result?.outcomes.includes(outcome));
  await Promise.all(selected.map((trigger) => intake.takeAnyway(trigger, happening, time)));
}

/** Returns the depth of a call that a trigger delivered. */
function depthOf(request: Request): number {
  const text = request.headers.get(depthHeader) ?? '';
  return /^\d{1,2}$/.test(text) ? Math.min(16, Number(text)) : 0;
}

interface Beginning {
  readonly bytes: Buffer;
  readonly isWhole: boolean;
  /** True if the answer broke off. */
  readonly isCut: boolean;
  /** The whole answer, for the caller. */
  readonly body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer> | null;
}

async function beginningOf(body: ReadableStream<Uint8Array> | null): Promise<Beginning> {
  const none = Buffer.alloc(0);
  if (!body) return { bytes: none, isWhole: true, isCut: false, body: null };
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  while (size <= maxBody) {
    const read = await reader.read().catch(() => undefined);
    if (!read) return { bytes: none, isWhole: false, isCut: true, body: Buffer.concat(chunks) };
    const { done, value } = read;
    if (done) {
      const bytes = Buffer.concat(chunks);
      return { bytes, isWhole: true, isCut: false, body: bytes };
    }
    chunks.push(value);
    size += value.length;
  }
  return { bytes: none, isWhole: false, isCut: false, body: rest(chunks, reader) };
}

/**
 * Returns the rest of the answer as a stream. Cancelling the stream releases the answer, even if nothing of
 * it was read.
 */
function rest(
  chunks: readonly Uint8Array[],
  reader: ReadableStreamDefaultReader<Uint8Array>,
): ReadableStream<Uint8Array> {
  const first = chunks.values();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const chunk = first.next().value ?? (await reader.read()).value;
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
