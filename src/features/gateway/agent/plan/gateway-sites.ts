/** Gateways and their routes as sites of the node's web server. Pure. */
import type { Service } from '../../../../api/core/v1/service/service.ts';
import type { EndpointSlice } from '../../../../api/discovery/v1/endpoint-slice.ts';
import type { BackendTls } from '../../../../web-server/rule.ts';
import type { Listen, Site } from '../../../../web-server/site.ts';
import { usableEndpoints, withPort } from '../../../ingress/api/endpoints.ts';
import type { Attachment } from '../../api/attachments.ts';
import { hostsOf } from '../../api/attachments.ts';
import { type BackendFacts, backendOf, serviceOfRef } from '../../api/backends.ts';
import { bySpecificity, coveringNames } from '../../api/hostnames.ts';
import { type Gateway, isGrpcRoute, type Route } from '../../api/kinds.ts';
import { isServed, type ListenerState } from '../../api/listeners.ts';
import type { BackendObjectReference } from '../../api/route-types.ts';
import type { Backends } from './route-answers.ts';
import { type HostedRoute, rulesOf } from './route-rules.ts';

export interface SiteFacts extends BackendFacts {
  /** Listeners of all Gateways, the oldest Gateway first. */
  readonly listeners: readonly ListenerState[];
  /** Attachments of the accepted routes. */
  readonly attachments: readonly Attachment[];
  /** Name of the certificate's file of a Secret, as NAMESPACE/NAME. */
  readonly certificateOf: (secret: string) => string | undefined;
  /** Returns how to connect to a port that a BackendTLSPolicy names, or why that is impossible. */
  readonly tlsOf: (
    service: Service,
    port: number | undefined,
  ) => BackendTls | { readonly message: string } | undefined;
  /** Returns the slices of a Service, by NAMESPACE/NAME. */
  readonly slicesOf: (service: string) => readonly EndpointSlice[];
}

/** Routes of a listener, by each of the host names for which it serves them. */
type RoutesByHost = ReadonlyMap<string, ReadonlySet<Route>>;

export function gatewaySites(facts: SiteFacts): readonly Site[] {
  const served = facts.listeners.filter(isServed);
  const routes = routesByListener(facts.attachments);
  return [...Map.groupBy(served, ({ listener }) => listener.port)].flatMap(([port, listeners]) => {
    const tls = listeners[0]?.listener.protocol === 'HTTPS';
    const http2 = !tls && listeners.some((state) => hasGrpcRoute(routes.get(state)));
    return portSites({ port, tls, ...(http2 && { http2 }) }, listeners, routes, facts);
  });
}

const hasGrpcRoute = (byHost: RoutesByHost = new Map()) =>
  [...byHost.values()].some((routes) => [...routes].some(isGrpcRoute));

function routesByListener(attachments: readonly Attachment[]): ReadonlyMap<ListenerState, RoutesByHost> {
  const all = new Map<ListenerState, Map<string, Set<Route>>>();
  for (const { route, listeners } of attachments)
    for (const state of listeners) {
      const byHost = all.get(state) ?? new Map<string, Set<Route>>();
      all.set(state, byHost);
      for (const host of hostsOf(route, state.hostname))
        byHost.set(host, (byHost.get(host) ?? new Set()).add(route));
    }
  return all;
}

function portSites(
  listen: Listen,
  listeners: readonly ListenerState[],
  routes: ReadonlyMap<ListenerState, RoutesByHost>,
  facts: SiteFacts,
): readonly Site[] {
  const hosts = new Set(listeners.flatMap((state) => [state.hostname, ...(routes.get(state)?.keys() ?? [])]));
  const byHost = Map.groupBy(listeners, ({ hostname }) => hostname);
  return [...hosts].sort().map((host) => {
    const responsible = responsibleListeners(host, byHost);
    const hosted = responsible.flatMap((state) => hostedRoutes(host, listen, routes.get(state), facts));
    // The certificate is that of the most specific listener; of equal ones, that of the oldest Gateway.
    const secret = responsible[0]?.secret;
    const certificate = listen.tls && secret !== undefined ? facts.certificateOf(secret) : undefined;
    return {
      ...{ host, listen, star: 'more', notFound: 'no route serves this path', routes: [] },
      ...(certificate !== undefined && { certificate }),
      rules: rulesOf(onceEach(hosted)),
    };
  });
}

/**
 * Returns the listener of each Gateway that serves the host: the one with the most specific name. The most
 * specific one of all comes first.
 */
function responsibleListeners(
  host: string,
  byHost: ReadonlyMap<string, readonly ListenerState[]>,
): readonly ListenerState[] {
  const found = new Map<Gateway, ListenerState>();
  for (const name of coveringNames(host))
    for (const state of byHost.get(name) ?? [])
      if (!found.has(state.gateway)) found.set(state.gateway, state);
  return [...found.values()];
}

/** Returns the routes that serve the host, each by its most specific name. */
function hostedRoutes(
  host: string,
  listen: Listen,
  routes: RoutesByHost | undefined,
  facts: SiteFacts,
): readonly HostedRoute[] {
  const found = new Map<Route, HostedRoute>();
  for (const hostname of coveringNames(host))
    for (const route of routes?.get(hostname) ?? []) {
      if (found.has(route)) continue;
      const backendsOf = (ref: BackendObjectReference) => backends(route, ref, facts);
      found.set(route, { route, hostname, facts: { backendsOf, listen } });
    }
  return [...found.values()];
}

/** A route of two Gateways with one port and host is served once, by its most specific name. */
function onceEach(routes: readonly HostedRoute[]): readonly HostedRoute[] {
  const best = new Map<Route, HostedRoute>();
  for (const hosted of routes) {
    const other = best.get(hosted.route);
    if (!other || bySpecificity(hosted.hostname, other.hostname) < 0) best.set(hosted.route, hosted);
  }
  return [...best.values()];
}

function backends(route: Route, ref: BackendObjectReference, facts: SiteFacts): Backends {
  const target = backendOf(route, ref, facts);
  if (!('type' in target)) return target;
  const service = serviceOfRef(route, ref, facts);
  const tls = service && facts.tlsOf(service, ref.port);
  if (tls && 'message' in tls) return tls;
  const reached = (addresses: readonly string[]) => ({ addresses, ...(tls && { tls }) });
  if (target.type === 'address') return reached([withPort(target.address, target.port)]);
  return target.type === 'endpoints'
    ? reached(usableEndpoints(facts.slicesOf(target.service), target.portName))
    : { message: 'names of other hosts are not served' };
}
