/** The thread that evaluates JSONata (thread.ts). */
import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { maxRunData } from '../limits.ts';
import type { Question } from './expression.ts';
import { evaluateHere, expressionProblem } from './language.ts';
import type { Answer, Reading } from './thread.ts';

async function answer(question: Question | Reading): Promise<Answer> {
  if ('expressions' in question) return { problems: question.expressions.map(expressionProblem) };
  try {
    const json = JSON.stringify(await evaluateHere(question));
    return json.length > maxRunData ? { refusal: 'the value is too large' } : { json };
  } catch (error) {
    return { refusal: error instanceof Error ? error.message : String(error) };
  }
}

// The priority applies to the thread on Linux: the server takes precedence when processors are scarce.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
parentPort?.on('message', (question: Question | Reading) => {
  void answer(question).then((reply) => parentPort?.postMessage(reply));
});
