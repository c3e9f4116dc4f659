/**
 * The listeners of all Gateways: which of them can be served, and why others cannot. Pure. Gateways share the
 * addresses of the nodes, so that a port has one protocol: that of the oldest Gateway.
 */
import { isPermitted } from './grants.ts';
import { isHostname } from './hostnames.ts';
import {
  type Gateway,
  gatewayGroup,
  grpcRouteKind,
  httpRouteKind,
  type Listener,
  type ReferenceGrant,
  type RouteKind,
} from './kinds.ts';

export interface ListenerProblem {
  readonly reason: string;
  readonly message: string;
}

export interface ListenerState {
  readonly gateway: Gateway;
  readonly listener: Listener;
  /** Host name in lower case; '' for every host. */
  readonly hostname: string;
  /** Kinds of routes that may attach. */
  readonly kinds: readonly RouteKind[];
  /** Reason why the listener is not accepted. */
  readonly refused?: ListenerProblem;
  /** Conflict with another listener of its Gateway. */
  readonly conflict?: ListenerProblem;
  /** Reason why a reference of the listener is not resolved. */
  readonly unresolved?: ListenerProblem;
  /** Usable Secret with the certificate, as NAMESPACE/NAME. */
  readonly secret?: string;
}

export interface ListenerFacts {
  readonly grants: readonly ReferenceGrant[];
  /** Returns why the Secret, as NAMESPACE/NAME, is not usable as a certificate; undefined if it is. */
  readonly certificateProblem: (secret: string) => string | undefined;
}

const routeKinds: readonly RouteKind[] = [httpRouteKind, grpcRouteKind].map((kind) => ({
  group: gatewayGroup,
  kind,
}));

/** Returns the listeners of the Gateways, which are sorted by age. */
export function listenerStates(gateways: readonly Gateway[], facts: ListenerFacts): readonly ListenerState[] {
  const protocols = new Map<number, string>();
  return gateways.flatMap((gateway) => {
    const states = (gateway.spec.listeners ?? []).map((listener) =>
      stateOf(gateway, listener, protocols, facts),
    );
    for (const { listener, refused, conflict } of states)
      if (!refused && !conflict && !protocols.has(listener.port))
        protocols.set(listener.port, listener.protocol);
    return states;
  });
}

/** Returns true if the nodes serve the listener. */
export const isServed = ({ refused, conflict, listener, secret }: ListenerState): boolean =>
  !refused && !conflict && (listener.protocol === 'HTTP' || secret !== undefined);

function stateOf(
  gateway: Gateway,
  listener: Listener,
  protocols: ReadonlyMap<number, string>,
  facts: ListenerFacts,
): ListenerState {
  const { kinds, problem } = kindsOf(listener);
  const refused = refusalOf(gateway, listener, protocols);
  const conflict = conflictOf(gateway, listener);
  const certificate = listener.protocol === 'HTTPS' ? certificateOf(gateway, listener, facts) : {};
  const unresolved = problem ?? certificate.unresolved;
  return {
    ...{ gateway, listener, kinds },
    hostname: (listener.hostname ?? '').toLowerCase(),
    ...(refused && { refused }),
    ...(conflict && { conflict }),
    ...(unresolved && { unresolved }),
    ...(certificate.secret !== undefined && { secret: certificate.secret }),
  };
}

function kindsOf({ protocol, allowedRoutes }: Listener) {
  const supported = protocol === 'HTTP' || protocol === 'HTTPS' ? routeKinds : [];
  const wanted = allowedRoutes?.kinds ?? [];
  if (wanted.length === 0) return { kinds: supported };
  const isWanted = ({ group, kind }: RouteKind) =>
    wanted.some((one) => one.kind === kind && (one.group ?? gatewayGroup) === group);
  const kinds = supported.filter(isWanted);
  const others = wanted.filter(
    ({ group = gatewayGroup, kind }) => !supported.some((one) => one.kind === kind && one.group === group),
  );
  if (others.length === 0) return { kinds };
  const names = others.map(({ kind }) => kind).join(', ');
  return { kinds, problem: problem('InvalidRouteKinds', `kinds ${names} cannot attach to this listener`) };
}

