/**
 * The part of an object that an answer contains, in the version that the client addressed: the whole object,
 * or its metadata. Pure.
 */
import type { KubeObject } from '../../apimachinery/meta.ts';
import { apiVersionOf, type ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import { asServed } from '../../apimachinery/served-version.ts';
import type { MetaVersion } from '../negotiation/accept.ts';

export interface Shape {
  /** Kind and apiVersion of one object; the kind of a list is the same with `List` appended. */
  readonly head: { readonly kind: string; readonly apiVersion: string };
  /** Kind of a list; default: the kind of the object with `List` appended. */
  readonly listKind?: string | undefined;
  /** Converts an object from its stored version. The result may share parts with `object`. */
  show(object: KubeObject): KubeObject;
}

export const wholeShape = (served: ResourceDefinition): Shape => ({
  head: { kind: served.kind, apiVersion: apiVersionOf(served) },
  listKind: served.listKind,
  show: (object) => asServed(served, object),
});

/**
 * Shape of meta.k8s.io's PartialObjectMetadata. The metadata is converted too, because another version may
 * have other annotations.
 */
export function metadataShape(served: ResourceDefinition, version: MetaVersion): Shape {
  const head = { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}` };
  return { head, show: (object) => ({ ...head, metadata: asServed(served, object).metadata }) };
}

export const listHead = ({ head, listKind }: Shape) => ({
  kind: listKind ?? `${head.kind}List`,
  apiVersion: head.apiVersion,
});
