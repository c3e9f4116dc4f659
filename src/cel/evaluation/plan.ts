/** Plans: a checked tree as functions that evaluate it. A plan keeps nothing of an evaluation. */

import { type Environment, namedType, variableType } from '../environment.ts';
import type { CallNode, Expression, ListNode, MapNode } from '../syntax/tree.ts';
import type { Type } from '../types/type.ts';
import { ValueList, ValueMap } from '../values/collections.ts';
import { fromJson } from '../values/json.ts';
import { Fault, Optional, type Result, TypeValue, type Value } from '../values/value.ts';
import { planCall } from './calls.ts';
import { Constants } from './constants.ts';
import { planSelect } from './fields.ts';
import { planFold } from './folds.ts';
import { planObject } from './objects.ts';
import type { Plans, Step } from './step.ts';

/** Makes a plan, and keeps the slots of the variables meanwhile. */
export class Planner implements Plans {
  private readonly environment: Environment;
  private readonly constants = new Constants();
  private readonly locals = new Map<string, number[]>();
  private readonly globals = new Map<string, Step>();
  private readonly charged = new Map<Expression, Step>();
  private readonly free = new Map<Expression, Step>();
  /** Number of slots that a frame needs. */
  slots = 0;

  constructor(environment: Environment) {
    this.environment = environment;
  }

  /** Plans a node. A node that stands in two places has one plan. */
  plan(node: Expression, charged = true): Step {
    const planned = charged ? this.charged : this.free;
    const known = planned.get(node);
    if (known) return known;
    const step = this.make(node, charged);
    planned.set(node, step);
    return step;
  }

  private make(node: Expression, charged: boolean): Step {
    const constant = this.constants.of(node);
    if (constant !== undefined) return () => constant;
    switch (node.kind) {
      case 'ident':
        return this.variable(node.name, charged);
      case 'select':
        return node.qualified === undefined
          ? planSelect(this, node, charged)
          : this.global(node.qualified, charged);
      case 'call':
        return planCall(this, node, charged, this.isIn(node));
      case 'list':
        return this.list(node);
      case 'map':
        return this.map(node);
      case 'fold':
        return planFold(this, node);
      case 'struct':
        return planObject(this, node);
      case 'const':
        throw new Error('a literal is a constant');
    }
  }

  private isIn({ name, args }: CallNode): boolean {
    const [, list] = args;
    return name === '@in' && list?.kind === 'list' && this.constants.of(list) !== undefined;
  }

  /** Makes a slot for a variable of a loop. The name refers to it until the slot is closed. */
  open(name: string): number {
    const slot = this.slots++;
    const slots = this.locals.get(name);
    if (slots) slots.push(slot);
    else this.locals.set(name, [slot]);
    return slot;
  }

  close(name: string): void {
    this.locals.get(name)?.pop();
  }

  private variable(name: string, charged: boolean): Step {
    const slot = this.locals.get(name)?.at(-1);
    if (slot === undefined) return this.global(name.replace(/^\./, ''), charged);
    const read: Step = (frame) => frame.slots[slot] ?? null;
    return charged ? counted(read) : read;
  }

  private global(name: string, charged: boolean): Step {
    const type = variableType(this.environment, name);
    if (type === undefined) return typeStep(name);
    const known = this.globals.get(name) ?? this.declared(name, type);
    this.globals.set(name, known);
    return charged ? counted(known) : known;
  }

  /** Plans a declared variable, which is converted when it is first read. */
  private declared(name: string, type: Type): Step {
    const slot = this.slots++;
    return (frame) => {
      const known = frame.slots[slot];
      if (known !== undefined) return known;
      const given = frame.variables[name];
      const value = given === undefined ? new Fault(`no such attribute(s): ${name}`) : fromJson(given, type);
      frame.slots[slot] = value;
      return value;
    };
  }

  private list(node: ListNode): Step {
    const steps = node.elements.map(({ value, optional }) => ({ step: this.plan(value), optional }));
    return (frame) => {
      const elements: Value[] = [];
      for (const { step, optional } of steps) {
        const fault = addElement(elements, step(frame), optional);
        if (fault) return fault;
      }
      frame.run.spend(10);
      return new ValueList(elements);
    };
  }

  private map(node: MapNode): Step {
    const steps = node.entries.map(({ key, value, optional }) => ({
      key: this.plan(key),
      value: this.plan(value),
      optional,
    }));
    return (frame) => {
      const entries: [Value, Value][] = [];
      for (const { key, value, optional } of steps) {
        const fault = addEntry(entries, key(frame), value(frame), optional);
        if (fault) return fault;
      }
      frame.run.spend(30);
      return entries.length === 0 ? ValueMap.empty : ValueMap.of(entries);
    };
  }
}

function addElement(elements: Value[], value: Result, optional: boolean): Fault | undefined {
  if (value instanceof Fault) return value;
  if (!optional) elements.push(value);
  else if (!(value instanceof Optional))
    return new Fault('cannot initialize optional list element from non-optional value');
  else if (value.value !== undefined) elements.push(value.value);
  return undefined;
}

function addEntry(
  entries: [Value, Value][],
  key: Result,
  value: Result,
  optional: boolean,
): Fault | undefined {
  if (key instanceof Fault) return key;
  if (value instanceof Fault) return value;
  if (!optional) entries.push([key, value]);
  else if (!(value instanceof Optional))
    return new Fault(`cannot initialize optional entry '${String(key)}' from non-optional value`);
  else if (value.value !== undefined) entries.push([key, value.value]);
  return undefined;
}

function counted(step: Step): Step {
  return (frame) => {
    frame.run.spend(1);
    return step(frame);
  };
}

function typeStep(name: string): Step {
  const known: Record<string, string> = {
    timestamp: 'google.protobuf.Timestamp',
    duration: 'google.protobuf.Duration',
  };
  if (namedType(name) === undefined) throw new Error(`the checker knows no name ${name}`);
  const value = new TypeValue(known[name] ?? name);
  return () => value;
}
