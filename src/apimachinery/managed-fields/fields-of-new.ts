/**
 * The fields that the creator of an object owns, as FieldsV1 text. The result equals that of `afterUpdate`
 * for a new object, without building sets: most writes of a busy server create objects, and each would need
 * thousands of sets. Pure.
 */
import { deepEqual, isRecord, type JsonObject } from '../equality.ts';
import type { ObjectType } from '../field-types.ts';
import { areWhole, byElement, listOf } from './compare.ts';
import type { FieldSet } from './field-set.ts';
import { fieldElement, inElementOrder, type PathElement } from './path-element.ts';
import { alwaysUnder, type Shape, settled, shapeOfType, stepUnder, valueUnder } from './shape.ts';

export interface FieldsText {
  /** `{"f:spec":{…}}`; undefined when there are no fields. */
  readonly text: string | undefined;
  /** Number of values in the text. */
  readonly values: number;
}

/**
 * Returns the fields of a new object. `live` is the empty object: only its kind. The members of `without` and
 * everything below them are skipped; the members of `unowned` get no owner. Throws a KeyError for a list
 * whose items have no keys.
 */
export function fieldsOfNew(
  live: unknown,
  next: unknown,
  shape: Shape,
  without: FieldSet | undefined,
  unowned: FieldSet,
): FieldsText {
  const writer = new Writer();
  const text = writer.inside(live, next, settled(shape, next), { without, unowned });
  return { text: text === '' ? undefined : `{${text}}`, values: writer.values };
}

interface Exceptions {
  readonly without: FieldSet | undefined;
  readonly unowned: FieldSet | undefined;
}

const none: Exceptions = { without: undefined, unowned: undefined };

function exceptionsBelow(
  without: FieldSet | undefined,
  unowned: FieldSet | undefined,
  element: PathElement,
): Exceptions {
  if (!without && !unowned) return none;
  return { without: without?.children.get(element), unowned: unowned?.children.get(element) };
}

/** The text below each path element of one level. */
type Written = Map<PathElement, string>;

/** Marks a value without owned fields, here or below. */
const nobodys = undefined;

class Writer {
  values = 0;

  /** Returns the text between the braces. */
  inside(before: unknown, after: unknown, shape: Shape, except: Exceptions): string {
    if (shape.kind === 'list') return this.#list(listOf(after), shape, except);
    if ((shape.kind !== 'fields' && shape.kind !== 'map') || !isRecord(after)) return '';
    const one = isRecord(before) ? before : undefined;
    return shape.kind === 'fields' && hasKnownFields(shape, after)
      ? this.#fields(one, after, shape, except)
      : this.#keys(one, after, shape, except);
  }

  /** Writes an object that has only fields of its type: their order is known. */
  #fields(
    before: JsonObject | undefined,
    after: JsonObject,
    shape: Shape & { kind: 'fields' },
    except: Exceptions,
  ): string {
    let text = '';
    for (const { name, element, opening, shape: under, isAlwaysThere } of fieldsInOrder(shape)) {
      // If both values exist, a key that neither has is no difference.
      if (!Object.hasOwn(after, name) && (before || !isAlwaysThere)) continue;
      const inner = this.#step(
        before && valueUnder(shape, before, name),
        valueUnder(shape, after, name),
        under,
        except,
        element,
      );
      if (inner === nobodys) continue;
      this.values++;
      text += `${text && ','}${opening}${inner}}`;
    }
    return text;
  }

  #keys(
    before: JsonObject | undefined,
    after: JsonObject,
    shape: Shape & { kind: 'fields' | 'map' },
    except: Exceptions,
  ): string {
    const written: Written = new Map();
    const look = (key: string) => {
      const { element, shape: under } = stepUnder(shape, key);
      const [left, right] = [before && valueUnder(shape, before, key), valueUnder(shape, after, key)];
      const inner = this.#step(left, right, under, except, element);
      if (inner !== nobodys) written.set(element, inner);
    };
    for (const key of Object.keys(after)) look(key);
    if (!before) for (const key of alwaysUnder(shape)) if (!Object.hasOwn(after, key)) look(key);
    return this.#join(written);
  }

  #list(items: readonly unknown[], shape: Shape & { kind: 'list' }, except: Exceptions): string {
    const item = shapeOfType(shape.items);
    const written: Written = new Map();
    for (const [element, same] of byElement(items, shape)) {
      // Several items with the same key are owned together.
      const inner = same.length === 1 ? this.#step(undefined, same[0], item, except, element) : '';
      if (inner !== nobodys) written.set(element, inner);
    }
    return this.#join(written);
  }

  #join(written: Written): string {
    this.values += written.size;
    let text = '';
    for (const element of inElementOrder(written.keys()))
      text += `${text && ','}${JSON.stringify(element)}:{${written.get(element)}}`;
    return text;
  }

  #step(
    before: unknown,
    after: unknown,
    of: Shape,
    { without, unowned }: Exceptions,
    element: PathElement,
  ): string | undefined {
    if (after === undefined || without?.members.has(element)) return nobodys;
    const shape = settled(of, after);
    const isLeaf = areWhole(before, after, shape);
    const isMember = isChanged(before, after, isLeaf) && !unowned?.members.has(element);
    if (isLeaf) return isMember ? '' : nobodys;
    const below = this.inside(before, after, shape, exceptionsBelow(without, unowned, element));
    if (below === '') return isMember ? '' : nobodys;
    if (!isMember) return below;
    this.values++;
    return `".":{},${below}`;
  }
}

/** Returns true for a new value, and for a leaf with another value than before. */
const isChanged = (before: unknown, after: unknown, isLeaf: boolean): boolean =>
  before === undefined || (isLeaf && !deepEqual(before, after));

interface KnownField {
  readonly name: string;
  readonly element: PathElement;
  readonly opening: string;
  readonly shape: Shape;
  /** Go writes the field even if it was not set. */
  readonly isAlwaysThere: boolean;
}

const inOrder = new WeakMap<ObjectType, readonly KnownField[]>();

/** Returns the fields of a type in the order of FieldsV1. */
function fieldsInOrder(shape: Shape & { kind: 'fields' }): readonly KnownField[] {
  let fields = inOrder.get(shape.type);
  if (!fields) {
    const always = new Set(alwaysUnder(shape));
    const names = new Map([...shape.type.fields.keys()].map((name) => [fieldElement(name), name]));
    fields = inElementOrder(names.keys()).map((element) => {
      const name = names.get(element) ?? '';
      const opening = `${JSON.stringify(element)}:{`;
      return { name, opening, isAlwaysThere: always.has(name), ...stepUnder(shape, name) };
    });
    inOrder.set(shape.type, fields);
  }
  return fields;
}

function hasKnownFields({ type }: Shape & { kind: 'fields' }, object: JsonObject): boolean {
  for (const key in object) if (!type.fields.has(key)) return false;
  return true;
}
