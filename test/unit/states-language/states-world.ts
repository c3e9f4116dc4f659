/** Input and single states for the tests of states. */
import { alone, type TaskEnd } from '../../fixtures/workflow-run.ts';

export const input = { a: 1, b: { c: [1, 2, 3] }, text: 'x' };

export const wait = (state: object) => alone({ Type: 'Wait', ...state, End: true });

export const task = { Type: 'Task', Resource: 'function:f' };

export const result = { r: 1, deep: { x: [4, 5] } };

export const answer = (): TaskEnd => ({ output: result });
