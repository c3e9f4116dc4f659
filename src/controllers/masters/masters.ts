/**
 * Maintains the live masters as the endpoints of the API's Service (upstream's lease endpoint reconciler).
 * Runs on every master, not only on the leader.
 *
 * Each master renews a Lease of its own. A Lease that another master has not seen renewed for `leaseMs`, by
 * its own clock, is removed by the first master to notice, on the condition that it has not changed. The
 * endpoints are then a function of the existing Leases, so masters never disagree about them. A live master
 * whose Lease was removed creates it again. Invariant: a master that was itself interrupted (frozen, or
 * without a store) does not count that time against the others.
 */
import { type Lease, leaseResource } from '../../api/coordination/v1/lease.ts';
import {
  hostnameAnnotation,
  type MasterAddress,
  masterLabel,
  versionAnnotation,
} from '../../api/coordination/v1/master-lease.ts';
import { endpointsResource } from '../../api/core/v1/service/endpoints.ts';
import { serviceResource } from '../../api/core/v1/service/service.ts';
import { type EndpointSlice, endpointSliceResource } from '../../api/discovery/v1/endpoint-slice.ts';
import type { Draft } from '../../apimachinery/meta.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../apimachinery/status-error.ts';
import { rfc3339Micro } from '../../base/clock.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ControllerFactory,
  type ReconcileResult,
  watched,
} from '../../controller-runtime/definition.ts';
import { tolerate } from '../../controller-runtime/tolerate.ts';
import {
  identityOf,
  leaseNameOf,
  masterLabels,
  mastersOf,
  planEndpoints,
  planSlices,
  serviceName,
  sliceLabels,
} from './masters-plan.ts';

/** Milliseconds after which a Lease expires; 15 s as for upstream's master lease. */
export const leaseMs = 15_000;
export const renewMs = 5_000;
const leaseNamespace = 'kube-system';

export interface MastersOptions extends MasterAddress {
  /** Host name of the master. It is in the master's certificate, so no node may serve under it. */
  readonly hostname: string;
  /** Version of minik8s that the master runs. */
  readonly version: string;
  /** Called whenever the Service lists the current masters, including this one. */
  readonly onPublished?: () => void;
}

const leaseScope = { namespace: leaseNamespace, labelSelector: masterLabel };
const sliceScope = {
  namespace: 'default',
  labelSelector: Object.entries(sliceLabels)
    .map(([key, value]) => `${key}=${value}`)
    .join(),
};
/** Scope of the Service and of its Endpoints. */
const nameScope = { namespace: 'default', fieldSelector: `metadata.name=${serviceName}` };

export function mastersController(options: MastersOptions): ControllerFactory {
  return (context) => new Masters(options, context).definition();
}

class Masters {
  readonly #options: MastersOptions;
  readonly #context: ControllerContext;
  readonly #name: string;
  /** Version of each Lease and the time at which this process last saw it change. */
  #seen = new Map<string, { readonly version: string; readonly at: number }>();
  /** Time of the last renewal. NaN before the first: comparisons with it are false. */
  #renewedAt = Number.NaN;

  constructor(options: MastersOptions, context: ControllerContext) {
    this.#options = options;
    this.#context = context;
    this.#name = leaseNameOf(options);
  }

  definition(): ControllerDefinition {
    const key = () => ['masters'];
    return {
      name: 'masters',
      workers: 1,
      watches: [
        watched(leaseResource, key, leaseScope),
        watched(endpointSliceResource, key, sliceScope),
        watched(endpointsResource, key, nameScope),
        // If there is no Lease yet, the event of the Service causes this master to create its own.
        watched(serviceResource, key, nameScope),
      ],
      reconcile: () => this.#reconcile(),
    };
  }

