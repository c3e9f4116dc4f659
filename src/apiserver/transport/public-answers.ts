/**
 * Answers that need no user, and after which an unauthenticated client may use its connection again: a page
 * has several files, and browsers give up a file that several connections have refused.
 */
const publicAnswers = new WeakSet<Response>();

export function markPublic(answer: Response): Response {
  publicAnswers.add(answer);
  return answer;
}

export const isPublic = (answer: Response): boolean => publicAnswers.has(answer);
