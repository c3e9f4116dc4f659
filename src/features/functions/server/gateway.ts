/**
 * The gateway of one master: passes calls of functions to instances, and writes in each function's status how
 * many instances it needs. A function without calls takes no resources here.
 */
import { type Pod, podResource } from '../../../api/core/v1/pod/pod.ts';
import { controllerOf, isTerminating, type KubeObject } from '../../../apimachinery/meta.ts';
import { storageKey, storagePrefix } from '../../../apimachinery/resource-definition.ts';
import { newNotFound, StatusError } from '../../../apimachinery/status-error.ts';
import type { Clock, Timer } from '../../../base/clock.ts';
import { errorMessage, type Logger } from '../../../base/log.ts';
import { Registry } from '../../../base/metrics/registry.ts';
import type { Cache, CacheEvent, IndexDeclaration } from '../../../storage/cache.ts';
import { type Fn, functionResource } from '../api/function.ts';
import { functionLabel } from '../api/function-instance.ts';
import { FunctionCalls, unavailable } from './function-calls.ts';
import { FunctionMetrics } from './function-metrics.ts';
import { isCallable } from './instances.ts';

/** Writes how many instances this master requests; null for none. */
export type WriteDemand = (namespace: string, name: string, instances: number | null) => Promise<void>;

export interface GatewayOptions {
  readonly cache: Cache;
  readonly clock: Clock;
  readonly log: Logger;
  /** Name of this master. */
  readonly master: string;
  readonly writeDemand: WriteDemand;
  /** Registry of the call metrics; defaults to one that is never exposed. */
  readonly page?: Registry | undefined;
}

interface Called {
  readonly key: string;
  readonly calls: FunctionCalls;
  /** The demand that was written last. */
  written: number | undefined;
  isWriting: boolean;
  timer: Timer | undefined;
}

/** Milliseconds after which a failed write of a demand is retried. */
const retryMs = 1000;

/** Pods by `NAMESPACE/NAME` of their function. */
const podsByFunction: IndexDeclaration = {
  name: 'pods by function',
  prefix: storagePrefix(podResource),
  keysOf: ({ metadata: { namespace, labels } }) => {
    const name = labels?.[functionLabel];
    return name === undefined ? [] : [`${namespace}/${name}`];
  },
};

export class Gateway {
  readonly #options: GatewayOptions;
  readonly #called = new Map<string, Called>();
  readonly metrics: FunctionMetrics;
  #endWatches: (() => void) | undefined;

