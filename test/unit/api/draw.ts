/** Random objects: values that a test chooses from, and values for every field of a type. */
import type { Field, FieldType, ObjectType, Scalar } from '../../../src/apimachinery/field-types.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

export class Draw {
  readonly #random: SeededRandom;

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
  }

  /** Returns one of the values; undefined among them leaves a field out. */
  of<T>(...values: T[]): T | undefined {
    return values[this.#random.below(values.length)];
  }

  list<T>(most: number, make: (index: number) => T): T[] | undefined {
    const length = this.#random.below(most + 2) - 1;
    return length < 0 ? undefined : Array.from({ length }, (_, index) => make(index));
  }

  labels = () =>
    this.of<Record<string, string> | undefined>(undefined, {}, { app: 'web' }, { app: 'web', v: '1' });
}

/** Maximum depth of objects below their kind; without it a type that contains itself would have no end. */
const deepest = 5;

const scalars: Readonly<Record<Scalar, readonly (string | number | boolean)[]>> = {
  string: ['a', 'b'],
  bool: [true, false],
  int32: [1, 5],
  int64: [1, 5],
  double: [0.5],
  time: ['2026-01-01T00:00:00Z'],
  microTime: ['2026-01-01T00:00:00.000001Z'],
  quantity: ['1', '1.00001'],
  intOrString: [3, '5%'],
  bytes: ['eA=='],
};

/** Returns some of the fields of the type, and always the required ones. */
export function drawFields(type: ObjectType, draw: Draw, depth = 0): Record<string, unknown> {
  const given = [...type.fields.values()].filter(
    (field) => isMandatory(field) || (depth < deepest && draw.of(true, false)),
  );
  return Object.fromEntries(given.map((field) => [field.name, drawField(field, draw, depth)]));
}

const isMandatory = ({ required, rule }: Field) => rule?.mandatory ?? required;

const drawField = ({ type, choices }: Field, draw: Draw, depth: number): unknown =>
  choices && type.kind === 'scalar' ? draw.of(...choices) : drawValue(type, draw, depth);

function drawValue(type: FieldType, draw: Draw, depth: number): unknown {
  switch (type.kind) {
    case 'scalar':
      return draw.of(...scalars[type.scalar]);
    case 'object':
      return drawFields(type.object, draw, depth + 1);
    case 'list':
      return draw.list(2, () => drawValue(type.items, draw, depth + 1)) ?? [];
    case 'map':
      return draw.of({}, { a: drawValue(type.values, draw, depth + 1) });
    case 'any':
      return draw.of<unknown>({ any: 'thing' }, 'a');
  }
}
