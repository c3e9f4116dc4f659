/** Stores what a call of a function gave, for the triggers of its results, before the caller gets it. */
import type { Trigger } from '../../api/minik8s/v1/trigger.ts';
import { chainHeader, chainOf } from '../../api/minik8s/v1/trigger-chain.ts';
import { depthHeader, mostEventData, retriedHeader } from '../../api/minik8s/v1/trigger-event.ts';
import type { CallOutcome } from '../../api/minik8s/v1/trigger-fields.ts';
import { StatusError } from '../../apimachinery/status-error.ts';
import type { Handler, RequestScope } from '../../apiserver/request-scope.ts';
import { rfc3339 } from '../../base/time.ts';
import { idOfCall, isDeliverer } from '../functions/own-headers.ts';
import { bodyData } from './body-data.ts';
import type { Intake } from './intake.ts';

/** Bytes of an answer that an event holds. */
const mostBody = mostEventData / 2;

/** What a call gave: an answer, or none. */
interface Result {
  readonly outcome: CallOutcome;
  readonly status: number;
  readonly more: Readonly<Record<string, unknown>>;
}

/** As `call`, which calls a function. Where nobody is to be told it costs a look-up. A caller who has gone away gets no result, and nobody is told one. */
export const tellResults =
  (intake: Intake, call: Handler): Handler =>
  async (scope) => {
    const { namespace, name } = scope.info;
    const triggers = intake.triggersOfResults(namespace, name);
    if (triggers.length === 0) return call(scope);
    let answer: Response;
    try {
      answer = await call(scope);
    } catch (error) {
      const failed = error instanceof StatusError ? error.status : undefined;
      // Without the function nothing was called.
      if (scope.signal.aborted || failed?.reason === 'NotFound') throw error;
      const status = failed?.code ?? 500;
      await tell(intake, triggers, scope, { outcome: 'Failure', status, more: { error: failed?.message } });
      throw error;
    }
    const { status, headers } = answer;
    const beginning = await beginningOf(answer.body);
    const passed = new Response(beginning.body, { status, headers });
    if (scope.signal.aborted) return passed;
    try {
      await tell(intake, triggers, scope, resultOf(answer, beginning));
    } catch (error) {
      // Nobody reads the rest: the instance need not go on.
      await passed.body?.cancel();
      throw error;
    }
    // The only way to show that the answer is not whole.
    if (beginning.isCut) scope.hangUp?.();
    return passed;
  };

function resultOf({ status, headers }: Response, { bytes, isWhole, isCut }: Beginning): Result {
  if (isCut) return { outcome: 'Failure', status, more: { truncated: true, error: 'the answer broke off' } };
  const more = isWhole ? bodyData(headers.get('content-type') ?? '', bytes) : { truncated: true };
  return { outcome: status >= 200 && status < 300 ? 'Success' : 'Failure', status, more: { ...more } };
}

async function tell(
  intake: Intake,
  triggers: readonly Trigger[],
  { info, request, server, user }: RequestScope,
  { outcome, status, more }: Result,
): Promise<void> {
  // Each attempt would begin a chain of its own, and a circle of triggers would grow without end.
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
  const told = triggers.filter(({ spec }) => spec.result?.outcomes.includes(outcome));
  await Promise.all(told.map((trigger) => intake.takeAnyway(trigger, happening, time)));
}

/** Of what was delivered by a trigger. */
function depthOf(request: Request): number {
  const text = request.headers.get(depthHeader) ?? '';
  return /^\d{1,2}$/.test(text) ? Math.min(16, Number(text)) : 0;
}

interface Beginning {
  readonly bytes: Buffer;
  readonly isWhole: boolean;
  /** Whether it broke off. */
  readonly isCut: boolean;
  /** All of it, for the caller. */
  readonly body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer> | null;
}

async function beginningOf(body: ReadableStream<Uint8Array> | null): Promise<Beginning> {
  const none = Buffer.alloc(0);
  if (!body) return { bytes: none, isWhole: true, isCut: false, body: null };
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  while (size <= mostBody) {
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

/** It is let go of when nobody wants it any more, also where nothing of it was read. */
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
