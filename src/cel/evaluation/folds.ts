/** Loops, which macros become. An evaluation may pause between two of their rounds (rounds.ts). */
import type { FoldNode } from '../syntax/tree.ts';
import { Fault, List, MapValue, type Result, type Value } from '../values/value.ts';
import { type LoopState, paused, type Rounds } from './rounds.ts';
import type { Frame, Plans, Step } from './step.ts';

interface Loop {
  readonly condition: Step;
  readonly step: Step;
  readonly accumulator: number;
  readonly first: number;
  readonly second: number | undefined;
  readonly result: Step;
}

export function planFold(planner: Plans, node: FoldNode): Step {
  const range = planner.plan(node.range);
  const init = planner.plan(node.init);
  const accumulator = planner.open(node.accumulator);
  const first = planner.open(node.variable);
  const second = node.variable2 === undefined ? undefined : planner.open(node.variable2);
  const [condition, step] = [planner.plan(node.condition), planner.plan(node.step)];
  planner.close(node.variable);
  if (node.variable2 !== undefined) planner.close(node.variable2);
  const result = planner.plan(node.result);
  planner.close(node.accumulator);
  const loop: Loop = { condition, step, accumulator, first, second, result };
  return (frame) => {
    const over = range(frame);
    if (over instanceof Fault) return over;
    if (!(over instanceof List || over instanceof MapValue))
      return new Fault('unsupported comprehension range type');
    frame.slots[accumulator] = init(frame);
    return frame.rounds ? goOn(frame, loop, over, frame.rounds) : rounds(frame, loop, over);
  };
}

/** Runs the rounds that an evaluation which can pause has not finished yet. */
function goOn(frame: Frame, loop: Loop, over: List | MapValue, outer: Rounds): Result {
  const state = outer.next(frame.run);
  if (state.result !== undefined) return state.result;
  if (state.accumulated !== undefined) frame.slots[loop.accumulator] = state.accumulated;
  frame.rounds = state.inner;
  const result = rounds(frame, loop, over, state);
  frame.rounds = outer;
  state.finished(frame.run, result);
  return result;
}

function rounds(frame: Frame, loop: Loop, over: List | MapValue, state?: LoopState): Result {
  if (over instanceof List) overList(frame, loop, over, state);
  else overMap(frame, loop, over, state);
  return loop.result(frame);
}

function overList(frame: Frame, loop: Loop, list: List, state: LoopState | undefined): void {
  const { first, second } = loop;
  for (let at = state?.round ?? 0; at < list.length; at++) {
    const element = list.at(at);
    if (second === undefined) frame.slots[first] = element;
    else {
      frame.slots[first] = BigInt(at);
      frame.slots[second] = element;
    }
    if (!advance(frame, loop, state)) return;
  }
}

function overMap(frame: Frame, loop: Loop, map: MapValue, state: LoopState | undefined): void {
  let finished = state?.round ?? 0;
  if (finished === 0) frame.run.work(map.size / 4);
  for (const key of map.keys()) {
    if (finished-- > 0) continue;
    frame.slots[loop.first] = key;
    if (loop.second !== undefined) frame.slots[loop.second] = map.get(key) ?? (null satisfies Value);
    if (!advance(frame, loop, state)) return;
  }
}

/** Takes one step. Returns false when the loop ends. Every step counts as work, even one without cost. */
function advance(
  frame: Frame,
  { condition, step, accumulator }: Loop,
  state: LoopState | undefined,
): boolean {
  if (state && frame.run.isDue) throw paused;
  frame.run.work(1);
  if (condition(frame) === false) return false;
  const accumulated = step(frame);
  frame.slots[accumulator] = accumulated;
  state?.finishedRound(frame.run, accumulated);
  return true;
}
