/** Paths of single fields, such as `.spec.replicas`, in definitions of custom kinds. Pure. */
import type { CustomResourceDefinitionVersion } from '../../api/apiextensions/v1/custom-resource-definition.ts';
import { isRecord, type JsonObject, setOwn } from '../../apimachinery/equality.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { ResourceDefinition, ScaleMapping } from '../../apimachinery/resource-definition.ts';

const namesOf = (path: string): readonly string[] => path.replace(/^\./, '').split('.');

function valueAt(object: unknown, names: readonly string[]): unknown {
  let value = object;
  for (const name of names) {
    if (!isRecord(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

/** Sets a field; objects on its way that are missing are created. */
function setAt(object: JsonObject, names: readonly string[], value: unknown): void {
  let at = object;
  for (const name of names.slice(0, -1)) {
    const next = Object.hasOwn(at, name) ? at[name] : undefined;
    const inner = isRecord(next) ? next : {};
    setOwn(at, name, inner);
    at = inner;
  }
  setOwn(at, names.at(-1) ?? '', value);
}

const numberAt = (object: KubeObject, names: readonly string[]): number => {
  const value = valueAt(object, names);
  return typeof value === 'number' ? value : 0;
};

/** Returns the fields by which a version can be selected, by their paths without the first dot. */
export function selectableFieldsOf({
  selectableFields = [],
}: CustomResourceDefinitionVersion): ResourceDefinition['selectableFields'] {
  return Object.fromEntries(
    selectableFields.map(({ jsonPath }) => {
      const names = namesOf(jsonPath);
      const textOf = (object: KubeObject) => {
        const value = valueAt(object, names);
        return value === undefined || value === null ? '' : String(value);
      };
      return [names.join('.'), textOf];
    }),
  );
}

/** Returns the accessors of `/scale`; undefined for a version without it. */
export function scaleOf({
  subresources,
}: CustomResourceDefinitionVersion): ScaleMapping<KubeObject> | undefined {
  const { scale } = subresources ?? {};
  if (!scale) return undefined;
  const wanted = namesOf(scale.specReplicasPath);
  const current = namesOf(scale.statusReplicasPath);
  const selector = scale.labelSelectorPath ? namesOf(scale.labelSelectorPath) : undefined;
  return {
    getReplicas: (object) => numberAt(object, wanted),
    setReplicas: (object, replicas) => setAt(object as unknown as JsonObject, wanted, replicas),
    statusReplicas: (object) => numberAt(object, current),
    selector(object) {
      const value = selector && valueAt(object, selector);
      return typeof value === 'string' ? value : '';
    },
  };
}
