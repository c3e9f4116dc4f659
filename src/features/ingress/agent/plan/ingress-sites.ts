/** Ingresses as sites of the node's web server. Pure. */
import type { Service } from '../../../../api/core/v1/service/service.ts';
import type { EndpointSlice } from '../../../../api/discovery/v1/endpoint-slice.ts';
import type { Action, Policy, Route, Site } from '../../../../web-server/site.ts';
import type { Annotations } from '../../api/annotations.ts';
import { tlsHosts } from '../../api/certificates.ts';
import type { Claim, Claims } from '../../api/claims.ts';
import { usableEndpoints, withPort } from '../../api/endpoints.ts';
import { type Target, targetOf } from '../../api/targets.ts';

export interface SiteFacts {
  readonly claims: Pick<Claims, 'byHost'>;
  /** Names of the certificates' files, by host. */
  readonly certificates: ReadonlyMap<string, string>;
  readonly serviceOf: (namespace: string, name: string) => Service | undefined;
  /** Returns the slices of a Service, by NAMESPACE/NAME. */
  readonly slicesOf: (service: string) => readonly EndpointSlice[];
  /** Addresses of the names that Services of the type ExternalName have. */
  readonly resolved: ReadonlyMap<string, readonly string[]>;
}

export function ingressSites(facts: SiteFacts): readonly Site[] {
  return [...facts.claims.byHost]
    .sort(([a], [b]) => compare(a, b))
    .map(([host, claims]) => {
      const certificate = facts.certificates.get(host) ?? facts.certificates.get(wildcardOf(host));
      return {
        host,
        ...(certificate !== undefined && { certificate }),
        notFound: 'no Ingress serves this path',
        routes: claims.toSorted(byLength).map((claim) => routeOf(claim, facts)),
      };
    });
}

/** Returns the names that ExternalName Services of the claims have. */
export function externalNames(
  claims: Pick<Claims, 'byHost'>,
  serviceOf: SiteFacts['serviceOf'],
): ReadonlySet<string> {
  const names = new Set<string>();
  for (const claim of [...claims.byHost.values()].flat()) {
    const target = targetOfClaim(claim, serviceOf);
    if ('type' in target && target.type === 'name') names.add(target.name);
  }
  return names;
}

const wildcardOf = (host: string) => host.replace(/^[^.]*/, '*');
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const byLength = ({ match: a }: Claim, { match: b }: Claim) =>
  b.path.length - a.path.length || compare(a.path, b.path);

function routeOf(claim: Claim, facts: SiteFacts): Route {
  const { match, annotations, ingress, host, isRefused } = claim;
  if (isRefused) return { match, action: { type: 'unavailable' } };
  const isTlsHost = tlsHosts(ingress).has(host);
  return { match, action: actionOf(claim, facts), policy: policyOf(annotations, isTlsHost) };
}

function targetOfClaim({ ingress, backend, annotations }: Claim, serviceOf: SiteFacts['serviceOf']) {
  const service = serviceOf(ingress.metadata.namespace ?? '', backend.service?.name ?? '');
  return targetOf(backend, service, annotations.affinity !== undefined);
}

function actionOf(claim: Claim, facts: SiteFacts): Action {
  const { annotations } = claim;
  const permanent = annotations['permanent-redirect'];
  if (permanent !== undefined)
    return { type: 'redirect', status: annotations['permanent-redirect-code'] ?? 301, url: permanent };
  const temporal = annotations['temporal-redirect'];
  if (temporal !== undefined) return { type: 'redirect', status: 302, url: temporal };
  const target = targetOfClaim(claim, facts.serviceOf);
  const backends = 'type' in target ? backendsOf(target, facts) : [];
  if (backends.length === 0) return { type: 'unavailable' };
  const rewrite = annotations['rewrite-target'];
  return {
    type: 'proxy',
    protocol: annotations['backend-protocol'] ?? 'HTTP',
    backends,
    ...(rewrite !== undefined && { rewrite }),
    ...(annotations.affinity !== undefined && { affinity: affinityOf(annotations) }),
  };
}

function affinityOf(annotations: Annotations) {
  const maxAgeSeconds = annotations['session-cookie-max-age'];
  return {
    cookie: annotations['session-cookie-name'] ?? 'INGRESSCOOKIE',
    ...(maxAgeSeconds !== undefined && { maxAgeSeconds }),
  };
}

function backendsOf(target: Target, { slicesOf, resolved }: SiteFacts): readonly string[] {
  if (target.type === 'address') return [withPort(target.address, target.port)];
  if (target.type === 'endpoints') return usableEndpoints(slicesOf(target.service), target.portName);
  return (resolved.get(target.name) ?? []).map((address) => withPort(address, target.port));
}

function policyOf(annotations: Annotations, isTlsHost: boolean): Policy {
  const requiresTls =
    annotations['force-ssl-redirect'] === true || (isTlsHost && annotations['ssl-redirect'] !== false);
  return defined({
    requiresTls: requiresTls || undefined,
    maxBodyBytes: annotations['proxy-body-size'],
    connectTimeoutSeconds: annotations['proxy-connect-timeout'],
    sendTimeoutSeconds: annotations['proxy-send-timeout'],
    readTimeoutSeconds: annotations['proxy-read-timeout'],
    allow: annotations['whitelist-source-range'],
    deny: annotations['denylist-source-range'],
    buffersAnswers: annotations['proxy-buffering'],
    buffersBodies: annotations['proxy-request-buffering'],
    cors: annotations['enable-cors'] ? corsOf(annotations) : undefined,
  });
}

const corsOf = (annotations: Annotations) => ({
  origins: annotations['cors-allow-origin'] ?? ['*'],
  methods: annotations['cors-allow-methods'] ?? 'GET, PUT, POST, DELETE, PATCH, OPTIONS',
  headers:
    annotations['cors-allow-headers'] ??
    'DNT,Keep-Alive,User-Agent,X-Requested-With,If-Modified-Since,Cache-Control,Content-Type,Range,Authorization',
  allowsCredentials: annotations['cors-allow-credentials'] ?? true,
  maxAgeSeconds: annotations['cors-max-age'] ?? 1_728_000,
});

/** Returns the object without fields that are undefined. */
function defined(policy: { readonly [K in keyof Policy]: Policy[K] | undefined }): Policy {
  return Object.fromEntries(Object.entries(policy).filter(([, value]) => value !== undefined)) as Policy;
}
