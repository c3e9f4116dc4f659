/** Backends of a route: the Service that a reference leads to, or why there is none. Pure. */
import type { Service } from '../../../api/core/v1/service/service.ts';
import { type Target, targetOf } from '../../ingress/api/targets.ts';
import { isPermitted } from './grants.ts';
import { gatewayGroup, grpcRouteKind, type ReferenceGrant, type Route } from './kinds.ts';
import type { ListenerProblem } from './listeners.ts';
import type { BackendObjectReference, GrpcRouteRule, HttpRouteFilter, HttpRouteRule } from './route-types.ts';

export interface BackendFacts {
  readonly grants: readonly ReferenceGrant[];
  readonly serviceOf: (namespace: string, name: string) => Service | undefined;
  /** Returns true if a BackendTLSPolicy names the port of the Service. */
  readonly isSecured: (service: Service, port: number | undefined) => boolean;
}

/** Returns the target of a reference, or the problem with its reason as in the condition ResolvedRefs. */
export function backendOf(
  { kind: routeKind, metadata: { namespace = '' } }: Route,
  ref: BackendObjectReference,
  { grants, serviceOf, isSecured }: BackendFacts,
): Target | ListenerProblem {
  const { group = '', kind = 'Service', name, port } = ref;
  const place = ref.namespace ?? namespace;
  if (group !== '' || kind !== 'Service')
    return { reason: 'InvalidKind', message: `backend ${kind} ${name}: only Services are supported` };
  const from = { group: gatewayGroup, kind: routeKind, namespace };
  if (!isPermitted({ from, to: { group, kind, namespace: place, name } }, grants))
    return {
      reason: 'RefNotPermitted',
      message: `no ReferenceGrant of namespace ${place} allows ${routeKind}s of namespace ${namespace} to use Service ${name}`,
    };
  const service = serviceOf(place, name);
  // The name of another host could lead to the node itself, or bypass the policies of another namespace.
  if (service?.spec.type === 'ExternalName')
    return {
      reason: 'UnsupportedValue',
      message: `Service ${name} has the type ExternalName, which is not served`,
    };
  const protocol = service?.spec.ports?.find((one) => one.port === port)?.appProtocol;
  const hasTls = service !== undefined && isSecured(service, port);
  const why = protocolProblem(routeKind, protocol, hasTls);
  if (why !== undefined) return { reason: 'UnsupportedProtocol', message: `Service ${name}: ${why}` };
  const target = targetOf({ service: { name, port: { number: port } } }, service, false);
  return 'type' in target
    ? target
    : { reason: 'BackendNotFound', message: target.message.replace(/; its path answers 503$/, '') };
}

/** Returns why routes of the kind cannot use a port with this appProtocol; undefined if they can. */
function protocolProblem(kind: string, protocol = '', hasTls: boolean): string | undefined {
  if (kind !== grpcRouteKind)
    return protocol === 'kubernetes.io/h2c' ? 'HTTP/2 without TLS is not supported' : undefined;
  if (protocol === 'https' && hasTls) return undefined;
  return /^(?:https|kubernetes\.io\/wss?)$/.test(protocol)
    ? `gRPC is not supported with appProtocol ${protocol}`
    : undefined;
}

/** Returns the Service that a reference of the route names and may use; undefined if there is none. */
export function serviceOfRef(
  { kind: routeKind, metadata: { namespace = '' } }: Route,
  { group = '', kind = 'Service', name, namespace: place = namespace }: BackendObjectReference,
  { grants, serviceOf }: Pick<BackendFacts, 'grants' | 'serviceOf'>,
): Service | undefined {
  if (group !== '' || kind !== 'Service') return undefined;
  const from = { group: gatewayGroup, kind: routeKind, namespace };
  return isPermitted({ from, to: { group, kind, namespace: place, name } }, grants)
    ? serviceOf(place, name)
    : undefined;
}

/** Returns true if a BackendTLSPolicy names the port of the Service that the reference leads to. */
export function isSecuredRef(
  route: Route,
  ref: BackendObjectReference,
  facts: Pick<BackendFacts, 'grants' | 'serviceOf' | 'isSecured'>,
): boolean {
  const service = serviceOfRef(route, ref, facts);
  return service !== undefined && facts.isSecured(service, ref.port);
}

/** Returns every reference of the route to a backend. */
export const backendRefs = ({ spec }: Route): readonly BackendObjectReference[] =>
  (spec.rules ?? []).flatMap(refsOfRule);

/** Returns every reference of the rule to a backend. */
export const refsOfRule = ({
  backendRefs = [],
  filters = [],
}: HttpRouteRule | GrpcRouteRule): readonly BackendObjectReference[] => [
  ...backendRefs,
  ...mirrorsOf(filters),
  ...backendRefs.flatMap((ref) => mirrorsOf(ref.filters ?? [])),
];

const mirrorsOf = (filters: readonly HttpRouteFilter[]) =>
  filters.flatMap(({ requestMirror }) => (requestMirror ? [requestMirror.backendRef] : []));

/** Returns the problems of all references of the route. */
export function unresolvedRefs(route: Route, facts: BackendFacts): readonly ListenerProblem[] {
  return backendRefs(route).flatMap((ref) => {
    const target = backendOf(route, ref, facts);
    return 'type' in target ? [] : [target];
  });
}
