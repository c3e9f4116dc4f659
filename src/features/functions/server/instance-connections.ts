/** Connections to instances, which are reused for later calls. */
import { Agent } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { Instance } from './instances.ts';

/**
 * Idle timeout of a connection in milliseconds: less than the five seconds after which Node's own servers
 * close it.
 */
const idleMs = 4000;

export type DialInstance = (pod: Pod) => Promise<Duplex>;

/** One pool of connections for each instance, removed with it. */
export class InstanceConnections {
  readonly #dial: DialInstance;
  readonly #pools = new WeakMap<Instance, { readonly address: string; readonly agent: Agent }>();

  constructor(dial: DialInstance) {
    this.#dial = dial;
  }

  /** Returns whether the instance accepts connections. */
  async reaches({ pod }: Instance): Promise<boolean> {
    try {
      (await this.#dial(pod)).destroy();
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Returns the agent of an instance. A request of this agent gets a socket once the connection is open, and
   * no socket if the connection cannot be opened.
   */
  agentOf(instance: Instance): Agent {
    const address = instance.pod.status?.podIP ?? '';
    const known = this.#pools.get(instance);
    if (known?.address === address) return known.agent;
    known?.agent.destroy();
    const agent = new DialingAgent(() => this.#dial(instance.pod));
    this.#pools.set(instance, { address, agent });
    return agent;
  }
}

class DialingAgent extends Agent {
  readonly #dial: () => Promise<Duplex>;

  constructor(dial: () => Promise<Duplex>) {
    super({ keepAlive: true, timeout: idleMs, maxFreeSockets: 1000, scheduling: 'lifo' });
    this.#dial = dial;
  }

  override createConnection(
    _options: unknown,
    done?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    this.#dial().then(
      (socket) => done?.(null, socket),
      (error: unknown) => done?.(error as Error, undefined as unknown as Duplex),
    );
    return undefined;
  }
}
