import { StatusError } from '../../apimachinery/status-error.ts';
import {
  ClaimLostError,
  ClaimTakenError,
  KeyExistsError,
  RevisionMismatchError,
  StoreRejectedError,
} from '../../storage/store.ts';

const refusals = [
  StatusError,
  ClaimLostError,
  ClaimTakenError,
  KeyExistsError,
  RevisionMismatchError,
  StoreRejectedError,
];

/**
 * Returns whether a write that failed with this error is certain to have stored nothing. After any other
 * error, such as one of the store, the object may be stored nevertheless.
 */
export const isSurelyNotStored = (error: unknown): boolean =>
  refusals.some((refusal) => error instanceof refusal);
