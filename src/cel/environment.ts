/** Names that an expression may use. */

import type { ObjectType, Type } from './types/type.ts';
import * as types from './types/type.ts';

/**
 * The variables of an expression with their types.
 *
 *     { variables: { object: dyn, request: { kind: 'object', name: 'kubernetes.Request', fields } } }
 */
export interface Environment {
  readonly variables: Readonly<Record<string, Type>>;
  /**
   * Returns the type of the objects that `name{…}` makes; undefined for another name. If absent, expressions
   * cannot make objects.
   */
  readonly madeType?: (name: string) => ObjectType | undefined;
}

/** Types that are values by their names, as in `type(x) == int`. */
const namedTypes: ReadonlyMap<string, Type> = new Map<string, Type>([
  ['bool', types.bool],
  ['bytes', types.bytes],
  ['double', types.double],
  ['duration', types.duration],
  ['google.protobuf.Duration', types.duration],
  ['google.protobuf.Timestamp', types.timestamp],
  ['int', types.int],
  ['list', types.listOf(types.dyn)],
  ['map', types.mapOf(types.dyn, types.dyn)],
  ['net.CIDR', types.opaque('net.CIDR')],
  ['net.IP', types.opaque('net.IP')],
  ['null_type', types.nullType],
  ['optional_type', types.optionalOf(types.dyn)],
  ['string', types.string],
  ['timestamp', types.timestamp],
  ['type', { kind: 'type', of: undefined }],
  ['uint', types.uint],
]);

/** Returns the type that the name stands for. */
export function namedType(name: string): Type | undefined {
  return namedTypes.get(name);
}

/** Returns the type of the variable; undefined when the environment has none of this name. */
export function variableType({ variables }: Environment, name: string): Type | undefined {
  return Object.hasOwn(variables, name) ? variables[name] : undefined;
}
