/** What an answer shows of an object, in the version that the client addressed: all of it, or its metadata. Pure. */
import type { KubeObject } from '../../apimachinery/meta.ts';
import { apiVersionOf, type ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import { asServed } from '../../apimachinery/served-version.ts';
import type { MetaVersion } from '../negotiation/accept.ts';

export interface Shape {
  /** Of one object; a list of them has `List` behind its kind. */
  readonly head: { readonly kind: string; readonly apiVersion: string };
  /** Of an object in the version in which it is stored; may share parts with it. */
  show(object: KubeObject): KubeObject;
}

export const wholeShape = (served: ResourceDefinition): Shape => ({
  head: { kind: served.kind, apiVersion: apiVersionOf(served) },
  show: (object) => asServed(served, object),
});

/** meta.k8s.io's PartialObjectMetadata. Another version may have other annotations. */
export function metadataShape(served: ResourceDefinition, version: MetaVersion): Shape {
  const head = { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}` };
  return { head, show: (object) => ({ ...head, metadata: asServed(served, object).metadata }) };
}

export const listHead = ({ head }: Shape) => ({ kind: `${head.kind}List`, apiVersion: head.apiVersion });
