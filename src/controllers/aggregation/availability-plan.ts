/** Decides whether an extension server can be called (upstream: AvailableConditionController). Pure. */
import { type APIService, availableOf, localCondition } from '../../api/apiregistration/v1/api-service.ts';
import type { Service } from '../../api/core/v1/service/service.ts';
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts';

export interface Availability {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

const no = (reason: string, message: string): Availability => ({ status: 'False', reason, message });

/**
 * Returns why the Service of an extension server cannot be called; undefined if it has to be asked. A Service
 * of another type than ClusterIP may lead outside the cluster, and is only asked.
 */
export function serviceProblem(
  { spec: { service: wanted } }: APIService,
  service: Service | undefined,
  slices: readonly EndpointSlice[],
): Availability | undefined {
  const { namespace = '', name = '', port = 0 } = wanted ?? {};
  const of = `service/${name} in ${JSON.stringify(namespace)}`;
  if (!service) return no('ServiceNotFound', `${of} is not present`);
  if (service.spec.type !== 'ClusterIP') return undefined;
  const served = service.spec.ports?.find((one) => one.port === port);
  if (!served) return no('ServicePortError', `${of} is not listening on port ${port}`);
  if (slices.length === 0) return no('EndpointsNotFound', `cannot find endpointslices for ${of}`);
  const portName = served.name ?? '';
  if (slices.some((slice) => hasEndpoint(slice, portName))) return undefined;
  return no(
    'MissingEndpoints',
    `endpointslices for ${of} have no addresses with port name ${JSON.stringify(portName)}`,
  );
}

const hasEndpoint = ({ endpoints, ports }: EndpointSlice, portName: string): boolean =>
  endpoints.some(({ conditions }) => conditions.ready !== false) &&
  ports.some(({ name, port }) => name === portName && port !== undefined);

/** Returns the availability after the server was asked; `failure` is why it did not answer. */
export const askedAvailability = (failure: string | undefined): Availability =>
  failure === undefined
    ? { status: 'True', reason: 'Passed', message: 'all checks passed' }
    : no('FailedDiscoveryCheck', failure);

/** Returns the availability of an APIService of this server itself. */
export function localAvailability(): Availability {
  const { status, reason = '', message = '' } = localCondition('');
  return { status: status as Availability['status'], reason, message };
}

/** Returns the APIService with the condition; undefined if it has it. `now` is RFC 3339. */
export function withAvailability(
  service: APIService,
  { status, reason, message }: Availability,
  now: string,
): APIService | undefined {
  const before = availableOf(service);
  if (before?.status === status && before.reason === reason && before.message === message) return undefined;
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : now;
  const condition = { type: 'Available', status, lastTransitionTime, reason, message };
  const others = (service.status?.conditions ?? []).filter(({ type }) => type !== 'Available');
  return { ...service, status: { ...service.status, conditions: [...others, condition] } };
}
