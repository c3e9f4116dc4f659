/** Checks of an answer. */
import type { FuzzRequest } from './requests.ts';
import type { Sent } from './send.ts';

/** Subresources that need a node, of which there is none. */
const needsNode = /\/(log|exec|attach|portforward|proxy)(\/|\?|$)/;

export type Verdict = 'right' | 'store' | { readonly wrong: string };

/** Returns the verdict on an answer; `store` for an answer after a timeout of etcd. */
export function judge({ path }: FuzzRequest, sent: Sent): Verdict {
  const { status, failed, left, body } = sent;
  if (left) return 'right';
  if (failed !== undefined) return { wrong: `no answer: ${failed}` };
  if (status < 500) return 'right';
  const text = body.toString('utf8', 0, 400);
  if (status === 504 && text.includes('"Timeout"')) return 'store';
  if (status === 503 && needsNode.test(path)) return 'right';
  return { wrong: `${status} ${text}` };
}