function refusalOf(
  gateway: Gateway,
  { protocol, port, tls, hostname }: Listener,
  protocols: ReadonlyMap<number, string>,
): ListenerProblem | undefined {
  if (protocol !== 'HTTP' && protocol !== 'HTTPS')
    return problem('UnsupportedProtocol', `protocol ${protocol} is not served: use HTTP or HTTPS`);
  if (protocol === 'HTTPS' && tls?.mode === 'Passthrough')
    return problem('UnsupportedProtocol', 'HTTPS is served with the TLS mode Terminate only');
  if (hostname && !isHostname(hostname)) return problem('UnsupportedValue', 'hostname is not a host name');
  // Without the check of clients' certificates the listener would be open to everybody.
  if (protocol === 'HTTPS' && gateway.spec.tls?.frontend)
    return problem(
      'UnsupportedValue',
      'spec.tls.frontend has no effect here: certificates of clients are not checked',
    );
  const other = protocols.get(port);
  return other === undefined || other === protocol
    ? undefined
    : problem('PortUnavailable', `port ${port} has the protocol ${other} of an older Gateway`);
}

function conflictOf({ spec }: Gateway, listener: Listener): ListenerProblem | undefined {
  const others = (spec.listeners ?? []).filter(
    (one) => one.name !== listener.name && one.port === listener.port,
  );
  const other = others.find(({ protocol }) => protocol !== listener.protocol);
  if (other)
    return problem(
      'ProtocolConflict',
      `listener ${other.name} has port ${listener.port} with another protocol`,
    );
  const same = others.find(
    ({ hostname = '' }) => hostname.toLowerCase() === (listener.hostname ?? '').toLowerCase(),
  );
  return same && problem('HostnameConflict', `listener ${same.name} has the same port and host name`);
}

interface CertificateChoice {
  readonly secret?: string;
  readonly unresolved?: ListenerProblem;
}

/** Returns the first usable certificate, and the problem of the first one that is not. */
function certificateOf(gateway: Gateway, { tls }: Listener, facts: ListenerFacts): CertificateChoice {
  const all = (tls?.certificateRefs ?? []).map((ref): CertificateChoice => {
    const { group = '', kind = 'Secret', name, namespace = gateway.metadata.namespace ?? '' } = ref;
    if (group !== '' || kind !== 'Secret')
      return { unresolved: problem('InvalidCertificateRef', `${kind} ${name} is not a Secret`) };
    const from = { group: gatewayGroup, kind: 'Gateway', namespace: gateway.metadata.namespace ?? '' };
    if (!isPermitted({ from, to: { group, kind, namespace, name } }, facts.grants))
      return {
        unresolved: problem(
          'RefNotPermitted',
          `no ReferenceGrant of namespace ${namespace} allows this Gateway to use Secret ${name}`,
        ),
      };
    const secret = `${namespace}/${name}`;
    const why = facts.certificateProblem(secret);
    return why === undefined
      ? { secret }
      : { unresolved: problem('InvalidCertificateRef', `Secret ${secret} ${why}`) };
  });
  if (all.length === 0)
    return { unresolved: problem('InvalidCertificateRef', 'an HTTPS listener needs tls.certificateRefs') };
  const secret = all.find((one) => one.secret !== undefined)?.secret;
  const unresolved = all.find((one) => one.unresolved)?.unresolved;
  return { ...(secret !== undefined && { secret }), ...(unresolved && { unresolved }) };
}

const problem = (reason: string, message: string): ListenerProblem => ({ reason, message });

/** Returns the Secrets, as NAMESPACE/NAME, that listeners name and may use. */
export function namedSecrets(
  gateways: readonly Gateway[],
  grants: readonly ReferenceGrant[],
): ReadonlySet<string> {
  const names = new Set<string>();
  const certificateProblem = (secret: string) => {
    names.add(secret);
    return undefined;
  };
  for (const gateway of gateways)
    for (const listener of gateway.spec.listeners ?? [])
      if (listener.protocol === 'HTTPS') certificateOf(gateway, listener, { grants, certificateProblem });
  return names;
}
