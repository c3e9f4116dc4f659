/** Loops, which macros become. */
import type { FoldNode } from '../syntax/tree.ts';
import { Fault, List, MapValue, type Value } from '../values/value.ts';
import type { Frame, Plans, Step } from './step.ts';

interface Loop {
  readonly condition: Step;
  readonly step: Step;
  readonly accumulator: number;
  readonly first: number;
  readonly second: number | undefined;
}

export function planFold(planner: Plans, node: FoldNode): Step {
  const range = planner.plan(node.range);
  const init = planner.plan(node.init);
  const accumulator = planner.open(node.accumulator);
  const first = planner.open(node.variable);
  const second = node.variable2 === undefined ? undefined : planner.open(node.variable2);
  const loop: Loop = {
    condition: planner.plan(node.condition),
    step: planner.plan(node.step),
    accumulator,
    first,
    second,
  };
  planner.close(node.variable);
  if (node.variable2 !== undefined) planner.close(node.variable2);
  const result = planner.plan(node.result);
  planner.close(node.accumulator);
  return (frame) => {
    const over = range(frame);
    if (over instanceof Fault) return over;
    frame.slots[accumulator] = init(frame);
    if (over instanceof List) overList(frame, loop, over);
    else if (over instanceof MapValue) overMap(frame, loop, over);
    else return new Fault('unsupported comprehension range type');
    return result(frame);
  };
}

function overList(frame: Frame, loop: Loop, list: List): void {
  const { first, second } = loop;
  for (let at = 0; at < list.length; at++) {
    const element = list.at(at);
    if (second === undefined) frame.slots[first] = element;
    else {
      frame.slots[first] = BigInt(at);
      frame.slots[second] = element;
    }
    if (!advance(frame, loop)) return;
  }
}

function overMap(frame: Frame, loop: Loop, map: MapValue): void {
  frame.run.work(map.size / 4);
  for (const key of map.keys()) {
    frame.slots[loop.first] = key;
    if (loop.second !== undefined) frame.slots[loop.second] = map.get(key) ?? (null satisfies Value);
    if (!advance(frame, loop)) return;
  }
}

/**
 * Takes one step. Returns false when the loop ends. A step counts, also one that upstream has for nothing.
 */
function advance(frame: Frame, { condition, step, accumulator }: Loop): boolean {
  frame.run.work(1);
  if (condition(frame) === false) return false;
  frame.slots[accumulator] = step(frame);
  return true;
}
