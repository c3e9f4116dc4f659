/**
 * Finds the parameters with which a binding applies a policy (upstream: policy/generic, CollectParams). Pure.
 */
import type { ParamKind, ParamRef } from '../../api/admissionregistration/v1/types.gen.ts';
import { matches, selectorFromLabelSelector } from '../../apimachinery/labels.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { apiVersionOf, type ResourceDefinition } from '../../apimachinery/resource-definition.ts';

/** Reads stored objects of a kind. `namespace` is '' for a kind of the cluster. */
export interface ParameterReader {
  /** Returns the served kind; undefined if there is none. */
  kindOf(paramKind: ParamKind): ResourceDefinition | undefined;
  get(kind: ResourceDefinition, namespace: string, name: string): KubeObject | undefined;
  list(kind: ResourceDefinition, namespace: string): readonly KubeObject[];
}

/**
 * Parameters: the policy runs once for each, and null means a run without parameters. Otherwise the reason
 * why there are none.
 */
export type Parameters = { readonly found: readonly (KubeObject | null)[] } | { readonly problem: string };

/** Returns the parameters of a binding. `namespace` is the namespace of the request. */
export function collectParameters(
  paramKind: ParamKind | undefined,
  reference: ParamRef | undefined,
  namespace: string,
  reader: ParameterReader,
): Parameters {
  if (!paramKind || !reference) return { found: [null] };
  const kind = reader.kindOf(paramKind);
  if (!kind)
    return { problem: `paramKind kind \`${paramKind.apiVersion}, Kind=${paramKind.kind}\` not known` };
  const place = namespaceOf(kind, reference, namespace);
  if ('problem' in place) return place;
  const found = select(kind, reference, place.namespace, reader);
  if (found.length === 0 && reference.parameterNotFoundAction === 'Deny')
    return { problem: 'no params found for policy binding with `Deny` parameterNotFoundAction' };
  return { found };
}

function namespaceOf(
  kind: ResourceDefinition,
  reference: ParamRef,
  namespace: string,
): { readonly namespace: string } | { readonly problem: string } {
  if (!kind.namespaced) {
    return reference.namespace
      ? { problem: 'paramRef.namespace must not be provided for a cluster-scoped `paramKind`' }
      : { namespace: '' };
  }
  const chosen = reference.namespace || namespace;
  return chosen
    ? { namespace: chosen }
    : { problem: 'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources' };
}

function select(
  kind: ResourceDefinition,
  { name, selector }: ParamRef,
  namespace: string,
  reader: ParameterReader,
): readonly KubeObject[] {
  if (name) {
    const object = reader.get(kind, namespace, name);
    return object ? [object] : [];
  }
  const parsed = selectorFromLabelSelector(selector);
  return reader.list(kind, namespace).filter(({ metadata }) => matches(parsed, metadata.labels));
}

/** Returns whether the definition is the kind of the parameters. */
export const isParamKind = ({ apiVersion, kind }: ParamKind, definition: ResourceDefinition) =>
  definition.kind === kind && apiVersionOf(definition) === apiVersion;
