/**
 * The port for calls of functions, workflows and triggers. It is open while at least one such object exists.
 */

import { storagePrefix } from '../../../apimachinery/resource-definition.ts';
import type { DirectServe, ListenOptions } from '../../../apiserver/transport/listen-options.ts';
import type { Listener } from '../../../apiserver/transport/serve.ts';
import { aborted } from '../../../base/abort.ts';
import type { Clock, Timer } from '../../../base/clock.ts';
import { errorMessage, type Logger } from '../../../base/log.ts';
import type { Cache } from '../../../storage/cache.ts';
import { triggerResource } from '../../triggers/api/trigger.ts';
import { workflowResource } from '../../workflows/api/workflow.ts';
import { functionResource } from '../api/function.ts';
import type { FunctionFlags } from '../api/settings.ts';

/** Makes new connections to open ports wait while this process is replaced. */
export interface HeldConnections {
  opened(port: number): void;
  closed(port: number): void;
  /** Removes the nftables rule by which an earlier process let connections wait. Must not reject. */
  release(): Promise<void>;
}

interface GatewayPortOptions {
  readonly cache: Cache;
  readonly listen: (signal: AbortSignal) => Promise<Listener>;
  readonly held: HeldConnections;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Options of the listener that are the gateway's own. */
type GatewayListener = Pick<ListenOptions, 'app' | 'direct' | 'http2' | 'port' | 'flag'>;

export interface GatewayOptions extends Omit<GatewayPortOptions, 'listen'> {
  readonly settings: Pick<FunctionFlags, 'gateway-port'>;
  readonly app: ListenOptions['app'];
  /** Serves calls of functions without the app. */
  readonly directCalls: DirectServe | undefined;
  readonly listen: (own: GatewayListener, signal: AbortSignal) => Promise<Listener>;
}

/** Delay in milliseconds before another attempt to open the port: another program may be using it. */
const retryMs = 10_000;

const prefixes = [functionResource, triggerResource, workflowResource].map((kind) => storagePrefix(kind));

/** Serves --gateway-port; resolves when the signal has aborted and the last call has been answered. */
export async function serveGateway(
  { settings, app, directCalls, listen, ...options }: GatewayOptions,
  signal: AbortSignal,
): Promise<void> {
  const own: GatewayListener = {
    app,
    // Callers of functions get HTTP/1.1: direct calls require it, and it takes less time per call
    // (decision 94).
    http2: 'agents',
    ...(directCalls && { direct: directCalls }),
    port: settings['gateway-port'],
    flag: '--gateway-port',
  };
  const port = new GatewayPort({ ...options, listen: (until) => listen(own, until) });
  const endWatches = prefixes.map((prefix) => follow(options.cache, prefix, () => port.wake()));
  port.wake();
  await port.settled();
  await options.held.release();
  await aborted(signal);
  for (const endWatch of endWatches) endWatch();
  await port.end();
}

/** Watches a prefix; starts a new watch when the old one has expired. */
function follow(cache: Cache, prefix: string, wake: () => void): () => void {
  let end: () => void;
  const begin = () => {
    end = cache.watch(prefix, cache.revision, {
      onEvents: wake,
      onExpired: () => {
        begin();
        wake();
      },
    });
  };
  begin();
  return () => end();
}

interface OpenPort extends Listener {
  readonly stop: AbortController;
}

class GatewayPort {
  readonly #options: GatewayPortOptions;
  #open: OpenPort | undefined;
  #turning: Promise<void> | undefined;
  #again = false;
  #isEnding = false;
  /** Timer of the next attempt to open the port; until it fires, changes of objects cause no attempt. */
  #retry: Timer | undefined;
  /** The last failure to open the port, which is logged once. */
  #problem: string | undefined;

  constructor(options: GatewayPortOptions) {
    this.#options = options;
  }

  wake(): void {
    this.#again = true;
    this.#turning ??= this.#turn().finally(() => {
      this.#turning = undefined;
    });
  }

  /** Resolves when the port is as the objects require, or could not be opened. */
  async settled(): Promise<void> {
    await this.#turning;
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    this.wake();
    await this.#turning;
  }

  async #turn(): Promise<void> {
    while (this.#again) {
      this.#again = false;
      const { cache } = this.#options;
      const isWanted = !this.#isEnding && prefixes.some((prefix) => cache.list(prefix).length > 0);
      if (!isWanted) this.#forgetFailure();
      if (isWanted && !this.#open && !this.#retry) await this.#listen();
      else if (!isWanted && this.#open) await this.#close(this.#open);
    }
  }

  async #listen(): Promise<void> {
    const { listen, held, clock, log } = this.#options;
    const stop = new AbortController();
    try {
      const { port, closed } = await listen(stop.signal);
      this.#open = { stop, port, closed };
      held.opened(port);
      if (this.#problem !== undefined) log.info('the port of the gateway is open');
      this.#forgetFailure();
    } catch (error) {
      const problem = errorMessage(error);
      const what = { error: problem, retryMs };
      if (problem !== this.#problem)
        log.error('functions, workflows and triggers cannot be called at --gateway-port', what);
      this.#problem = problem;
      this.#retry = clock.after(retryMs, () => {
        this.#retry = undefined;
        this.wake();
      });
    }
  }

  #forgetFailure(): void {
    this.#retry?.cancel();
    this.#retry = undefined;
    this.#problem = undefined;
  }

  async #close({ stop, port, closed }: OpenPort) {
    // No object needs the port any more, so new connections must be rejected at once, also when this process
    // is replaced before another object is created.
    if (!this.#isEnding) this.#options.held.closed(port);
    stop.abort();
    await closed;
    this.#open = undefined;
  }
}
