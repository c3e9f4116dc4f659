/**
 * Charges writes to the quotas of a namespace before they are stored, by compare-and-swap of the quotas'
 * status, so that all masters together never exceed a quota. Pending writes of one namespace are decided
 * together, with one write for each quota. The charge of a write that fails is given back here if it is
 * certain that nothing was stored, and otherwise by controllers/quotas/resource-quota.ts.
 */
import { type ResourceQuota, resourceQuotaResource } from '../../api/core/v1/resource-quota.ts';
import { writeAmounts } from '../../apimachinery/amounts.ts';
import { storageKey, storagePrefix } from '../../apimachinery/resource-definition.ts';
import { newConflict } from '../../apimachinery/status-error.ts';
import type { ServerContext } from '../../apiserver/server-context.ts';
import { decodeObject, encodeObject } from '../../storage/codec.ts';
import { RevisionMismatchError, type StoredValue } from '../../storage/store.ts';
import { decide, type QuotaUse, type QuotaWrite, useOf, without } from './quota-checks.ts';

export interface ChargedWrite extends QuotaWrite {
  /** True if the write is only checked, without a charge. */
  readonly dryRun: boolean;
}

type Outcome = { readonly refusal?: string };

interface Waiting {
  readonly write: ChargedWrite;
  /** True if the charge of the write is given back. */
  readonly isBack: boolean;
  readonly outcome: PromiseWithResolvers<Outcome>;
}

interface Known {
  readonly use: QuotaUse;
  readonly revision: number;
}

interface Quotas {
  readonly known: readonly Known[];
  /** True if the quotas were read from the store instead of the cache, so that a rejection is final. */
  readonly fresh: boolean;
}

/** Maximum number of races in a row that are lost to other masters. */
const maxLostRaces = 64;

export class QuotaCharges {
  readonly #server: Pick<ServerContext, 'cache' | 'store'>;
  /** Pending writes by namespace; an entry exists while the namespace is being processed. */
  readonly #waiting = new Map<string, Waiting[]>();
  /** Own writes that the cache may not have yet, by key. */
  readonly #written = new Map<string, Known>();

  constructor(server: Pick<ServerContext, 'cache' | 'store'>) {
    this.#server = server;
  }

  /** Returns whether the cache has quotas of the namespace. */
  hasQuotas(namespace: string): boolean {
    return this.#server.cache.list(storagePrefix(resourceQuotaResource, namespace)).length > 0;
  }

  /**
   * Charges a write. Resolves to why it exceeds a quota; undefined if it was charged. Rejects if the store
   * does.
   */
  async take(namespace: string, write: ChargedWrite): Promise<string | undefined> {
    return (await this.#add(namespace, write, false)).refusal;
  }

  /**
   * Gives back the charge of a write that was not stored. If the store fails, the controller gives it back
   * later.
   */
  giveBack(namespace: string, write: ChargedWrite): void {
    this.#add(namespace, write, true).catch(() => undefined);
  }

  #add(namespace: string, write: ChargedWrite, isBack: boolean): Promise<Outcome> {
    const waiting: Waiting = { write, isBack, outcome: Promise.withResolvers() };
    const others = this.#waiting.get(namespace);
    if (others) others.push(waiting);
    else void this.#work(namespace, [waiting]);
    return waiting.outcome.promise;
  }

  async #work(namespace: string, first: Waiting[]): Promise<void> {
    for (let batch = first; batch.length > 0; batch = this.#waiting.get(namespace) ?? []) {
      this.#waiting.set(namespace, []);
      try {
        await this.#settle(namespace, this.#cached(namespace), batch);
      } catch (error) {
        for (const { outcome } of batch) outcome.reject(error);
      }
    }
    this.#waiting.delete(namespace);
  }

  async #settle(namespace: string, quotas: Quotas, batch: readonly Waiting[]): Promise<void> {
    let [current, open] = [quotas, batch];
    for (let races = 0; races < maxLostRaces; races++) {
      const { uses, fitting, refusals } = decideAll(current, open);
      if (refusals.size > 0 && !current.fresh) {
        current = await this.#stored(namespace);
        continue;
      }
      for (const [{ outcome }, refusal] of refusals) outcome.resolve({ refusal });
      const lost = await this.#write(current, uses);
      if (lost.length === 0) return accept(fitting);
      // The other quotas have been charged.
      [current, open] = [{ known: lost, fresh: true }, fitting];
    }
    throw newConflict(
      resourceQuotaResource,
      current.known[0]?.use.quota.metadata.name ?? '',
      'the quota is being modified by too many writers; please try again',
    );
  }

  /** Writes the quotas. Resolves to the current state of the quotas that another writer changed meanwhile. */
  async #write({ known }: Quotas, uses: readonly QuotaUse[]): Promise<Known[]> {
    const results = await Promise.all(
      known.map(async ({ use: before, revision }, index): Promise<Known | undefined> => {
        const use = uses[index];
        if (!use || use === before) return undefined;
        const key = keyOf(use.quota);
        const quota = { ...use.quota, status: { ...use.quota.status, used: writeAmounts(use.used) } };
        try {
          const written = await this.#server.store.update(key, encodeObject(quota), revision);
          this.#written.set(key, { use: { ...use, quota }, revision: written });
          return undefined;
        } catch (error) {
          if (!(error instanceof RevisionMismatchError)) throw error;
          return error.current && knownOf(error.current);
        }
      }),
    );
    return results.filter((result) => result !== undefined);
  }

  #cached(namespace: string): Quotas {
    const { cache } = this.#server;
    for (const [key, { revision }] of this.#written)
      if (revision <= cache.revision) this.#written.delete(key);
    const known = cache
      .list(storagePrefix(resourceQuotaResource, namespace))
      .map(
        ({ key, object, revision }) =>
          this.#written.get(key) ?? { use: useOf(object as ResourceQuota), revision },
      );
    return { known, fresh: false };
  }

  async #stored(namespace: string): Promise<Quotas> {
    const { items } = await this.#server.store.list(storagePrefix(resourceQuotaResource, namespace));
    return { known: items.map(knownOf), fresh: true };
  }
}

const keyOf = ({ metadata: { name, namespace = '' } }: ResourceQuota) =>
  storageKey(resourceQuotaResource, namespace, name);

const knownOf = ({ value, revision }: StoredValue): Known => ({
  use: useOf(decodeObject(value, revision) as ResourceQuota),
  revision,
});

function accept(writes: readonly Waiting[]): void {
  for (const { outcome } of writes) outcome.resolve({});
}

/** Decides the writes one after another, each with what the previous ones leave. */
function decideAll({ known }: Quotas, batch: readonly Waiting[]) {
  let uses: readonly QuotaUse[] = known.map(({ use }) => use);
  const fitting: Waiting[] = [];
  const refusals = new Map<Waiting, string>();
  for (const waiting of batch) {
    if (waiting.isBack) {
      fitting.push(waiting);
      uses = without(uses, waiting.write);
      continue;
    }
    const decision = decide(uses, waiting.write);
    if (decision.type === 'refused') {
      refusals.set(waiting, decision.why);
      continue;
    }
    fitting.push(waiting);
    if (!waiting.write.dryRun) uses = decision.uses;
  }
  return { uses, fitting, refusals };
}
