/**
 * Calls that are placed at an instance before they are made. The caller records the instance in between, so
 * that after a restart the same call is sent to the same instance, which makes it only once (the header
 * Function-Once).
 */
import type { IncomingMessage } from 'node:http';
import { isPodTerminal } from '../../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { newStatusError, StatusError } from '../../../apimachinery/status-error.ts';
import type { Clock } from '../../../base/clock.ts';
import { errorMessage } from '../../../base/log.ts';
import { callIdHeader, onceHeader } from '../api/own-headers.ts';
import type { CallOutcome, Place, PlacedCalls, SentCall } from '../api/placed-calls.ts';
import { exchange, notCalledHeader } from './exchange.ts';
import type { Call, FunctionCalls } from './function-calls.ts';
import type { Gateway } from './gateway.ts';
import type { InstanceConnections } from './instance-connections.ts';
import type { Instance } from './instances.ts';

/** Maximum size of an answer in bytes: a longer one could not be passed to a state. */
const maxAnswer = 512 * 1024;
const functionErrorHeader = 'function-error';

export interface PlacedCallsOptions {
  readonly gateway: Gateway;
  readonly connections: InstanceConnections;
  readonly clock: Clock;
}

export function placedCalls({ gateway, connections, clock }: PlacedCallsOptions): PlacedCalls {
  /** Instances that accept connections. A starting instance takes no calls yet, and is not recorded. */
  const listening = new WeakSet<Instance>();
  const reached = async (call: Call): Promise<Instance> => {
    for (;;) {
      const at = await call.place();
      if (listening.has(at) || (await connections.reaches(at))) {
        listening.add(at);
        return at;
      }
      call.notTaken();
    }
  };
  return {
    hasRoom: ({ namespace, function: name }) => gateway.callsOf(namespace, name).hasRoom,
    async place({ namespace, function: name }, signal) {
      signal.throwIfAborted();
      const calls = gateway.callsOf(namespace, name);
      const call = calls.begin();
      const leave = () => call.end(signal.reason);
      signal.addEventListener('abort', leave, { once: true });
      try {
        return new HeldPlace(calls, call, await reached(call));
      } catch (error) {
        call.end();
        throw error;
      } finally {
        signal.removeEventListener('abort', leave);
      }
    },
    send: (sent, signal) => send(sent, { gateway, connections, clock }, signal),
  };
}

class HeldPlace implements Place {
  readonly calls: FunctionCalls;
  readonly call: Call;
  readonly at: Instance;

  constructor(calls: FunctionCalls, call: Call, at: Instance) {
    this.calls = calls;
    this.call = call;
    this.at = at;
  }

  get instance(): string {
    return this.at.pod.metadata.uid;
  }

  release(): void {
    this.call.end();
  }
}

const remembersNone = 'the function has an image of its own, whose instances remember no calls';

/** Returns the outcome of a call that an instance did not take. */
function outcomeOfRefusal(why: string, isFirst: boolean): CallOutcome {
  // An instance that ends takes no more calls, including calls that are still in transit.
  const isNever = isFirst || ['stopping', 'stuck'].includes(why);
  return { type: isNever ? 'notMade' : 'unclear', why };
}

async function send(sent: SentCall, options: PlacedCallsOptions, signal: AbortSignal): Promise<CallOutcome> {
  const { namespace, function: name, place } = sent;
  const { gateway } = options;
  const isFirst = place !== undefined;
  let held: HeldPlace | undefined;
  try {
    const calls = gateway.callsOf(namespace, name);
    const pod = gateway.podOf(namespace, name, sent.instance);
    if (!pod || isPodTerminal(pod)) {
      const why = `the instance ${sent.instance} that had the call is gone`;
      return { type: isFirst ? 'notMade' : 'lost', why };
    }
    if (!isFirst && !remembersCalls(calls)) return { type: 'lost', why: remembersNone };
    held = place instanceof HeldPlace ? place : new HeldPlace(calls, calls.begin(), instanceOf(calls, pod));
    return await sendTo(held, calls, sent, options, signal);
  } catch (error) {
    signal.throwIfAborted();
    return afterError(error, isFirst && held === undefined);
  } finally {
    held?.call.end();
    place?.release();
  }
}

/** Sends the call to the instance. Rejects if it has no outcome within the function's timeout. */
async function sendTo(
  held: HeldPlace,
  calls: FunctionCalls,
  sent: SentCall,
  { gateway, connections, clock }: PlacedCallsOptions,
  signal: AbortSignal,
): Promise<CallOutcome> {
  const isFirst = sent.place !== undefined;
  const report = gateway.metrics.begin(calls);
  const { timeoutSeconds } = calls.function.spec;
  const over = new AbortController();
  const late = clock.after(timeoutSeconds * 1000, () => over.abort(tooLate(timeoutSeconds)));
  try {
    const outcome = await exchange({
      agent: connections.agentOf(held.at),
      method: 'POST',
      path: '/',
      headers: Object.entries(headersOf(sent)).flat(),
      body: Buffer.from(sent.body),
      signal: AbortSignal.any([signal, over.signal]),
    });
    if ('answer' in outcome) {
      held.call.taken();
      report(outcome.answer.statusCode ?? 0);
      return await answerOf(outcome.answer);
    }
    if (isFirst) held.call.notTaken();
    return outcomeOfRefusal(outcome.notTaken, isFirst);
  } finally {
    late.cancel();
  }
}

const isTooLate = (error: unknown) => error instanceof StatusError && error.status.reason === 'Timeout';

function afterError(error: unknown, isUnsent: boolean): CallOutcome {
  const why = errorMessage(error);
  if (isTooLate(error)) return { type: 'late', why };
  if (isUnsent) return { type: 'notMade', why };
  const isGone = error instanceof StatusError && error.status.code === 404;
  return isGone ? { type: 'lost', why } : { type: 'unclear', why };
}

const tooLate = (seconds: number) =>
  newStatusError('Timeout', `the function did not answer within its timeoutSeconds of ${seconds}`);

const instanceOf = ({ instances }: FunctionCalls, pod: Pod): Instance =>
  instances.known(pod.metadata.uid) ?? { pod, underWay: 0, notBefore: 0, refusals: 0 };

/**
 * Returns whether the instances recognize a repeated call. A custom image may treat it as a new call.
 */
const remembersCalls = ({ function: fn }: FunctionCalls) => fn.spec.runtime !== undefined;

const headersOf = ({ id, namespace, function: name, ageMs, body, place }: SentCall) => ({
  host: name,
  connection: 'keep-alive',
  'content-type': 'application/json',
  'content-length': String(Buffer.byteLength(body)),
  [callIdHeader]: id,
  'function-name': name,
  'function-namespace': namespace,
  [onceHeader]: place ? '0' : (Math.max(0, ageMs) / 1000).toFixed(3),
});

async function answerOf(answer: IncomingMessage): Promise<CallOutcome> {
  const { statusCode: status = 0, headers } = answer;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= maxAnswer) chunks.push(chunk);
  }
  const notCalled = headers[notCalledHeader];
  if (notCalled !== undefined) {
    return { type: 'lost', why: 'the instance was restarted, or has forgotten its older calls' };
  }
  const type = headers['content-type'] ?? '';
  const error = headers[functionErrorHeader];
  return {
    type: 'answered',
    status,
    error: error === undefined ? undefined : String(error),
    isJson: /^application\/(json|[^;]*\+json)\b/i.test(type),
    body: bytes <= maxAnswer ? Buffer.concat(chunks) : Buffer.alloc(maxAnswer + 1),
  };
}
