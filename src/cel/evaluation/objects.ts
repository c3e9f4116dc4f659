/** Objects that an expression makes: `Object.spec{replicas: 3, ?paused: object.spec.?paused}`. */
import type { StructNode } from '../syntax/tree.ts';
import { MadeObject } from '../values/made-object.ts';
import { Fault, Optional, type Result, type Value } from '../values/value.ts';
import type { Plans, Step } from './step.ts';

/** Cost of an object, beside that of its fields. */
const objectCost = 40;

export function planObject(plans: Plans, node: StructNode): Step {
  const { type } = node;
  if (type?.kind !== 'object') throw new Error(`the checker knows no type ${node.name}`);
  const steps = node.fields.map(({ field, value, optional }) => ({
    field,
    optional,
    step: plans.plan(value),
  }));
  return (frame) => {
    const fields = new Map<string, Value>();
    for (const { field, optional, step } of steps) {
      const fault = setField(fields, field, step(frame), optional);
      if (fault) return fault;
    }
    frame.run.spend(objectCost);
    return new MadeObject(type, fields);
  };
}

function setField(
  fields: Map<string, Value>,
  field: string,
  value: Result,
  optional: boolean,
): Fault | undefined {
  if (value instanceof Fault) return value;
  if (!optional) fields.set(field, value);
  else if (!(value instanceof Optional))
    return new Fault(`cannot initialize optional entry '${field}' from non-optional value`);
  else if (value.value !== undefined) fields.set(field, value.value);
  return undefined;
}
