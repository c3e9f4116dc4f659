/**
 * Types of the objects that expressions of MutatingAdmissionPolicies make (upstream: pkg/cel/mutation):
 * `Object`, and `Object.a.b` for the value of the field `a.b`, have any fields; `JSONPatch` is one operation.
 */
import { dyn, type ObjectType, string } from '../../../../cel/types/type.ts';

export const objectPatchType: ObjectType = typeAt('Object');

export const jsonPatchType: ObjectType = {
  kind: 'object',
  name: 'JSONPatch',
  fields: new Map([
    ['op', { property: 'op', type: string }],
    ['path', { property: 'path', type: string }],
    ['from', { property: 'from', type: string }],
    ['value', { property: 'value', type: dyn }],
  ]),
};

function typeAt(name: string): ObjectType {
  return { kind: 'object', name, fields: new Map(), isOpen: true };
}

/** Returns the type of a name in an expression; undefined for other names. */
export function patchTypeOf(name: string): ObjectType | undefined {
  if (name === jsonPatchType.name) return jsonPatchType;
  return name === 'Object' || name.startsWith('Object.') ? typeAt(name) : undefined;
}
