/**
 * Parses the JSONata expressions of a Workflow before it is stored. The parser takes quadratic time for some
 * texts, so a definition could block the event loop for seconds: expressions that are not small are parsed on
 * a separate thread, which ends when nothing is left to parse.
 */

import { deepEqual } from '../../../apimachinery/equality.ts';
import { forbiddenCause, invalidCause } from '../../../apimachinery/field-error.ts';
import { newInvalid, newStatusError, type StatusCause } from '../../../apimachinery/status-error.ts';
import type { AdmissionPlugin } from '../../../apiserver/admission/plugin.ts';
import type { Clock } from '../../../base/clock.ts';
import { errorMessage } from '../../../base/log.ts';
import { outlineOf } from '../../../states-language/definition/check-definition.ts';
import type { FoundExpression } from '../../../states-language/definition/report.ts';
import { expressionProblem } from '../../../states-language/jsonata/language.ts';
import { createExpressionThread, type ExpressionThread } from '../../../states-language/jsonata/thread.ts';
import { type Workflow, workflowResource } from '../api/workflow.ts';

/** Maximum number of definitions of one namespace that are being parsed or queued. */
const maxWaiting = 8;
const retryAfterSeconds = 5;

/** Limits for parsing on the main thread, which takes some milliseconds at worst. */
const small = { expressions: 64, characters: 4096, each: 512 };

const path = 'spec.definition';

export const workflowExpressions = (clock: Clock): AdmissionPlugin => {
  const reader = new Reader(clock);
  return {
    name: 'WorkflowExpressions',
    async validate({ definition, namespace, name, object, old, subresource }) {
      const isWorkflow =
        definition.group === workflowResource.group && definition.plural === workflowResource.plural;
      if (!isWorkflow || !object || subresource !== '') return;
      const own = (object as Workflow).spec.definition;
      if (old && deepEqual(own, (old as Workflow).spec.definition)) return;
      const causes = await reader.causesOf(outlineOf(own, path).expressions, namespace);
      if (causes.length > 0) throw newInvalid(definition, name, causes);
    },
  };
};

class Reader {
  readonly #thread: ExpressionThread;
  /** Number of definitions that are being parsed or queued, by namespace. */
  readonly #reading = new Map<string, number>();

  constructor(clock: Clock) {
    this.#thread = createExpressionThread(clock);
  }

  async causesOf(found: readonly FoundExpression[], namespace: string): Promise<StatusCause[]> {
    const texts = found.map(({ text }) => text);
    let problems: readonly (string | undefined)[];
    try {
      problems = isSmall(texts) ? texts.map(expressionProblem) : await this.#onThread(texts, namespace);
    } catch (error) {
      if (!(error instanceof Error) || 'status' in error) throw error;
      return [forbiddenCause(path, `its expressions cannot be read: ${errorMessage(error)}`)];
    }
    return found.flatMap(({ field, value }, at) => {
      const problem = problems[at];
      return problem === undefined ? [] : [invalidCause(field, value, problem)];
    });
  }

  async #onThread(texts: readonly string[], namespace: string): Promise<readonly (string | undefined)[]> {
    const before = this.#reading.get(namespace) ?? 0;
    if (before >= maxWaiting) {
      const why = `${maxWaiting} definitions of workflows of the namespace are being read already`;
      throw newStatusError('TooManyRequests', why, { retryAfterSeconds });
    }
    this.#reading.set(namespace, before + 1);
    try {
      return await this.#thread.problemsOf(texts, namespace);
    } finally {
      const left = (this.#reading.get(namespace) ?? 1) - 1;
      if (left > 0) this.#reading.set(namespace, left);
      else this.#reading.delete(namespace);
      if (this.#reading.size === 0) void this.#thread.stop();
    }
  }
}

const isSmall = (texts: readonly string[]): boolean =>
  texts.length <= small.expressions &&
  texts.every(({ length }) => length <= small.each) &&
  texts.reduce((sum, { length }) => sum + length, 0) <= small.characters;
