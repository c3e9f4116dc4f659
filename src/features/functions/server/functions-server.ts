/** Calls of functions on one master: the gateway, and its connections to instances. */
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { ApiServer } from '../../../apiserver/app.ts';
import type { Handler } from '../../../apiserver/request/request-scope.ts';
import type { DirectServe } from '../../../apiserver/transport/listen-options.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import type { Registry } from '../../../base/metrics/registry.ts';
import type { Random } from '../../../base/random.ts';
import type { ResultListener } from '../../../kube-apiserver/forwarding/result-listener.ts';
import type { NodeConnection } from '../../../kube-apiserver/node-connection.ts';
import { dialPod, dialPodDirectly } from '../../../kube-apiserver/proxy/dial.ts';
import type { Cache } from '../../../storage/cache.ts';
import { instancePort } from '../api/function-instance.ts';
import type { PlacedCalls } from '../api/placed-calls.ts';
import { directCalls } from './direct-calls.ts';
import { Gateway, type WriteDemand } from './gateway.ts';
import { type DialInstance, InstanceConnections } from './instance-connections.ts';
import { invokeFunction } from './invoke.ts';
import { placedCalls } from './placed-calls.ts';
import type { ReachesPod } from './reached-pods.ts';

export interface FunctionCallOptions {
  /** Name of this master. */
  readonly master: string;
  readonly writeDemand: WriteDemand;
  /** Returns whether this machine has a route to the pod, so that no kubelet is needed for the connection. */
  readonly reachesPod: ReachesPod;
}

export interface FunctionsServerOptions extends FunctionCallOptions {
  readonly cache: Cache;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Connections to instances on other machines; without it they answer 503. */
  readonly nodeConnection: NodeConnection | undefined;
  /** Registry of the call metrics; undefined for one that is never exposed. */
  readonly metrics: Registry | undefined;
  readonly results: ResultListener;
}

export interface FunctionsServer {
  /** Handler of calls through the API. */
  readonly call: Handler;
  /** The owner of the server starts and stops it. */
  readonly gateway: Gateway;
  /** Calls of functions for runs of workflows. */
  readonly placedCalls: PlacedCalls;
  /** Returns what serves calls at the port of the gateway. */
  directCallsOf(server: Pick<ApiServer, 'admit' | 'refuse'>): DirectServe;
}

export function functionsServer(options: FunctionsServerOptions): FunctionsServer {
  const { clock, random, log, results, metrics: page, ...more } = options;
  const gateway = new Gateway({ ...more, clock, log: log.named('gateway'), page });
  const connections = new InstanceConnections(dialerOf(options));
  const call = results.around(invokeFunction(gateway, connections));
  return {
    gateway,
    placedCalls: placedCalls({ gateway, connections, clock }),
    directCallsOf: (server) => directCalls({ gateway, connections, results, server, clock, random }),
    call,
  };
}

/**
 * Timeout in milliseconds. A running instance is connected to at once; an instance on a dead node never is.
 */
const maxDialMs = 5000;

function dialerOf({ cache, clock, nodeConnection, reachesPod }: FunctionsServerOptions): DialInstance {
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