  async #reconcile(): Promise<ReconcileResult> {
    const { clock } = this.#context;
    const away = clock.now() - this.#renewedAt >= 2 * renewMs;
    await this.#renew();
    const observed = this.#observe(away);
    for (const { lease, expiry } of observed) if (expiry <= clock.now()) await this.#remove(lease);
    const alive = observed.filter(({ expiry }) => expiry > clock.now()).map(({ lease }) => lease);
    if (alive.some(({ metadata }) => metadata.name === this.#name)) await this.#publish(mastersOf(alive));
    const next = Math.min(this.#renewedAt + renewMs, ...observed.map(({ expiry }) => expiry));
    return { requeueAfter: Math.max(next - clock.now(), 1) };
  }

  #leases(): readonly Lease[] {
    return this.#context.informers.informerFor(leaseResource, leaseScope).lister.list(leaseNamespace);
  }

  /** Returns the expiry of each Lease; this master's own Lease never expires. */
  #observe(away: boolean): readonly { readonly lease: Lease; readonly expiry: number }[] {
    const now = this.#context.clock.now();
    const seen = new Map<string, { readonly version: string; readonly at: number }>();
    const observed = this.#leases().map((lease) => {
      const { name, resourceVersion } = lease.metadata;
      const before = this.#seen.get(name);
      const fresh = away || before?.version !== resourceVersion;
      const at = fresh ? now : before.at;
      seen.set(name, { version: resourceVersion, at });
      return { lease, expiry: name === this.#name ? Number.POSITIVE_INFINITY : at + leaseMs };
    });
    this.#seen = seen;
    return observed;
  }

  async #renew(): Promise<void> {
    const { client, clock, informers } = this.#context;
    const now = clock.now();
    const { lister } = informers.informerFor(leaseResource, leaseScope);
    const own = lister.get(`${leaseNamespace}/${this.#name}`);
    if (own && now - this.#renewedAt < renewMs) return;
    const spec = {
      holderIdentity: identityOf(this.#options),
      leaseDurationSeconds: leaseMs / 1000,
      acquireTime: own?.spec.acquireTime ?? rfc3339Micro(now),
      renewTime: rfc3339Micro(now),
    };
    const leases = client.resource(leaseResource);
    const { hostname, version } = this.#options;
    const annotations = { [hostnameAnnotation]: hostname, [versionAnnotation]: version };
    const metadata = { name: this.#name, namespace: leaseNamespace, labels: masterLabels, annotations };
    if (own) {
      const updated = { ...own.metadata, annotations: { ...own.metadata.annotations, ...annotations } };
      await leases.update({ ...own, metadata: updated, spec });
    } else {
      const made = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec } as const;
      // The Lease may exist and be missing from the cache; its event enqueues this again.
      await tolerate(leases.create(made), isAlreadyExists);
    }
    this.#renewedAt = now;
  }

  async #remove({ metadata: { name, uid, resourceVersion } }: Lease): Promise<void> {
    const removed = await tolerate(
      this.#context.client
        .resource(leaseResource)
        .delete(name, leaseNamespace, { preconditions: { uid, resourceVersion } })
        .then(() => true),
      // Another master was faster, or the Lease has been renewed in the meantime.
      isNotFound,
      isConflict,
    );
    if (removed)
      this.#context.log.warn(
        'a master has not renewed its Lease; removing it from the endpoints of the Service kubernetes',
        { lease: name },
      );
  }

  async #publish(masters: readonly MasterAddress[]): Promise<void> {
    const { client, informers } = this.#context;
    const existing = informers.informerFor(endpointSliceResource, sliceScope).lister.list('default');
    const plan = planSlices(masters, existing);
    const slices = client.resource(endpointSliceResource);
    // Another master may write the same slice at the same time; its write arrives as an event.
    for (const slice of plan.create) {
      if (!(await tolerate(slices.create(slice), isAlreadyExists))) await this.#reclaim(slice);
    }
    for (const slice of plan.update) await tolerate(slices.update(slice), isConflict, isNotFound);
    for (const { metadata } of plan.remove) {
      await tolerate(slices.delete(metadata.name, 'default'), isNotFound);
    }
    await this.#publishEndpoints(masters);
    this.#options.onPublished?.();
  }

  /**
   * Restores the labels of a slice of that name. A slice without the Service's labels is not in the cache.
   */
  async #reclaim({ metadata, ...wanted }: Draft<EndpointSlice>): Promise<void> {
    const slices = this.#context.client.resource(endpointSliceResource);
    const existing = await tolerate(slices.get(metadata.name as string, 'default'), isNotFound);
    if (!existing || isLabelled(existing)) return;
    const labels = { ...existing.metadata.labels, ...sliceLabels };
    const reclaimed = { ...wanted, metadata: { ...existing.metadata, labels } };
    await tolerate(slices.update(reclaimed), isConflict, isNotFound);
  }

  async #publishEndpoints(masters: readonly MasterAddress[]): Promise<void> {
    const { client, informers } = this.#context;
    const { lister } = informers.informerFor(endpointsResource, nameScope);
    const { create, update, remove } = planEndpoints(masters, lister.get(`default/${serviceName}`));
    const endpoints = client.resource(endpointsResource);
    if (create) await tolerate(endpoints.create(create), isAlreadyExists);
    if (update) await tolerate(endpoints.update(update), isConflict, isNotFound);
    if (remove) await tolerate(endpoints.delete(serviceName, 'default'), isNotFound);
  }
}

const isLabelled = ({ metadata }: EndpointSlice) =>
  Object.entries(sliceLabels).every(([key, value]) => metadata.labels?.[key] === value);
