/** Decides which parts of a backend's answer can be forwarded. */

/** Statuses of answers without a body (RFC 9110 §6.4.1). */
const withoutBody: readonly number[] = [204, 205, 304];

export const hasAnswerBody = (method: string, status: number): boolean =>
  method !== 'HEAD' && !withoutBody.includes(status);

/** Returns whether the status ends a request: others are an upgrade, or invalid. */
export const isFinalStatus = (status: number): boolean => status >= 200 && status <= 599;
