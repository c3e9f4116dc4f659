/** Leases with versions and conflicts, and nothing else: what an election needs of an API server. */
import type { Lease } from '../../../src/api/coordination/v1/lease.ts';
import type { Draft } from '../../../src/apimachinery/meta.ts';
import { newAlreadyExists, newConflict, newNotFound } from '../../../src/apimachinery/status-error.ts';
import type { Client, ResourceClient } from '../../../src/client/client.ts';

const leases = { group: 'coordination.k8s.io', plural: 'leases' };

export class LeaseServer {
  lease: Lease | undefined;
  writes = 0;
  /** When set, a request waits for this before it is acted on. */
  gate: Promise<unknown> | undefined;
  down = false;

  /** The client of one candidate; `before` runs ahead of each of its requests. */
  client(before: (verb: string) => Promise<void> | void = () => {}): Client {
    const enter = async (verb: string) => {
      await before(verb);
      await this.gate;
      if (this.down) throw new Error('connection refused');
    };
    const client: Partial<ResourceClient<Lease>> = {
      get: async (name) => {
        await enter('get');
        if (!this.lease) throw newNotFound(leases, name);
        return structuredClone(this.lease);
      },
      create: async (draft: Draft<Lease>) => {
        await enter('create');
        if (this.lease) throw newAlreadyExists(leases, draft.metadata.name ?? '');
        return this.#store(draft);
      },
      update: async (lease: Lease) => {
        await enter('update');
        if (this.lease?.metadata.resourceVersion !== lease.metadata.resourceVersion) {
          throw newConflict(leases, lease.metadata.name, 'the object has been modified');
        }
        return this.#store(lease);
      },
    };
    return { resource: () => client as never };
  }

  /** Somebody takes or changes the lease behind everyone's back. */
  overwrite(spec: Partial<Lease['spec']>): void {
    if (this.lease) this.#store({ ...this.lease, spec: { ...this.lease.spec, ...spec } });
  }

  #store(lease: Draft<Lease>): Lease {
    const metadata = { ...lease.metadata, resourceVersion: String(++this.writes) };
    this.lease = structuredClone({ ...lease, metadata }) as Lease;
    return structuredClone(this.lease);
  }
}
