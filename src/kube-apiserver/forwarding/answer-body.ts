/** Which of what a server behind this one answers can be passed on. */

/** Statuses whose answers have no body (RFC 9110 §6.4.1). */
const withoutBody: readonly number[] = [204, 205, 304];

export const hasAnswerBody = (method: string, status: number): boolean =>
  method !== 'HEAD' && !withoutBody.includes(status);

/** One that ends a request: others leave HTTP, or are none. */
export const isFinalStatus = (status: number): boolean => status >= 200 && status <= 599;