  constructor(options: GatewayOptions) {
    this.#options = options;
    const { page = new Registry(), clock } = options;
    this.metrics = new FunctionMetrics(page, clock, () =>
      [...this.#called.values()].map(({ calls }) => calls),
    );
  }

  /** Withdraws demands that a master of this name wrote before a restart, unless there are calls. */
  start(): void {
    const { cache, master } = this.#options;
    for (const found of cache.list(storagePrefix(functionResource))) {
      // Most functions are idle, so the cache should not keep them decoded.
      const { status } = found.unowned as Fn;
      if (status?.demand?.[master] !== undefined) this.#open(found.object as Fn);
    }
  }

  stop(): void {
    for (const called of this.#called.values()) this.#close(called);
  }

  /** Returns the calls of a function; throws 404 if it does not exist, 503 if it cannot be called. */
  callsOf(namespace: string, name: string): FunctionCalls {
    const called = this.#called.get(`${namespace}/${name}`);
    const fn = called?.calls.function ?? this.#find(namespace, name);
    if (!fn) throw newNotFound(functionResource, name);
    const why = whyNotCallable(fn);
    if (why) throw why;
    return (called ?? this.#open(fn)).calls;
  }

  /** Returns a pod of the function, whether it can take calls or not. */
  podOf(namespace: string, name: string, uid: string): Pod | undefined {
    const pods = this.#options.cache.index(podsByFunction).get(`${namespace}/${name}`);
    return pods.map(({ object }) => object as Pod).find(({ metadata }) => metadata.uid === uid);
  }

  #find(namespace: string, name: string): Fn | undefined {
    const found = this.#options.cache.get(storageKey(functionResource, namespace, name))?.object as
      | Fn
      | undefined;
    return found && !isTerminating(found) ? found : undefined;
  }

  #open(fn: Fn): Called {
    const { clock, master } = this.#options;
    const { namespace = '', name } = fn.metadata;
    const key = `${namespace}/${name}`;
    const calls = new FunctionCalls(fn, { clock, onDemand: () => this.#look(called) });
    const called: Called = {
      key,
      calls,
      written: fn.status?.demand?.[master] ?? 0,
      isWriting: false,
      timer: undefined,
    };
    this.#called.set(key, called);
    this.#endWatches ??= this.#watch();
    this.#refresh(called, fn);
    this.#look(called);
    return called;
  }

  #close(called: Called): void {
    called.timer?.cancel();
    this.#called.delete(called.key);
    if (this.#called.size > 0) return;
    this.#endWatches?.();
    this.#endWatches = undefined;
  }

  /** Watches functions and pods from now on. */
  #watch(): () => void {
    const { cache } = this.#options;
    const ends: (() => void)[] = [];
    const follow = (prefix: string, keyOf: (object: KubeObject) => string | undefined) => {
      let end: () => void;
      const begin = () => {
        end = cache.watch(prefix, cache.revision, {
          onEvents: (events) => this.#changed(events, keyOf),
          onExpired: () => {
            begin();
            for (const called of this.#called.values()) this.#reread(called);
          },
        });
      };
      begin();
      ends.push(() => end());
    };
    follow(storagePrefix(functionResource), ({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    follow(storagePrefix(podResource), ({ metadata: { namespace, labels } }) => {
      const name = labels?.[functionLabel];
      return name === undefined ? undefined : `${namespace}/${name}`;
    });
    return () => {
      for (const end of ends) end();
    };
  }

  #changed(events: readonly CacheEvent[], keyOf: (object: KubeObject) => string | undefined): void {
    const keys = new Set(
      events.flatMap(({ current, previous }) =>
        [keyOf(current.object) ?? [], (previous && keyOf(previous.object)) ?? []].flat(),
      ),
    );
    for (const key of keys) {
      const called = this.#called.get(key);
      if (called) this.#reread(called);
    }
  }

  #reread(called: Called): void {
    const [namespace = '', name = ''] = called.key.split('/');
    const fn = this.#find(namespace, name);
    if (fn && fn.metadata.uid === called.calls.function.metadata.uid) {
      this.#refresh(called, fn);
      return;
    }
    called.calls.refuseAll(newNotFound(functionResource, name));
    this.#close(called);
    if (!fn) this.metrics.forget(namespace, name);
  }

  #refresh({ key, calls }: Called, fn: Fn): void {
    calls.update(fn);
    const pods = this.#options.cache.index(podsByFunction).get(key);
    const active = fn.status?.activeVersion;
    calls.instances.set(
      pods
        .map(({ object }) => object as Pod)
        .filter((pod) => controllerOf(pod)?.uid === fn.metadata.uid && isCallable(pod, active)),
    );
    const why = whyNotCallable(fn);
    if (why) calls.refuseAll(why);
    calls.dispatch();
  }

  /**
   * Requests the number of instances that is needed now, and sets a timer if that number may change without a
   * further call.
   */
  #look(called: Called): void {
    const { clock } = this.#options;
    called.timer?.cancel();
    const { instances, again } = called.calls.demand();
    called.timer = again === undefined ? undefined : clock.after(again, () => this.#look(called));
    if (called.isWriting) return;
    if (instances !== called.written) void this.#write(called, instances);
    else if (instances === 0 && called.calls.isIdle) this.#close(called);
  }

  async #write(called: Called, instances: number): Promise<void> {
    const { writeDemand, clock, log } = this.#options;
    const { namespace = '', name } = called.calls.function.metadata;
    called.isWriting = true;
    try {
      await writeDemand(namespace, name, instances === 0 ? null : instances);
      called.written = instances;
      called.isWriting = false;
      if (this.#called.get(called.key) === called) this.#look(called);
    } catch (error) {
      called.isWriting = false;
      if (this.#called.get(called.key) !== called) return;
      if (error instanceof StatusError && error.status.code === 404) {
        this.#reread(called);
        return;
      }
      log.warn('the gateway cannot report how many instances a function needs', {
        function: called.key,
        error: errorMessage(error),
      });
      called.timer?.cancel();
      called.timer = clock.after(retryMs, () => this.#look(called));
    }
  }
}

/**
 * Returns the error for a function that has no ready version and whose latest version failed, so that waiting
 * is useless.
 */
export function whyNotCallable({ metadata, status }: Fn): StatusError | undefined {
  if (status?.activeVersion !== undefined) return undefined;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status !== 'False' || ready.reason === 'Starting') return undefined;
  return unavailable(`function ${metadata.name} cannot be called: ${ready.message}`);
}
