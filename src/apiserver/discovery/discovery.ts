/**
 * Serves discovery. Documents are built on the first request, and again after a kind was added or removed.
 */
import { createHash } from 'node:crypto';
import type { Kinds } from '../../apimachinery/kind-set.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import type { DelegatedVersion, Delegation } from '../delegation.ts';
import { parseAccept } from '../negotiation/accept.ts';
import { jsonType, respond, respondJson } from '../respond.ts';
import type { KindSubresources } from '../subresources/subresources.ts';
import { aggregatedDiscovery, type DiscoveryVersion } from './aggregated.ts';
import { coreVersions, groupDocument, groupList, resourceList } from './legacy.ts';
import { type GroupVersionResources, groupVersions, inGroupOrder } from './resources.ts';

interface AggregatedDocument {
  readonly body: string;
  readonly etag: string;
}

/**
 * Returns a handler that answers discovery paths, and returns undefined for any other path. `documents` are
 * the paths of the other documents that the server has.
 */
export function createDiscovery(
  kinds: Pick<Kinds, 'all'>,
  added: KindSubresources,
  advertiseAddress: string | undefined,
  documents: readonly string[] = [],
  delegation: Pick<Delegation, 'versions' | 'groupPriority'> = { versions: [] },
): (request: Request) => Response | undefined {
  let made: Documents | undefined;
  return (request) => {
    const { versions } = delegation;
    if (made?.of !== kinds.all || made.delegated !== versions)
      made = makeDocuments(kinds.all, added, documents, delegation);
    return answer(request, made, advertiseAddress);
  };
}

interface Documents {
  /** Kinds from which the documents were built. */
  readonly of: readonly ResourceDefinition[];
  readonly delegated: readonly DelegatedVersion[];
  readonly all: readonly GroupVersionResources[];
  readonly aggregated: Readonly<
    Record<'/api' | '/apis', Readonly<Record<DiscoveryVersion, AggregatedDocument>>>
  >;
  readonly byPath: ReadonlyMap<string, string>;
}

function makeDocuments(
  definitions: readonly ResourceDefinition[],
  added: KindSubresources,
  others: readonly string[],
  { versions: delegated, groupPriority = () => 0 }: Pick<Delegation, 'versions' | 'groupPriority'>,
): Documents {
  const isDelegated = ({ group, version }: ResourceDefinition) =>
    delegated.some((one) => one.group === group && one.version === version);
  const all = groupVersions(definitions.filter((definition) => !isDelegated(definition)));
  const listed = inGroupOrder([...all, ...delegated], groupPriority);
  const core = all.filter(({ group }) => group === '');
  const named = listed.filter(({ group }) => group !== '');
  const aggregate = (
    part: readonly (GroupVersionResources | DelegatedVersion)[],
    version: DiscoveryVersion,
  ): AggregatedDocument => {
    const body = JSON.stringify(aggregatedDiscovery(part, version, added));
    return { body, etag: `"${createHash('sha512').update(body).digest('hex').toUpperCase()}"` };
  };
  const aggregated = {
    '/api': { v2: aggregate(core, 'v2'), v2beta1: aggregate(core, 'v2beta1') },
    '/apis': { v2: aggregate(named, 'v2'), v2beta1: aggregate(named, 'v2beta1') },
  };
  const documents = new Map<string, string>();
  documents.set('/apis', JSON.stringify(groupList(listed)));
  for (const entry of all) {
    const base = entry.group ? `/apis/${entry.group}` : '/api';
    documents.set(`${base}/${entry.version}`, JSON.stringify(resourceList(entry, added)));
    if (entry.group) documents.set(base, JSON.stringify(groupDocument(listed, entry.group)));
  }
  for (const { group } of delegated)
    documents.set(`/apis/${group}`, JSON.stringify(groupDocument(listed, group)));
  documents.set('/', JSON.stringify({ paths: rootPaths([...documents.keys(), ...others]) }));
  return { of: definitions, delegated, all, aggregated, byPath: documents };
}

function answer(
  request: Request,
  { all, aggregated, byPath }: Documents,
  advertiseAddress: string | undefined,
): Response | undefined {
  const url = new URL(request.url);
  const path = url.pathname.length > 1 ? url.pathname.replace(/\/$/, '') : url.pathname;
  if (path === '/api' || path === '/apis') {
    const version = discoveryVersion(request.headers.get('accept') ?? '');
    if (version) return respondAggregated(aggregated[path][version], version, request);
  }
  if (path === '/api') return respondJson(200, coreVersions(all, advertiseAddress ?? url.host));
  const document = byPath.get(path);
  return document === undefined ? undefined : respondJson(200, document);
}

function rootPaths(documents: readonly string[]): string[] {
  const others = ['/api', '/healthz', '/livez', '/openapi/v2', '/openapi/v3', '/readyz', '/version'];
  return [...documents, ...others].sort();
}

/**
 * Returns the version of aggregated discovery that the client accepts first; undefined for the legacy
 * documents.
 */
function discoveryVersion(accept: string): DiscoveryVersion | undefined {
  for (const { type, parameters } of parseAccept(accept)) {
    if (type !== 'application/json') continue;
    if (parameters.get('as') === undefined) return undefined;
    const version = parameters.get('v');
    const isList =
      parameters.get('as') === 'APIGroupDiscoveryList' && parameters.get('g') === 'apidiscovery.k8s.io';
    if (isList && (version === 'v2' || version === 'v2beta1')) return version;
  }
  return undefined;
}

function respondAggregated(
  document: AggregatedDocument,
  version: DiscoveryVersion,
  request: Request,
): Response {
  const headers = { etag: document.etag, vary: 'Accept', 'cache-control': 'public' };
  if (request.headers.get('if-none-match') === document.etag) return respond(304, null, headers);
  const type = `${jsonType['content-type']};g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
  return respond(200, document.body, { ...headers, 'content-type': type });
}
