/**
 * Makes the ServiceCIDR of the setting `service-cidr`, reports which ServiceCIDRs Services may take addresses
 * from, and keeps a deleted one as long as a Service has an address of it (upstream:
 * pkg/controller/servicecidrs and pkg/controlplane/controller/defaultservicecidr). Keys are ServiceCIDRs.
 */

import { clusterAddresses } from '../../api/core/v1/service/cluster-addresses.ts';
import { type Service, serviceResource } from '../../api/core/v1/service/service.ts';
import { apiService } from '../../api/core/v1/system-objects.ts';
import { withFinalizer, withoutFinalizer } from '../../api/core/v1/volume/binding.ts';
import {
  cidrsOf,
  defaultRangesName,
  hasServiceAddress,
  rangeProtection,
  type ServiceCIDR,
  serviceCIDRResource,
} from '../../api/networking/v1/service-cidr.ts';
import { type AccountRights, writeEvents } from '../../api/rbac/v1/rule-rows.ts';
import { deepEqual } from '../../apimachinery/equality.ts';
import { type Draft, isTerminating } from '../../apimachinery/meta.ts';
import { apiVersionOf } from '../../apimachinery/resource-definition.ts';
import { isAlreadyExists, isConflict } from '../../apimachinery/status-error.ts';
import { rfc3339 } from '../../base/time.ts';
import type { Lister } from '../../client/informer.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ControllerFactory,
  type ReconcileResult,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { tolerate } from '../../controller-runtime/tolerate.ts';
import { planRange } from './service-ranges-plan.ts';

export const serviceRangesRights: AccountRights = {
  kubernetes: [
    ['get list watch patch update', 'networking.k8s.io', 'servicecidrs'],
    ['patch update', 'networking.k8s.io', 'servicecidrs/finalizers'],
    ['patch update', 'networking.k8s.io', 'servicecidrs/status'],
    ['get list watch', 'networking.k8s.io', 'ipaddresses'],
    writeEvents,
  ],
  own: [
    ['create', 'networking.k8s.io', 'servicecidrs'],
    ['get list watch', 'core', 'services'],
  ],
};

/** Returns the controller; `serviceCidr` has one range or one of each family. */
export const serviceRangesController =
  (serviceCidr: string): ControllerFactory =>
  (context) =>
    new ServiceRangesController(context, serviceCidr.split(',')).definition();

class ServiceRangesController {
  readonly #context: ControllerContext;
  readonly #own: readonly string[];
  readonly #ranges: Lister<ServiceCIDR>;
  readonly #services: Lister<Service>;

  constructor(context: ControllerContext, own: readonly string[]) {
    this.#context = context;
    this.#own = own;
    this.#ranges = context.informers.informerFor(serviceCIDRResource).lister;
    this.#services = context.informers.informerFor(serviceResource).lister;
  }

  definition(): ControllerDefinition {
    return {
      name: 'service-cidrs',
      watches: [
        watched(serviceCIDRResource, ({ metadata }) => [metadata.name, ...this.#ending().map(nameOf)]),
        watched(serviceResource, (service) => this.#keysOf(service)),
      ],
      reconcile: (name) => this.#reconcile(name),
    };
  }

  #ending = () => this.#ranges.list().filter(isTerminating);

  /** The Service of the API always exists, so the default ranges are made when it is listed. */
  #keysOf(service: Service): readonly string[] {
    const { namespace, name } = service.metadata;
    const isApi = namespace === apiService.namespace && name === apiService.name;
    const addresses = clusterAddresses(service);
    const ending = this.#ending().filter((ranges) => addresses.some((ip) => hasServiceAddress(ranges, ip)));
    return [...ending.map(nameOf), ...(isApi ? [defaultRangesName] : [])];
  }

  async #reconcile(name: string): Promise<ReconcileResult | undefined> {
    const { client, clock } = this.#context;
    const api = client.resource(serviceCIDRResource);
    const ranges = this.#ranges.get(name);
    if (!ranges) {
      if (name === defaultRangesName) await tolerate(api.create(this.#draft()), isAlreadyExists);
      return undefined;
    }
    if (name === defaultRangesName && (await this.#growDefault(ranges))) return undefined;
    const others = this.#ranges.list().filter((other) => other !== ranges);
    const now = { ms: clock.now(), text: rfc3339(clock.now()) };
    const step = planRange(ranges, others, () => this.#services.list().flatMap(clusterAddresses), now);
    const write = (call: Promise<unknown>) => ifPresent(tolerate(call, isConflict));
    if (step.type === 'wait') return { requeueAfter: step.ms };
    if (step.type === 'protect') await write(api.update(withFinalizer(ranges, rangeProtection)));
    if (step.type === 'release') await write(api.update(withoutFinalizer(ranges, rangeProtection)));
    if (step.type === 'status') await write(api.updateStatus(step.ranges));
    return undefined;
  }

  #draft = (): Draft<ServiceCIDR> => ({
    apiVersion: apiVersionOf(serviceCIDRResource),
    kind: serviceCIDRResource.kind,
    metadata: { name: defaultRangesName },
    spec: { cidrs: [...this.#own] },
  });

  /**
   * Adds the second family if the cluster has got it. Returns true if the object is written or cannot be
   * right: it has other ranges than this cluster.
   */
  async #growDefault(ranges: ServiceCIDR): Promise<boolean> {
    const stored = cidrsOf(ranges);
    if (isTerminating(ranges) || deepEqual(stored, this.#own)) return false;
    const { client, events } = this.#context;
    if (stored.length === 1 && this.#own.length === 2 && stored[0] === this.#own[0]) {
      const next = { ...ranges, spec: { cidrs: [...this.#own] } };
      await ifPresent(tolerate(client.resource(serviceCIDRResource).update(next), isConflict));
      return true;
    }
    const message = `The default ServiceCIDR ${stored.join(',')} does not match the setting service-cidr ${this.#own.join(',')}; delete it so that it is made again`;
    events.event(ranges, 'Warning', 'KubernetesDefaultServiceCIDRInconsistent', message);
    return false;
  }
}

const nameOf = ({ metadata }: ServiceCIDR) => metadata.name;
