/**
 * Keeps the condition Available of APIServices. Services and EndpointSlices are watched; an extension server
 * is asked for its discovery when they change, and from time to time, because nothing else shows that it
 * hangs.
 */
import { type APIService, apiServiceResource } from '../../api/apiregistration/v1/api-service.ts';
import { serviceResource } from '../../api/core/v1/service/service.ts';
import { endpointSliceResource, serviceNameLabel } from '../../api/discovery/v1/endpoint-slice.ts';
import type { AccountRights } from '../../api/rbac/v1/rule-rows.ts';
import { isConflict, isNotFound } from '../../apimachinery/status-error.ts';
import { rfc3339 } from '../../base/time.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ControllerFactory,
  type ReconcileResult,
  watched,
} from '../../controller-runtime/definition.ts';
import { tolerate } from '../../controller-runtime/tolerate.ts';
import {
  type Availability,
  askedAvailability,
  localAvailability,
  serviceProblem,
  withAvailability,
} from './availability-plan.ts';

/** Resolves to why the extension server of an APIService does not answer; undefined if it does. */
export type AskExtensionServer = (name: string, signal: AbortSignal) => Promise<string | undefined>;

export const availabilityRights: AccountRights = {
  own: [
    ['get list watch', apiServiceResource.group, apiServiceResource.plural],
    ['update', apiServiceResource.group, 'apiservices/status'],
    ['get list watch', 'core', 'services'],
    ['get list watch', endpointSliceResource.group, endpointSliceResource.plural],
  ],
};

/** Milliseconds after which a server that answers, and one that does not, is asked again. */
const recheckMs = 30_000;
const retryMs = 5_000;

export const availabilityController =
  (ask: AskExtensionServer): ControllerFactory =>
  (context) =>
    new AvailabilityController(context, ask).definition();

/** Keys of this controller are names of APIServices. */
class AvailabilityController {
  readonly #context: ControllerContext;
  readonly #ask: AskExtensionServer;
  readonly #listers;

  constructor(context: ControllerContext, ask: AskExtensionServer) {
    const { informers } = context;
    this.#context = context;
    this.#ask = ask;
    this.#listers = {
      apiServices: informers.informerFor(apiServiceResource).lister,
      services: informers.informerFor(serviceResource).lister,
      slices: informers.informerFor(endpointSliceResource).lister,
    };
  }

  definition(): ControllerDefinition {
    return {
      name: 'apiservice-availability',
      workers: 8,
      watches: [
        watched(apiServiceResource, ({ metadata }) => [metadata.name]),
        watched(serviceResource, ({ metadata: { namespace, name } }) => this.#servedBy(namespace, name)),
        watched(endpointSliceResource, ({ metadata: { namespace, labels } }) =>
          this.#servedBy(namespace, labels?.[serviceNameLabel]),
        ),
      ],
      reconcile: (key, signal) => this.#reconcile(key, signal),
    };
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const existing = this.#listers.apiServices.get(key);
    if (!existing) return undefined;
    const found = await this.#availabilityOf(existing, signal);
    const { client, clock } = this.#context;
    const next = withAvailability(existing, found, rfc3339(clock.now()));
    if (next) await tolerate(client.resource(apiServiceResource).updateStatus(next), isNotFound, isConflict);
    const { reason } = found;
    if (reason === 'Passed') return { requeueAfter: recheckMs };
    return reason === 'FailedDiscoveryCheck' ? { requeueAfter: retryMs } : undefined;
  }

  async #availabilityOf(apiService: APIService, signal: AbortSignal): Promise<Availability> {
    const { service: wanted } = apiService.spec;
    if (!wanted) return localAvailability();
    const { namespace = '', name = '' } = wanted;
    const service = this.#listers.services.get(`${namespace}/${name}`);
    const slices = this.#listers.slices
      .list(namespace)
      .filter(({ metadata }) => metadata.labels?.[serviceNameLabel] === name);
    return (
      serviceProblem(apiService, service, slices) ??
      askedAvailability(await this.#ask(apiService.metadata.name, signal))
    );
  }

  #servedBy(namespace: string | undefined, name: string | undefined): readonly string[] {
    return this.#listers.apiServices
      .list()
      .filter(({ spec }) => spec.service?.namespace === namespace && spec.service?.name === name)
      .map(({ metadata }) => metadata.name);
  }
}
