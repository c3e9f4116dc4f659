/** The reason why this node does not serve routes, in one line with the remedy. */

import { errorMessage } from '../base/log.ts';

export type NotServedReason = 'PortTaken' | 'WebServerNotStarted' | 'ConfigurationRefused';

export class NotServedError extends Error {
  override readonly name = 'NotServedError';
  readonly reason: NotServedReason;

  constructor(reason: NotServedReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/**
 * Rejects with a NotServedError with this reason if the work rejects; `remedyOf` returns the remedy, if it is
 * known.
 */
export async function orNotServed<T>(
  reason: NotServedReason,
  work: () => Promise<T>,
  remedyOf: (error: unknown) => string | undefined = () => undefined,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const remedy = remedyOf(error);
    const message = `${errorMessage(error)}${remedy === undefined ? '' : `; ${remedy}`}`;
    throw new NotServedError(reason, message, { cause: error });
  }
}
