/** Selects the objects of a list or a watch: a key prefix and selectors. */
import {
  checkFieldSelector,
  type FieldSelector,
  formatFieldSelector,
  matchesFields,
  requiredFieldValue,
} from '../../apimachinery/field-selector.ts';
import { formatSelector, matches, type Selector } from '../../apimachinery/labels.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import {
  type ResourceDefinition,
  storageKey,
  storagePrefix,
  storedKind,
} from '../../apimachinery/resource-definition.ts';
import { type Indexed, indexedBy } from './field-index.ts';

export interface Keyed {
  readonly key: string;
  /** Accessed only if the key alone does not decide. */
  readonly object: KubeObject;
}

export interface Selection {
  /** The kind in the version that the client addressed; the selected objects are in it. */
  readonly definition: ResourceDefinition;
  readonly prefix: string;
  /** The only key that can match, if the selector names one object. */
  readonly key: string | undefined;
  /** Index entry that contains all objects that can match. */
  readonly indexed: Indexed | undefined;
  /** True if there is no selector: everything under the prefix matches. */
  readonly everything: boolean;
  /** True if the keys of objects do not decide which of them match. */
  readonly readsObjects: boolean;
  matches(candidate: Keyed): boolean;
  /** Equal for two selections of a kind that match the same objects; undefined without a selector. */
  readonly text: string | undefined;
  /** Memory cost of the selection: its requirements and the values of its sets. */
  readonly terms: number;
}

export interface Selectors {
  readonly labelSelector: Selector;
  readonly fieldSelector: FieldSelector;
}

/**
 * Creates a selection in the version that the client addressed. Throws a 400 for a field that the kind cannot
 * be selected by.
 */
export function selectionOf(
  definition: ResourceDefinition,
  namespace: string,
  { labelSelector, fieldSelector }: Selectors,
): Selection {
  const isMeta = (field: string) =>
    field === 'metadata.name' || (field === 'metadata.namespace' && definition.namespaced);
  checkFieldSelector(
    fieldSelector,
    (field) => isMeta(field) || Object.hasOwn(definition.selectableFields, field),
  );
  const stored = storedKind(definition);
  const prefix = storagePrefix(stored, namespace);
  const key = onlyKey(stored, namespace, fieldSelector);
  const rest = key === undefined ? fieldSelector : fieldSelector.filter((r) => !isMeta(r.field));
  const everything = fieldSelector.length === 0 && isEverything(labelSelector);
  const decided = rest.length === 0 && isEverything(labelSelector);
  return {
    definition,
    prefix,
    key,
    // The fields of another version may have a different meaning.
    indexed: definition.conversion ? undefined : indexedBy(stored, fieldSelector),
    everything,
    readsObjects: !decided,
    get text() {
      if (everything) return undefined;
      return JSON.stringify([prefix, formatSelector(labelSelector), formatFieldSelector(fieldSelector)]);
    },
    terms: fieldSelector.length + termsOf(labelSelector),
    matches(candidate) {
      if (key !== undefined && candidate.key !== key) return false;
      if (decided) return true;
      const { object } = candidate;
      return (
        matches(labelSelector, object.metadata.labels) &&
        matchesFields(rest, (field) => readField(definition, object, field))
      );
    },
  };
}

const termsOf = ({ requirements }: Selector) =>
  requirements.reduce((sum, { values }) => sum + Math.max(1, values.length), 0);

const isEverything = (selector: Selector) => selector.requirements.length === 0 && !selector.nothing;

function readField(definition: ResourceDefinition, object: KubeObject, field: string): string | undefined {
  if (field === 'metadata.name') return object.metadata.name;
  if (field === 'metadata.namespace') return object.metadata.namespace;
  return definition.selectableFields[field]?.(object);
}

/**
 * Returns the key for `metadata.name=x` in one namespace, if the selector has no other requirement on name
 * and namespace.
 */
function onlyKey(
  definition: ResourceDefinition,
  namespace: string,
  selector: FieldSelector,
): string | undefined {
  const name = requiredFieldValue(selector, 'metadata.name');
  if (!name) return undefined;
  const others = selector.filter(({ field, operator, value }) => {
    if (field === 'metadata.name') return operator !== '=' || value !== name;
    return field === 'metadata.namespace' && value !== namespace;
  });
  if (others.length > 0 || selector.some((r) => r.field === 'metadata.namespace' && r.operator !== '=')) {
    return undefined;
  }
  return definition.namespaced && !namespace ? undefined : storageKey(definition, namespace, name);
}
