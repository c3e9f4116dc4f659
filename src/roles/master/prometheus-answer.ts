/** Prometheus' answer to an instant query (GET /api/v1/query). */
import * as v from 'valibot';
import type { Series } from '../../controllers/autoscaling/readings-plan.ts';

/** A time in seconds and a number as text, where NaN, +Inf and -Inf are numbers too. */
const point = v.tuple([v.number(), v.string()]);

const answerShape = v.variant('status', [
  v.object({
    status: v.literal('success'),
    data: v.variant('resultType', [
      v.object({
        resultType: v.literal('vector'),
        result: v.array(v.object({ metric: v.record(v.string(), v.string()), value: point })),
      }),
      v.object({ resultType: v.literal('scalar'), result: point }),
    ]),
  }),
  v.object({ status: v.literal('error'), errorType: v.string(), error: v.string() }),
]);

/** Maximum length of a reason, in characters: reasons are copied into conditions and events. */
const longest = 300;

/** Throws an Error whose message says why there is no value. */
export function parseQueryAnswer(status: number, text: string): readonly Series[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`Prometheus answered ${status}, but not with JSON`);
  }
  const answer = v.safeParse(answerShape, value);
  if (!answer.success) {
    const field = v.getDotPath(answer.issues[0]) ?? 'the whole answer';
    throw new Error(
      `Prometheus answered ${status} in an unknown form (${field}); the query must return an instant vector`,
    );
  }
  const { output } = answer;
  if (output.status === 'error')
    throw new Error(`Prometheus answered ${status}, ${output.errorType}: ${output.error}`.slice(0, longest));
  if (output.data.resultType === 'scalar') return [{ labels: {}, value: numberOf(output.data.result[1]) }];
  return output.data.result.map(({ metric, value: [, amount] }) => ({
    labels: metric,
    value: numberOf(amount),
  }));
}

const numberOf = (text: string): number =>
  text === '+Inf'
    ? Number.POSITIVE_INFINITY
    : text === '-Inf'
      ? Number.NEGATIVE_INFINITY
      : Number(text || 'NaN');
