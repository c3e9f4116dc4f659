/** Creates the claims of a StatefulSet's pods, and writes their owners. */
import type { StatefulSet } from '../../../api/apps/v1/stateful-set.ts';
import type { PersistentVolumeClaim } from '../../../api/core/v1/types.gen.ts';
import { persistentVolumeClaimResource } from '../../../api/core/v1/volume/persistent-volume-claim.ts';
import { type Draft, type ObjectKey, objectKey } from '../../../apimachinery/meta.ts';
import { isAlreadyExists, isNamespaceTerminating } from '../../../apimachinery/status-error.ts';
import { errorMessage } from '../../../base/log.ts';
import type { Lister } from '../../../client/informer.ts';
import { type ControllerContext, type Watched, watched } from '../../../controller-runtime/definition.ts';
import { ifPresent } from '../../../controller-runtime/if-present.ts';
import { ObservedWrites } from '../../../controller-runtime/observed-writes.ts';
import { hasClaim } from './stateful-pods-plan.ts';

export class StatefulClaims {
  readonly watch: Watched;
  readonly #context: ControllerContext;
  readonly #claims: Lister<PersistentVolumeClaim>;
  readonly #writes: ObservedWrites<PersistentVolumeClaim>;

  constructor(context: ControllerContext, sets: Lister<StatefulSet>) {
    const informer = context.informers.informerFor(persistentVolumeClaimResource);
    this.#context = context;
    this.#claims = informer.lister;
    this.#writes = new ObservedWrites(context.client, persistentVolumeClaimResource, informer);
    this.watch = watched(persistentVolumeClaimResource, ({ metadata: { name, namespace } }) =>
      sets
        .list(namespace)
        .filter((set) => hasClaim(set, name))
        .map(objectKey),
    );
  }

  settled(owner: ObjectKey): Promise<boolean> {
    return this.#writes.settled(owner, this.#context.clock.now());
  }

  get(name: string, namespace: string | undefined): PersistentVolumeClaim | undefined {
    return this.#claims.get(objectKey({ metadata: { name, namespace } }));
  }

  /**
   * Creates the claims and records events. Rejects with the failure. A claim that already exists is not a
   * failure.
   */
  async create(
    set: StatefulSet,
    pod: string,
    drafts: readonly Draft<PersistentVolumeClaim>[],
  ): Promise<void> {
    for (const draft of drafts) {
      const claim = await this.#createOne(set, pod, draft);
      if (claim) this.#writes.written(objectKey(set), claim, this.#context.clock.now());
    }
  }

  /** Returns the claim, or undefined if an existing one has been deleted in the meantime. */
  async #createOne(set: StatefulSet, pod: string, draft: Draft<PersistentVolumeClaim>) {
    const { client, events } = this.#context;
    const claims = client.resource(persistentVolumeClaimResource);
    const { name = '', namespace } = draft.metadata;
    const which = `Claim ${name} Pod ${pod} in StatefulSet ${set.metadata.name}`;
    try {
      const made = await claims.create(draft);
      events.event(set, 'Normal', 'SuccessfulCreate', `create ${which} success`);
      return made;
    } catch (error) {
      if (isAlreadyExists(error)) return ifPresent(claims.get(name, namespace));
      if (isNamespaceTerminating(error)) throw error;
      const why = errorMessage(error);
      events.event(set, 'Warning', 'FailedCreate', `create ${which} failed error: ${why}`);
      throw new Error(`failed to create PVC ${name}: ${why}`);
    }
  }

  async setOwners(set: StatefulSet, claim: PersistentVolumeClaim, conflict: boolean): Promise<void> {
    const { client, clock, events } = this.#context;
    const { name } = claim.metadata;
    if (conflict) {
      const why = 'has a conflicting OwnerReference that acts as a managing controller';
      const so = 'the retention policy is ignored for this claim';
      events.event(set, 'Warning', 'ConflictingController', `PersistentVolumeClaim ${name} ${why}, ${so}`);
    }
    const written = await ifPresent(client.resource(persistentVolumeClaimResource).update(claim));
    if (written) this.#writes.written(objectKey(set), written, clock.now());
  }
}
