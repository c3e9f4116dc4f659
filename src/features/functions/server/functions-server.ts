/** Calls of functions on one master: the gateway, and its connections to instances. */
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { Clock } from '../../../base/clock.ts';
import { dialPod, dialPodDirectly } from '../../../kube-apiserver/proxy/dial.ts';
import type { ServerPart, ServerPartContext } from '../../../kube-apiserver/server-part.ts';
import { instancePort } from '../api/function-instance.ts';
import type { PlacedCalls } from '../api/placed-calls.ts';
import { directCalls } from './direct-calls.ts';
import { functionsFeature } from './functions-feature.ts';
import { Gateway, type WriteDemand } from './gateway.ts';
import { type DialInstance, InstanceConnections } from './instance-connections.ts';
import { invokeFunction } from './invoke.ts';
import { placedCalls } from './placed-calls.ts';
import type { ReachesPod } from './reached-pods.ts';

export interface FunctionCallOptions {
  /** Name of this master. */
  readonly master: string;
  readonly writeDemand: WriteDemand;
  /** Returns true if this machine has a route to the pod; other pods are reached through their kubelet. */
  readonly reachesPod: ReachesPod;
}

/** `calls`: options of function calls; if absent, functions cannot be called. */
export function functionsServer(
  calls: FunctionCallOptions | undefined,
  context: ServerPartContext,
): ServerPart & { readonly placedCalls?: PlacedCalls } {
  if (!calls) return { feature: functionsFeature(undefined) };
  const { clock, random, log, results, metrics: page, cache } = context;
  const gateway = new Gateway({ ...calls, cache, clock, log: log.named('gateway'), page });
  const connections = new InstanceConnections(dialerOf(calls, context));
  return {
    feature: functionsFeature(results.around(invokeFunction(gateway, connections))),
    placedCalls: placedCalls({ gateway, connections, clock }),
    directCallsOf: (server) => directCalls({ gateway, connections, results, server, clock, random }),
    start: () => gateway.start(),
    stop: () => gateway.stop(),
  };
}

/**
 * Timeout of an attempt to connect, in milliseconds. A running instance accepts a connection at once, an
 * instance on a dead node never does.
 */
const maxDialMs = 5000;

function dialerOf(
  { reachesPod }: FunctionCallOptions,
  { cache, clock, nodeConnection }: ServerPartContext,
): DialInstance {
  return (pod: Pod) => {
    const address = pod.status?.podIP ?? '';
    const open = reachesPod(pod, cache)
      ? dialPodDirectly(clock, address, instancePort)
      : dialPod(nodeConnection, clock, { scheme: 'http', pod, address, port: instancePort });
    return within(clock, maxDialMs, open);
  };
}

async function within<T>(clock: Clock, ms: number, open: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController();
  const timer = clock.after(ms, () => late.abort(new Error(`no connection within ${ms} ms`)));
  try {
    return await open(late.signal);
  } finally {
    timer.cancel();
  }
}
