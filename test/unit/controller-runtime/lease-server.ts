/** Leases with versions and conflicts, and nothing else: the part of an API server that an election needs. */
import type { Lease } from '../../../src/api/coordination/v1/lease.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import { newAlreadyExists, newConflict, newNotFound } from '../../../src/apimachinery/status-error.ts';
import { aborted, onAbort } from '../../../src/base/abort.ts';
import type { Client, ResourceClient, WatchEvent } from '../../../src/client/client.ts';

const leases = { group: 'coordination.k8s.io', plural: 'leases' };

export class LeaseServer {
  lease: Lease | undefined;
  writes = 0;
  /** When set, every request waits for this promise. */
  gate: Promise<unknown> | undefined;
  down = false;
  readonly #watchers = new Set<(event: WatchEvent<Lease> | undefined) => void>();

  /**
   * The client of one candidate; `before` runs ahead of each of its requests, `after` between its effect and
   * its answer.
   */
  client(
    before: (verb: string) => Promise<void> | void = () => {},
    after: (verb: string) => Promise<void> | void = () => {},
  ): Client {
    const answer = async <T>(verb: string, value: T): Promise<T> => {
      await after(verb);
      return value;
    };
    const enter = async (verb: string) => {
      await before(verb);
      await this.gate;
      if (this.down) throw new Error('connection refused');
    };
    const client: Partial<ResourceClient<Lease>> = {
      get: async (name) => {
        await enter('get');
        if (!this.lease) throw newNotFound(leases, name);
        return answer('get', structuredClone(this.lease));
      },
      create: async (draft: Draft<Lease>) => {
        await enter('create');
        if (this.lease) throw newAlreadyExists(leases, draft.metadata.name ?? '');
        return answer('create', this.#store(draft));
      },
      update: async (lease: Lease) => {
        await enter('update');
        if (this.lease?.metadata.resourceVersion !== lease.metadata.resourceVersion) {
          throw newConflict(leases, lease.metadata.name, 'the object has been modified');
        }
        return answer('update', this.#store(lease));
      },
      list: async () => {
        await enter('list');
        const items = this.lease ? [structuredClone(this.lease)] : [];
        return { items, metadata: { resourceVersion: String(this.writes) } } as never;
      },
      watch: ({ signal }) => this.#watch(enter, signal),
    };
    return { resource: () => client as never };
  }

  /** Takes or changes the lease as an unknown client does. */
  overwrite(spec: Partial<Lease['spec']>): void {
    if (this.lease) this.#store({ ...this.lease, spec: { ...this.lease.spec, ...spec } });
  }

  /** Deletes the lease. */
  remove(): void {
    if (!this.lease) return;
    const metadata = { ...this.lease.metadata, resourceVersion: String(++this.writes) };
    const object = { ...this.lease, metadata };
    this.lease = undefined;
    this.#tell({ type: 'DELETED', object });
  }

  /** Ends every watch. */
  cut(): void {
    this.#tell(undefined);
  }

  /**
   * Yields events from now on; `enter` is awaited before each event, so that a candidate that is cut off gets
   * none.
   */
  async *#watch(
    enter: (verb: string) => Promise<void>,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent<Lease>> {
    const events: (WatchEvent<Lease> | undefined)[] = [];
    let wake = Promise.withResolvers<void>();
    const take = (event: WatchEvent<Lease> | undefined) => {
      events.push(event);
      wake.resolve();
    };
    const unlink = onAbort(signal, () => take(undefined));
    this.#watchers.add(take);
    try {
      await enter('watch');
      for (;;) {
        if (events.length === 0) await wake.promise;
        wake = Promise.withResolvers();
        const event = events.shift();
        if (!event) return;
        await Promise.race([enter('event'), aborted(signal)]);
        if (signal.aborted) return;
        yield structuredClone(event);
      }
    } finally {
      this.#watchers.delete(take);
      unlink();
    }
  }

  #tell(event: WatchEvent<Lease> | undefined): void {
    for (const take of this.#watchers) take(event);
  }

  #store(lease: Draft<Lease>): Lease {
    const metadata = { ...lease.metadata, resourceVersion: String(++this.writes) };
    const type = this.lease ? 'MODIFIED' : 'ADDED';
    this.lease = structuredClone({ ...lease, metadata }) as Lease;
    this.#tell({ type, object: this.lease });
    return structuredClone(this.lease);
  }
}
