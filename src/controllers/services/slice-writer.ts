/** Reads the EndpointSlices that one controller maintains for Services, and carries out plans for them. */
import { type EndpointSlice, endpointSliceResource } from '../../api/discovery/v1/endpoint-slice.ts';
import type { ObjectKey } from '../../apimachinery/meta.ts';
import type { ControllerContext } from '../../controller-runtime/definition.ts';
import { ifPresent, unlessNamespaceEnds } from '../../controller-runtime/if-present.ts';
import { ObservedWrites } from '../../controller-runtime/observed-writes.ts';
import type { ManagedSlices, SlicePlan } from './managed-slices.ts';

/** Returns a function that lists the cached slices of a Service. */
export function sliceReader(
  { informers }: Pick<ControllerContext, 'informers'>,
  { manager, serviceOf }: ManagedSlices,
): (service: ObjectKey) => readonly EndpointSlice[] {
  const index = `service of ${manager}`;
  const informer = informers.informerFor(endpointSliceResource);
  informer.addIndex(index, serviceOf);
  return (service) => informer.lister.byIndex(index, service);
}

export class SliceWriter {
  readonly #context: Pick<ControllerContext, 'client' | 'clock'>;
  readonly #writes: ObservedWrites<EndpointSlice>;

  constructor({ client, clock, informers }: ControllerContext) {
    this.#context = { client, clock };
    const informer = informers.informerFor(endpointSliceResource);
    this.#writes = new ObservedWrites(client, endpointSliceResource, informer);
  }

  /** Returns true if the cache shows all writes for the Service. */
  settled(service: ObjectKey): Promise<boolean> {
    return this.#writes.settled(service, this.#context.clock.now());
  }

  async carryOut(service: ObjectKey, plan: SlicePlan): Promise<void> {
    const { client, clock } = this.#context;
    const api = client.resource(endpointSliceResource);
    const written = (slice: EndpointSlice) => this.#writes.written(service, slice, clock.now());
    // Updates and deletions come first, so that removed endpoints disappear even if a creation fails.
    for (const slice of plan.update) written(await api.update(slice));
    for (const slice of plan.remove) {
      const { name, namespace, uid } = slice.metadata;
      await ifPresent(api.delete(name, namespace, { preconditions: { uid } }));
      this.#writes.removed(service, slice, clock.now());
    }
    for (const slice of plan.create) {
      const created = await unlessNamespaceEnds(api.create(slice));
      if (created) written(created);
    }
  }
}
