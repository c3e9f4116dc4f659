/** Types of CEL, and their names in upstream's messages. */

export type ScalarName =
  | 'bool'
  | 'bytes'
  | 'double'
  | 'dyn'
  | 'duration'
  | 'error'
  | 'int'
  | 'null_type'
  | 'string'
  | 'timestamp'
  | 'uint';

export interface ScalarType {
  readonly kind: 'scalar';
  readonly name: ScalarName;
  /** Maximum size of a string or of bytes, for estimates of cost. */
  readonly max?: number;
}

export interface ListType {
  readonly kind: 'list';
  readonly element: Type;
  /** Maximum number of elements, for estimates of cost. */
  readonly max?: number;
  /**
   * Meaning of the order: two sets, and two lists of objects with keys, are equal in any order, and are added
   * without duplicates.
   */
  readonly uniqueBy?: 'value' | readonly string[];
}

export interface MapType {
  readonly kind: 'map';
  readonly key: Type;
  readonly value: Type;
  /** Maximum number of entries, for estimates of cost. */
  readonly max?: number;
}

export interface FieldType {
  /** Name in the JSON object; that in expressions is escaped (`foo-bar` is `foo__dash__bar`). */
  readonly property: string;
  readonly type: Type;
}

/** An object with declared fields. Two types with one name are the same type. */
export interface ObjectType {
  readonly kind: 'object';
  readonly name: string;
  /** Fields by their names in expressions. */
  readonly fields: ReadonlyMap<string, FieldType>;
  /** True if there may be other fields, of any type. */
  readonly isOpen?: true;
}

/** Returns the field by its name in an expression: a reserved word may stand for its escaped name. */
export function fieldOf({ fields, isOpen }: ObjectType, name: string): FieldType | undefined {
  const declared = fields.get(name) ?? fields.get(`__${name}__`);
  return declared ?? (isOpen && { property: name, type: dyn });
}

/** A type with functions only, such as `kubernetes.URL`, `optional_type(int)` and a function's own type. */
export interface OpaqueType {
  readonly kind: 'opaque';
  readonly name: string;
  readonly parameters: readonly Type[];
}

/** A type that is not known yet: the parameter of an overload. */
export interface ParameterType {
  readonly kind: 'parameter';
  readonly name: string;
}

/** The type of a type, as `type(1)` has it. */
export interface TypeType {
  readonly kind: 'type';
  readonly of: Type | undefined;
}

export type Type = ScalarType | ListType | MapType | ObjectType | OpaqueType | ParameterType | TypeType;

function scalar(name: ScalarName): ScalarType {
  return { kind: 'scalar', name };
}

export const bool = scalar('bool');
export const bytes = scalar('bytes');
export const double = scalar('double');
export const dyn = scalar('dyn');
export const duration = scalar('duration');
export const errorType = scalar('error');
export const int = scalar('int');
export const nullType = scalar('null_type');
export const string = scalar('string');
export const timestamp = scalar('timestamp');
export const uint = scalar('uint');

export function listOf(element: Type): ListType {
  return { kind: 'list', element };
}

export function mapOf(key: Type, value: Type): MapType {
  return { kind: 'map', key, value };
}

export function opaque(name: string, ...parameters: readonly Type[]): OpaqueType {
  return { kind: 'opaque', name, parameters };
}

export const optionalName = 'optional_type';

export function optionalOf(type: Type): OpaqueType {
  return opaque(optionalName, type);
}

export function isDyn(type: Type): boolean {
  return type.kind === 'scalar' && type.name === 'dyn';
}

export function isError(type: Type): boolean {
  return type.kind === 'scalar' && type.name === 'error';
}

/** Returns the type inside of an optional, and other types as they are. */
export function withoutOptional(type: Type): Type {
  return isOptional(type) ? (parametersOf(type)[0] ?? dyn) : type;
}

export function isOptional(type: Type): boolean {
  return type.kind === 'opaque' && type.name === optionalName;
}

export function parametersOf(type: Type): readonly Type[] {
  switch (type.kind) {
    case 'list':
      return [type.element];
    case 'map':
      return [type.key, type.value];
    case 'opaque':
      return type.parameters;
    case 'type':
      return type.of === undefined ? [] : [type.of];
    case 'scalar':
    case 'object':
    case 'parameter':
      return [];
  }
}

/** Returns the type with other parameters. */
export function withParameters(type: Type, parameters: readonly Type[]): Type {
  const [first = dyn, second = dyn] = parameters;
  switch (type.kind) {
    case 'list':
      return first === type.element ? type : { ...type, element: first };
    case 'map':
      return first === type.key && second === type.value ? type : { ...type, key: first, value: second };
    case 'opaque':
      return { ...type, parameters };
    case 'type':
      return { kind: 'type', of: parameters[0] };
    case 'scalar':
    case 'object':
    case 'parameter':
      return type;
  }
}

/** Returns whether both are the same type. Maximum sizes are no part of a type. */
export function sameType(left: Type, right: Type): boolean {
  if (left === right) return true;
  if (left.kind !== right.kind || nameOf(left) !== nameOf(right)) return false;
  const others = parametersOf(right);
  const own = parametersOf(left);
  return own.length === others.length && own.every((type, at) => sameType(type, others[at] ?? dyn));
}

/** Returns the name without parameters. */
export function nameOf(type: Type): string {
  return 'name' in type ? type.name : type.kind;
}

/** Returns the name as upstream's messages have it, such as `map(string, list(int))`. */
export function showType(type: Type): string {
  if (type.kind === 'scalar') {
    if (type.name === 'error') return '!error!';
    return type.name === 'null_type' ? 'null' : type.name;
  }
  const parameters = parametersOf(type);
  return parameters.length === 0 ? nameOf(type) : `${nameOf(type)}(${parameters.map(showType).join(', ')})`;
}
