/**
 * The pool's addresses that Services have. A Lease in kube-system, whose name is the address, reserves it.
 * Its creation fails if another Service has the address, so no two Services share one.
 */

import { type Lease, leaseResource } from '../../api/coordination/v1/lease.ts';
import { type ConfigMap, configMapResource } from '../../api/core/v1/config-map.ts';
import { isInPool, type PoolState, poolOf, poolPlace } from '../../api/core/v1/service/address-pool.ts';
import { externalAddresses } from '../../api/core/v1/service/external-addresses.ts';
import {
  addressOfLease,
  poolAddressLabel,
  poolLeaseName,
  poolLeaseNamespace,
  poolLeaseScope,
  poolLeaseSeconds,
  poolServiceAnnotation,
  serviceOfLease,
} from '../../api/core/v1/service/pool-lease.ts';
import { type Service, serviceResource } from '../../api/core/v1/service/service.ts';
import { type Draft, type ObjectKey, objectKey } from '../../apimachinery/meta.ts';
import { isAlreadyExists, isNotFound } from '../../apimachinery/status-error.ts';
import { dashedAddress } from '../../base/addresses.ts';
import type { Lister } from '../../client/informer.ts';
import type { ControllerContext } from '../../controller-runtime/definition.ts';
import { tolerate } from '../../controller-runtime/tolerate.ts';

/** Scope of a watch of the ConfigMap with the pool. */
export const poolScope = {
  namespace: poolPlace.namespace,
  fieldSelector: `metadata.name=${poolPlace.name}`,
} as const;

const byService = 'service of a pool address';
const byAddress = 'external address';

export class PoolAddresses {
  readonly #context: ControllerContext;
  readonly #configMaps: Lister<ConfigMap>;
  readonly #leases: Lister<Lease>;
  readonly #services: Lister<Service>;
  /** Services by the address that is being reserved for them: the cache does not have the Lease yet. */
  readonly #reserving = new Map<string, ObjectKey>();

  constructor(context: ControllerContext) {
    const { informers } = context;
    this.#context = context;
    this.#configMaps = informers.informerFor(configMapResource, poolScope).lister;
    const leases = informers.informerFor(leaseResource, poolLeaseScope);
    leases.addIndex(byService, (lease) => [serviceOfLease(lease)]);
    this.#leases = leases.lister;
    const services = informers.informerFor(serviceResource);
    services.addIndex(byAddress, externalAddresses);
    this.#services = services.lister;
  }

  get state(): PoolState {
    return poolOf(this.#configMaps.get(`${poolPlace.namespace}/${poolPlace.name}`));
  }

  /** Returns the addresses of the pool that the Service has, by its Leases or by its status. */
  ownedBy(key: ObjectKey): readonly string[] {
    const leased = this.#leases.byIndex(byService, key).map(addressOfLease);
    const service = this.#services.get(key);
    const { state } = this;
    const delivered = (service?.status?.loadBalancer.ingress ?? []).flatMap(({ ip, ipMode }) =>
      ip && ipMode !== 'Proxy' && state && 'pool' in state && isInPool(state.pool, ip) ? [ip] : [],
    );
    return [...new Set([...delivered, ...leased])];
  }

  /** Returns the Service that has the address. */
  holderOf(address: string): ObjectKey | undefined {
    const lease = this.#leases.get(`${poolLeaseNamespace}/${poolLeaseName(address)}`);
    if (lease) return serviceOfLease(lease);
    const [service] = this.#services.byIndex(byAddress, address);
    return this.#reserving.get(address) ?? (service && objectKey(service));
  }

  /** Reserves the address for the Service. Rejects if another Service has it. */
  async reserve(key: ObjectKey, address: string): Promise<void> {
    if (this.#leases.get(`${poolLeaseNamespace}/${poolLeaseName(address)}`)) return;
    this.#reserving.set(address, key);
    const leases = this.#context.client.resource(leaseResource);
    try {
      await leases.create(newLease(key, address));
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const found = await leases.get(poolLeaseName(address), poolLeaseNamespace);
      if (serviceOfLease(found) !== key) throw error;
    } finally {
      this.#reserving.delete(address);
    }
  }

  /** Frees the addresses of the Service except these. */
  async releaseOthers(key: ObjectKey, kept: readonly string[]): Promise<void> {
    const leases = this.#context.client.resource(leaseResource);
    for (const lease of this.#leases.byIndex(byService, key)) {
      if (kept.includes(addressOfLease(lease))) continue;
      const { name, uid } = lease.metadata;
      await tolerate(leases.delete(name, poolLeaseNamespace, { preconditions: { uid } }), isNotFound);
    }
  }
}

const newLease = (key: ObjectKey, address: string): Draft<Lease> => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: {
    name: poolLeaseName(address),
    namespace: poolLeaseNamespace,
    labels: { [poolAddressLabel]: dashedAddress(address) },
    annotations: { [poolServiceAnnotation]: key },
  },
  spec: { leaseDurationSeconds: poolLeaseSeconds },
});
