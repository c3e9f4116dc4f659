/** Maps method and address of a request to one of Kubernetes' verbs and to its handler. */

import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import { newUnknownAddress } from '../../apimachinery/status-error.ts';
import type { Verb } from '../authorization/authorizer.ts';
import { negotiated } from '../encoding/answer.ts';
import type { Offer } from '../negotiation/accept.ts';
import type { ResourceRequest } from '../request/request-info.ts';
import { type Handler, methodNotAllowed } from '../request/request-scope.ts';
import {
  findSubresource,
  type KindSubresources,
  type MethodTable,
  type Subresource,
} from '../subresources/subresources.ts';
import { create } from './create.ts';
import { remove } from './delete.ts';
import { removeCollection } from './delete-collection.ts';
import { get } from './get.ts';
import { list } from './list.ts';
import { getMeasured, listMeasured } from './measured.ts';
import { patch } from './patch.ts';
import { update } from './update.ts';

const calls: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * Returns the verb that is authorized; undefined for a method that the API does not support. `subresource` is
 * that of the request, if it is served.
 */
export function verbOf(
  method: string,
  info: ResourceRequest,
  watch: boolean,
  subresource: Pick<Subresource, 'methods' | 'longRunning'> | undefined,
): Verb | undefined {
  if (subresource?.longRunning === 'call' && calls.has(method)) return 'create';
  switch (method) {
    case 'GET':
    case 'HEAD':
      return readingVerb(info, watch);
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return info.name ? 'delete' : 'deletecollection';
    default:
      return method === 'OPTIONS' && subresource?.methods.OPTIONS ? '' : undefined;
  }
}

function readingVerb(info: ResourceRequest, watch: boolean): Verb {
  if (watch && !info.subresource) return 'watch';
  return info.name ? 'get' : 'list';
}

const onObject: MethodTable = { GET: get, PUT: update, PATCH: patch, DELETE: remove };
const onCollection: MethodTable = { GET: list, POST: create, DELETE: removeCollection };
const onReviews: MethodTable = { POST: create };

/**
 * Returns the handler of a request. Throws 404 for an address that does not exist and 405 for a method that
 * it does not support.
 */
export function handlerOf(
  method: string,
  definition: ResourceDefinition,
  info: ResourceRequest,
  added: KindSubresources,
): Handler {
  const { methods, answersBytes } = subresourceOf(definition, info, added);
  const handler = methods[(method === 'HEAD' ? 'GET' : method) as keyof MethodTable];
  if (!handler) throw methodNotAllowed();
  return answersBytes ? handler : negotiated(handler);
}

/**
 * Returns the forms of an answer; undefined for all. A kind that exists only as a request or an answer
 * (Scale, Binding, Eviction, reviews) has no table and no metadata of its own.
 */
export function formsOf(
  definition: ResourceDefinition,
  info: ResourceRequest,
  added: KindSubresources,
): Offer['forms'] {
  const kind = findSubresource(definition, info.subresource, added)?.kind;
  return definition.isReview || kind ? ['object'] : undefined;
}

function subresourceOf(
  definition: ResourceDefinition,
  info: ResourceRequest,
  added: KindSubresources,
): Subresource {
  if (info.namespace && !definition.namespaced) throw newUnknownAddress(definition);
  if (!info.subresource) {
    return { methods: methodsOf(definition, info) };
  }
  const found = inNamespace(definition, info)
    ? findSubresource(definition, info.subresource, added)
    : undefined;
  if (!found || (info.rest.length > 1 && !found.takesPath)) {
    throw newUnknownAddress({ ...definition, plural: `${definition.plural}/${info.subresource}` });
  }
  return found;
}

/** Returns the methods of the kind itself at this address. */
function methodsOf(definition: ResourceDefinition, info: ResourceRequest): MethodTable {
  const placed = inNamespace(definition, info);
  const { isReview, isMeasured } = definition;
  const isKnown = isReview ? placed && !info.name : placed || !info.name;
  if (!isKnown) throw newUnknownAddress(definition);
  if (isReview) return onReviews;
  if (isMeasured) return { GET: info.name ? getMeasured : listMeasured };
  if (info.name) return onObject;
  return placed ? onCollection : { GET: list };
}

/** Objects of namespaced kinds are addressed in their namespace; only lists span namespaces. */
const inNamespace = (definition: ResourceDefinition, info: ResourceRequest) =>
  !definition.namespaced || info.namespace !== '';
