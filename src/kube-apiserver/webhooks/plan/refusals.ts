/** Errors of requests that a webhook rejects, or whose webhook cannot be called, in upstream's words. */
import { isRecord } from '../../../apimachinery/equality.ts';
import {
  newBadRequest,
  newInternalError,
  type Status,
  StatusError,
  type StatusReason,
} from '../../../apimachinery/status-error.ts';

/** Maximum characters of a webhook's message that the client sees. */
const maxMessage = 16 * 1024;

/** Returns the error for a request that the webhook rejects; `result` is the status in its answer. */
export function denial(webhook: string, result: unknown): StatusError {
  const { code, message, reason } = isRecord(result) ? result : {};
  const deniedBy = `admission webhook ${JSON.stringify(webhook)} denied the request`;
  const why = textOf(message) || textOf(reason);
  const status: Status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: why ? `${deniedBy}: ${why}` : `${deniedBy} without explanation`,
    ...(textOf(reason) && { reason: textOf(reason) as StatusReason }),
    ...(isRecord(result) && isRecord(result.details) && { details: result.details }),
    code: isErrorCode(code) ? code : 400,
  };
  return new StatusError(status);
}

/** Status codes below 400 would report a rejected request as a success. */
const isErrorCode = (code: unknown): code is number =>
  typeof code === 'number' && Number.isInteger(code) && code >= 400 && code <= 599;

const textOf = (value: unknown) => (typeof value === 'string' ? value.slice(0, maxMessage) : '');

/** Returns the error for a webhook that could not be called, or whose answer is no review. */
export const failedCall = (webhook: string, why: string) =>
  newInternalError(`failed calling webhook ${JSON.stringify(webhook)}: ${why}`);

export const noDryRun = (webhook: string) =>
  newBadRequest(`admission webhook ${JSON.stringify(webhook)} does not support dry run`);

export const noObjectToPatch = (webhook: string) =>
  newInternalError(
    `admission webhook ${JSON.stringify(webhook)} attempted to modify the object, which is not supported for this operation`,
  );
