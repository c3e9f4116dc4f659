/** Objects that an expression makes. */
import type { Run } from '../evaluation/run.ts';
import { fieldOf, type ObjectType } from '../types/type.ts';
import { equal } from './equal.ts';
import { ObjectValue, type Value } from './value.ts';

/** An object with the fields that its expression sets. Two of one type may be equal. */
export class MadeObject extends ObjectValue {
  readonly fields: ReadonlyMap<string, Value>;
  private readonly type: ObjectType;

  constructor(type: ObjectType, fields: ReadonlyMap<string, Value>) {
    super();
    this.type = type;
    this.fields = fields;
  }

  get typeName(): string {
    return this.type.name;
  }

  get size(): number {
    return this.fields.size;
  }

  declares(field: string): boolean {
    return fieldOf(this.type, field) !== undefined;
  }

  get(field: string): Value | undefined {
    return this.fields.get(field);
  }

  entries(): Iterable<readonly [string, Value]> {
    return this.fields;
  }

  equals(other: ObjectValue, run: Run): boolean {
    if (!(other instanceof MadeObject) || other.typeName !== this.typeName) return false;
    run.work(this.size);
    if (other.size !== this.size) return false;
    for (const [field, own] of this.fields) {
      const theirs = other.get(field);
      if (theirs === undefined || !equal(own, theirs, run)) return false;
    }
    return true;
  }
}
