/** The reason why this node does not serve Dns objects, in one line with the remedy. */

import { errorMessage } from '../../../base/log.ts';
import type { DnsServedReason } from '../api/dns-served.ts';

export class NotServedError extends Error {
  override readonly name = 'NotServedError';
  readonly reason: DnsServedReason;

  constructor(reason: DnsServedReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/**
 * Rejects with a NotServedError with this reason if the work rejects; `wayOut` returns the remedy, if it is
 * known.
 */
export async function orNotServed<T>(
  reason: DnsServedReason,
  work: () => Promise<T>,
  wayOut: (error: unknown) => string | undefined = () => undefined,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const todo = wayOut(error);
    const message = `${errorMessage(error)}${todo === undefined ? '' : `; ${todo}`}`;
    throw new NotServedError(reason, message, { cause: error });
  }
}
