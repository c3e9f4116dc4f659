/** Gateways and their routes as sites of the node's web server. Pure. */
import type { Service } from '../../../../api/core/v1/service/service.ts';
import type { EndpointSlice } from '../../../../api/discovery/v1/endpoint-slice.ts';
import type { Listen, Site } from '../../../../web-server/site.ts';
import { usableEndpoints, withPort } from '../../../ingress/api/endpoints.ts';
import type { Attachment } from '../../api/attachments.ts';
import { hostsOf } from '../../api/attachments.ts';
import { backendOf } from '../../api/backends.ts';
import { bySpecificity, covers, mostSpecific } from '../../api/hostnames.ts';
import type { Gateway, HttpRoute, ReferenceGrant } from '../../api/kinds.ts';
import { isServed, type ListenerState } from '../../api/listeners.ts';
import type { BackendObjectReference } from '../../api/route-types.ts';
import type { Backends } from './route-answers.ts';
import { type HostedRoute, rulesOf } from './route-rules.ts';

export interface SiteFacts {
  /** Listeners of all Gateways, the oldest Gateway first. */
  readonly listeners: readonly ListenerState[];
  /** Attachments of the accepted routes. */
  readonly attachments: readonly Attachment[];
  readonly grants: readonly ReferenceGrant[];
  /** Name of the certificate's file of a Secret, as NAMESPACE/NAME. */
  readonly certificateOf: (secret: string) => string | undefined;
  readonly serviceOf: (namespace: string, name: string) => Service | undefined;
  /** Returns the slices of a Service, by NAMESPACE/NAME. */
  readonly slicesOf: (service: string) => readonly EndpointSlice[];
}

export function gatewaySites(facts: SiteFacts): readonly Site[] {
  const served = facts.listeners.filter(isServed);
  return [...Map.groupBy(served, ({ listener }) => listener.port)].flatMap(([port, listeners]) =>
    portSites({ port, tls: listeners[0]?.listener.protocol === 'HTTPS' }, listeners, facts),
  );
}

function portSites(listen: Listen, listeners: readonly ListenerState[], facts: SiteFacts): readonly Site[] {
  const attached = facts.attachments.filter((one) =>
    one.listeners.some((state) => listeners.includes(state)),
  );
  const hosts = new Set([
    ...listeners.map(({ hostname }) => hostname),
    ...attached.flatMap((one) =>
      one.listeners
        .filter((state) => listeners.includes(state))
        .flatMap(({ hostname }) => hostsOf(one.route, hostname)),
    ),
  ]);
  return [...hosts].sort().map((host) => siteOf(host, listen, listeners, attached, facts));
}

function siteOf(
  host: string,
  listen: Listen,
  listeners: readonly ListenerState[],
  attached: readonly Attachment[],
  facts: SiteFacts,
): Site {
  const responsible = responsibleListeners(host, listeners);
  const routes = attached.flatMap(({ route, listeners: own }) =>
    own
      .filter((state) => responsible.includes(state))
      .flatMap(({ hostname }) => hostedRoute(host, listen, route, hostname, facts)),
  );
  // A certificate of the most specific listener, of the oldest Gateway among equal ones.
  const [first] = responsible.toSorted((a, b) => bySpecificity(a.hostname, b.hostname));
  const certificate =
    listen.tls && first?.secret !== undefined ? facts.certificateOf(first.secret) : undefined;
  return {
    ...{ host, listen, star: 'more', notFound: 'no route serves this path', routes: [] },
    ...(certificate !== undefined && { certificate }),
    rules: rulesOf(onceEach(routes)),
  };
}

/** Returns the listener of each Gateway that serves the host: the one with the most specific name. */
function responsibleListeners(host: string, listeners: readonly ListenerState[]): readonly ListenerState[] {
  const byGateway = Map.groupBy(
    listeners.filter(({ hostname }) => covers(hostname, host)),
    ({ gateway }): Gateway => gateway,
  );
  return [...byGateway.values()].flatMap(
    (own) => own.toSorted((a, b) => bySpecificity(a.hostname, b.hostname))[0] ?? [],
  );
}

function hostedRoute(
  host: string,
  listen: Listen,
  route: HttpRoute,
  listenerHost: string,
  facts: SiteFacts,
): readonly HostedRoute[] {
  const hostname = mostSpecific(hostsOf(route, listenerHost), host);
  if (hostname === undefined) return [];
  const backendsOf = (ref: BackendObjectReference) => backends(route, ref, facts);
  return [{ route, hostname, facts: { backendsOf, listen } }];
}

/** A route that two listeners of a port have, or two parents of the route, is served once. */
const onceEach = (routes: readonly HostedRoute[]): readonly HostedRoute[] =>
  routes.filter(
    ({ route, hostname }, index) =>
      routes.findIndex((other) => other.route === route && other.hostname === hostname) === index,
  );

function backends(route: HttpRoute, ref: BackendObjectReference, facts: SiteFacts): Backends {
  const target = backendOf(route, ref, facts);
  if (!('type' in target)) return target;
  if (target.type === 'address') return [withPort(target.address, target.port)];
  return target.type === 'endpoints'
    ? usableEndpoints(facts.slicesOf(target.service), target.portName)
    : { message: 'names of other hosts are not served' };
}
